"""Fragmentation: the workload mix, F and F+, what fits now and what is stranded."""

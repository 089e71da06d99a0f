"""How broken up the free GPUs are: samples over time, the workload mix they are measured against, and what fits now."""

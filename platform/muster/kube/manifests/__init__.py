"""What we create in a cluster, as plain dictionaries made from plain values."""

"""Score plugins: which of the nodes that would do is best."""

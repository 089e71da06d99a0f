"""Filter plugins: how many workers of a role each node could take."""

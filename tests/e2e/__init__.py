"""The platform as people see it: real processes, the demo cluster, a real browser."""

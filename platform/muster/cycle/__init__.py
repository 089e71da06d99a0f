"""Load, plan, commit: one cycle at a time per cluster."""

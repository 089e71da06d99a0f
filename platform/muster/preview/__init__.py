"""Answers "what if" with plan() on a snapshot of its own; commits nothing."""

"""The values that cross the core's borders: Snapshot in, Plan out, and what they are made of."""

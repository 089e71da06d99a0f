"""The scenario format: reads it into a Snapshot and Policy, and tells a Plan in its words."""

"""Profiles of hypothesis; the engines come from tests/support/engines.py."""

from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase, ReadOnlyDatabase

# What `make fuzz` found is kept here, in git, and replayed first by every later run.
SEEDS = DirectoryBasedExampleDatabase(Path(__file__).parent / "seeds")

settings.register_profile(
    "ci", deadline=None, database=ReadOnlyDatabase(SEEDS), suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fuzz", parent=settings.get_profile("ci"), database=SEEDS, max_examples=2000)
settings.load_profile("ci")

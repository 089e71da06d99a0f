"""Making a plan true in rows: fenced by the epoch, unit by unit, in one transaction."""

from muster.cycle.commit.transaction import Outcome, commit

__all__ = ["Outcome", "commit"]

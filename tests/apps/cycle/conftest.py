"""Cycles keep a snapshot and a connection per process; each test begins without."""

from collections.abc import Iterator

import pytest

from muster.cycle.locks import close_lock_connection
from muster.placements.load import forget


@pytest.fixture(autouse=True)
def _fresh_process() -> Iterator[None]:
    forget()
    yield
    forget()
    close_lock_connection()

"""Where real hardware output lies that tests may read but the repository does not hold."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("MUSTER_TEST_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
"""Folder with `mig_profiles.json`, `topo/` and `k8s/`."""

"""The job file: one versioned schema, a reader that names key and line, and the canonical form rows are made of.

text or dict ── reader ──► document ── checks ──► canonical() ──► spec (seconds, bytes, integers)
                                                                   └── shape_body() ──► JobShape
"""

from muster.workloads.spec.canonical import canonical
from muster.workloads.spec.checks import check
from muster.workloads.spec.errors import SpecInvalid
from muster.workloads.spec.reader import Document, read
from muster.workloads.spec.schema import SCHEMA, VERSION
from muster.workloads.spec.shape import gpus_wanted, roles_of, shape_body

__all__ = [
    "SCHEMA",
    "VERSION",
    "Document",
    "SpecInvalid",
    "canonical",
    "check",
    "gpus_wanted",
    "read",
    "roles_of",
    "shape_body",
]

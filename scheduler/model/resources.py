"""Units of every amount in the core, and the one place that names them.

CPU is counted in millicores, memory in bytes. Of one GPU, a *share* is counted in milli (1,000 = the GPU), and quotas in
*parts*: 7,000 = one GPU, so that sevenths (MIG compute slices) and thousandths are both whole numbers.
"""

from __future__ import annotations

from fractions import Fraction

MILLI_PER_CORE = 1_000
MILLI_PER_GPU = 1_000
PARTS_PER_GPU = 7_000
PARTS_PER_MILLI = PARTS_PER_GPU // MILLI_PER_GPU
MAX_GPUS = 16
"""Widest node the masks are laid out for."""

GPU, CPU, MEMORY = "gpu", "cpu", "memory"


def gpu_resource(model: str) -> str:
    """Name of the resource that counts one GPU model alone, for instance ``gpu/H100-80GB``."""
    return f"{GPU}/{model}"


def mig_parts(compute_slices: int, total_slices: int) -> int:
    """Quota parts of a MIG instance: its share of the GPU's compute slices (rounded up where a GPU has other than 7 or 4)."""
    return -(-compute_slices * PARTS_PER_GPU // total_slices)


def display(resource: str, amount: int) -> float:
    """An amount as people write it: GPUs, cores, bytes."""
    if resource == CPU:
        return amount / MILLI_PER_CORE
    return float(amount) if resource == MEMORY else float(Fraction(amount, PARTS_PER_GPU))

"""Which modules of the platform exist yet.

Muster is being built; settings, addresses and processes take in what is there. When every module that
is asked for here exists, this module goes, and with it the conditions.
"""

from importlib.util import find_spec


def exists(module: str) -> bool:
    """Whether `module` can be found; unlike `find_spec`, a missing parent package is a plain no."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False

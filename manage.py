#!/usr/bin/env python
"""Django's command line, with the checkout's packages on the path."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Run the command that the arguments name."""
    sys.path[:0] = [str(Path(__file__).parent / "platform"), str(Path(__file__).parent)]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "muster.config.settings")
    from django.core.management import execute_from_command_line

    from muster.config.env import BadEnvironmentError

    try:
        execute_from_command_line(sys.argv)
    except BadEnvironmentError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

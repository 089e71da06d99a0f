"""`python -m muster.config.prepare`: migrations, and the demo's rows if wanted, in one process.

Two management commands would each spend two seconds on imports before their first statement.
"""

import django
from django.conf import settings
from django.core.management import call_command


def main() -> None:
    """Bring the database up to date."""
    django.setup()
    call_command("migrate", verbosity=0)
    if settings.MUSTER.demo:
        call_command("demo_seed")


if __name__ == "__main__":
    main()

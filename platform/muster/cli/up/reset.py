"""`make demo-reset`: throws away the demo's rows, pods and logs. Keys and what was installed stay."""

import shutil
import sys

from muster.cli.up.leftovers import Record, sweep
from muster.cli.up.run import RefusedError, lock
from muster.config.env import BadEnvironmentError, env

OURS = ("postgres", "redis", "emulator", "files", "logs", "metrics")
FILES = ("demo_users.json", "cli.json")


def main() -> int:
    """Empty the data directory. Returns the exit code: 2 when a platform runs there, or the data is not ours."""
    try:
        settings = env()
        if settings.database_url:
            raise RefusedError("DATABASE_URL names a server of yours: empty that database yourself")
        if not settings.data_dir.is_dir():
            return 0
        with lock(settings.data_dir / "up.lock"):
            sweep(Record(settings.data_dir / "processes.json"), settings.data_dir)
            for name in OURS:
                shutil.rmtree(settings.data_dir / name, ignore_errors=True)
            for name in FILES:
                (settings.data_dir / name).unlink(missing_ok=True)
    except (BadEnvironmentError, RefusedError) as error:
        print(f"demo-reset: {error}", file=sys.stderr)
        return 2
    print(f"{settings.data_dir} is empty; `make up` begins anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())

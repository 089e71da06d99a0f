"""How one emulator is run."""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

#: Where `muster/process` containers find their scripts: the repository's examples/ folder.
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@dataclass(frozen=True, slots=True)
class Settings:
    """All knobs of an emulator; the defaults are those of the command. Times in seconds."""

    host: str = "127.0.0.1"
    port: int = 0  # 0: any free one
    token: str | None = None  # bearer token that every request must carry
    cluster: str = "empty"  # demo | empty | path of a cluster file
    nodes: int = 0  # this many generated nodes beside the cluster's own
    shape: str = "dgx-h100"  # hardware of the generated nodes
    state: Path | None = None  # file that keeps the objects over a restart
    state_delay: float = 0.5  # at most this long after a change the file is written
    examples: Path = field(default=EXAMPLES)
    controllers: bool = True  # False: as an API server without a controller-manager
    watch_cache: int = 20_000  # changes kept per resource for watches that resume
    bookmark_seconds: float = 60.0
    pod_gc_seconds: float = 40.0  # a pod bound to a node that is not there fails after this

    @property
    def runs_processes(self) -> bool:
        """Only an emulator that nobody else can reach runs commands for whoever asks."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

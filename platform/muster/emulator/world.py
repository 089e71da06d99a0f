"""The emulated cluster without its HTTP server: store, kubelets, controllers, faults."""

from muster.emulator.api.lists import Lister
from muster.emulator.api.watches import Watches
from muster.emulator.control.faults import FaultBook
from muster.emulator.controllers.manager import Controllers
from muster.emulator.hardware.cluster import load_cluster
from muster.emulator.kubelet.kubelet import Kubelets
from muster.emulator.registry.create import create
from muster.emulator.registry.resources import NAMESPACES
from muster.emulator.registry.store import Store
from muster.emulator.settings import Settings
from muster.emulator.statefile import StateFile

FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class World:
    """Everything one emulator holds; started and stopped with its server."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.store = Store(settings.watch_cache)
        self.lister = Lister(self.store)
        self.watches = Watches(self.store, settings.bookmark_seconds)
        self.faults = FaultBook()
        self.kubelets = Kubelets(self.store, settings)
        self.controllers = Controllers(self.store, settings)
        self._state = StateFile(self.store, settings) if settings.state else None

    async def start(self) -> None:
        """Load the state file or the cluster, then let kubelets and controllers look at it."""
        restored = self._state is not None and self._state.load()
        if not restored:
            for name in FIRST_NAMESPACES:
                create(self.store, NAMESPACES, "", {"metadata": {"name": name}})
            load_cluster(self.store, self.settings)
        self.kubelets.start()
        if self.settings.controllers:
            self.controllers.start()
        if self._state is not None:
            self._state.start()

    async def stop(self) -> None:
        """End every process of every pod; write the state last."""
        await self.controllers.stop()
        if self._state is not None:
            await self._state.stop()
        await self.kubelets.stop()

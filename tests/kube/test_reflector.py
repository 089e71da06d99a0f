"""The reflector: whatever happens to list and watch, in the end it has told exactly what there is."""

import threading
from collections.abc import Iterator

import pytest

from muster.kube.gateway import Gateway
from muster.kube.informer.messages import Fine, Gone, Listed, Message, Put, Trouble
from muster.kube.informer.reflector import Reflector, Timing
from muster.kube.resources import PODS
from tests.support.kubernetes import Faults, eventually, pod

QUICK = Timing(watch_seconds=(2, 4), read_seconds=1.0, first_wait=0.02, most_wait=0.2)


class Ears:
    """Collects what a reflector tells; `names` is what should exist by it."""

    def __init__(self) -> None:
        self.told: list[Message] = []
        self._objects: dict[str, str] = {}
        self._lock = threading.Lock()

    def __call__(self, message: Message) -> None:
        with self._lock:
            self.told.append(message)
            if isinstance(message, Put):
                self._objects[message.uid] = message.object["metadata"]["name"]
            elif isinstance(message, Gone):
                self._objects.pop(message.uid, None)

    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._objects.values())

    def count(self, kind: type[Message]) -> int:
        with self._lock:
            return sum(isinstance(message, kind) for message in self.told)


@pytest.fixture
def ears(gateway: Gateway) -> Iterator[Ears]:
    gateway.create(PODS, "default", pod("first"))
    ears = Ears()
    reflector = Reflector(gateway, PODS, ears, timing=QUICK)
    reflector.start()
    eventually(lambda: ears.count(Listed))
    yield ears
    reflector.stop()


def test_list_then_watch(gateway: Gateway, ears: Ears) -> None:
    assert ears.names() == ["first"]
    gateway.create(PODS, "default", pod("second"))
    eventually(lambda: ears.names() == ["first", "second"])
    gateway.delete(PODS, "default", "first", grace_seconds=0)
    eventually(lambda: ears.names() == ["second"])
    assert ears.count(Listed) == 1


@pytest.mark.parametrize("order", ["end", "cut", "cut-mid-line"])
def test_a_watch_that_ends_goes_on_where_it_was(gateway: Gateway, ears: Ears, faults: Faults, order: str) -> None:
    faults.watches(order)
    gateway.create(PODS, "default", pod("second"))
    eventually(lambda: ears.names() == ["first", "second"])
    assert ears.count(Listed) == 1
    assert ears.count(Trouble) == 0


def test_a_stalled_watch_is_noticed(gateway: Gateway, ears: Ears, faults: Faults) -> None:
    faults.watches("stall")
    gateway.create(PODS, "default", pod("second"))
    eventually(lambda: ears.names() == ["first", "second"], seconds=5)


def test_expired_means_list_anew_and_tell_the_difference(gateway: Gateway, ears: Ears, faults: Faults) -> None:
    faults.add(code=410, method="WATCH", path="pods")
    faults.watches("end")
    gateway.delete(PODS, "default", "first", grace_seconds=0)
    again = gateway.create(PODS, "default", pod("first"))
    eventually(lambda: ears.count(Listed) == 2)
    eventually(lambda: ears.names() == ["first"])
    assert [message.uid for message in ears.told if isinstance(message, Put)][-1] == again["metadata"]["uid"]


def test_expired_within_the_stream(gateway: Gateway, ears: Ears, faults: Faults) -> None:
    faults.watches("expire")
    eventually(lambda: ears.count(Listed) == 2)
    assert ears.names() == ["first"]


@pytest.mark.parametrize("code", [429, 500, 503])
def test_an_overloaded_server_is_waited_for(gateway: Gateway, ears: Ears, faults: Faults, code: int) -> None:
    faults.add(code=code, method="WATCH", times=3)
    faults.watches("end")
    gateway.create(PODS, "default", pod("second"))
    eventually(lambda: ears.names() == ["first", "second"])
    assert ears.count(Trouble) == 0


@pytest.mark.parametrize("code", [401, 403])
def test_being_refused_is_told_and_so_is_its_end(gateway: Gateway, ears: Ears, faults: Faults, code: int) -> None:
    faults.add(code=code, method="WATCH", times=2)
    faults.watches("end")
    eventually(lambda: ears.count(Fine) == 1)
    assert ears.count(Trouble) == 2
    gateway.create(PODS, "default", pod("second"))
    eventually(lambda: ears.names() == ["first", "second"])


def test_a_list_that_breaks_off_forgets_nothing(gateway: Gateway, ears: Ears, faults: Faults) -> None:
    """What an earlier, broken list has told must be taken back by the next."""
    for name in ("b", "c"):
        gateway.create(PODS, "default", pod(name))
    eventually(lambda: len(ears.names()) == 3)
    faults.add(code=500, method="GET", path="/pods$", times=2)
    faults.watches("expire")
    gateway.delete(PODS, "default", "b", grace_seconds=0)
    eventually(lambda: ears.count(Listed) == 2)
    eventually(lambda: ears.names() == ["c", "first"])

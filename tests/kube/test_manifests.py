"""What we create: names that fit, the environment that launchers expect, devices as each kind of pool takes them."""

import orjson
import pytest

from muster.clusters.choices import Binding
from muster.kube.manifests import objects
from muster.kube.manifests.devices import NoMechanism, demand
from muster.kube.manifests.environment import environment, hostfile
from muster.kube.manifests.gang import Device, Gang, Member
from muster.kube.manifests.names import attempt_name, pod_name
from muster.kube.manifests.pods import pod
from muster.placements.choices import HoldKind

GIB = 2**30
SPEC = {"image": "demo/train", "command": ["python", "train.py"], "env": {"A": 1, "YES": True}}


def member(**changes: object) -> Member:
    fields = {
        "worker_id": 7, "role": "worker", "role_order": 0, "index": 0, "rank": 0, "pod_name": "p-0", "node": "n0",
        "gpus": 2, "cpu_milli": 4000, "memory_bytes": 8 * GIB, "spec": SPEC, "binding": Binding.EXACT,
        "devices": (Device(2, "GPU-2", HoldKind.WHOLE), Device(3, "GPU-3", HoldKind.WHOLE)),
    }  # fmt: skip
    return Member(**(fields | changes))


def gang(*members: Member, **changes: object) -> Gang:
    fields = {
        "attempt_id": 5, "job_id": 3, "name": "train-3-1", "namespace": "vision", "tenant": "vision",
        "queue": "vision/train", "scheduler_name": "muster", "members": members,
    }  # fmt: skip
    return Gang(**(fields | changes))


@pytest.mark.parametrize(
    ("job", "replica", "number", "name"),
    [
        ("llama-ft", 0, 1, "llama-ft-12-1"),
        ("llama-ft", 3, 2, "llama-ft-12-r3-2"),
        ("7b", 0, 1, "j-7b-12-1"),
        ("a" * 63, 0, 1, "a" * 24 + "-12-1"),
        ("Über.Job_1", 0, 1, "ber-job-1-12-1"),
    ],
)
def test_names_are_dns_labels(job: str, replica: int, number: int, name: str) -> None:
    assert attempt_name(job, 12, replica=replica, number=number) == name


def test_a_long_role_goes_by_its_place() -> None:
    assert pod_name("train-3-1", role="worker", role_order=0, index=12) == "train-3-1-worker-12"
    long = pod_name("a" * 24 + "-123456-r100-10", role="r" * 30, role_order=2, index=9999)
    assert long.endswith("-2-9999")
    assert len(long) <= 63


def test_the_environment_launchers_expect() -> None:
    first, second = member(), member(worker_id=8, index=1, rank=1, pod_name="p-1", gpus=0, devices=())
    both = gang(first, second)
    assert environment(both, second) == {
        "MUSTER_JOB": "3", "MUSTER_ROLE": "worker", "MUSTER_INDEX": "1",
        "MASTER_ADDR": "p-0.train-3-1.vision.svc", "MASTER_PORT": "29500",
        "RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0",
        "PET_NNODES": "2", "PET_NODE_RANK": "1", "PET_NPROC_PER_NODE": "1",
        "PET_MASTER_ADDR": "p-0.train-3-1.vision.svc", "PET_MASTER_PORT": "29500",
        "JAX_NUM_PROCESSES": "2", "JAX_PROCESS_ID": "1",
        "JAX_COORDINATOR_ADDRESS": "p-0.train-3-1.vision.svc:29500",
        "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile", "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "HYDRA_HOST_FILE": "/etc/mpi/hostfile",
    }  # fmt: skip
    assert hostfile(both) == "p-0.train-3-1.vision.svc slots=2\np-1.train-3-1.vision.svc slots=1\n"


def test_a_role_without_gpus_takes_no_rank() -> None:
    launcher = member(role="launcher", rank=None, pod_name="p-l", gpus=0, devices=())
    variables = environment(gang(member(), launcher), launcher)
    assert "RANK" not in variables
    assert (variables["MASTER_ADDR"], variables["WORLD_SIZE"]) == ("p-0.train-3-1.vision.svc", "1")


def test_a_pod_is_ours_restricted_and_unbound() -> None:
    whole = gang(member(), grace_seconds=120, checkpoint_command=("save.sh",))
    made = pod(whole, member(), objects.owner({"metadata": {"name": "train-3-1", "uid": "u"}}))
    spec, container = made["spec"], made["spec"]["containers"][0]
    assert made["metadata"]["labels"]["muster.scheduler/attempt"] == "5"
    assert (spec["schedulerName"], spec["hostname"], spec["subdomain"]) == ("muster", "p-0", "train-3-1")
    assert "nodeName" not in spec
    assert (spec["terminationGracePeriodSeconds"], spec["automountServiceAccountToken"]) == (120, False)
    assert container["lifecycle"] == {"preStop": {"exec": {"command": ["save.sh"]}}}
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert spec["securityContext"]["runAsNonRoot"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "2", "memory": str(8 * GIB)}
    assert container["resources"]["requests"] == {"cpu": "4000m", "nvidia.com/gpu": "2", "memory": str(8 * GIB)}
    assert {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": str(4 * GIB)}} in spec["volumes"]
    told = {entry["name"]: entry["value"] for entry in container["env"]}
    assert (told["A"], told["YES"]) == ("1", "true")


def test_the_jobs_own_variables_win() -> None:
    made = pod(gang(member()), member(spec={**SPEC, "env": {"MASTER_PORT": "1234"}}), [])
    ports = [entry["value"] for entry in made["spec"]["containers"][0]["env"] if entry["name"] == "MASTER_PORT"]
    assert ports == ["1234"]


def test_nobody_gives_himself_devices() -> None:
    spec = {
        **SPEC,
        "annotations": {"muster.scheduler/devices": "{}", "hami.io/vgpu-devices-to-allocate": "x", "own": 1},
    }
    made = pod(gang(member()), member(spec=spec, binding=Binding.COUNT), [])
    assert made["metadata"]["annotations"] == {"own": "1", "muster.scheduler/queue": "vision/train"}


def share(milli: int = 500) -> Device:
    return Device(4, "GPU-4", HoldKind.SHARE, milli=milli, memory_bytes=80 * GIB)


MIG = Device(4, "GPU-4", HoldKind.MIG, profile="3g.40gb", start=4)
SLICE = Device(4, "GPU-4", HoldKind.SLICE, milli=250)
WHOLE = Device(4, "GPU-4", HoldKind.WHOLE)


@pytest.mark.parametrize(
    ("binding", "sharing", "device", "resources", "told"),
    [
        ("exact", "", WHOLE, {"nvidia.com/gpu": 1}, {"gpus": [4], "kind": "whole"}),
        ("exact", "", share(), {}, {"gpus": [4], "kind": "share", "milli": 500}),
        ("exact", "mps", share(), {}, {"gpus": [4], "kind": "share", "milli": 500}),
        ("exact", "", MIG, {}, {"gpus": [4], "kind": "mig", "mig": "3g.40gb", "start": 4}),
        ("exact", "time-slicing", SLICE, {}, {"gpus": [4], "kind": "slice", "milli": 250}),
        ("count", "", WHOLE, {"nvidia.com/gpu": 1}, None),
        ("count", "mps", share(), {"nvidia.com/gpu.shared": 1}, None),
        ("count", "mig", MIG, {"nvidia.com/mig-3g.40gb": 1}, None),
        ("count", "time-slicing", SLICE, {"nvidia.com/gpu.shared": 1}, None),
        (
            "count", "hami", share(),
            {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 40960, "nvidia.com/gpucores": 50}, None,
        ),
    ],
)  # fmt: skip
def test_devices_in_the_words_of_the_pool(binding, sharing, device, resources, told) -> None:
    asked = demand(member(binding=binding, sharing=sharing, devices=(device,)), "worker")
    assert asked.resources == resources
    written = asked.annotations.get("muster.scheduler/devices")
    if told is None:
        assert written is None
    else:
        assert written is not None
        assert orjson.loads(written)["worker"].items() >= told.items()


def test_hami_is_told_which_gpu() -> None:
    asked = demand(member(binding="count", sharing="hami", devices=(share(),)), "worker")
    assert asked.annotations["hami.io/vgpu-devices-to-allocate"] == "GPU-4,NVIDIA,40960,50:;"


@pytest.mark.parametrize(("sharing", "device"), [("", share()), ("", SLICE), ("mps", SLICE)])
def test_a_pool_without_a_mechanism_refuses(sharing: str, device: Device) -> None:
    with pytest.raises(NoMechanism, match="n0"):
        demand(member(binding=Binding.COUNT, sharing=sharing, devices=(device,)), "worker")

"""The pure parts: patches, quantities, quality of service, tolerations, how a volume's path is mapped."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from muster.emulator.kubelet.environment import expand, mapped
from muster.emulator.registry.errors import ApiError
from muster.emulator.registry.patches import json_patch, merge_patch, strategic_patch
from muster.emulator.registry.pods import qos_class, requests_of
from muster.emulator.registry.quantities import exact, in_units


@pytest.mark.parametrize(
    ("document", "patch", "merged"),
    [
        ({"a": 1}, {"a": None}, {}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_merge_patch(document: Any, patch: Any, merged: Any) -> None:
    assert merge_patch(document, patch) == merged


@pytest.mark.parametrize(
    ("document", "patch", "merged"),
    [
        (
            {"conditions": [{"type": "A", "status": "True"}, {"type": "B"}]},
            {"conditions": [{"type": "A", "reason": "r"}, {"type": "C"}]},
            {"conditions": [{"type": "A", "status": "True", "reason": "r"}, {"type": "B"}, {"type": "C"}]},
        ),
        (
            {"taints": [{"key": "a"}, {"key": "b"}]},
            {"taints": [{"key": "a", "$patch": "delete"}]},
            {"taints": [{"key": "b"}]},
        ),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}, {"tolerations": [{"key": "b"}]}),
        ({"finalizers": ["a"]}, {"finalizers": ["b"]}, {"finalizers": ["a", "b"]}),
        ({"finalizers": ["a", "b"]}, {"$deleteFromPrimitiveList/finalizers": ["a"]}, {"finalizers": ["b"]}),
        ({"a": {"b": 1}}, {"a": {"$patch": "replace", "c": 2}}, {"a": {"c": 2}}),
        ({"env": [{"name": "a"}]}, {"env": None}, {}),
    ],
)
def test_strategic_patch(document: Any, patch: Any, merged: Any) -> None:
    assert strategic_patch(document, patch) == merged


@pytest.mark.parametrize(
    ("operations", "patched"),
    [
        ([{"op": "add", "path": "/a/-", "value": 3}], {"a": [1, 2, 3], "b~/c": 1}),
        ([{"op": "add", "path": "/a/0", "value": 0}], {"a": [0, 1, 2], "b~/c": 1}),
        ([{"op": "remove", "path": "/b~0~1c"}], {"a": [1, 2]}),
        ([{"op": "replace", "path": "/a/1", "value": 9}], {"a": [1, 9], "b~/c": 1}),
        ([{"op": "move", "from": "/a/0", "path": "/d"}], {"a": [2], "b~/c": 1, "d": 1}),
        ([{"op": "copy", "from": "/a/0", "path": "/d"}], {"a": [1, 2], "b~/c": 1, "d": 1}),
        ([{"op": "test", "path": "/a/0", "value": 1}], {"a": [1, 2], "b~/c": 1}),
    ],
)
def test_json_patch(operations: Any, patched: Any) -> None:
    assert json_patch({"a": [1, 2], "b~/c": 1}, operations) == patched


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/none"},
        {"op": "add", "path": "/a/5", "value": 1},
        {"op": "test", "path": "/a", "value": 1},
        {"op": "dance", "path": "/a"},
        {"path": "/a"},
    ],
)
def test_a_json_patch_that_cannot_be_applied(operation: Any) -> None:
    with pytest.raises(ApiError) as refused:
        json_patch({"a": []}, [operation])
    assert refused.value.code == 422


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("500m", Fraction(1, 2)),
        ("2Ki", 2048),
        ("1e3", 1000),
        ("1.5Gi", 3 << 29),
        ("3", 3),
        (4, 4),
        ("1E", 10**18),
        (".5", Fraction(1, 2)),
    ],
)
def test_quantities(text: str | int, number: Fraction | int) -> None:
    assert exact(text) == number


def test_units_are_rounded_up() -> None:
    assert in_units("cpu", "1500u") == 2
    assert in_units("memory", "1500m") == 2
    with pytest.raises(ValueError, match="not a quantity"):
        exact("much")


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, "BestEffort"),
        ({"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1000m", "memory": "1024Mi"}}, "Guaranteed"),
    ],
)
def test_quality_of_service(resources: Any, expected: str) -> None:
    assert qos_class({"containers": [{"resources": resources}]}) == expected


def test_a_pod_takes_the_larger_of_its_phases() -> None:
    def container(cpu: str, **more: Any) -> Any:
        return {"resources": {"requests": {"cpu": cpu}}, **more}

    spec = {
        "containers": [container("1"), container("2")],
        "initContainers": [container("5"), container("500m", restartPolicy="Always")],
        "overhead": {"cpu": "100m"},
    }
    assert requests_of(spec) == {"cpu": 5100}


def test_paths_of_mounts_are_mapped_where_a_path_begins() -> None:
    mounts = {"/data": Path("/pod/data"), "/data/in": Path("/pod/in")}
    assert mapped("/data/in/x --out=/data:/data", mounts) == "/pod/in/x --out=/pod/data:/pod/data"
    assert mapped("/database s3://b/data", mounts) == "/database s3://b/data"


def test_variables_expand_as_in_a_pod_spec() -> None:
    assert expand("$(A)-$(B)-$$(A)-$A", {"A": "1"}) == "1-$(B)-$(A)-$A"

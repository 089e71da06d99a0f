"""The submit form asks for GPUs by what they can do, of what the clusters have; each field names its key of the job file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

import muster.workloads.spec
from muster.web.reading.submit import gpu_needs
from tests.support.builders import make_flavor, make_node, make_world

pytestmark = pytest.mark.django_db
SCHEMA = json.loads((Path(muster.workloads.spec.__file__).parent / "schema.json").read_text())


@pytest.fixture
def page() -> str:
    world, client = make_world(), Client()
    make_node(world.cluster, flavor=make_flavor(precisions=["bf16", "fp8"]))
    make_node(world.cluster, flavor=make_flavor("MI300X-192GB", vendor="amd", compute_capability=None))
    client.force_login(world.member)
    return client.get(reverse("web:submit")).content.decode()


def test_every_feature_has_a_field_and_every_field_a_key(page: str) -> None:
    paths = set(re.findall(r'data-path="([^"]+)"', page))
    features = {f"gpu.{name}" for name in SCHEMA["$defs"]["gpu_needs"]["properties"]}
    assert features | {"locality.required", "locality.preferred", "nic", "spread", "exclusive"} <= paths
    for path in paths:
        assert _described(path.split(".")), path


def _described(keys: list[str]) -> bool:
    """Whether the schema has this path."""
    known: dict[str, Any] = SCHEMA
    for key in keys:
        reference = known.get("$ref", "")
        known = SCHEMA["$defs"][reference.rpartition("/")[2]] if reference else known
        if key not in known.get("properties", {}):
            return False
        known = known["properties"][key]
    return True


def test_what_may_be_chosen_is_what_there_is(page: str) -> None:
    assert '<option value="9">9.0 (H100)</option>' in page
    assert '<option value="amd">amd</option>' in page
    assert "bf16 fp8" in page


def test_models_of_one_capability_stand_together() -> None:
    flavors = [make_flavor("H100-80GB"), make_flavor("H200-141GB"), make_flavor("L4-24GB", compute_capability=89)]
    assert gpu_needs(flavors)["capabilities"] == [("8.9", "8.9 (L4)"), ("9", "9.0 (H100, H200)")]

"""Every page for every kind of person, empty and filled, behind a prefix, and within a bound of queries."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse, set_script_prefix

from tests.support.builders import make_node, make_quota, make_user, make_world, submit
from tests.support.placing import place

pytestmark = pytest.mark.django_db

PAGES = ("overview", "jobs", "submit", "queues", "cluster", "fragmentation")
MOST_QUERIES = 40


@pytest.fixture
def world():
    return make_world(nodes=2)


@pytest.fixture
def filled(world):
    """A running job, a waiting one, and a quota."""
    make_quota(world.queue, world.cluster, guaranteed=8, limit=16)
    node = world.cluster.nodes.first()
    place(submit(world.member, name="runs", gpus=4, workers=2, walltime="1h"), [node])
    submit(world.member, name="waits", gpus=8)
    return world


def client(user=None) -> Client:
    found = Client()
    if user is not None:
        found.force_login(user)
    return found


def addresses(world) -> list[str]:
    jobs = [reverse("web:job", args=[job.pk]) for job in world.tenant.jobs.all()]
    nodes = [reverse("web:node", args=[node.pk]) for node in world.cluster.nodes.all()]
    return [*(reverse(f"web:{name}") for name in PAGES), *jobs, *nodes]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_has_nothing_to_show_says_so(world, name):
    answer = client(world.member).get(reverse(f"web:{name}"))
    assert answer.status_code == 200


@pytest.mark.parametrize("role", ["admin", "tenant_admin", "member", "viewer"])
def test_every_page_is_there_for_everybody_in_the_tenant(filled, role):
    for address in addresses(filled):
        assert client(getattr(filled, role)).get(address).status_code == 200, address


@pytest.mark.parametrize("name", PAGES)
def test_nobody_sees_anything_before_signing_in(world, name):
    answer = client().get(reverse(f"web:{name}"))
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("web:sign-in"))


@pytest.mark.parametrize("name", PAGES)
def test_who_is_in_no_tenant_is_told_what_to_do(world, name):
    answer = client(make_user()).get(reverse(f"web:{name}"))
    assert answer.status_code == 403
    assert "in no tenant yet" in answer.content.decode()


def test_a_job_of_others_is_not_there(filled):
    other = make_world("elsewhere").member
    job = filled.tenant.jobs.first()
    assert client(other).get(reverse("web:job", args=[job.pk])).status_code == 404
    assert job.name not in client(other).get(reverse("web:jobs")).content.decode()
    names = client(other).get(reverse("web:map")).json()["names"]
    assert names["jobs"] == {}


def test_the_map_names_the_jobs_one_may_see(filled):
    frame = client(filled.member).get(reverse("web:map")).json()
    assert [job["name"] for job in frame["names"]["jobs"].values()] == ["runs"]
    assert frame["levels"] == ["block", "rack"]
    assert all(groups == [list(range(8))] for groups in frame["groups"].values())


def test_pages_ask_a_bounded_number_of_queries(filled):
    for number in range(12):
        submit(filled.member, name=f"more-{number}", gpus=1)
        make_node(filled.cluster)
    caller = client(filled.member)
    for address in addresses(filled):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            caller.get(address)
        assert len(queries) <= MOST_QUERIES, address


def test_every_address_in_a_page_stands_behind_the_prefix(filled, settings):
    settings.FORCE_SCRIPT_NAME = "/muster"
    settings.STATIC_URL = "/muster/static/"
    caller = client(filled.member)
    set_script_prefix("/muster/")
    try:
        for address in addresses(filled):
            page = caller.get(address.removeprefix("/muster")).content.decode()
            found = re.findall(r'(?:href|src|action|formaction|hx-get|data-[a-z]+-url)="(/[^"]*)"', page)
            assert found, address
            assert [one for one in found if not one.startswith("/muster/")] == []
    finally:
        set_script_prefix("/")


def test_no_page_has_a_script_or_style_in_it(filled):
    for address in addresses(filled):
        page = client(filled.member).get(address).content.decode()
        assert re.findall(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*(?:src=|application/json))", page) == []


def test_every_component_is_on_the_styleguide_in_debug_only(world, settings):
    caller = client(world.member)
    assert caller.get(reverse("web:styleguide")).status_code == 404
    settings.DEBUG = True
    page = caller.get(reverse("web:styleguide")).content.decode()
    assert {f"mu-{name}" for name in ("map", "wiring", "log", "yaml", "chart")} <= set(re.findall(r"<(mu-\w+)", page))
    assert caller.get(reverse("web:styleguide-map"), {"nodes": 3}).json()["nodes"][2]["name"] == "h100-02"
    assert "Traceback" in caller.get(reverse("web:styleguide-log")).content.decode()

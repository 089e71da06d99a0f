"""Filtering, ordering and paging by the address alone."""

from __future__ import annotations

import re

import pytest
from django.http import QueryDict

from muster.accounts.standing import standing_of
from muster.web.reading import pages
from muster.web.reading.jobs import ORDERS, job_list
from muster.workloads.models import Job
from tests.support.builders import make_world, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    return make_world()


@pytest.fixture
def many(world, monkeypatch):
    """Eleven jobs, four on a page."""
    monkeypatch.setattr(pages, "SIZE", 4)
    for number in range(11):
        submit(world.member, name=f"job-{number % 3}", priority=number % 2)
    return world


def shown(world, query=""):
    return job_list(standing_of(world.member), world.cluster.pk, QueryDict(query.lstrip("?")))


@pytest.mark.parametrize("ordering", [sign + name for name in ORDERS for sign in ("", "-")])
def test_pages_forward_and_back_show_every_row_once(many, ordering):
    forward, query = [], f"ordering={ordering}"
    while query:
        page = shown(many, query)["page"]
        forward.append([job.pk for job in page.rows])
        last, query = page, page.next
    assert sorted(pk for rows in forward for pk in rows) == sorted(Job.objects.values_list("pk", flat=True))
    back = [forward[-1]]
    while last.previous:
        last = shown(many, last.previous)["page"]
        back.append([job.pk for job in last.rows])
    assert back == forward[::-1]


def test_filters_narrow_rows_and_counts(many):
    found = shown(many, "q=job-1&state=waiting")
    assert {job.name for job in found["page"].rows} == {"job-1"}
    assert {group.key: group.count for group in found["groups"]}["waiting"] == 4
    assert shown(many, "queue=elsewhere")["page"].rows == []


def test_a_number_finds_the_job(many):
    job = Job.objects.order_by("pk")[5]
    assert job.pk in [one.pk for one in shown(many, f"q={job.pk}")["page"].rows]


@pytest.mark.parametrize(
    "query", ["ordering=password", "after=nonsense", "state=gone", "after=WzEsICJ4Il0", "q=%25%27"]
)
def test_nonsense_in_the_address_is_no_error(many, query):
    assert shown(many, query)["page"] is not None


def test_a_cursor_survives_its_way_through_an_address():
    assert pages.decode(pages.encode("ünïcode/+=", 7)) == ("ünïcode/+=", 7)
    assert re.fullmatch(r"[\w-]+", pages.encode("ünïcode/+=", 7))

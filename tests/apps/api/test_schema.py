"""The OpenAPI description is whole, and the interface keeps to it."""

from __future__ import annotations

import io

import pytest
import schemathesis
from django.core import signals
from django.core.cache import cache
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from muster.accounts.actions import create_token
from tests.support.builders import make_quota, make_world, submit

# A few of the many: CI has minutes.
EXAMPLES = 6
CHECKS = [not_a_server_error, response_schema_conformance, status_code_conformance]
SCHEMA = schemathesis.openapi.from_wsgi("/api/v1/schema/", get_wsgi_application())
# Its list of every wrong header and method for every address takes minutes and says the same each time.
SCHEMA.config.phases.update(phases=["fuzzing"])


def test_the_description_is_valid_and_free_of_warnings():
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=io.StringIO())


@pytest.fixture
def one_connection(db):
    """A request through WSGI would else close the connection in whose transaction this test lives."""
    for signal in (signals.request_started, signals.request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (signals.request_started, signals.request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def secret(one_connection):
    cache.clear()
    world = make_world(nodes=1)
    make_quota(world.queue, world.cluster, guaranteed=4)
    for number in range(3):
        submit(world.member, name=f"job-{number}")
    return create_token(world.member, "schemathesis")[1]


# Logs come from a cluster, which this test has not; a token that is asked to sign in is soon told to wait.
@SCHEMA.exclude(path_regex="/logs/|/login/").parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,  # where CI is set, schemathesis is not random, and that goes with no database
)
def test_whatever_is_asked_is_answered_as_described(case, secret):
    answer = case.call(headers={"Authorization": f"Bearer {secret}"})
    case.validate_response(answer, checks=CHECKS)

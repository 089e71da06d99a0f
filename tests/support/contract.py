"""What every endpoint promises, tested by inheritance: an endpoint names its rows and inherits the rest.

    class TestNodes(RowsContract):
        path = "/api/v1/nodes/"
        is_shared = True

        def make(self, world, count): return [make_node(world.cluster) for _ in range(count)]

`PermissionContract` is a table: for every endpoint what each kind of person gets.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import resolve
from rest_framework.test import APIClient

from tests.support.builders import World, make_user, make_world

ROLES = ("admin", "tenant_admin", "member", "viewer", "stranger", "other", "anonymous")
SAMPLES = {"CharField": "x", "DecimalField": "1", "DateTimeField": "2026-01-01T00:00:00Z", "TypedChoiceField": "true"}


def client(user: Any = None) -> APIClient:
    """A caller signed in as this user; None is nobody."""
    found = APIClient()
    if user is not None:
        found.force_authenticate(user)
    return found


def client_of(world: World, role: str) -> APIClient:
    """A caller with this role towards the world's tenant; `other` is a member of another tenant."""
    if role == "anonymous":
        return client()
    if role == "stranger":
        return client(make_user())
    return client(make_world(f"{world.tenant.name}-other").member if role == "other" else getattr(world, role))


@pytest.mark.django_db
class RowsContract:
    """List and detail of rows that belong to a tenant, or that all members share."""

    path: ClassVar[str]
    is_shared: ClassVar[bool] = False
    """Whether members of other tenants see the rows too."""
    lookup: ClassVar[str] = "id"

    @pytest.fixture
    def world(self) -> World:
        return make_world()

    def make(self, world: World, count: int) -> list[Any]:
        """Make `count` rows that the world's member sees."""
        raise NotImplementedError

    def rows(self, caller: APIClient, **parameters: Any) -> list[dict[str, Any]]:
        answer = caller.get(self.path, parameters)
        assert answer.status_code == 200, answer.content
        return answer.json()["results"]

    @property
    def view(self) -> Any:
        return resolve(self.path).func.cls

    def test_the_list_has_the_one_shape(self, world):
        self.make(world, 3)
        answer = client(world.member).get(self.path, {"limit": 2}).json()
        assert set(answer) == {"count", "next", "previous", "results"}
        assert answer["count"] >= 3
        assert len(answer["results"]) == 2
        assert "offset=2" in answer["next"]

    def test_a_cursor_walks_through_all_rows_once_and_counts_nothing(self, world):
        self.make(world, 3)
        caller, address, seen = client(world.member), f"{self.path}?cursor=&limit=2", []
        while address:
            answer = caller.get(address).json()
            assert answer["count"] is None
            seen += [row[self.lookup] for row in answer["results"]]
            address = answer["next"]
        assert sorted(seen) == sorted(row[self.lookup] for row in self.rows(caller))

    def test_nobody_signed_in_is_401_and_a_stranger_sees_nothing(self, world):
        self.make(world, 1)
        assert client().get(self.path).status_code == 401
        assert self.rows(client(make_user())) == []

    def test_members_of_other_tenants_see_what_is_shared_and_no_more(self, world):
        self.make(world, 1)
        mine = {row[self.lookup] for row in self.rows(client(world.member))}
        other = client(make_world("elsewhere").member)
        assert bool(mine & {row[self.lookup] for row in self.rows(other)}) == self.is_shared
        expected = 200 if self.is_shared else 404
        assert {other.get(f"{self.path}{key}/").status_code for key in mine} == {expected}

    def test_the_detail_carries_a_version(self, world):
        self.make(world, 1)
        caller = client(world.member)
        address = f"{self.path}{self.rows(caller)[0][self.lookup]}/"
        answer = caller.get(address)
        assert answer.status_code == 200
        assert caller.get(address, headers={"If-None-Match": answer["ETag"]}).status_code == 304

    def test_fields_and_omit_choose_and_refuse_what_is_not_there(self, world):
        self.make(world, 1)
        caller = client(world.member)
        names = set(self.rows(caller)[0])
        other = sorted(names - {self.lookup})[0]
        assert set(self.rows(caller, fields=f"{self.lookup},{other}")[0]) == {self.lookup, other}
        assert set(self.rows(caller, omit=self.lookup)[0]) == names - {self.lookup}
        assert caller.get(self.path, {"fields": "nonsense"}).status_code == 400

    def test_every_order_works_both_ways_and_others_are_refused(self, world):
        self.make(world, 2)
        caller = client(world.member)
        for name in self.view.orders:
            for sign in ("", "-"):
                assert len(self.rows(caller, ordering=sign + name)) >= 1
        assert caller.get(self.path, {"ordering": "password"}).status_code == 400

    def test_words_are_looked_for_and_strange_ones_do_no_harm(self, world):
        self.make(world, 1)
        caller = client(world.member)
        if self.view.search:
            assert self.rows(caller, q="no-such-word-anywhere") == []
            assert len(self.rows(caller, q="\0 %")) >= 0

    def test_every_filter_with_every_suffix_is_understood(self, world):
        self.make(world, 1)
        caller = client(world.member)
        filterset = getattr(self.view, "filterset_class", None)
        for name, found in (filterset.base_filters if filterset else {}).items():
            one = found.extra["one"]
            value = SAMPLES.get(type(one).__name__) or one.choices[0][0]
            answer = caller.get(self.path, {name: value})
            assert answer.status_code == 200, (name, answer.content)

    def test_an_unknown_filter_is_refused_with_the_nearest_name(self, world):
        answer = client(world.member).get(self.path, {"limt": "2"})
        assert answer.status_code == 400
        assert "did you mean `limit`" in answer.json()["message"]

    def test_the_number_of_queries_does_not_grow_with_the_rows(self, world):
        caller = client(world.member)
        self.make(world, 2)
        few = self.queries(caller)
        self.make(world, 6)
        more = self.queries(caller)
        assert len(more) == len(few), "\n".join(more)

    def queries(self, caller: APIClient) -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            self.rows(caller)
        return [query["sql"] for query in captured]


@pytest.mark.django_db
class PermissionContract:
    """`table`: method, address, body, and the status that each role of ROLES gets. `{pk}` in an address is `make`'s answer."""

    table: ClassVar[list[tuple[str, str, Any, tuple[int, ...]]]]

    def make(self, world: World) -> int:
        """Make the one object that the table's addresses name; its id."""
        raise NotImplementedError

    @pytest.mark.parametrize("role", ROLES)
    def test_everybody_gets_what_the_table_says(self, role):
        for number, (method, address, body, statuses) in enumerate(self.table):
            world = make_world(f"tenant-{number}")
            path = address.format(pk=self.make(world))
            answer = getattr(client_of(world, role), method)(path, body, format="json")
            assert answer.status_code == statuses[ROLES.index(role)], (method, path, role, answer.content)

"""Lists of queues, nodes, clusters, flavors: what every member may see."""

from __future__ import annotations

from muster.workloads.models import Job
from tests.support import builders
from tests.support.builders import make_quota, submit
from tests.support.contract import RowsContract, client


class TestQueues(RowsContract):
    path = "/api/v1/queues/"
    is_shared = True

    def make(self, world, count):
        top = world.queue.parent
        names = [f"q{next(builders.NUMBERS)}" for _ in range(count)]
        made = [builders.Queue.objects.create(tenant=world.tenant, name=name, parent=top) for name in names]
        return [make_quota(queue, world.cluster, guaranteed=4) for queue in made]

    def test_totals_count_the_queues_jobs_and_name_none(self, world):
        submit(world.member, gpus=2, workers=3)
        Job.objects.filter(pk=submit(world.member, gpus=1, workers=2).pk).update(state="starting")
        rows = {row["name"]: row for row in self.rows(client(world.viewer))}
        row = rows["train"]
        assert row["totals"] == rows["vision"]["totals"] == {"waiting": 1, "active": 1, "gpus_used": 2}
        assert (row["full_name"], row["parent"], row["capabilities"]) == ("vision/train", "vision", [])


class TestNodes(RowsContract):
    path = "/api/v1/nodes/"
    is_shared = True

    def make(self, world, count):
        return [builders.make_node(world.cluster, gpus=2) for _ in range(count)]

    def test_a_node_lies_in_its_domains_outermost_first(self, world):
        builders.make_node(world.cluster, domains={"rack": "r1", "block": "b0", "unknown": "x"})
        assert list(self.rows(client(world.member))[0]["domains"].items()) == [("block", "b0"), ("rack", "r1")]

    def test_a_node_shows_its_gpus_and_who_may_cordon_it(self, world):
        self.make(world, 1)
        row = self.rows(client(world.member))[0]
        assert [gpu["flavor"] for gpu in row["gpus"]] == ["H100-80GB"] * 2
        assert (row["capabilities"], self.rows(client(world.admin))[0]["capabilities"]) == ([], ["cordon"])


class TestClusters(RowsContract):
    path = "/api/v1/clusters/"
    is_shared = True

    def make(self, world, count):
        return [builders.make_cluster() for _ in range(count)]

    def test_how_a_cluster_is_reached_is_not_told(self, world):
        assert not {"kubeconfig_path", "connection", "kubeconfig_sealed"} & set(self.rows(client(world.admin))[0])


class TestFlavors(RowsContract):
    path = "/api/v1/flavors/"
    is_shared = True

    def make(self, world, count):
        return [builders.make_flavor(f"X{next(builders.NUMBERS)}-80GB") for _ in range(count)]

"""Addresses of the pages."""

from django.urls import URLPattern, URLResolver, path, register_converter

from muster.web.styleguide import views as styleguide
from muster.web.views import cluster, fragmentation, jobs, overview, people, submit


class JobVerb:
    """What the list's buttons may do to jobs."""

    regex = "cancel|hold|release"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class NodeOrder(JobVerb):
    """What may be ordered of a node."""

    regex = "cordon|uncordon"


register_converter(JobVerb, "job_verb")
register_converter(NodeOrder, "node_order")

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="overview"),
    path("map/", overview.map_data, name="map"),
    path("search/", overview.search, name="search"),
    path("cluster/choose/", overview.choose_cluster, name="choose-cluster"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/<int:pk>/", jobs.job, name="job"),
    path("jobs/<int:pk>/priority/", jobs.priority, name="job-priority"),
    path("jobs/<job_verb:what>/", jobs.change, name="jobs-change"),
    path("submit/", submit.submit, name="submit"),
    path("submit/check/", submit.check, name="submit-check"),
    path("queues/", cluster.queues, name="queues"),
    path("cluster/", cluster.nodes, name="cluster"),
    path("fragmentation/", fragmentation.fragmentation, name="fragmentation"),
    path("nodes/<int:pk>/", cluster.node, name="node"),
    path("nodes/<int:pk>/<node_order:what>/", cluster.order, name="node-order"),
    path("sign-in/", people.SignIn.as_view(), name="sign-in"),
    path("sign-out/", people.SignOut.as_view(), name="sign-out"),
    # Shown in debug only: the views themselves refuse otherwise.
    path("styleguide/", styleguide.page, name="styleguide"),
    path("styleguide/map/", styleguide.map_data, name="styleguide-map"),
    path("styleguide/log/", styleguide.log, name="styleguide-log"),
]

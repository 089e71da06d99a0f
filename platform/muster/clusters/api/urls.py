"""Addresses of clusters and hardware."""

from rest_framework.routers import SimpleRouter

from muster.clusters.api import views

router = SimpleRouter()
router.register("clusters", views.ClusterView, basename="cluster")
router.register("nodes", views.NodeView, basename="node")
router.register("flavors", views.FlavorView, basename="flavor")

urlpatterns = router.urls

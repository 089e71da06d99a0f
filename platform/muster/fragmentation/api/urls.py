"""Addresses of fragmentation."""

from django.urls import path

from muster.fragmentation.api import views

urlpatterns = [
    path("clusters/<int:pk>/fragmentation/", views.FragmentationView.as_view(), name="cluster-fragmentation"),
    path("clusters/<int:pk>/fragmentation/history/", views.HistoryView.as_view(), name="cluster-fragmentation-history"),
    path("clusters/<int:pk>/fits/", views.FitsView.as_view(), name="cluster-fits"),
]

"""Samples of fragmentation, and the mix of work that it is relative to.

Writers: fragmentation.actions alone; the preview process samples, the cycle worker learns the mix.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from muster.clusters.models import Cluster


class FragmentationSample(models.Model):
    """What fitted at one instant. `data` is as `muster.preview.measuring` describes it; a page and the API show it as it is."""

    id = models.BigAutoField(primary_key=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="fragmentation_samples")
    at = models.DateTimeField()
    data = models.JSONField()

    class Meta:
        ordering = ["-at"]
        indexes = [models.Index(fields=["cluster", "-at"], name="fragmentation_latest")]

    def __str__(self) -> str:
        return f"{self.cluster_id} at {self.at:%Y-%m-%d %H:%M:%S}"


class LearnedMix(models.Model):
    """What tends to be asked for in a cluster: learned once a day from the jobs of the last days."""

    cluster = models.OneToOneField(Cluster, primary_key=True, on_delete=models.CASCADE, related_name="learned_mix")
    at = models.DateTimeField()
    tasks = models.JSONField(help_text="task shapes with their popularity, most popular first")
    usable = ArrayField(
        models.FloatField(),
        help_text="φ: the part of a GPU that is of use when r thousandths of it are left, r = 0..1000",
    )

    class Meta:
        verbose_name_plural = "learned mixes"

    def __str__(self) -> str:
        return f"{self.cluster_id} at {self.at:%Y-%m-%d}"

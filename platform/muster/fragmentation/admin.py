"""Samples and mixes, to look at."""

from __future__ import annotations

from django.contrib import admin

from muster.common.admin import ReadOnlyAdmin
from muster.fragmentation.models import FragmentationSample, LearnedMix


@admin.register(FragmentationSample)
class FragmentationSampleAdmin(ReadOnlyAdmin):
    """What fitted when."""

    list_display = ("cluster", "at")
    list_filter = ("cluster",)


@admin.register(LearnedMix)
class LearnedMixAdmin(ReadOnlyAdmin):
    """What fragmentation is measured against."""

    list_display = ("cluster", "at")

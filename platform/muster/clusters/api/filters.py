"""Filters of clusters, nodes and flavors."""

from muster.common.api.filters import SuffixFilterSet, number, text, yes_no


class ClusterFilters(SuffixFilterSet):
    """By name."""

    columns = {"name": text("name"), "enabled": yes_no("enabled")}


class NodeFilters(SuffixFilterSet):
    """By place, state and hardware."""

    columns = {
        "name": text("name"),
        "cluster": text("cluster__name"),
        "pool": text("pool__name"),
        "shape": text("shape__name"),
        "ready": yes_no("ready"),
        "cordoned": yes_no("cordoned"),
        "nvlink_domain": text("nvlink_domain"),
        "memory_bytes": number("memory_bytes"),
    }


class FlavorFilters(SuffixFilterSet):
    """By name, vendor and memory."""

    columns = {"name": text("name"), "vendor": text("vendor"), "memory_bytes": number("memory_bytes")}

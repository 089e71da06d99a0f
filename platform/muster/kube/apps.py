"""kube brings the executor's plugins."""

from django.apps import AppConfig


class KubeConfig(AppConfig):
    """Makes the names of the executor's plugins known to whoever checks a profile."""

    name = "muster.kube"

    def ready(self) -> None:
        from muster.kube.executor.plugins.names import declare_all

        declare_all()

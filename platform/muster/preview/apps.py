"""Preview answers the questions that submitting asks."""

from django.apps import AppConfig


class PreviewConfig(AppConfig):
    """Registers the judge of drafts, and the signs of life of the process that answers."""

    name = "muster.preview"

    def ready(self) -> None:
        from muster.preview import alive, asking
        from muster.workloads import judging

        judging.register(asking.judge)
        alive.connect()

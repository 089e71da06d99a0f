"""Preview answers the questions that submitting asks."""

from django.apps import AppConfig


class PreviewConfig(AppConfig):
    """Registers the answers to what others ask, and the signs of life of the process that gives them."""

    name = "muster.preview"

    def ready(self) -> None:
        from muster.fragmentation import fitting
        from muster.preview import alive, asking
        from muster.workloads import judging

        judging.register(asking.judge)
        fitting.register(asking.fits)
        alive.connect()

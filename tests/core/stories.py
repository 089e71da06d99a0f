"""Small worlds as scenario text, decided at once; what core tests share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scheduler.cycle import plan
from scheduler.model.plan import Plan
from scheduler.model.policy import Profile
from scheduler.scenario.reader import Scenario, read_scenario
from scheduler.scenario.report import report


@dataclass(frozen=True)
class Story:
    """A decided scenario."""

    scenario: Scenario
    plan: Plan
    told: dict[str, Any]

    def reason(self, job: str) -> str | None:
        """Why a job waits; None when it does not."""
        reason: str | None = self.told["jobs"][job]["reason"]
        return reason

    def nodes(self, job: str) -> list[str]:
        """The node of each worker, in rank order."""
        return [worker["node"] for worker in self.told["jobs"][job]["placement"]]

    def gpus(self, job: str) -> list[list[int]]:
        return [worker["gpus"] for worker in self.told["jobs"][job]["placement"]]

    def placed(self) -> list[str]:
        return [name for name, job in self.told["jobs"].items() if job["decision"] == "placed"]


def tell(text: str, profile: Profile | None = None) -> Story:
    """Read, decide and report. `name`, and one queue `q` where none are given, need not be written."""
    if "queues:" not in text:
        text += "\nqueues: {q: {}}\n"
    scenario = read_scenario(f"name: story\n{text}", "story.yaml")
    policy = scenario.policy if profile is None else replace(scenario.policy, profile=profile)
    decided = plan(scenario.snapshot, policy, scenario.now)
    return Story(scenario, decided, report(scenario, decided, elapsed=0))

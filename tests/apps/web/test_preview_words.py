"""What the submit page says about a job before it is submitted."""

import pytest

from muster.web.reading.submit_check import preview
from muster.workloads.judging import Finding


@pytest.mark.parametrize(
    ("finding", "sentence", "level"),
    [
        (None, "", "info"),
        (Finding(False, "NoMatchingNodes", "No node has it."), "It can never run here: No node has it.", "warn"),
        (Finding(True, "InsufficientGPUs", "Needs 8."), "It would wait: Needs 8.", "warn"),
        (Finding(True, nodes={"a": ["w-0"], "b": ["w-1"]}), "It starts now, on a, b.", "good"),
        (Finding(True, nodes={name: ["w"] for name in "abcdef"}), "It starts now, on a, b, c, d and 2 more.", "good"),
    ],
)
def test_the_scheduler_s_answer_is_a_sentence(finding, sentence, level):
    assert preview(finding) == (sentence, level)

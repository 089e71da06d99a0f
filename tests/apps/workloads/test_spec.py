"""Job files: what is accepted, what it becomes, and how what is wrong is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from muster.workloads import spec
from muster.workloads.spec import SpecInvalid, units
from muster.workloads.spec.reference import reference

HEAD = "name: a\nqueue: q\nimage: i\n"
EXAMPLES = Path(__file__).parents[3] / "examples"

PRODUCT = """\
name: llama-ft
queue: vision
template: pytorch-ddp
image: registry/train:1
command: [torchrun, train.py]
workers: 4
gpus: H100:8
topology: {preferred: rack}
walltime: 8h
checkpoint: {every: 10m, grace: 2m, command: [save.sh], path: /ckpt}
priority: high
env: {WANDB_MODE: offline, DEBUG: true}
volumes: [{claim: datasets, path: /data, read_only: true}]
"""


def canonical(text):
    document = spec.read(text)
    spec.check(document)
    return spec.canonical(document.data)


def problems(text):
    with pytest.raises(SpecInvalid) as refused:
        canonical(text)
    return refused.value.problems


def test_the_example_of_the_guide_becomes_seconds_bytes_and_integers():
    found = canonical(PRODUCT)
    assert found["gpu"] == {"model": ["H100"]}
    assert (found["gpus"], found["workers"], found["walltime"]) == (8, 4, 28800)
    assert found["checkpoint"] == {"every": 600, "grace": 120, "command": ["save.sh"], "path": "/ckpt"}
    assert found["env"] == {"WANDB_MODE": "offline", "DEBUG": "true"}
    assert spec.shape_body(found) == {
        "kind": "training", "workers": 4, "gpus": 8, "gpu": {"model": ["H100"]}, "topology": {"preferred": "rack"},
    }  # fmt: skip


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.name)
def test_every_example_is_a_good_job_file(file):
    assert canonical(file.read_text())["name"]


def test_the_guide_says_what_the_schema_says():
    page = EXAMPLES.parent / "docs" / "guide" / "job-file.md"
    assert page.read_text() == reference(), "run `python -m muster.workloads.spec.reference > docs/guide/job-file.md`"


def test_files_that_ask_alike_become_the_same_form():
    plain = canonical(HEAD + "gpus: 1\n")
    wordy = canonical(
        HEAD + "gpus: '1'\nworkers: 1\nspread: false\nnic: preferred\nenv: {}\ntolerations: []\nheld: false\n"
    )
    assert plain == wordy


@pytest.mark.parametrize(
    ("line", "key", "words"),
    [
        ("workres: 4", "workres", "did you mean `workers`"),
        ("gpsu: 4", "gpsu", "did you mean `gpus`"),
        ("nvlink: required", "nvlink", "did you mean `gpu.nvlink`"),
        ("checkpoint: {evry: 5m}", "checkpoint.evry", "did you mean `every`"),
        ("workers: four", "workers", "a whole number from 1 to 10000"),
        ("workers: 0", "workers", "a whole number from 1 to 10000"),
        ("gpus: H100", "gpus", "MODEL:NUMBER as H100:8"),
        ("cpus: yes", "cpus", "a number of cores"),
        ("memory: 64 gigs", "memory", "a size, as 64Gi"),
        ("walltime: soon", "walltime", "a time above zero"),
        ("walltime: 0", "walltime", "a time above zero"),
        ("spread: maybe", "spread", "true or false"),
        ("topology: {required: a, preferred: b}", "topology", "not both"),
        ("env: {A: [1]}", "env.A", "a text, not a list"),
        ("env: {NVIDIA_VISIBLE_DEVICES: all}", "env.NVIDIA_VISIBLE_DEVICES", "set by the platform"),
        ("annotations: {nvidia.com/use-gpuuuid: x}", "annotations.nvidia.com/use-gpuuuid", "belongs to the cluster"),
        ("volumes: [{claim: a, path: data}]", "volumes[0].path", "an absolute path"),
        ("gpus: 1\ngpu_fraction: 0.5", "gpu_fraction", "in one way"),
        ("gpus: H100:1\ngpu: {model: A100}", "gpus", "names a model and so does"),
        ("workers: 2\nroles: [{name: a}]", "workers", "each role says it"),
        ("roles: [{name: a}, {name: a}]", "roles[0].name", "Two roles"),
        ("roles: [{name: a, near: b}]", "roles[0].near", "another role"),
        ("not_before: tomorrow", "not_before", "a time with its zone"),
        ("retries: -1", "retries", "from 0 to 100"),
    ],
)
def test_what_is_wrong_is_said_with_its_key_and_line(line, key, words):
    found = {problem.key: problem for problem in problems(HEAD + line + "\n")}
    assert words in found[key].message
    assert found[key].line in (4, 5)


@pytest.mark.parametrize(
    "line",
    ["min_workers: 2", "kind: inference", "kind: batch", "kind: placeholder", "min_runtime: 1h", "preemptible: false",
     "workers: 4+", "gpus: H100:1..2", "roles: [{name: a, min_workers: 1}]", "template: notebook"],
)  # fmt: skip
def test_what_is_not_built_is_refused_by_name(line):
    [problem] = problems(HEAD + line + "\n")
    assert problem.code == "not_supported_yet"
    assert "is not supported yet" in problem.message
    assert problem.key.rpartition(".")[2] in line


def test_every_problem_is_told_at_once_and_missing_keys_are_named():
    found = problems("nmae: a\nqueue: q\nworkers: x\n")
    assert {problem.key for problem in found} == {"nmae", "name", "image", "workers"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "This is not YAML"),
        ("- a\n", "is a mapping"),
        ("", "is a mapping"),
        ("name: a\nname: b\n", "is there twice"),
        ("name: !!python/object/apply:os.system [ls]\n", "This is not YAML"),
        ("x: " + "y" * 300_000, "larger than 256 KiB"),
        ("a: &a [*a]\n", "This is not YAML"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text, words):
    [problem] = problems(text)
    assert words in problem.message


def test_a_few_lines_of_aliases_cannot_fill_the_memory():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for before, name in zip("abcdef", "bcdefg", strict=True):
        bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    assert "more than" in problems(bomb)[0].message


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("2d", 172800), (5.2, 6), ("1.5h", 5400), ("1h 5s", 3605)],
)
def test_times(text, seconds):
    assert units.seconds(text) == seconds


@pytest.mark.parametrize(
    ("text", "count"),
    [("64Gi", 64 * 2**30), ("512M", 512 * 10**6), (7, 7), ("1.5Ki", 1536), ("2TiB", 2**41), ("100", 100)],
)
def test_sizes(text, count):
    assert units.size(text) == count


def test_cores():
    assert (units.cpu_milli("500m"), units.cpu_milli(0.5), units.cpu_milli("8"), units.cores(1500)) == (
        500,
        500,
        8000,
        1.5,
    )

"""The templates of the submit page: small job files that run as they are, once image and command are one's own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class JobTemplate:
    """A job file to begin with. `body` follows the lines with name and queue."""

    key: str
    title: str
    remark: str
    body: str


TEMPLATES = (
    JobTemplate(
        "pytorch-ddp",
        "PyTorch DDP",
        "torchrun on several nodes",
        """image: registry/train:1
command: [torchrun, train.py]
workers: 2
gpus: 8
topology: {preferred: rack}
walltime: 8h
""",
    ),
    JobTemplate(
        "deepspeed",
        "DeepSpeed",
        "one launcher per node",
        """image: registry/deepspeed:1
command: [deepspeed, --no_ssh, train.py]
workers: 2
gpus: 8
topology: {preferred: rack}
walltime: 8h
""",
    ),
    JobTemplate(
        "mpi",
        "MPI",
        "launcher and workers",
        """image: registry/mpi:1
roles:
  - {name: launcher, workers: 1, cpus: 2, ends_job: true, command: [mpirun, train]}
  - {name: worker, workers: 4, gpus: 4}
walltime: 8h
""",
    ),
    JobTemplate(
        "jax",
        "JAX",
        "one process per node",
        """image: registry/jax:1
command: [python, train.py]
workers: 2
gpus: 8
topology: {preferred: rack}
walltime: 8h
""",
    ),
    JobTemplate(
        "notebook",
        "Notebook",
        "one GPU to try things",
        """image: registry/notebook:1
command: [jupyter, lab, --ip=0.0.0.0]
gpus: 1
walltime: 4h
""",
    ),
    JobTemplate(
        "plain",
        "Plain",
        "one command, one worker",
        """image: registry/tools:1
command: [python, run.py]
gpus: 1
walltime: 1h
""",
    ),
)


def fill(template: JobTemplate, queue: str) -> str:
    """The template as a job file for this queue."""
    return f"name: {template.key}\nqueue: {queue}\ntemplate: {template.key}\n{template.body}"

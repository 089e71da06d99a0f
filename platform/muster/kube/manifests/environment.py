"""The environment a worker finds: what torchrun, JAX and MPI need to meet; one process per worker, torchrun makes its own."""

from __future__ import annotations

from muster.kube.manifests.gang import Gang, Member

MASTER_PORT = 29500
HOSTFILE_FOLDER = "/etc/mpi"


def environment(gang: Gang, member: Member) -> dict[str, str]:
    """The variables we set; the job's own win over them."""
    first = gang.ranked[0] if gang.ranked else member
    own = {
        "MUSTER_JOB": str(gang.job_id),
        "MUSTER_ROLE": member.role,
        "MUSTER_INDEX": str(member.index),
        "MASTER_ADDR": gang.host(first),
        "MASTER_PORT": str(MASTER_PORT),
        "WORLD_SIZE": str(len(gang.ranked)),
        "OMPI_MCA_orte_default_hostfile": f"{HOSTFILE_FOLDER}/hostfile",
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "HYDRA_HOST_FILE": f"{HOSTFILE_FOLDER}/hostfile",
    }
    if member.rank is not None:
        own |= _ranked(gang, member, own["MASTER_ADDR"])
    return own


def _ranked(gang: Gang, member: Member, master: str) -> dict[str, str]:
    rank, size = str(member.rank), str(len(gang.ranked))
    return {
        "RANK": rank,
        "LOCAL_RANK": "0",
        "PET_NNODES": size,
        "PET_NODE_RANK": rank,
        "PET_NPROC_PER_NODE": str(max(1, member.gpus)),
        "PET_MASTER_ADDR": master,
        "PET_MASTER_PORT": str(MASTER_PORT),
        "JAX_NUM_PROCESSES": size,
        "JAX_PROCESS_ID": rank,
        "JAX_COORDINATOR_ADDRESS": f"{master}:{MASTER_PORT}",
    }


def hostfile(gang: Gang) -> str:
    """Open MPI's list of hosts: each ranked worker with a slot per GPU, one for a worker without."""
    return "".join(f"{gang.host(member)} slots={max(1, member.gpus)}\n" for member in gang.ranked)

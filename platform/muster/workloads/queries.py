"""Reading jobs, filtered by what the reader may see."""

from __future__ import annotations

from django.db.models import QuerySet

from muster.accounts.standing import Standing
from muster.common.errors import NotFound
from muster.workloads.models import Job


def visible_jobs(standing: Standing) -> QuerySet[Job]:
    """The jobs of the user's tenants, newest first, with the names a row shows."""
    jobs = Job.objects.select_related("tenant", "queue__tenant", "cluster", "owner", "priority_class")
    return jobs if standing.is_platform_admin else jobs.filter(tenant_id__in=standing.roles)


def visible_job(standing: Standing, job_id: int) -> Job:
    """One job; NotFound also where it is another tenant's."""
    job = visible_jobs(standing).filter(pk=job_id).first()
    if job is None:
        raise NotFound(f"There is no job {job_id}.")
    return job

"""The list of jobs, one job, and what people do to them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from muster.placements.actions import cancel_jobs
from muster.web.access import back, frame_of, page, verb
from muster.web.reading.job import job_page
from muster.web.reading.jobs import job_list
from muster.workloads.actions import hold_jobs, release_jobs, set_priority
from muster.workloads.queries import visible_job

DONE = {"cancel": "Cancelled", "hold": "Held", "release": "Released"}


@page
def jobs(request: HttpRequest) -> HttpResponse:
    """Jobs as the address filters, orders and pages them."""
    frame = frame_of(request)
    context = {"title": "Jobs", "section": "jobs", "crumbs": [{"label": "Jobs"}]}
    return render(
        request,
        "web/jobs.html",
        context | job_list(frame.standing, frame.cluster.pk if frame.cluster else None, request.GET),
    )


@page
def job(request: HttpRequest, pk: int) -> HttpResponse:
    """One job."""
    standing = frame_of(request).standing
    found = visible_job(standing, pk)
    crumbs = [{"label": "Jobs", "url": reverse("web:jobs")}, {"label": found.name}]
    context = {"title": found.name, "section": "jobs", "crumbs": crumbs}
    return render(request, "web/job.html", context | job_page(standing, found))


@verb
def change(request: HttpRequest, what: str) -> HttpResponse:
    """Cancel, hold or release the jobs named by `job`: all of them or none."""
    ids = [int(pk) for pk in request.POST.getlist("job") if pk.isdecimal()]
    if what == "cancel":
        done = cancel_jobs(request.user, ids)
    else:
        done = {"hold": hold_jobs, "release": release_jobs}[what](request.user, ids)
    messages.success(request, f"{DONE[what]} {done[0].name if len(done) == 1 else f'{len(done)} jobs'}.")
    return back(request)


@verb
def priority(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a job another priority."""
    value = request.POST.get("priority", "")
    found = set_priority(request.user, pk, int(value) if value.removeprefix("-").isdecimal() else value)
    messages.success(request, f"{found.name} has priority {found.priority}.")
    return redirect("web:job", pk)

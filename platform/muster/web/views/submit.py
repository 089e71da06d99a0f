"""Submitting a job: the form, the judgement while one types, and the submission."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from muster.common.errors import MusterError
from muster.web.access import frame_of, page
from muster.web.reading.submit import submit_form
from muster.web.reading.submit_check import judge
from muster.workloads import judging
from muster.workloads.actions import submit_job


@page
def submit(request: HttpRequest) -> HttpResponse:
    """The form; a submission leads to the job's page, a refusal back here with what is wrong."""
    error = None
    if request.method == "POST":
        try:
            job = submit_job(
                request.user,
                request.POST.get("source", ""),
                idempotency_key=request.POST.get("key", ""),
                judge=judging.warn_or_refuse(strict=False),
            )
            return redirect("web:job", job.pk)
        except MusterError as refusal:
            error = refusal
    context = {"title": "Submit a job", "section": "submit", "crumbs": [{"label": "Submit"}], "error": error}
    form = submit_form(frame_of(request).standing, request.POST or request.GET)
    return render(request, "web/submit.html", context | form, status=error.status if error else 200)


@page
@require_POST
def check(request: HttpRequest) -> HttpResponse:
    """What is wrong with the job file as it is now, or what would become of it."""
    return JsonResponse(judge(frame_of(request).standing, request.POST.get("source", "")))

"""Subscribing: the row and the run that welcomes it are one commit."""

from __future__ import annotations

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from newsletter.jobs import app, welcome
from newsletter.models import Subscriber


@csrf_exempt  # so that curl can post; a form of your own would have its token
@require_POST
def subscribe(request: HttpRequest) -> HttpResponse:
    with transaction.atomic():
        subscriber = Subscriber.objects.create(email=request.POST["email"])
        app.within(connection).enqueue(welcome, subscriber.pk)
    return HttpResponse(status=201)

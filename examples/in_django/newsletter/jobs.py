"""What is done, and when. The rota is in the database of the project: a transaction of Django's can hold both."""

from __future__ import annotations

from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone

import rota
from newsletter.models import Subscriber

app = rota.App(f"sqlite:///{settings.DATABASES['default']['NAME']}")


@app.action(max_attempts=5)
def welcome(subscriber_id: int) -> None:
    """Write to someone who has subscribed."""
    close_old_connections()  # as Django does before a request: this thread may have had its own for days
    Subscriber.objects.filter(pk=subscriber_id).update(welcomed_at=timezone.now())


@app.step()
def send_digest() -> int:
    """Write to all of them; returns how many they are."""
    close_old_connections()
    return Subscriber.objects.exclude(welcomed_at=None).count()


@app.on_start
def register() -> None:
    app.schedule(send_digest, "0 7 * * *", id="daily-digest", tz="Europe/Berlin")

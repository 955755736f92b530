"""Where the views are."""

from __future__ import annotations

from django.urls import path

from newsletter import views

urlpatterns = [path("subscribe", views.subscribe)]

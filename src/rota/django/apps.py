"""What Django knows of rota. There are no models: rota keeps its own tables."""

from __future__ import annotations

from django.apps import AppConfig


class RotaConfig(AppConfig):
    name = "rota.django"
    label = "rota"
    verbose_name = "rota"

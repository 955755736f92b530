"""Finding the app: `module:attribute`, from an argument, ROTA_APP, or `[tool.rota]` in pyproject.toml."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from rota.app import App
from rota.errors import AppNotFound, shown
from rota.settings import Settings


def find_app(name: str | None = None) -> App:
    """The app of that name, or of the settings.

    Raises:
        AppNotFound: none is named, its module cannot be imported, or what is there is no app.
    """
    place = name if name is not None else Settings.load().app
    if place is None:
        raise AppNotFound("no app is named")
    module_name, colon, attribute = place.partition(":")
    if not colon or not module_name or not attribute:
        raise AppNotFound(f"{shown(place)} is no place of an app")
    found: object = _module(module_name, place)
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, App):
        raise AppNotFound(f"{shown(place)} is {'not there' if found is None else 'no rota.App'}")
    return found


def _module(name: str, place: str) -> object:
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)  # as `python -m` does: apps live in the folder one stands in
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise AppNotFound(f"{shown(place)}: there is no module {error.name}") from error
        raise

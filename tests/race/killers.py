"""An app with a handler that ends its process, and innocent ones that are at work beside it."""

from __future__ import annotations

import os
from threading import Event

import rota

app = rota.App()


@app.action()
def killer() -> None:
    Event().wait(0.1)  # so that others have started
    os._exit(7)


@app.action()
def innocent() -> None:
    Event().wait(0.3)

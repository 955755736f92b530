"""The settings of the project. What rota needs are the last lines."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(os.environ.get("NEWSLETTER_DATA", Path(__file__).parent / "data"))
FOLDER.mkdir(parents=True, exist_ok=True)

SECRET_KEY = "an example has no secrets"
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
ROOT_URLCONF = "newsletter.urls"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": FOLDER / "newsletter.db",
        "OPTIONS": {"transaction_mode": "IMMEDIATE"},  # or SQLite refuses to write after a read that is out of date
    }
}

INSTALLED_APPS = ["newsletter", "rota.django"]
ROTA_APP = "newsletter.jobs:app"

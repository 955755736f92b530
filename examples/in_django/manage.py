"""A newsletter in Django, with its jobs in rota.

    cd examples/in_django
    python manage.py migrate --run-syncdb
    python manage.py rota_worker &
    python manage.py runserver &
    curl -d email=ada@example.org localhost:8000/subscribe

`newsletter/jobs.py` has the jobs and their schedule, `newsletter/views.py` a transaction with a run in it.
"""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
    execute_from_command_line(sys.argv)

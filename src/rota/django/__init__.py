"""rota in a Django project. With `"rota.django"` in INSTALLED_APPS, `manage.py` has the command `rota_worker`."""

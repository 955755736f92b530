"""Refusals: why the database would not do what a statement says, a constraint being in the way, say."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError


def reason_of(error: DBAPIError) -> str:
    """The database's own words; what PostgreSQL adds on the place of it is left out."""
    diagnosis = getattr(error.orig, "diag", None)
    primary: str | None = getattr(diagnosis, "message_primary", None)
    return primary or str(error.orig)

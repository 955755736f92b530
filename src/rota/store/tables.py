"""The tables: the data model on one page. Operators query them, so names and columns are part of the interface."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from rota.store.types import Instant, Json, RunId, Seconds, keep_by_key, keep_instants, one_of

metadata = MetaData()


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


schedules = Table(
    "rota_schedules",
    metadata,
    Column("id", Text, primary_key=True),
    Column("app", Text),
    Column("key", Text),
    Column("source", Text, nullable=False),
    Column("plan", Text),
    Column("kind", Text, nullable=False),
    Column("job", Text, nullable=False),
    Column("job_app", Text),
    Column("job_name", Text, nullable=False),
    Column("cron_spec", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("anchor", Instant),
    Column("input", Json),
    Column("def_version", Text),
    Column("enabled", Boolean, nullable=False),
    Column("paused_at", Instant),
    Column("paused_by", Text),
    Column("retired", Boolean, nullable=False),
    Column("retired_at", Instant),
    Column("next_run_at", Instant),
    Column("last_run_at", Instant),
    Column("last_run_id", RunId),
    Column("last_error", Text),
    Column("consecutive_failures", Integer, nullable=False),
    Column("not_before", Instant),
    Column("label", Text),
    Column("description", Text),
    Column("actor", Text),
    Column("options", Json, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("app", "key"),
    one_of("source", "code", "file", "studio", "system"),
    one_of("kind", "step", "action", "workflow", "command", "call"),
)
Index("rota_schedules_due", schedules.c.enabled, schedules.c.retired, schedules.c.next_run_at, schedules.c.id)
Index(
    "rota_schedules_held",
    schedules.c.enabled,
    schedules.c.retired,
    schedules.c.next_run_at,
    schedules.c.not_before,
    **_where("not_before is not null"),
)
Index("rota_schedules_job", schedules.c.job)
Index("rota_schedules_source", schedules.c.source)

schedule_fires = Table(
    "rota_schedule_fires",
    metadata,
    Column("schedule_id", Text, nullable=False),
    Column("scheduled_for", Instant, nullable=False),
    Column("run_id", RunId, nullable=False),
    Column("version", Integer, nullable=False),
    Column("origin", Text, nullable=False),
    Column("fired_at", Instant, nullable=False),
    Column("worker", Text),
    PrimaryKeyConstraint("schedule_id", "scheduled_for"),  # this is the exactly-once
    one_of("origin", "scan", "trigger"),
)

schedule_misses = Table(
    "rota_schedule_misses",
    metadata,
    Column("schedule_id", Text, nullable=False),
    Column("first_slot", Instant, nullable=False),
    Column("last_slot", Instant, nullable=False),
    Column("slots", Integer),  # exact to 1,000, else NULL
    Column("reason", Text, nullable=False),
    Column("detail", Text),
    Column("version", Integer, nullable=False),
    Column("recorded_at", Instant, nullable=False),
    PrimaryKeyConstraint("schedule_id", "first_slot"),
    one_of("reason", "late", "paused", "poisoned", "blocked", "overlap", "condition", "edited", "retired"),
)

runs = Table(
    "rota_runs",
    metadata,
    Column("id", RunId, primary_key=True),
    Column("job", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("queue", Text, nullable=False),
    Column("priority", Integer, nullable=False, server_default="0"),
    Column("state", Text, nullable=False),
    Column("input", Json),
    Column("output", Json),
    Column("error", Text),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("lost", Integer, nullable=False, server_default="0"),
    Column("max_attempts", Integer, nullable=False),
    Column("retry", Json, nullable=False),
    Column("timeout", Seconds),
    Column("run_after", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("finished_at", Instant),
    Column("locked_by", Text),
    Column("cancel_requested_at", Instant),
    Column("idempotency_key", Text),
    Column("schedule_id", Text),
    Column("scheduled_for", Instant),
    Column("workflow_id", RunId),
    Column("node", Text),
    Column("waiting_on", Integer, nullable=False, server_default="0"),
    Column("actor", Text),
    one_of("state", "waiting", "queued", "running", "succeeded", "failed", "cancelled"),
    sqlite_autoincrement=True,  # an id is never used twice, also after pruning
)
Index(
    "rota_runs_ready",
    runs.c.queue,
    runs.c.priority.desc(),
    runs.c.run_after,
    runs.c.id,
    **_where("state = 'queued'"),
)
Index("rota_runs_suspect", runs.c.queue, **_where("state = 'queued' and lost >= 3"))  # claim.SUSPECT
Index("rota_runs_waiting", runs.c.run_after, **_where("state = 'waiting' and waiting_on = 0"))
Index("rota_runs_locked", runs.c.locked_by, **_where("state = 'running'"))
Index("rota_runs_key", runs.c.job, runs.c.idempotency_key, unique=True, **_where("idempotency_key is not null"))
Index("rota_runs_schedule", runs.c.schedule_id, runs.c.id, **_where("schedule_id is not null"))
Index(
    "rota_runs_unfinished",
    runs.c.schedule_id,
    **_where("schedule_id is not null and state in ('waiting', 'queued', 'running')"),
)
Index("rota_runs_running", runs.c.queue, **_where("state = 'running'"))
Index("rota_runs_workflow", runs.c.workflow_id, runs.c.state, **_where("workflow_id is not null"))
Index("rota_runs_finished", runs.c.finished_at, **_where("finished_at is not null"))

run_attempts = Table(
    "rota_run_attempts",
    metadata,
    Column("run_id", RunId, ForeignKey("rota_runs.id", ondelete="cascade"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("worker", Text),
    Column("started_at", Instant),
    Column("finished_at", Instant, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("error", Text),
    PrimaryKeyConstraint("run_id", "attempt"),
    one_of("outcome", "failed", "timeout", "lost"),
)

run_logs = Table(
    "rota_run_logs",
    metadata,
    Column("run_id", RunId, ForeignKey("rota_runs.id", ondelete="cascade"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("at", Instant, nullable=False),
    Column("level", Text, nullable=False),
    Column("logger", Text, nullable=False),
    Column("message", Text, nullable=False),
    PrimaryKeyConstraint("run_id", "attempt", "seq"),
)

run_edges = Table(
    "rota_run_edges",
    metadata,
    Column("workflow_id", RunId, ForeignKey("rota_runs.id", ondelete="cascade"), nullable=False),
    Column("upstream", RunId, nullable=False),
    Column("downstream", RunId, nullable=False),
    PrimaryKeyConstraint("workflow_id", "upstream", "downstream"),
)

jobs = Table(
    "rota_jobs",
    metadata,
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("app", Text),
    Column("label", Text),
    Column("description", Text),
    Column("queue", Text, nullable=False),
    Column("timeout", Seconds),
    Column("max_attempts", Integer, nullable=False),
    Column("retry", Json, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("retired", Boolean, nullable=False),
    Column("def_version", Text),
    one_of("kind", "step", "action", "workflow", "command", "call"),
)

queues = Table(
    "rota_queues",
    metadata,
    Column("name", Text, primary_key=True),
    Column("concurrency", Integer, nullable=False),
    Column("max_running", Integer),
    Column("paused", Boolean, nullable=False),
    CheckConstraint("concurrency > 0", name="concurrency_positive"),
)

workers = Table(
    "rota_workers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("queues", Json, nullable=False),
    Column("jobs", Json, nullable=False),
    Column("build", Text, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("beat_at", Instant, nullable=False),
    Column("lease_until", Instant, nullable=False),
)

locks = Table(
    "rota_locks",
    metadata,
    Column("key", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("expires_at", Instant, nullable=False),
)

clock = Table(
    "rota_clock",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("seen_at", Instant, nullable=False),
    CheckConstraint("id = 1", name="one_row"),
)

audit = Table(
    "rota_audit",
    metadata,
    Column("id", RunId, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("actor", Text),
    Column("via", Text, nullable=False),
    Column("verb", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("version", Integer),
    Column("before", Json),
    Column("after", Json),
    one_of("via", "cli", "code", "file", "studio"),
    sqlite_autoincrement=True,
)
Index("rota_audit_subject", audit.c.subject, audit.c.id)

schedule_versions = Table(
    "rota_schedule_versions",
    metadata,
    Column("schedule_id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("spec", Json, nullable=False),
    Column("effective_from", Instant, nullable=False),
    Column("actor", Text),
    PrimaryKeyConstraint("schedule_id", "version"),
)

migrations = Table(
    "rota_migrations",
    metadata,
    Column("version", Integer, primary_key=True),
    Column("applied_at", Instant, nullable=False),
)


keep_instants(metadata)
keep_by_key(metadata)

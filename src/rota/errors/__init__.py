"""Every error of rota. Each names the value, the place and the remedy, and has a built-in parent where one fits.

RotaError
├── TimeError (ValueError): CadenceInvalid, CadenceNeverComes, ZoneUnknown, DurationInvalid, InstantNaive
├── JobError: HandlerInvalid, JobNameInvalid, JobNameTaken, JobNotRegistered, JobUnknown, JobDisabled
├── PayloadError (ValueError): PayloadMismatch, PayloadNotJson, PayloadTooLarge
├── ScheduleError: ScheduleNotFound, ScheduleIdInvalid, ScheduleInvalid, ScheduleOwned, ScheduleRetired,
│   ScheduleFinished, SlotFired
├── RunError: RunNotFound, RunFinished, RunNotFailed, OptionInvalid, QueueUnknown, NoCurrentRun
├── StoreError: DatabaseUnusable, DatabaseReadOnly, DatabaseUnreachable, DatabaseBusy, SchemaNewer,
│   SchemaOutdated, ConnectionUnusable, TransactionOpen, TransactionOver, TransactionStale
├── SettingInvalid (ValueError), AppNotFound, AppRunning, StoppedFromWithin
└── NotIdle: the harness waited for what does not come
"""

from __future__ import annotations

from rota.errors.base import RotaError, naming, shown
from rota.errors.jobs import (
    HandlerInvalid,
    JobDisabled,
    JobError,
    JobNameInvalid,
    JobNameTaken,
    JobNotRegistered,
    JobUnknown,
)
from rota.errors.payloads import PayloadError, PayloadMismatch, PayloadNotJson, PayloadTooLarge
from rota.errors.runs import NoCurrentRun, OptionInvalid, QueueUnknown, RunError, RunFinished, RunNotFailed, RunNotFound
from rota.errors.schedules import (
    ScheduleError,
    ScheduleFinished,
    ScheduleIdInvalid,
    ScheduleInvalid,
    ScheduleNotFound,
    ScheduleOwned,
    ScheduleRetired,
    SlotFired,
)
from rota.errors.settings import AppNotFound, AppRunning, NotIdle, SettingInvalid, StoppedFromWithin
from rota.errors.store import (
    ConnectionUnusable,
    DatabaseBusy,
    DatabaseReadOnly,
    DatabaseUnreachable,
    DatabaseUnusable,
    SchemaNewer,
    SchemaOutdated,
    StoreError,
    TransactionOpen,
    TransactionOver,
    TransactionStale,
)
from rota.errors.time import CadenceInvalid, CadenceNeverComes, DurationInvalid, InstantNaive, TimeError, ZoneUnknown

__all__ = [
    "AppNotFound",
    "AppRunning",
    "CadenceInvalid",
    "CadenceNeverComes",
    "ConnectionUnusable",
    "DatabaseBusy",
    "DatabaseReadOnly",
    "DatabaseUnreachable",
    "DatabaseUnusable",
    "DurationInvalid",
    "HandlerInvalid",
    "InstantNaive",
    "JobDisabled",
    "JobError",
    "JobNameInvalid",
    "JobNameTaken",
    "JobNotRegistered",
    "JobUnknown",
    "NoCurrentRun",
    "NotIdle",
    "OptionInvalid",
    "PayloadError",
    "PayloadMismatch",
    "PayloadNotJson",
    "PayloadTooLarge",
    "QueueUnknown",
    "RotaError",
    "RunError",
    "RunFinished",
    "RunNotFailed",
    "RunNotFound",
    "ScheduleError",
    "ScheduleFinished",
    "ScheduleIdInvalid",
    "ScheduleInvalid",
    "ScheduleNotFound",
    "ScheduleOwned",
    "ScheduleRetired",
    "SchemaNewer",
    "SchemaOutdated",
    "SettingInvalid",
    "SlotFired",
    "StoppedFromWithin",
    "StoreError",
    "TimeError",
    "TransactionOpen",
    "TransactionOver",
    "TransactionStale",
    "ZoneUnknown",
    "naming",
    "shown",
]

"""A guest book in FastAPI, with its worker inside: one process, one SQLite file.

pip install fastapi uvicorn aiosqlite 'rota[async]'
uvicorn examples.in_fastapi:api
curl -X POST localhost:8000/guests/Ada
curl localhost:8000/schedules
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from sqlalchemy import Column, Integer, MetaData, String, Table, insert
from sqlalchemy.ext.asyncio import create_async_engine

import rota

app = rota.App()  # ROTA_DATABASE_URL says where, else it is ./rota.db
engine = create_async_engine(app.url.replace("sqlite:", "sqlite+aiosqlite:"))
guests = Table("guests", MetaData(), Column("id", Integer, primary_key=True), Column("name", String))


@app.action()
async def greet(name: str) -> None:
    """Coroutines run on the worker's own event loop, beside that of FastAPI."""
    print(f"Welcome, {name}!", flush=True)


@app.action()
def tidy() -> None:
    print("The book is in order.", flush=True)


@app.on_start
def register() -> None:
    app.schedule(tidy, "@hourly", id="tidy")


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """With nothing else to do at the start, it is `FastAPI(lifespan=app.aio.lifespan)`."""
    async with engine.begin() as connection:
        await connection.run_sync(guests.metadata.create_all)
    async with app.aio.running():
        yield
    await engine.dispose()


api = FastAPI(lifespan=lifespan)


@api.post("/guests/{name}", status_code=201)
async def sign(name: str) -> dict[str, Any]:
    """The entry and the run that greets are one commit."""
    async with engine.begin() as connection:
        await connection.execute(insert(guests).values(name=name))
        run = await app.aio.within(connection).enqueue(greet, name)
    return {"run": run.id}


@api.get("/schedules")
async def schedules() -> dict[str, Any]:
    return {schedule.id: schedule.next_run_at for schedule in await app.aio.list()}

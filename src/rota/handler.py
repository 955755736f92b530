"""Handler: what a function must be to be a job, and what can be read off it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from rota.errors import HandlerInvalid


def signature(handler: Callable[..., Any], name: str) -> tuple[inspect.Parameter | None, Any]:
    """The one required parameter, if any, and the annotation of the result."""
    if inspect.isgeneratorfunction(handler) or inspect.isasyncgenfunction(handler):
        raise HandlerInvalid(name, "it is a generator; return a value instead of yielding some")
    try:
        found = inspect.signature(handler, eval_str=True)
    except Exception as error:
        raise HandlerInvalid(name, f"its annotations cannot be read ({error}); define the types before it") from error
    parameters = [p for p in found.parameters.values() if p.default is p.empty]
    starred = [p for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY)]
    if starred or len(found.parameters) > 1:
        raise HandlerInvalid(
            name, f"it has the parameters {found}, and a job takes one input: put them into one dataclass"
        )
    returns = Any if found.return_annotation is found.empty else found.return_annotation
    return (parameters[0] if parameters else None), returns


def is_async(handler: Callable[..., Any]) -> bool:
    """Whether a call of it is to be awaited."""
    call = type(handler).__call__ if not inspect.isroutine(handler) and callable(handler) else None
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(call)


def with_parentheses(misplaced: object) -> None:
    """A decorator that was given its function at once lacks its parentheses."""
    if misplaced is not None:
        name = getattr(misplaced, "__name__", repr(misplaced))
        raise HandlerInvalid(name, "decorators take parentheses: write @app.step() or @app.action()")


def place(handler: Callable[..., Any]) -> str:
    code = getattr(handler, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(handler)

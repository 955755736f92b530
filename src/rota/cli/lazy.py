"""Groups that load a command when it is used: `rota next` must not pay for a database it never opens."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group of `{name: ("module:attribute", one line of help)}`; `aliases` are other names, not listed."""

    def __init__(
        self,
        *args: Any,
        commands: Mapping[str, tuple[str, str]],
        aliases: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **{"no_args_is_help": False} | options)
        self.known = dict(commands)
        self.aliases = dict(aliases or {})

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.known)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        name = self.aliases.get(cmd_name, cmd_name)
        if name not in self.known:
            return None
        module, _, attribute = self.known[name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not self.invoke_without_command:
            click.echo(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            near = get_close_matches(name, [*self.known, *self.aliases])
            meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise click.UsageError(f"there is no command {name!r}{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.known.items()])

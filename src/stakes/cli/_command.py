"""A command whose options may also come from a file that is named."""

from __future__ import annotations

import os
from typing import Any

from typer.core import TyperCommand

from stakes.cli._config import VARIABLE, options_for, read_config
from stakes.cli._console import note
from stakes.cli._errors import LimitError
from stakes.cli._memory import too_little
from stakes.shown.text import shown_name as name


class Command(TyperCommand):
    """Parse the arguments; what they leave open is taken from the file that --config or STAKES_CONFIG names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look at what was typed, add what the file says, let typer do the rest, and refuse what is left over."""
        own = options_of(self)
        if "config" in own and not ctx.resilient_parsing:
            typed, _, _ = self.make_parser(ctx).parse_args(list(args))
            path = typed.get("config", os.environ.get(VARIABLE) or None)
            asks = self.get_help_option(ctx)
            if path is not None and not (asks is not None and typed.get(str(asks.name))):
                commands = ctx.find_root().command.options_of_all()
                tables = read_config(path, {key: options for key, options in commands.items() if "config" in options})
                known = {option.name: key for key, option in own.items()}
                found = options_for(_name_in_files(ctx), tables, own, (known[key] for key in typed if key in known))
                ctx.default_map = {own[key].name: value for key, value in found.items()}
                named = "" if "config" in typed else f" (named by {VARIABLE})"
                listed = ", ".join(found) or "none for this command"
                note(f"options taken from {name(path, 200)}{named}: {listed}")
        ctx.allow_extra_args = True  # typer would refuse them without a remedy
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            ctx.fail(f"{ctx.command_path} {_left_over(self, [name(each, 200) for each in rest])}")
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Carry out the command where the address space holds what it needs."""
        reason = too_little()
        if reason is not None:
            raise LimitError(reason)
        return super().invoke(ctx)


def _left_over(command: Any, rest: list[str]) -> str:
    """Say which arguments are too many; files that a shell made of a pattern are the usual ones."""
    taken = [
        param.metavar or str(param.name).upper() for param in command.params if param.param_type_name == "argument"
    ]
    more = f" and {len(rest) - 1} more" if len(rest) > 1 else ""
    if "FILE" not in taken:
        return f"takes {' '.join(taken) or 'options only'}, got also {rest[0]!r}{more}"
    return (
        f"takes {'one FILE' if len(taken) == 1 else ' '.join(taken)}, got also {rest[0]!r}{more}: evaluate and compare "
        "take several Parquet files by a pattern in quotes, such as 'day=*/*.parquet'; join other files first"
    )


def _name_in_files(ctx: Any) -> str:
    names: list[str] = []
    while ctx.parent is not None:
        names.append(str(ctx.info_name))
        ctx = ctx.parent
    return ".".join(reversed(names))


def options_of(command: Any) -> dict[str, Any]:
    """Return the options of a command by their long names."""
    named = {option: param for param in command.params for option in param.opts if option.startswith("--")}
    return {option.removeprefix("--"): param for option, param in named.items()}

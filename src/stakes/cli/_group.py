"""Commands whose modules are imported when one of them is called: a page that lists them needs their first lines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from stakes.cli._command import Command, options_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class Group(TyperGroup):
    """Commands by name, each with a line about it; ``name`` lives in the module that starts with `home`."""

    home = "stakes.cli."
    about: ClassVar[Mapping[str, str]] = {}

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = {
            name: TyperCommand(name, short_help=line, rich_markup_mode=None) for name, line in self.about.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is called, as a whole."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and self.whole(str(name)), rest

    def whole(self, name: str) -> Any:
        """Import a command, or a group of them, with its options."""
        module = import_module(f"{self.home}{name}")
        if hasattr(module, "GROUP"):
            return module.GROUP
        alone = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
        alone.command(cls=Command, epilog=module.EPILOG)(getattr(module, name))
        return typer.main.get_command(alone)

    def options_of_all(self) -> dict[str, dict[str, Any]]:
        """Return the options of every command; one in a group is called after both, such as boundary.fit."""
        found: dict[str, dict[str, Any]] = {}
        for key in self.commands:
            command = self.whole(key)
            if isinstance(command, Group):
                found |= {f"{key}.{inner}": options for inner, options in command.options_of_all().items()}
            else:
                found[key] = options_of(command)
        return found

"""A command takes whole sets of options: each field of a dataclass is an option, and the command gets the set made."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stakes.cli._options import Job

    Command = Callable[..., Job]


def spread(*without: str) -> Callable[[Command], Command]:
    """Show typer the fields of the sets that a command takes, less those that mean nothing to it."""

    def decorate(command: Command) -> Command:
        hints = get_type_hints(command, include_extras=True)
        sets: dict[str, Any] = {name: kind for name, kind in hints.items() if name != "return" and is_dataclass(kind)}
        parameters: list[Parameter] = []
        for parameter in signature(command).parameters.values():
            kind = hints[parameter.name]
            parameters += _fields(kind, without) if is_dataclass(kind) else [parameter.replace(annotation=kind)]

        @wraps(command)
        def called(**given: Any) -> Job:
            made = {name: kind(**_taken(given, kind)) for name, kind in sets.items()}
            return command(**made, **given)

        vars(called)["__signature__"] = Signature(parameters)
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return called

    return decorate


def _fields(kind: Any, without: tuple[str, ...]) -> Iterator[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        if field.name not in without:
            default = Parameter.empty if field.default is MISSING else field.default
            yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name])


def _taken(given: dict[str, Any], kind: Any) -> dict[str, Any]:
    return {field.name: given.pop(field.name) for field in fields(kind) if field.name in given}

"""Which column is the label, which are models, and what to say where a name is not there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stakes.shown.nearest import nearest
from stakes.tables._errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from stakes.core.outcome import Columns

_SHOWN = 10
_MOST_UNNAMED = 100  # models that nobody named: a wide file holds features, and every pair would be compared
NAME_MODELS = (
    "Every other numeric column was taken as a model: name the model columns with models= (command line: --models)."
)


@dataclass(frozen=True)
class Roles:
    """Names of the columns that are used, whether the models were taken automatically and give probabilities.

    ``outcome`` names those that say, beside the label, what happened.
    """

    label: str
    models: tuple[str, ...]
    weight: str | None
    groups: tuple[str, ...]
    automatic: bool
    probability: bool = True
    outcome: Columns | None = None

    @property
    def measured(self) -> dict[str, float]:
        """Columns of numbers that say what happened, with the least that is possible."""
        return {} if self.outcome is None else dict(self.outcome.numbers)

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that is needed, once each."""
        weight = () if self.weight is None else (self.weight,)
        return tuple(dict.fromkeys((self.label, *self.models, *weight, *self.measured, *self.groups)))

    @property
    def numbers(self) -> tuple[str, ...]:
        """Every column of numbers, once each."""
        return (*self.models, *([] if self.weight is None else [self.weight]), *self.measured)

    @property
    def hint(self) -> str | None:
        """What to add to an error about a model's values."""
        return NAME_MODELS if self.automatic else None


def choose_roles(
    names: Sequence[str],
    numeric: Collection[str],
    *,
    label: str,
    models: Iterable[str] | None,
    weight: str | None,
    groups: Iterable[str] | None,
    file: str | None = None,
    probability: bool = True,
    outcome: Columns | None = None,
) -> Roles:
    """Give each column its role; without ``models`` every other numeric column that has a name is one."""
    reject_duplicates(names, file)
    told = () if outcome is None else tuple(outcome.numbers)
    by = tuple(dict.fromkeys([*_as_tuple(groups), *(() if outcome is None else outcome.groups)]))
    require([label, *_as_tuple(models), *([] if weight is None else [weight]), *told, *by], names, file)
    taken = {label, weight, *told, *by}
    automatic = models is None
    # a column without a name holds row numbers, as R and pandas write them
    chosen = tuple(n for n in names if n in numeric and n not in taken and n != "") if automatic else _as_tuple(models)
    if not chosen:
        others = [name for name in names if name not in taken]
        hint = f"Not numeric: {', '.join(map(repr, others[:_SHOWN]))}." if others else None
        raise DataError("no numeric column is left to be a model", file=file, hint=hint)
    if automatic and len(chosen) > _MOST_UNNAMED:
        raise DataError(
            f"{len(chosen):,} numeric columns would be models, from {chosen[0]!r} to {chosen[-1]!r}",
            file=file,
            hint=f"More than {_MOST_UNNAMED} must be named. {NAME_MODELS}",
        )
    named_once(chosen, file)
    roles = [(label, "the label"), (weight, "the weight"), *((name, "part of the outcome") for name in told)]
    once = [name for name, _ in roles]
    for name, role in roles:
        if name in chosen or (name is not None and once.count(name) > 1):
            raise DataError(f"is {role} and can be nothing else", file=file, column=name)
    return Roles(label, chosen, weight, by, automatic, probability, outcome)


def named_once(wanted: Iterable[str], file: str | None = None) -> None:
    """Refuse a column that is asked for twice."""
    twice = [name for name, count in Counter(wanted).items() if count > 1]
    if twice:
        raise DataError("must be named once among the models", file=file, column=twice[0])


def reject_duplicates(names: Iterable[str], file: str | None = None) -> None:
    """Refuse columns that share a name: nobody could tell which one is meant."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError("column names must be distinct, this one occurs more than once", file=file, column=twice[0])


def require(wanted: Iterable[str], names: Sequence[str], file: str | None = None) -> None:
    """Refuse a name that is not there, and say which ones are."""
    missing = next((name for name in wanted if name not in names), None)
    if missing is None:
        return
    text = [str(name) for name in names]
    close = nearest(str(missing), text)
    guess = "" if close is None else f"Did you mean {close!r}? "
    rest = f", ... ({len(text)} in all)" if len(text) > _SHOWN else ""
    hint = f"{guess}The columns are {', '.join(map(repr, text[:_SHOWN]))}{rest}."
    raise DataError("there is no such column", file=file, column=missing, hint=hint)


def _as_tuple(names: Iterable[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)

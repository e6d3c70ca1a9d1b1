"""``stakes compare yesterday.json today.json``: what changed between two kept evaluations."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from stakes.cli.console import UsageError, deliver, print_table
from stakes.cli.summary import STYLE, rich_table
from stakes.outputs.result_table import TableColumn
from stakes.outputs.text import fixed, join, percent, visible
from stakes.outputs.text import shown_name as name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from stakes.cli.console import Delivery
    from stakes.evaluation import Change, Changes, KeptEvaluation, Unit

_ROWS = 12  # of the table, so that the whole answer has 20 lines
_CELLS = replace(STYLE, formats={**STYLE.formats, "cell": lambda text, _: text})
_FIRST = ("prevalence", "cost", "o_e_ratio", "more_than_promised", "difference", "promised")


def read_kept(path: str) -> KeptEvaluation:
    """Read a kept evaluation."""
    from stakes.evaluation import KeptEvaluation
    from stakes.tables import DataError

    try:
        return KeptEvaluation.from_json(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=path) from None
    except ValueError as error:
        raise DataError(f"is no kept evaluation: {str(error).removesuffix('.')}", file=path) from None


def refuse_settings(given: Mapping[str, Any], usual: Mapping[str, Any]) -> None:
    """Refuse what was typed beside two kept evaluations, whose settings were kept with them."""
    for field, value in given.items():
        if value != usual[field]:
            option = "--format" if field == "file_format" else f"--{field.replace('_', '-')}"
            raise UsageError(
                f"{option} goes with one FILE: two FILEs are kept evaluations, which have their settings with them "
                "(several Parquet files are one FILE by a pattern in quotes, such as 'day=*/*.parquet')"
            )


def run_days(before: str, after: str, delivery: Delivery) -> None:
    """Read both, compare, deliver."""
    from stakes.tables import DataError

    days = [read_kept(path) for path in (before, after)]
    try:
        changes = days[1].compare(days[0])
    except ValueError as error:
        raise DataError(
            f"cannot be compared with {name(before, 200)}: {str(error).removesuffix('.')}", file=after
        ) from None
    heads = [f"{name(path, 60)}: {_rows(kept)}" for path, kept in zip((before, after), days, strict=True)]
    deliver(changes, delivery, partial(show_changes, changes=changes, heads=heads))


def _rows(kept: KeptEvaluation) -> str:
    table = next(iter(kept.tables.values()))
    count = len(kept.tables)
    return f"{table.n_rows:,} rows, {percent(table.prevalence)} positive; {count:,} model{'s' * (count != 1)}"


def show_changes(out: Console, changes: Changes, heads: list[str]) -> None:
    """Print what is dearer or cheaper, and the numbers behind it."""
    from stakes.evaluation import Unit

    unit = Unit.of(changes.options, [each.after for each in changes.of("cost")])
    said = [f"{word} than before: {join([name(each) for each in models])}." for word, models in _shown(changes)]
    out.print(Text("\n".join(map(visible, heads))), end="\n\n")
    out.print(Text(" ".join(said) or "No change of cost is shown.", style="bold"), end="\n\n")
    ordered = sorted(changes, key=lambda each: _FIRST.index(each.quantity))
    shown = ordered[:_ROWS]
    level = percent(changes.options.confidence_level)
    titles = {"name": "", "before": "before", "after": "after"}
    titles |= {"change": f"change ({level} interval)", "p_adjusted": "p (Holm)"}
    kinds = {"name": "file", "p_adjusted": "p"}
    columns = [TableColumn(key, head, kinds.get(key, "cell")) for key, head in titles.items()]
    cells = [{"p_adjusted": each.p_adjusted, **_cells(each, unit)} for each in shown]
    print_table(out, rich_table(cells, columns, _CELLS, names=0, close=True), names=0)
    left = len(ordered) - len(shown)
    more = f" {left} more: --json." if left else ""
    out.print(Text(f"Costs {unit.per}; O:E by a factor. p: over models.{more}", style="dim"))


def _shown(changes: Changes) -> list[tuple[str, tuple[str, ...]]]:
    found = (("Dearer", changes.dearer), ("Cheaper", changes.cheaper))
    return [(word, models) for word, models in found if models]


def _cells(each: Change, unit: Unit) -> dict[str, str]:
    """A change as text, in the unit of its quantity."""
    if each.quantity == "prevalence":
        values = [f"{fixed(100.0 * share, 2)}%" for share in (each.before, each.after)]
        change, low, high = (fixed(100.0 * end, 2, sign=True) for end in (each.change, *each.interval))
    elif each.quantity == "o_e_ratio":
        values = [fixed(ratio, 2) for ratio in (each.before, each.after)]
        change, low, high = (fixed(end, 2) for end in (each.change, *each.interval))
        change = f"x {change}"
    else:
        values = [unit.fixed(cost) for cost in (each.before, each.after)]
        change, low, high = (
            fixed(unit.factor * end, unit.decimals, sign=True) for end in (each.change, *each.interval)
        )
    ends = "" if math.isnan(each.interval[0]) else f" ({low} to {high})"
    words = {"o_e_ratio": "O:E", "difference": "cost"}
    quantity = words.get(each.quantity, each.quantity.replace("_", " "))
    of = f"{name(each.model)}: " if each.model else ""
    return {"name": f"{of}{quantity}", "before": values[0], "after": values[1], "change": f"{change}{ends}"}

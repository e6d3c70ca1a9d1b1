"""What is said of the value of information: what choosing now may lose, what more rows save, whether a study pays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.shown.words import number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WORTH_SAYING = 0.005


def sentences(found: Any) -> Iterator[str]:
    """The most important first."""
    decisions = "decision" if found.per == 1.0 else f"{found.per:,g} decisions"
    over = "" if found.total is None else f", {number(found.total)} over all {found.n_decisions:,.0f} decisions"
    unit = " of net benefit" if found.scale == "net benefit" else ""
    yield f"Choosing {found.chosen} now is expected to lose {number(found.evpi)}{unit} per {decisions}{over}."
    if found.evsi and found.evpi > 0.0:
        parts = [
            f"{m:,} further rows would save {_share(saved / found.evpi)} of that" for m, saved in found.evsi.items()
        ]
        yield f"{'; '.join(parts)}."
    if found.row_cost is not None:
        yield _study(found.net_gain(found.row_cost, fixed_cost=found.fixed_cost))


def _share(share: float) -> str:
    return percent(share, 2) if share >= _WORTH_SAYING else "less than 0.5%"


def _study(gains: Mapping[int, float]) -> str:
    best = max(gains, key=lambda m: gains[m])
    if gains[best] <= 0.0:
        return "No study of these sizes is worth its price."
    return f"Of these studies that of {best:,} rows gains most: {number(gains[best])} after its price."

"""What is asked of a monitor, and the sums of a day: the budget from a reference, the largest cost, rows to sums."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base import validation
from stakes.base.outcome import Outcome
from stakes.core.options import check_rule, evaluation_data
from stakes.core.score_table import Rule, ScoreTable, losses_by_score, promised_losses, row_losses
from stakes.costs import CostDistribution, as_costs
from stakes.evaluation import KeptEvaluation
from stakes.inference import metric_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Days = tuple[Floats, Floats, Floats]

UNITS = ("day", "row", "exact")
_MOST_SPREAD = 1.2  # of day means, over what independent rows explain
_ROUNDING = 1e-9
_NO_MATTER = 0.01  # of the width of a limit, or of the squares: what changes it by as little
FEW_DAYS = 30
_MOST_ALPHA = 0.5  # the upper limit of a reference holds at half of it
_BEYOND_CHANCE = 3.0  # standard errors: the days are looked at often
_LATE = (
    "a day enters when all its labels are known. The labels that happen to be there need not be like the others: where "
    "positives are known sooner, they look dearer. Wait"
)
_GIVEN_UP = ", or count rows without a label as the dearest: missing='cost'"
_WRITE_LABEL = "write 1 for the positive label and 0 for the other"
_WHOLE = (
    "more than 100,000 scores are kept in cells: keep every score by KeptEvaluation.of(evaluation, resolution=None)"
)


@dataclass(frozen=True, eq=False, repr=False)
class DaySums:
    """Rows of a day, their total cost, its squares, what their scores promised (nan: unknown), and each row's cost.

    ``neg_label`` is the label beside the positive one, where a row had it and the reference names the positive one.
    """

    rows: int
    total: float
    squares: float
    promised: float = math.nan
    costs: Floats | None = None
    neg_label: str | float | None = None

    @classmethod
    def of_costs(cls, costs: Floats, promised: float = math.nan, neg_label: str | float | None = None) -> DaySums:
        """Sums of what each row cost."""
        return cls(len(costs), float(costs.sum()), float(np.dot(costs, costs)), promised, costs, neg_label)

    def check(self, low: float, high: float) -> None:
        """Refuse sums that no rows have whose costs lie between two bounds."""
        n, room = self.rows, _ROUNDING * self.rows * max(-low, high)
        if n < 1:
            raise ValueError(f"n must be at least one row, got {n}: leave out a day without rows.")
        for name, value in (("total", self.total), ("promised", self.promised)):
            unknown = name == "promised" and math.isnan(value)
            if not (unknown or n * low - room <= value <= n * high + room):
                raise ValueError(
                    f"{name} must lie from n times {low:g} to n times {high:g}, got {value:g} of {n} rows."
                )
        least, most = self.total**2 / n, (low + high) * self.total - n * low * high
        room *= max(-low, high)
        if not least - room <= self.squares <= most + room:
            raise ValueError(
                f"squares must lie from total^2 / n, {least:g}, to {most:g}, the most with costs from {low:g} to "
                f"{high:g}, got {self.squares:g}."
            )


@dataclass(frozen=True, eq=False, repr=False)
class Reference:
    """The evaluation that the budget comes from: rows, mean cost, mean square and upper limit of the mean.

    ``days`` is the number of its days that were stated, whose spread the limit allows for; 0 where it takes rows for
    independent. ``day_variance`` is that of their mean costs beyond what their rows explain.
    """

    model: str
    rows: int
    mean: float
    square: float
    upper: float
    days: int = 0
    day_variance: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Question:
    """What is watched; ``alpha`` is the probability of a false alarm of the evidence alone.

    ``shift`` is added to each cost: differences of two models, from -largest on, become costs from 0 on.
    """

    costs: CostDistribution
    budget: float
    largest: float
    centre: float
    alpha: float
    unit: str
    rule: Rule = "score"
    pos_label: str | float | None = None
    tolerance: float = 0.0
    reference: Reference | None = None
    shift: float = 0.0
    neg_label: str | float | None = None

    def seeing(self, labels: Iterable[Any]) -> Question:
        """Return the question with the label that stands beside the positive one, or raise for a third one."""
        if self.pos_label is None:  # 0 or -1 stands beside 1, by the rule of labels
            return self
        found = validation.check_other_label(labels, self.pos_label, self.neg_label)
        return self if found in (None, self.neg_label) else replace(self, neg_label=found)

    def sums(self, y_true: Any, y_prob: Any, missing: str | None = None, *, name: str = "y_prob") -> DaySums:
        """Sums of labelled rows, or of a table of their scores; ``name`` is the argument for the scores."""
        if isinstance(y_true, ScoreTable | Outcome) and y_true.by_amount:
            raise ValueError(
                "y_true must hold labels, got amounts: take in what each row cost by update_costs of a CostMonitor "
                "with budget= and largest= in money."
            )
        validation.check_same_order(**{"y_true": y_true, name: y_prob})
        if isinstance(y_true, ScoreTable):
            if self.pos_label not in (None, y_true.pos_label):
                raise ValueError(
                    f"y_true must be a table of the pos_label of the reference, {self.pos_label!r}, got "
                    f"{y_true.pos_label!r}."
                )
            seen = self.seeing([] if y_true.neg_label is None else [y_true.neg_label])
            sums = table_sums(evaluation_data(y_true, y_prob).table, self.costs, self.rule)
            return replace(sums, neg_label=seen.neg_label)
        labels, known = known_labels(y_true, missing, differences=self.shift > 0.0)
        seen = labels[known].tolist()
        neg_label, pos_label = self.seeing(seen).neg_label, validation.match_label(self.pos_label, seen)
        column = y_prob if y_prob is None else validation.pick_positive_column(y_prob, labels[known], pos_label, name)
        score = evaluation_data(np.zeros(len(labels), dtype=int), column, name=name).rows.score
        costs = np.max(losses_by_score(score, self.costs, self.rule), axis=0)
        if known.any():
            y = validation.check_labels(labels[known], pos_label, remedy=_WRITE_LABEL)  # only a reference names a label
            costs[known] = row_losses(y, score[known], self.costs, self.rule)
        return DaySums.of_costs(costs / self.costs.mass, self.promised(score) * len(score), neg_label)

    def promised(self, score: Floats) -> float:
        """Mean cost of rows if their scores are right."""
        return float(promised_losses(score, self.costs, self.rule).mean()) / self.costs.mass

    def check_costs(self, costs: ArrayLike) -> Floats:
        """Return what each row cost, or raise for the first that is out of bounds."""
        found = validation.to_floats(validation.to_array(costs, "costs"), "costs")
        low, high = 0.0 - self.shift, self.largest - self.shift
        bad = ~((found >= low) & (found <= high))
        if found.ndim != 1 or not len(found) or bad.any():
            wrong = f"{found[bad][0]:g} at index {int(bad.argmax())}" if bad.any() else f"shape {found.shape}"
            raise ValueError(f"costs must hold a number from {low:g} to {high:g} for each row, got {wrong}.")
        return found


def known_labels(
    y_true: Any, missing: str | None, *, differences: bool = False
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return labels and which are known; refuse missing ones unless they count as the dearest."""
    if missing is not None:
        validation.check_choice(missing, "missing", ("cost",))
    labels = validation.to_array(y_true, "y_true")
    if labels.ndim != 1:
        raise ValueError(f"y_true must be 1-D, got shape {labels.shape}.")
    if not len(labels):
        raise ValueError("y_true must hold at least one row, got none.")
    known = np.ones(len(labels), dtype=bool)
    if labels.dtype.kind in "fO":
        known = np.array([not validation.is_missing(label) for label in labels.tolist()], dtype=bool)
    if missing is None and not known.all():
        remedy = "" if differences else _GIVEN_UP  # of two models neither outcome is the dearer for both
        raise ValueError(f"y_true lacks {int((~known).sum())} of {len(known)} labels, but {_LATE}{remedy}.")
    return labels, known


def table_sums(table: ScoreTable, costs: CostDistribution, rule: Rule) -> DaySums:
    """Sums of the rows of a table, which must count equally."""
    plain = np.array_equal(table.positives_squared, table.positives) and np.array_equal(
        table.negatives_squared, table.negatives
    )
    if not plain or table.fixed_prevalence or table.resolution is not None or table.by_amount:
        raise ValueError(
            "sample_weight, a stated prevalence, amounts and binned scores cannot be watched: every row must count "
            f"once with its own score, got {table!r}" + ("." if table.resolution is None else f"; {_WHOLE}.")
        )
    losses = [loss / costs.mass for loss in losses_by_score(table.scores, costs, rule)]
    counts = table.negatives, table.positives
    total = math.fsum(float(np.dot(n, x)) for n, x in zip(counts, losses, strict=True))
    squares = math.fsum(float(np.dot(n, x * x)) for n, x in zip(counts, losses, strict=True))
    promised = float(np.dot(counts[0] + counts[1], promised_losses(table.scores, costs, rule))) / costs.mass
    return DaySums(table.n_rows, total, squares, promised)


def largest_cost(costs: CostDistribution) -> float:
    """The most that one row can cost."""
    found = max(float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))) / costs.mass
    if not math.isfinite(found):
        raise ValueError(f"costs must have a mass and bounded losses to be watched, got {costs!r}.")
    return found


def ask(
    costs: Any,
    *,
    budget: Any,
    reference: Any,
    tolerance: float,
    alpha: float,
    unit: str,
    model: str | None,
    largest: float | None,
    days: Days | None = None,
) -> Question:
    """Check what is asked, and take the budget from the reference where none is named."""
    measure = as_costs(costs)
    level = validation.check_unit(alpha, "alpha", open_low=True, open_high=True)
    validation.check_choice(unit, "unit", UNITS)
    tolerance = validation.check_number(tolerance, "tolerance")
    if not 0.0 <= tolerance < math.inf:
        raise ValueError(f"tolerance must be a share >= 0 of the reference's cost, got {tolerance}.")
    most = largest_cost(measure) if largest is None else validation.check_number(largest, "largest")
    if (budget is None) is (reference is None):
        raise ValueError("one of budget= and reference= must be given: what the cost must not exceed.")
    if budget is not None:
        if tolerance or model is not None:
            raise ValueError("tolerance= and model= belong to reference=: name the budget as it is to be kept.")
        found = check_budget(validation.check_number(budget, "budget"), most)
        return Question(measure, found, most, found, level, unit)
    if largest is not None:
        raise ValueError("largest= belongs to budget=: the reference knows its own largest cost.")
    if not (level <= _MOST_ALPHA and 1.0 - level < 1.0):
        raise ValueError(f"alpha must lie above 1e-16, and at most at {_MOST_ALPHA} with reference=, got {alpha!r}.")
    kept, name, rule = read_reference(measure, reference, model)
    known = _reference(name, kept.tables[name], measure, rule, level)
    if days is not None:
        _check_days(known, days)
        known = _with_days(known, days, level) if unit == "day" else known
    if tolerance and not (1.0 + tolerance) * known.upper < most:
        raise ValueError(
            f"tolerance must leave the budget, 1 + tolerance times {known.upper:.4g}, below {most:g}, the most that a "
            f"row can cost, got {tolerance:g}."
        )
    limit = check_budget((1.0 + tolerance) * known.upper, most)
    centre = known.mean if known.mean > 0.0 else limit
    labels: dict[str, Any] = {"pos_label": kept.pos_label, "neg_label": kept.options.neg_label}
    about: dict[str, Any] = {"tolerance": tolerance, "reference": known}
    return Question(measure, limit, most, centre, level / 2.0, unit, rule, **labels, **about)


def check_budget(budget: float, largest: float) -> float:
    """Return a budget that costs can exceed, or raise."""
    if not 0.0 < budget < largest:
        raise ValueError(
            f"budget must lie above 0 and below {largest:g}, the most that a row can cost, got {budget:g}."
        )
    low, high = validation.SQUARED_WELL
    if budget < low or largest > high:
        raise ValueError(
            f"budget and largest must lie in [{low:g}, {high:g}], as costs are squared, got {budget:g} and {largest:g}."
        )
    return budget


def read_reference(costs: CostDistribution, reference: Any, model: str | None) -> tuple[KeptEvaluation, str, Rule]:
    """Return the reference, the model in it that is watched, and its rule; refuse those that do not fit."""
    validation.check_kind(reference, "reference", KeptEvaluation, remedy="keep it by KeptEvaluation.of(evaluation)")
    if reference.options.costs != costs:
        raise ValueError(f"costs must be those of the reference, {reference.options.costs!r}, got {costs!r}.")
    rule = check_rule(reference.options.rule)
    if rule == "optimal":
        raise ValueError('the reference was fitted to its own rows (rule="optimal") and is no budget: use "score".')
    names = list(reference.tables)
    if model is None and len(names) > 1:
        raise ValueError(f"model must say which of the reference's models is watched: {', '.join(map(repr, names))}.")
    name = names[0] if model is None else model
    if name not in reference.tables:
        raise ValueError(f"model must be {validation.one_of(names, name)}")
    return reference, name, rule


def _reference(name: str, table: ScoreTable, costs: CostDistribution, rule: Rule, alpha: float) -> Reference:
    """Sums of the reference, and the upper limit of its mean cost at half of alpha, one-sided."""
    sums = table_sums(table, costs, rule)
    interval = metric_interval(
        table, metric="expected_regret", costs=costs, rule=rule, scale="regret", confidence_level=1.0 - alpha
    ).interval
    if not math.isfinite(interval[1]):
        raise ValueError(f"the reference must have an interval of its mean cost, got {table!r}: it needs more rows.")
    return Reference(name, sums.rows, sums.total / sums.rows, sums.squares / sums.rows, interval[1])


def read_days(reference_days: Any) -> Days:
    """Return n, totals and squares of days, or raise for what are no three sequences, or sums that no rows have."""
    parts = reference_days.tolist() if isinstance(reference_days, np.ndarray) else reference_days
    if not isinstance(parts, list | tuple) or len(parts) != 3:
        got = f"{len(parts)} parts" if isinstance(parts, list | tuple) else type(reference_days).__name__
        raise ValueError(f"reference_days must be (n, totals, squares) of days, got {got}.")
    return _read_sums(*parts)


def _check_days(known: Reference, days: Days) -> None:
    """Refuse days of other rows than those of the reference: sums that differ by more than rounding."""
    (n, totals, squares), width = days, known.upper - known.mean
    for name, part, mean, room in (
        ("n", n, 1.0, 0.0),
        ("totals", totals, known.mean, _NO_MATTER * width * known.rows + _off_by_rounding(totals)),
        ("squares", squares, known.square, _NO_MATTER * known.square * known.rows + _off_by_rounding(squares)),
    ):
        stated, own = float(part.sum()), mean * known.rows
        if abs(stated - own) > room + _ROUNDING * own:
            raise ValueError(
                f"reference_days must be all days of the reference and of no other rows or model: their {name} sum to "
                f"{stated:,.10g}, those of the reference to {own:,.10g}. Take the cost of each row, without harm."
            )


def _off_by_rounding(values: Floats) -> float:
    """How far a sum may be off, 3.5 standard errors, where each value is rounded to the last digit that any has."""
    digits = next((k for k in range(-9, 15) if np.allclose(values.round(k), values, rtol=1e-12, atol=0.0)), 15)
    return math.sqrt(len(values)) * 10.0**-digits


def _with_days(known: Reference, days: Days, alpha: float) -> Reference:
    """Widen the limit for days that spread more than their rows explain, by a t limit in place of a normal one."""
    from scipy.special import ndtri, stdtrit

    count = len(days[0])
    wider = max(1.0, day_spread(*days) * float(stdtrit(count - 1.0, 1.0 - alpha / 2.0) / ndtri(1.0 - alpha / 2.0)))
    upper = known.mean + wider * (known.upper - known.mean)
    return replace(known, upper=upper, days=count, day_variance=_day_variance(*days))


def _day_variance(rows: Floats, total: Floats, square: Floats) -> float:
    """Variance of days' mean costs beyond what their rows explain, by the analysis of variance of one random effect."""
    between, within = _mean_squares(rows, total, square)
    size = (rows.sum() - (rows**2).sum() / rows.sum()) / (len(rows) - 1)  # that of each day, where all are alike
    return max(float((between - within) / size), 0.0)


def day_spread(n: ArrayLike, totals: ArrayLike, squares: ArrayLike) -> float:
    """Spread of days' mean costs, over what rows with nothing in common would show.

    Parameters
    ----------
    n, totals, squares : array_like of shape (d,)
        Rows of each day, their total cost and the sum of its squares.

    Returns
    -------
    float
        1 where the rows of a day have nothing in common but chance; above 1.2 the units "row" and "exact" are refused.

    Raises
    ------
    ValueError
        For fewer than two days, or sums that cannot be.

    Examples
    --------
    >>> from stakes.monitoring import day_spread
    >>> round(day_spread([100, 100, 100], [5.0, 7.0, 6.0], [2.5, 3.5, 3.0]), 3)
    0.613
    """
    between, within = _mean_squares(*_read_sums(n, totals, squares))
    if not within > 0.0:
        raise ValueError("squares must show rows that differ within days.")
    return math.sqrt(between / within)


def _mean_squares(rows: Floats, total: Floats, square: Floats) -> tuple[float, float]:
    """Mean squares of costs between days and within them."""
    between = float((rows * (total / rows - total.sum() / rows.sum()) ** 2).sum()) / (len(rows) - 1)
    return between, float((square - total**2 / rows).sum()) / (float(rows.sum()) - len(rows))


def _read_sums(n: ArrayLike, totals: ArrayLike, squares: ArrayLike) -> Days:
    """Return rows, total cost and its squares of days, or raise for sums that no rows have."""
    rows, total, square = (validation.to_floats(validation.to_array(part, name), name) for part, name in
                           ((n, "n"), (totals, "totals"), (squares, "squares")))  # fmt: skip
    if not (rows.ndim == 1 and len(rows) >= 2 and rows.shape == total.shape == square.shape and np.all(rows >= 2.0)):
        raise ValueError(
            "n, totals and squares must hold one number for each of two days or more, of two rows or more."
        )
    most = np.sqrt(rows * np.maximum(square, 0.0)) * (1.0 + _ROUNDING)  # Cauchy and Schwarz
    bad = ~((rows % 1.0 == 0.0) & (total >= 0.0) & (total <= most) & (square >= 0.0) & (square < np.inf))
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(
            "n, totals and squares must be sums of rows that cost nothing or more, with total^2 / n at most squares, "
            f"got n {rows[at]:g}, total {total[at]:g}, squares {square[at]:g} at index {at}."
        )
    return rows, total, square


def of_two_rows(rows: Floats, total: Floats, squares: Floats) -> Days:
    """Sums of the days of two rows or more: a single row says nothing of how rows differ within a day."""
    kept = rows >= 2.0
    return rows[kept], total[kept], squares[kept]


def spread_beyond_chance(rows: Floats, total: Floats, squares: Floats) -> bool:
    """Whether days spread beyond chance by more than the units of rows allow."""
    kept = of_two_rows(rows, total, squares)
    days = len(kept[0])
    if days < FEW_DAYS:
        return False
    try:
        ratio = day_spread(*kept)
    except ValueError:
        return False
    return ratio > _MOST_SPREAD and ratio**2 > 1.0 + _BEYOND_CHANCE * math.sqrt(2.0 / (days - 1.0))


def sizes_matter(rows: Floats, total: Floats, squares: Floats) -> bool:
    """Whether the mean of days differs from the mean by rows beyond chance: days of few rows cost otherwise."""
    days = len(rows)
    if days < FEW_DAYS:
        return False
    larger = rows / rows.mean() - 1.0
    differs = larger * (total / rows - (total / rows).mean())
    of_rows = max(float(squares.sum() - total.sum() ** 2 / rows.sum()), 0.0) / float(rows.sum())
    # where the few rows of small days cost nothing, only what rows alone explain tells how much they vary
    error = max(float(np.var(differs, ddof=1)) / days, of_rows * float((larger**2 / rows).sum()) / days**2)
    rounding = _ROUNDING * abs(float(total.sum())) / float(rows.sum())
    return abs(float(differs.mean())) > _BEYOND_CHANCE * math.sqrt(error) + rounding


def check_unit_fits(
    unit: str,
    days: Days | None,
    force: bool,  # noqa: FBT001
    largest: float,
) -> None:
    """Refuse rows as the unit unless days before show that they have nothing in common; warn of days of unlike size."""
    if days is not None:
        ratio = day_spread(*days)
        for at, (n, total, square) in enumerate(np.transpose(days).tolist()):
            try:
                DaySums(int(n), total, square).check(0.0, largest)
            except ValueError as error:
                raise ValueError(f"reference_days, day at index {at}: {error}") from None
        if unit == "day" and sizes_matter(*days):
            warnings.warn(
                "reference_days of few rows cost otherwise than those of many, but unit='day' counts each day alike: "
                "the mean of days is not the cost per decision. Take unit='row' where the days allow it, or days of "
                "like size, such as weeks.",
                stacklevel=3,
            )
    if unit == "day" or validation.check_flag(force, "force"):
        return
    if days is None:
        raise ValueError(
            f"unit={unit!r} holds where the rows of a day have nothing in common: show it by reference_days=(n, "
            "totals, squares) of days before, say force=True, or keep unit='day'."
        )
    if ratio > _MOST_SPREAD:
        raise ValueError(
            f"unit={unit!r} would raise false alarms: day means spread {ratio:.3g} times as much as rows explain, and "
            f"{_MOST_SPREAD} is the most. Keep unit='day', or say force=True."
        )

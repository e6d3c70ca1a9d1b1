"""Entrances and assembly of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from stakes import inference
from stakes.base.multiclass import refuse_both_classes
from stakes.base.numerics import CellSums, weighted_sum
from stakes.base.outcome import Outcome
from stakes.base.validation import BinarySample, blocks, by_name, check_same_order, check_whole, plain_label, to_array
from stakes.core.options import Options, refuse_weighing, reweighted
from stakes.core.score_table import Rule, ScoreTable, area_under_roc, common_label, mean_table, negative_label
from stakes.costs import CostDistribution, CostsLike, Scale, as_costs
from stakes.evaluation._evaluation import Evaluation
from stakes.evaluation._groups import (
    AS_STATED,
    Charged,
    charge_streamed,
    check_groups,
    evaluate_groups,
    groups_from,
    tables_in_engine,
    why_amounts_need_rows,
)
from stakes.evaluation._standings import ModelResult, check_poolable, completed_scores, mean_facts
from stakes.metrics import METRICS, decompose_table, guess_metric
from stakes.outcomes import Imputed, OutcomeColumns, check_money_per
from stakes.outputs.hooks import nw, report_progress
from stakes.outputs.result_table import backend_of
from stakes.outputs.serialization import DataError
from stakes.outputs.text import REFERENCES
from stakes.tables import (
    NO_CLOSED_FORM,
    CountedRows,
    Predictions,
    as_lazy,
    check_first_rows,
    complete_rows,
    expressible,
    in_cells,
    model_columns,
    other_label,
    priced_rows,
    streams,
    why_clusters_need_rows,
)
from stakes.variance.sums import check_largest, members, sum_powers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


# What an evaluation is asked to do, checked once: the options, and the further metrics among them.

MetricsRequest = Sequence[str] | Mapping[str, Mapping[str, Any]]


def check_request(options: Options, metrics: MetricsRequest = ()) -> Options:
    """Check the options, and fill in the arguments that the further metrics take from them."""
    return replace(options.checked(), metrics=_requested(metrics, options.costs))


def further_metrics(options: Options, table: ScoreTable) -> dict[str, float]:
    """Values of the further metrics that were asked for."""
    return {name: METRICS[name].function(table, **arguments) for name, arguments in options.metrics.items()}


def _requested(metrics: MetricsRequest, costs: CostDistribution) -> dict[str, dict[str, Any]]:
    """Further metrics with their arguments; bounds and costs are those of the evaluation unless given."""
    if isinstance(metrics, str) or not isinstance(metrics, (Mapping, Sequence)):
        raise ValueError(f"metrics must be a list of names or a mapping of names to arguments, got {metrics!r}.")
    asked = metrics.items() if isinstance(metrics, Mapping) else [(name, {}) for name in metrics]
    binary = [name for name, entry in METRICS.items() if entry.task == "binary"]
    requested: dict[str, dict[str, Any]] = {}
    for name, options in asked:
        if name not in binary:
            near = guess_metric(str(name), binary) or "."
            listed = ", ".join(sorted(binary))
            raise ValueError(f"metrics must be registered for two classes ({listed}), got {name!r}{near}")
        if not isinstance(options, Mapping):
            raise ValueError(f"metrics must map {name} to a mapping of its arguments, got {options!r}.")
        known = signature(METRICS[name].function).parameters
        defaults: dict[str, Any] = {"costs": costs}
        if costs.low < costs.high:
            defaults["bounds"] = (costs.low, costs.high)
        filled = {**{key: value for key, value in defaults.items() if key in known}, **options}
        _check_arguments(name, filled, known)
        requested[name] = filled
    return requested


def _check_arguments(name: str, options: Mapping[str, Any], known: Mapping[str, Parameter]) -> None:
    unknown = [key for key in options if key not in known]
    missing = [
        key
        for key, parameter in known.items()
        if parameter.kind is Parameter.KEYWORD_ONLY and parameter.default is Parameter.empty and key not in options
    ]
    if unknown:
        raise ValueError(f"{name} takes no argument {unknown[0]!r}.")
    if missing:
        raise ValueError(f"{name} needs {missing[0]}=, for instance metrics={{{name!r}: {{{missing[0]!r}: ...}}}}.")


# From clean rows, or from the table that stands for them, to the answer sheet.

# a model acts like a constant decision if both its decisions and its cost are within this share of the constant's
_SAME_DECISIONS = 0.01
_Found = TypeVar("_Found")
_NOWHERE = (math.nan, math.nan, math.nan)
_SAME_WEIGHTS = 1e-9  # sums of weights in another order


class _OtherRowsError(ValueError):
    """A table, or sums of pairs, of other rows than the first table."""


def evaluate_rows(rows: Mapping[str, BinarySample], options: Options, **about: Any) -> Evaluation:
    """Evaluate clean rows of models that share labels and weights."""
    _check_names(tuple(rows), options)
    origin = next(iter(rows.values())).origin
    options = options.of_amounts(None if origin is None else origin.outcome)
    fixed = options.prevalence is not None
    label = plain_label(options.pos_label)
    tables = tuple(
        _told(_table(sample, fixed=fixed, pos_label=label, neg_label=options.neg_label), k, 2 * len(rows))
        for k, sample in enumerate(rows.values(), 1)
    )
    _refuse_one_class(tables[0], about.get("outcome"))
    samples = list(rows.values())
    if samples[0].weight is not None:
        for mine in members(samples[0].y):
            check_largest(samples[0].weight[mine])
    if options.rule == "optimal":
        samples = [
            replace(sample, score=table.pav_by_score()[np.searchsorted(table.scores, sample.score)])
            for table, sample in zip(tables, samples, strict=True)
        ]
    paired = inference.PairedRows.of(samples, options)
    groups = check_groups(options, len(paired.y), samples[0])
    moments = inference.Decisions.from_scores(paired, options.costs, options.plain_rule, constants=True)
    by_group = evaluate_groups(tuple(rows), paired, groups, options)
    return _assemble(tuple(rows), tables, moments, options, rows=paired, groups=by_group, **about)


def _table(sample: BinarySample, *, fixed: bool, **labels: Any) -> ScoreTable:
    return replace(ScoreTable.from_sample(sample), fixed_prevalence=fixed, **labels)


def _told(found: _Found, done: int, of: int) -> _Found:
    """Hand on what was found, and say how far the work is."""
    report_progress(done, of)
    return found


def evaluate_tables(
    tables: Mapping[str, ScoreTable],
    options: Options,
    pairs: inference.PairSums | None = None,
    why: str = inference.UNPAIRED,
    **about: Any,
) -> Evaluation:
    """Evaluate models by their tables; differences need the sums of their pairs, or ``why`` says why there are none."""
    check_tables(tables, options, pairs)
    names, each = tuple(tables), tuple(tables.values())
    if pairs is None:
        moments = inference.Decisions.from_tables(each, options.costs, options.rule, why)
    else:
        moments = pairs.moments(each[0].prevalence if each[0].fixed_prevalence else None)
    return _assemble(names, each, moments, options, pairs=pairs, **about)


def check_tables(tables: Mapping[str, ScoreTable], options: Options, pairs: inference.PairSums | None) -> None:
    """Refuse tables of other rows or another positive class, and sums of pairs that contradict them."""
    names, each = tuple(tables), tuple(tables.values())
    _check_names(names, options)
    for name, table in tables.items():
        _refuse_one_class(table)
        _check_same_rows(f"the table of {name!r}", _totals(table), each[0], names[0])
        _check_alike(f"the table of {name!r}", table, each[0], names[0])
    if pairs is None:
        return
    asked = {"models": names, "costs": options.costs, "rule": options.rule, "pos_label": each[0].pos_label}
    for what, mine in asked.items():
        if getattr(pairs, what) != mine:
            raise ValueError(f"pairs must have the {what} of the evaluation, {mine!r}, got {getattr(pairs, what)!r}.")
    table = each[0]
    ups = pairs.mass.sum() * table.prevalence if table.fixed_prevalence else pairs.mass[1]
    _check_same_rows("pairs", (float(pairs.rows.sum()), float(pairs.mass.sum()), float(ups)), table, names[0])
    inference.check_against_tables(pairs, each, lambda entry, rule: _OtherRowsError(f"pairs.{entry} must be {rule}."))


def _totals(table: ScoreTable) -> tuple[float, float, float]:
    return float(table.n_rows), table.total, table.total_positives


def _check_alike(what: str, table: ScoreTable, other: ScoreTable, name: str) -> None:
    """Raise unless two tables speak of the same class, weighted alike."""
    if table.pos_label != other.pos_label:
        raise ValueError(
            f"{what} must have the pos_label of the table of {name!r}, {other.pos_label!r}, got {table.pos_label!r}."
        )
    common_label(table.pos_label, other.neg_label, table.neg_label, f"{what} and that of {name!r} must be")
    if table.fixed_prevalence != other.fixed_prevalence:
        raise ValueError(f"{what} and that of {name!r} must both be of a stated prevalence, or neither.")
    for column in ("positives_squared", "negatives_squared"):
        found, wanted = (float(getattr(each, column).sum()) for each in (table, other))
        if not math.isclose(found, wanted, rel_tol=_SAME_WEIGHTS):
            raise _OtherRowsError(
                f"{what} must rest on the rows of the table of {name!r}, whose {column} add up to {wanted:,.10g}, "
                f"got {found:,.10g}."
            )


def _check_same_rows(what: str, found: tuple[float, float, float], table: ScoreTable, name: str) -> None:
    wanted = _totals(table)
    if found[0] != wanted[0] or not np.allclose(found, wanted, rtol=_SAME_WEIGHTS, atol=0.0):
        rows, _, ups = (f"{value:,.10g}" for value in found)
        raise _OtherRowsError(
            f"{what} must rest on the rows of the table of {name!r}, {wanted[0]:,.10g} rows with a weight of positives "
            f"of {wanted[2]:,.10g}, got {rows} and {ups}."
        )


def _check_names(names: tuple[str, ...], options: Options) -> None:
    taken = [name for name in names if name in REFERENCES]
    if taken:
        raise ValueError(f"a model cannot be called {taken[0]!r}: that names a reference.")
    inference.check_contest(names, options.incumbent, options.n_tried)
    options.check_harmed(names)


def _refuse_one_class(table: ScoreTable, outcome: Outcome | None = None) -> None:
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):  # a prevalence may round to 1
        kind = "positive" if table.total_positives > 0.0 else "negative"
        hint, rows = "", f"{table.n_rows:,} rows that are all {kind}"
        if outcome is not None:
            hint, known = outcome.one_class_hint, int(np.count_nonzero(outcome.weight))
            if known < table.n_rows:  # some are of unknown class, or have nothing at stake
                rows = f"{table.n_rows:,} rows, of which {known:,} count{'s' * (known == 1)}, all {kind}"
        raise ValueError(
            f"y_true must hold both classes, got {rows}: what mistakes cost cannot be judged from one class. "
            f"{hint}".rstrip()
        )


def _assemble(
    names: tuple[str, ...], tables: tuple[ScoreTable, ...], moments: inference.Decisions, options: Options, **about: Any
) -> Evaluation:
    if options.rule == "optimal":  # the thresholds are fitted to these rows: their plug-in error is not honest
        moments = moments.without_intervals(len(names))
    moments = moments.costing(np.append(options.harms(names), np.zeros(len(REFERENCES))))
    rows: inference.PairedRows | None = about.get("rows")
    results = [
        _told(
            _result(name, _everyone(table, rows, index, about.get("_charged")), index, moments, options),
            len(names) + index + 1,
            2 * len(names),
        )
        for index, (name, table) in enumerate(zip(names, tables, strict=True))
    ]
    results += [
        _scaled(name, index, moments, options, share_acted_on=float(name == REFERENCES[0]))
        for index, name in enumerate(REFERENCES, start=len(names))
    ]
    kept = replace(options, sample_weight=None, groups=None, clusters=None)  # the rows hold them now
    return Evaluation(names, tables, moments, tuple(results), kept, tables[0].n_rows, **about)


class _Scored(NamedTuple):
    """A table, and the scores and weights of all rows in any order, of which it may know the class of some only.

    The weights are the sum of the columns, which is never held whole; ``acted`` is the share acted on, if it is known.
    """

    table: ScoreTable
    scores: Floats
    columns: tuple[Floats, ...]
    ordered: bool = False
    acted: float | None = None

    @property
    def whole(self) -> float:
        """All weight."""
        return math.fsum(float(column.sum()) for column in self.columns)

    def within(self, low: float, high: float) -> tuple[_Scored, float]:
        """Leave out rows that score less or more than a range, and say what those above weigh; only if in order."""
        if not self.ordered:
            return self, 0.0
        inside = _between(self.scores, low, high)
        above = math.fsum(float(column[inside.stop :].sum()) for column in self.columns)
        columns = tuple(column[inside] for column in self.columns)
        return self._replace(scores=self.scores[inside], columns=columns), above

    def pieces(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield scores and weights of some of the rows."""
        for part in blocks(len(self.scores)):
            own = [column[part] for column in self.columns]
            yield self.scores[part], own[0] + own[1] if len(own) > 1 else own[0]


def _everyone(table: ScoreTable, rows: inference.PairedRows | None, index: int, charged: Charged | None) -> _Scored:
    if charged is not None:
        return _Scored(table, table.scores, (table.positives, table.negatives), acted=charged.acted[index])
    if rows is None or rows.origin is None or rows.fixed_prevalence:  # by class, which only known rows show
        return _Scored(table, table.scores, (table.positives, table.negatives), ordered=True)
    outcome, score = rows.origin.outcome, rows.every_score[index]
    weight = np.ones(len(score)) if outcome.sample_weight is None else outcome.sample_weight
    return _Scored(table, score, (weight,))


def _result(name: str, scored: _Scored, index: int, moments: inference.Decisions, options: Options) -> ModelResult:
    table = scored.table
    acted_on = share_acted_on(scored, options.costs, options.rule) if scored.acted is None else scored.acted
    return _scaled(
        name,
        index,
        moments,
        options,
        decomposition=decompose_table(table, options.costs, options.scale, options.factor),
        auc=math.nan if table.by_amount else area_under_roc(table),
        share_acted_on=acted_on,
        in_range=_NOWHERE if table.by_amount else _in_range(scored, options.costs.low, options.costs.high),
        acts_like=_acts_like(acted_on, moments, index),
        metrics=further_metrics(options, table),
    )


def _scaled(name: str, index: int, moments: inference.Decisions, options: Options, **facts: Any) -> ModelResult:
    mine = moments.of(index).scaled(options.factor)
    return ModelResult(
        name, mine.value, mine.standard_error, mine.interval(options.confidence_level), note=mine.note, **facts
    )


def share_acted_on(scored: _Scored, costs: CostDistribution, rule: Rule) -> float:
    """Share of weight acted on, averaged over the cost distribution; nan where its mass is infinite."""
    table, whole = scored.table, scored.whole
    if not isinstance(rule, str):
        return math.fsum(float(weight[scores >= rule].sum()) for scores, weight in scored.pieces()) / whole
    if not math.isfinite(costs.mass):
        return math.nan
    fitted = table.pav_by_score() if rule == "optimal" else None
    never, total = float(costs.positive_loss(-np.inf)), 0.0
    if fitted is None:
        scored, above = scored.within(costs.low, costs.high)
        total = above * costs.mass
    for scores, weight in scored.pieces():
        at = scores
        if fitted is not None:
            at = fitted[np.minimum(np.searchsorted(table.scores, scores), len(fitted) - 1)]
        # mass at or below a score = what acting on a negative costs + what acting on a positive saves
        below = costs.negative_loss(at) + (never - costs.positive_loss(at))
        total += weighted_sum(weight, below)
    return total / (costs.mass * whole)


def _in_range(scored: _Scored, low: float, high: float) -> tuple[float, float, float]:
    table, inside = scored.table, _between(scored.table.scores, low, high)
    whole, mass, moment = scored.whole, 0.0, 0.0
    for scores, weight in scored.within(low, high)[0].pieces():
        within = weight * ((scores >= low) & (scores <= high))
        mass += float(within.sum())
        moment += float(np.dot(within, scores))
    ups, downs = (float(column[inside].sum()) for column in (table.positives, table.negatives))
    return (
        mass / whole,
        moment / mass if mass else math.nan,
        ups / (ups + downs) if ups + downs else math.nan,
    )


def _between(scores: Floats, low: float, high: float) -> slice:
    return slice(int(np.searchsorted(scores, low, side="left")), int(np.searchsorted(scores, high, side="right")))


def _acts_like(acted_on: float, moments: inference.Decisions, index: int) -> str:
    count = len(moments.means) - len(REFERENCES)
    for offset, name in enumerate(REFERENCES):
        other = acted_on if name == REFERENCES[1] else 1.0 - acted_on
        cost, own = float(moments.means[count + offset]), float(moments.means[index])  # inf - inf: nan, not a warning
        if other <= _SAME_DECISIONS and abs(own - cost) <= _SAME_DECISIONS * cost:
            return name
    return ""


# Ask for an evaluation: of arrays, or of the columns of a data frame.


def evaluate(
    y_true: ArrayLike | ScoreTable | Mapping[str, ScoreTable],
    y_prob: Any = None,
    *,
    costs: CostsLike | None = None,
    rule: Rule = "score",
    harm: float | Mapping[str, float] = 0.0,
    scale: Scale | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    groups: Any = None,
    clusters: ArrayLike | None = None,
    lags: int | str | None = None,
    incumbent: str | None = None,
    n_tried: int | None = None,
    confidence_level: float = 0.95,
    unit_cost: float = 1.0,
    per: float | Literal["total"] | None = None,
    metrics: MetricsRequest = (),
    pairs: inference.PairSums | None = None,
    action: str = "treat",
    event: str = "positive",
) -> Evaluation:
    """Say which model to act on over the plausible thresholds, by how much it is better, and how sure that is.

    Parameters
    ----------
    y_true : array_like of shape (n,), ScoreTable, or mapping of str to ScoreTable
        Labels with two values. A table may stand for the labels and scores of one model, tables by name for those of
        several on the same rows; the differences between these then need ``pairs``.
    y_prob : array_like, mapping of str to array_like, data frame or Imputed
        Probabilities of the positive class: one model, or several by name (the columns of a data frame). Results of
        :class:`stakes.outcomes.Imputed` scores are pooled over the completed data sets.
    costs : CostDistribution, tuple of float, or float, optional
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for ``costs.Fixed(c)``.
        By default the whole range [0, 1], which is seldom what you want; for amounts by row 1/2, which takes them as
        they are.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`. "optimal" is in-sample and has no intervals.
    harm : float or mapping of str to float, default 0
        What obtaining the score costs each case, in true positives, as in :func:`net_benefit_curve`: for all models
        alike, or for those named. Treating everyone or no one needs no score. Costs, their differences, the choice and
        net benefit count it; decomposition, skill and AUC are of the scores alone.
    scale : {"regret", "integral", "loss"}, optional
        By default "regret", or "loss" where the mass of ``costs`` is infinite.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in standard errors.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    groups : array_like of shape (n,) or mapping of str to array_like, optional
        Which subgroup each row belongs to, by one or several columns; ``.groups`` then has every model's numbers in
        each.
    clusters : array_like of shape (n,), optional
        Patients, states or whatever only differs independently: intervals then rest on the clusters.
    lags : int or "auto", optional
        For rows in order of time: intervals then allow for autocorrelation; see :func:`compare`.
    incumbent : str, optional
        A model that was named before these rows were seen, such as the one in use: the best is compared with it.
    n_tried : int, optional
        How many models were tried on these rows, those not shown included; by default those shown.
    confidence_level : float, default 0.95
        Of every interval, in (0, 1).
    unit_cost : float, default 1
        What a false positive and a false negative cost together, in real units; needs the scale "regret".
    per : float or "total", optional
        Number of decisions that scores refer to, such as 1,000, by default 1; needs the scale "regret". For amounts by
        row, the number of rows that ``.money`` is for, by default 1,000, or "total" for all of them, as in
        :func:`stakes.money`; scores stay shares of what is at stake.
    metrics : sequence of str or mapping of str to mapping, optional
        Further registered metrics, with their arguments where they need any, such as
        ``{"net_benefit_score": {"threshold": 0.1}}``. Bounds and costs default to those of the evaluation.
    pairs : PairSums, optional
        Where tables stand for the rows: what says how sure the differences between the models are.
    action, event : str, default "treat" and "positive"
        What acting on a case and a positive case are called in sentences, such as "refuse" and "bad loan".

    Returns
    -------
    Evaluation
        Ask it for ``.answer``, ``.conclusion``, ``.frame()``, ``.compare(a, b)``, ``.curves(kind)``, ``.plot()``,
        ``.to_html(path)``.

    Raises
    ------
    ValueError
        For invalid data, costs or settings, columns of pandas whose indexes differ, rows of one class only, or tables
        of different rows.

    Notes
    -----
    Of more than 524,288 distinct scores, calibration, decomposition and what scores promise are worked out in thousands
    of narrow cells: coefficients and means change by less than a thousandth of their standard error, of the cases in
    the range by about two. Costs, areas and what scores promise at a single cost ratio use every score.

    Examples
    --------
    >>> from stakes import evaluate
    >>> y_true = [0, 0, 0, 1, 0, 1, 0, 1]
    >>> models = {
    ...     "a": [0.1, 0.2, 0.1, 0.7, 0.3, 0.8, 0.4, 0.6],
    ...     "b": [0.3, 0.4, 0.2, 0.4, 0.5, 0.6, 0.5, 0.5],
    ... }
    >>> result = evaluate(y_true, models, costs=(0.2, 0.6))
    >>> result.ranking
    ('a', 'b')
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, groups=groups, clusters=clusters)
    by_amount = isinstance(y_true, Outcome) and y_true.by_amount
    options = Options(
        costs=_costs_of(costs, by_amount=by_amount),
        rule=rule,
        harm=harm,
        scale=scale,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        groups=groups,
        clusters=clusters,
        lags=lags,
        incumbent=incumbent,
        n_tried=n_tried,
        confidence_level=confidence_level,
        unit_cost=unit_cost,
        **_counted_per(per, by_amount=by_amount),
        action=action,
        event=event,
    )
    return _evaluate(y_true, y_prob, check_request(options, metrics), pairs)


def evaluate_frame(
    frame: Any,
    *,
    label: str,
    models: list[str] | tuple[str, ...] | None = None,
    weight: str | None = None,
    groups: str | list[str] | tuple[str, ...] | None = None,
    clusters: str | None = None,
    lags: int | str | None = None,
    incumbent: str | None = None,
    n_tried: int | None = None,
    costs: CostsLike | None = None,
    rule: Rule = "score",
    harm: float | Mapping[str, float] = 0.0,
    scale: Scale | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    confidence_level: float = 0.95,
    unit_cost: float = 1.0,
    per: float | Literal["total"] | None = None,
    metrics: MetricsRequest = (),
    on_missing: Literal["raise", "drop"] = "raise",
    outcome: OutcomeColumns | None = None,
    false_positive: str | float | None = None,
    false_negative: str | float | None = None,
    unit: str = "",
    resolution: int | None = None,
    action: str = "treat",
    event: str = "positive",
) -> Evaluation:
    """Evaluate the models in the columns of a data frame, as :func:`evaluate` does.

    A lazy frame is evaluated by what its engine groups and sums, and its rows are not kept; see ``docs/engines.md``.

    Parameters
    ----------
    frame : pandas, polars, pyarrow, DuckDB, Dask or Spark frame
        Anything narwhals understands, eager or lazy.
    label : str
        Column with the labels.
    models : sequence of str, optional
        Columns with probabilities; by default every other numeric column, if they are 100 at most.
    weight : str, optional
        Column with weights >= 0.
    groups : str or sequence of str, optional
        Columns that divide the rows into subgroups; they are not models.
    clusters : str, optional
        Column of what only differs independently, such as patients; it is not a model.
    lags : int or "auto", optional
        For rows in order of time; see :func:`compare`.
    incumbent, n_tried
        As in :func:`evaluate`.
    costs, rule, harm, scale, pos_label, prevalence, confidence_level, unit_cost, per, metrics
        As in :func:`evaluate`.
    on_missing : {"raise", "drop"}, default "raise"
        Whether rows with a missing value are an error, or dropped and counted.
    outcome : OutcomeColumns, optional
        Further columns that say what happened: the time to an event, what wrong decisions cost in each row, or what it
        depended on whether a label was looked up.
    false_positive, false_negative : str or float, optional
        What wrong decisions cost in each row, a column or one amount for all, with ``unit`` for what they are counted
        in: as in ``outcome``, for labels that need nothing else.
    unit : str, default ""
        What these are counted in, such as "EUR".
    resolution : int, optional
        Pool the scores of each model's table into so many cells of equal width, and keep no rows. What comes from the
        tables then has the error that :meth:`ScoreTable.error_bound` bounds. None is exact.
    action, event
        As in :func:`evaluate`.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        For missing columns or invalid values, naming the column, row, value and rule.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes import evaluate_frame
    >>> frame = pl.DataFrame({"cancer": [0, 1, 0, 1], "a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]})
    >>> evaluate_frame(frame, label="cancer", costs=(0.2, 0.6)).ranking
    ('a', 'b')

    What mistakes cost in each row:

    >>> orders = pl.DataFrame({"fraud": [0, 1, 0, 1], "p": [0.02, 0.3, 0.2, 0.1], "amount": [100, 200, 50, 20]})
    >>> found = evaluate_frame(orders, label="fraud", false_positive=5, false_negative="amount", unit="EUR")
    >>> found.money["p"].cost.value  # per 1,000 orders
    6250.0
    """
    if false_positive is not None or false_negative is not None or unit:
        outcome = _amount_columns(outcome, false_positive=false_positive, false_negative=false_negative, unit=unit)
    by_amount = outcome is not None and outcome.by_amount
    options = Options(
        costs=_costs_of(costs, by_amount=by_amount),
        rule=rule,
        harm=harm,
        scale=scale,
        sample_weight=weight,
        pos_label=pos_label,
        prevalence=prevalence,
        groups=groups,
        clusters=clusters,
        lags=lags,
        incumbent=incumbent,
        n_tried=n_tried,
        confidence_level=confidence_level,
        unit_cost=unit_cost,
        **_counted_per(per, by_amount=by_amount),
        outcome=outcome,
        action=action,
        event=event,
    )
    what = {"label": label, "models": _names(models, "models"), "on_missing": on_missing}
    return _evaluate_frame(frame, what, check_request(options, metrics), resolution)


def _amount_columns(outcome: OutcomeColumns | None, **amounts: Any) -> OutcomeColumns:
    """Outcome of amounts beside the label; raise where an outcome is given too."""
    if outcome is not None:
        given = next(name for name, value in amounts.items() if value not in (None, ""))
        raise ValueError(f"{given}= and outcome= cannot both be given: pass {given}= to OutcomeColumns.")
    return OutcomeColumns(**amounts)


def _costs_of(costs: CostsLike | None, *, by_amount: bool) -> CostDistribution:
    """Without costs the whole range counts, or amounts in the rows as they are."""
    return as_costs((AS_STATED if by_amount else (0.0, 1.0)) if costs is None else costs)


def _counted_per(per: float | Literal["total"] | None, *, by_amount: bool) -> dict[str, Any]:
    """Options that say what costs are counted per: money where rows have amounts, else decisions."""
    if per is None:
        return {}
    if by_amount:
        return {"money_per": check_money_per(per)}
    if per == "total":
        raise ValueError('per="total" is for amounts by row, whose costs are money: pass the number of decisions.')
    return {"per": per}


def _evaluate(y_true: Any, y_prob: Any, options: Options, pairs: inference.PairSums | None) -> Evaluation:
    tables = {"model": y_true} if isinstance(y_true, ScoreTable) else y_true
    if isinstance(tables, Mapping):
        return _evaluate_tables(tables, y_prob, options, pairs)
    if pairs is not None:
        raise ValueError("pairs= belongs to tables: rows say themselves how sure differences are.")
    models, backend = named_models(y_prob)
    _refuse_labels(y_true, models, y_prob)
    several = isinstance(y_prob, Mapping) or len(models) > 1
    called = {name: f"y_prob[{name!r}]" if several else "y_prob" for name in models}
    about = {
        "backend": backend or backend_of(y_true),
        "outcome": y_true if isinstance(y_true, Outcome) else None,
    }
    completed = completed_scores(models, called)
    if len(completed) > 1:
        check_poolable(y_true, options)
    each = []
    for scores in completed:
        rows = {name: options.data(y_true, *scores[name], amounts=True).rows for name in models}
        options = replace(options, neg_label=negative_label(y_true, next(iter(rows.values())), options.sample_weight))
        each.append(evaluate_rows(rows, options, **about))
    return each[0] if len(each) == 1 else _pooled_evaluation(each)


def _pooled_evaluation(each: Sequence[Evaluation]) -> Evaluation:
    """Evaluation of imputed scores: costs and differences by Rubin's rules, other numbers the means."""
    first, models = each[0], range(len(each[0].models))
    moments = inference.pooled_decisions([one.moments for one in each])
    results = [
        _scaled(name, index, moments, first.options, **mean_facts([one.results[index] for one in each]))
        for index, name in enumerate((*first.models, *REFERENCES))
    ]
    tables = tuple(mean_table([one.score_tables[index] for one in each]) for index in models)
    pooled = replace(first, score_tables=tables, moments=moments, rows=None, imputations=tuple(each))
    results = [replace(one, auc=math.nan if math.isnan(one.auc) else pooled.auc(one.name).value) for one in results]
    return replace(pooled, results=tuple(results))


def _evaluate_tables(
    tables: Mapping[Any, Any], y_prob: Any, options: Options, pairs: inference.PairSums | None
) -> Evaluation:
    odd = [
        f"{type(table).__name__} for {name!r}" for name, table in tables.items() if not isinstance(table, ScoreTable)
    ]
    if odd or not tables:
        raise ValueError(f"y_true must be labels, a ScoreTable or tables by name, got {odd[0] if odd else 'no table'}.")
    if y_prob is not None:
        raise ValueError(inference.PAIRED_NEEDS_ROWS)
    if not options.groups is options.clusters is options.lags is None:
        raise ValueError("groups=, clusters= and lags= need the rows: pass y_true and y_prob instead of a ScoreTable.")
    for table in tables.values():
        refuse_weighing(table, "evaluate")
    asked = {name: options.data(table, None).table for name, table in by_name(tables, "y_true").items()}
    known = [table.neg_label for table in asked.values() if table.neg_label is not None]
    return evaluate_tables(asked, replace(options, neg_label=known[0] if known else None), pairs)


def _evaluate_frame(frame: Any, what: dict[str, Any], options: Options, resolution: int | None) -> Evaluation:
    from stakes.tables import frame_columns

    options = replace(options, groups=_names(options.groups, "groups"))
    for name, column in (("label", what["label"]), ("weight", options.sample_weight)):
        if not isinstance(column, str) and not (name == "weight" and column is None):
            raise ValueError(f"{name} must be the name of a column, got {type(column).__name__}.")
    if not isinstance(options.clusters, str | None):
        raise ValueError(f"clusters must be the name of a column, got {type(options.clusters).__name__}.")
    if isinstance(frame, np.ndarray | Mapping | list | tuple):
        raise ValueError(f"frame must be a data frame, got {type(frame).__name__}: evaluate() takes arrays.")
    is_lazy = isinstance(nw.from_native(frame, pass_through=True), nw.LazyFrame)
    if is_lazy or resolution is not None:
        with _about_weights(options.sample_weight):
            return evaluate_lazy(frame if is_lazy else as_lazy(frame), options, resolution=resolution, **what)
    predictions = frame_columns(
        frame,
        **what,
        weight=options.sample_weight,
        groups=options.dividing_columns,
        pos_label=options.pos_label,
        outcome=options.outcome,
    )
    return evaluate_predictions(predictions, options)


def _names(columns: Any, what: str) -> list[str] | None:
    """Names of columns, given as a list or one alone."""
    if columns is None or isinstance(columns, str):
        return [columns] if columns else None
    if not isinstance(columns, list | tuple) or not all(isinstance(name, str) for name in columns):
        raise ValueError(f"{what} must name columns, got {type(columns).__name__}.")
    return list(columns)


def divided(predictions: Predictions, options: Options) -> Options:
    """The options with the columns that divide the rows in the place of their names."""
    columns = predictions.groups or {}
    groups = {name: columns[name] for name in options.groups or ()} or None
    clusters = None if options.clusters is None else columns[options.clusters]
    return replace(options, sample_weight=None, pos_label=None, groups=groups, clusters=clusters)


@contextmanager
def _about_weights(column: str | None) -> Iterator[None]:
    """Let weights that errors cannot be estimated from be bad data of their column."""
    try:
        yield
    except ValueError as error:
        argument, _, rule = str(error).partition(" ")
        if column is None or argument != "sample_weight":
            raise
        raise DataError(rule.removesuffix("."), column=column) from None


def evaluate_predictions(predictions: Predictions, options: Options) -> Evaluation:
    """Evaluate the clean columns that the tables room read."""
    rows, asked = {}, divided(predictions, options)
    for name, scores in zip(predictions.models, predictions.scores, strict=True):
        if predictions.outcome is not None:
            rows[name] = asked.data(predictions.outcome, scores, name, amounts=True).rows
            continue
        sample = BinarySample(predictions.y, scores, predictions.weight)
        rows[name] = sample if options.prevalence is None else reweighted(sample, options.prevalence)
    known = replace(asked, pos_label=options.pos_label, neg_label=predictions.neg_label)
    about = {name: getattr(predictions, name) for name in ("backend", "n_dropped", "source", "outcome")}
    with _about_weights(options.sample_weight):
        return evaluate_rows(rows, known, **about)


def _refuse_labels(y_true: Any, models: Mapping[str, Any], y_prob: Any) -> None:
    """Raise where the column of labels was left in the frame of the models: it would be the best of them."""
    name = getattr(y_true, "name", None)
    if isinstance(y_prob, Mapping) or name is None or str(name) not in models:
        return
    if np.array_equal(to_array(y_true, "y_true"), to_array(models[str(name)], "y_prob")):
        raise ValueError(
            f"y_prob must hold models only, got the labels themselves in column {name!r}: leave it out, as in "
            f"data.drop(columns={name!r})."
        )


def named_models(y_prob: Any) -> tuple[dict[str, Any], str | None]:
    """Several models by name, from a mapping, a data frame or one array."""
    if y_prob is None:
        raise ValueError("y_prob is missing: pass probabilities, or several by name.")
    if isinstance(y_prob, Mapping):
        models = by_name(y_prob, "y_prob")
        if any(isinstance(scores, ScoreTable) for scores in models.values()):
            raise ValueError(inference.PAIRED_NEEDS_ROWS)
        backend = backend_of(*models.values())
    else:
        models, backend = _columns(y_prob), backend_of(y_prob)
    if not models:
        raise ValueError("y_prob must hold at least one model, got none.")
    return models, backend


def _columns(y_prob: Any) -> dict[str, Any]:
    if isinstance(y_prob, Imputed):
        return {"model": y_prob}
    native = nw.from_native(y_prob, allow_series=True, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        raise ValueError(
            f"y_prob must be in memory, got {type(y_prob).__name__}: collect it, or pass the frame that holds the "
            "labels too to evaluate_frame, with label= and models=."
        )
    if isinstance(native, nw.DataFrame):
        columns = dict(zip(native.columns, (column.to_numpy() for column in native.iter_columns()), strict=True))
        refuse_both_classes(y_prob)
        return by_name(columns, "y_prob")
    return {"model": to_array(y_prob, "y_prob")}


# Evaluate the columns of a lazy frame by what its engine groups and sums: the rows themselves are not kept here.

_NEEDS_ROWS = (
    ", and those of a lazy frame are not kept here: collect the columns into memory first, and evaluate that frame."
)


@contextmanager
def _refuse_changing_rows() -> Iterator[None]:
    try:
        yield
    except _OtherRowsError as error:
        raise DataError(
            "the frame gave other rows when it was asked again, as a sample, a random filter or files that change do",
            hint="Write it to a table or collect it first.",
        ) from error


@_refuse_changing_rows()
def evaluate_lazy(
    frame: Any,
    options: Options,
    *,
    label: str,
    models: list[str] | None,
    on_missing: Any = "raise",
    resolution: int | None = None,
    **about: Any,
) -> Evaluation:
    """Evaluate by one group-by for each model and one pass of sums for their pairs, or by that pass alone."""
    if resolution is not None:
        resolution = check_whole(resolution, "resolution", 1)
    why = why_rows_are_needed(options, frame)
    if why:
        raise ValueError(f"{why}{_NEEDS_ROWS}")
    by, outcome = options.dividing_columns, options.outcome
    chosen = model_columns(frame, label=label, models=models, weight=options.sample_weight, groups=by, outcome=outcome)
    if models is None:
        check_first_rows(frame, chosen)
    rows, n_dropped = complete_rows(nw.from_native(frame), chosen, on_missing)
    what: dict[str, Any] = {"label": label, "weight": options.sample_weight, "pos_label": options.pos_label}
    if outcome is not None:
        about |= {"backend": backend_of(frame), "n_dropped": n_dropped}
        return _evaluate_amounts(rows, options, resolution, {**what, "models": chosen.models}, about)
    wholes, pairs = _tables_and_pairs(rows, options, resolution, {**what, "models": chosen.models})
    tables = wholes
    if options.prevalence is not None:
        tables = {name: table.with_prevalence(options.prevalence) for name, table in wholes.items()}
    groups = groups_from(tables_in_engine(rows, wholes, options, **what), options)
    if options.pos_label is not None:  # else they are 0 or -1 and 1, by the rule of labels
        options = replace(options, neg_label=next(iter(wholes.values())).neg_label)
    about |= {"backend": backend_of(frame), "n_dropped": n_dropped, "groups": groups}
    return evaluate_tables(tables, options, pairs, why=f"costs={options.costs!r} {NO_CLOSED_FORM}", **about)


def _tables_and_pairs(
    rows: Any, options: Options, resolution: int | None, what: dict[str, Any]
) -> tuple[dict[str, ScoreTable], inference.PairSums | None]:
    """Count the scores of each model and sum over all pairs, in one pass where rows stream and scores are in cells."""
    models, pos_label = what["models"], plain_label(options.pos_label)
    asked: dict[str, Any] = {"costs": options.costs, "rule": options.rule}
    if in_cells(rows, resolution) and options.rule != "optimal" and options.clusters is None:
        counted = CountedRows(rows, resolution=resolution or 0, **what)
        sums: dict[str, Any] = sum_powers(counted, len(models), **asked)
        tables = [ScoreTable(**columns, resolution=resolution, pos_label=pos_label) for columns in counted.columns()]
        pairs = inference.PairSums(models, **asked, **sums, pos_label=pos_label)
        return dict(zip(models, tables, strict=True)), pairs
    each = {key: value for key, value in what.items() if key != "models"}
    wholes = {name: ScoreTable.from_frame(rows, score=name, resolution=resolution, **each) for name in models}
    if options.rule == "optimal" or not (streams(rows) or expressible(options.costs)):
        return wholes, None
    asked |= {"clusters": options.clusters, "prevalence": options.prevalence}
    return wholes, inference.PairSums.from_frame(rows, **asked, **what)


def why_rows_are_needed(options: Options, frame: Any) -> str:
    """Why the rows of a lazy frame must be in memory; "" where its engine groups and sums.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes.core.options import Options
    >>> from stakes.evaluation import why_rows_are_needed
    >>> why_rows_are_needed(Options(lags=3), pl.LazyFrame({"y": [0, 1]}))
    'lags= needs the rows'
    """
    if options.lags is not None:
        return "lags= needs the rows"
    if options.outcome is not None:
        return why_amounts_need_rows(options, nw.from_native(frame))
    return "" if options.clusters is None else why_clusters_need_rows(options.costs, options.rule, options.groups)


def _evaluate_amounts(
    rows: Any, options: Options, resolution: int | None, what: dict[str, Any], about: dict[str, Any]
) -> Evaluation:
    """Evaluate rows with amounts in two passes; scores that are not counted in cells need a group-by for each model."""
    outcome: Any = options.outcome
    options = options.per_unit(outcome.unit)
    models = what["models"]
    cells = [CellSums(resolution or 0) for _ in models] if in_cells(rows, resolution) else []
    pairs, charged = charge_streamed(rows, options, cells, **what)
    if cells:
        labels: dict[str, Any] = {"neg_label": other_label(rows, **what), "pos_label": plain_label(options.pos_label)}
        found = [ScoreTable(**each.columns(), resolution=resolution, **labels) for each in cells]
        tables = dict(zip(models, found, strict=True))
    else:
        amounts = outcome.false_positive, outcome.false_negative
        priced, stake = priced_rows(rows, amounts=amounts, outcome=outcome, **what)
        asked: dict[str, Any] = {key: what[key] for key in ("label", "pos_label")}
        asked |= {"weight": stake, "resolution": resolution}
        tables = {name: ScoreTable.from_frame(priced, score=name, **asked) for name in models}
    check_tables(tables, options, pairs)
    facts: dict[str, Any] = {"by_amount": True, "n_rows": charged.totals.rows, "about": charged.totals.about}
    each = tuple(replace(table, **facts) for table in tables.values())
    return _assemble(tuple(tables), each, pairs.moments(), options, pairs=pairs, _charged=charged, **about)

"""Build an evaluation from arrays or from a data frame."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes._frames import backend_of
from stakes._inputs import evaluation_data
from stakes._validation import BinarySample, to_array
from stakes.decomposition import decompose_table
from stakes.evaluation._evaluation import REFERENCES, Evaluation, ModelResult
from stakes.evaluation._groups import check_groups, evaluate_groups
from stakes.evaluation._settings import MetricsRequest, Settings, make_settings
from stakes.inference import PAIRED_NEEDS_ROWS, LossMoments, PairedRows, loss_moments, table_moments
from stakes.inference._dependence import check_dependence
from stakes.metrics._rank import area_under_roc
from stakes.score_table import ScoreTable, blocks, weighted_sum

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes._kernel import Rule, Scale
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]

# a model acts like a constant decision if both its decisions and its cost are within this share of the constant's
_SAME_DECISIONS = 0.01


def evaluate(
    y_true: ArrayLike | ScoreTable,
    y_prob: Any = None,
    *,
    costs: CostDistribution | tuple[float, float] | None = None,
    rule: Rule = "score",
    scale: Scale | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    groups: Any = None,
    clusters: ArrayLike | None = None,
    lags: int | str | None = None,
    confidence_level: float = 0.95,
    unit_cost: float = 1.0,
    per: float = 1.0,
    metrics: MetricsRequest = (),
) -> Evaluation:
    """Say which model to act on over the plausible thresholds, by how much it is better, and how sure that is.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values. A table may stand for the labels and scores of *one* model.
    y_prob : array_like, mapping of str to array_like, or data frame
        Probabilities of the positive class: one model, or several by name (the columns of a data frame).
    costs : CostDistribution or tuple of float, optional
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``. By default the whole
        range [0, 1], which is seldom what you want.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`. "optimal" is in-sample and has no intervals.
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
    confidence_level : float, default 0.95
        Of every interval, in (0, 1).
    unit_cost : float, default 1
        What a false positive and a false negative cost together, in real units; needs the scale "regret".
    per : float, default 1
        Number of decisions that scores refer to, such as 1,000; needs the scale "regret".
    metrics : sequence of str or mapping of str to mapping, optional
        Further registered metrics, with their arguments where they need any, such as
        ``{"net_benefit_score": {"threshold": 0.1}}``. Bounds and costs default to those of the evaluation.

    Returns
    -------
    Evaluation
        Ask it for ``.conclusion``, ``.frame()``, ``.compare(a, b)``, ``.curves(kind)``, ``.plot()``,
        ``.to_html(path)``.

    Raises
    ------
    ValueError
        For invalid data, costs or settings, or several separate score tables.

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
    settings = make_settings(
        costs, rule, scale, confidence_level=confidence_level, unit_cost=unit_cost, per=per, metrics=metrics
    )
    if isinstance(y_true, ScoreTable):
        if y_prob is not None:
            raise ValueError(PAIRED_NEEDS_ROWS)
        if not groups is clusters is lags is None:
            raise ValueError(
                "groups=, clusters= and lags= need the rows: pass y_true and y_prob instead of a ScoreTable."
            )
        table = evaluation_data(
            y_true, None, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence
        ).table
        return _evaluate_table(table, settings)
    models, backend = named_models(y_prob)
    rows = {
        name: evaluation_data(
            y_true,
            scores,
            sample_weight=sample_weight,
            pos_label=pos_label,
            prevalence=prevalence,
            logits=logits,
        ).rows
        for name, scores in models.items()
    }
    present = None if sample_weight is None else to_array(sample_weight, "sample_weight") > 0.0
    n_rows = len(next(iter(rows.values())).y)
    return _evaluate_rows(
        rows,
        settings,
        fixed_prevalence=prevalence is not None,
        groups=check_groups(groups, n_rows, present),
        dependence=check_dependence(clusters, lags, n_rows, sample_weight),
        backend=backend or backend_of(y_true),
    )


def evaluate_frame(
    frame: Any,
    *,
    label: str,
    models: list[str] | tuple[str, ...] | None = None,
    weight: str | None = None,
    groups: str | list[str] | tuple[str, ...] | None = None,
    clusters: str | None = None,
    lags: int | str | None = None,
    costs: CostDistribution | tuple[float, float] | None = None,
    rule: Rule = "score",
    scale: Scale | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    confidence_level: float = 0.95,
    unit_cost: float = 1.0,
    per: float = 1.0,
    metrics: MetricsRequest = (),
    on_missing: Literal["raise", "drop"] = "raise",
) -> Evaluation:
    """Evaluate the models in the columns of a data frame, as :func:`evaluate` does.

    Parameters
    ----------
    frame : pandas, polars, pyarrow, DuckDB, Dask or Spark frame
        Anything narwhals understands, eager or lazy.
    label : str
        Column with the labels.
    models : sequence of str, optional
        Columns with probabilities; by default every other numeric column.
    weight : str, optional
        Column with weights >= 0.
    groups : str or sequence of str, optional
        Columns that divide the rows into subgroups; they are not models.
    clusters : str, optional
        Column of what only differs independently, such as patients; it is not a model.
    lags : int or "auto", optional
        For rows in order of time; see :func:`compare`.
    costs, rule, scale, pos_label, prevalence, confidence_level, unit_cost, per, metrics
        As in :func:`evaluate`.
    on_missing : {"raise", "drop"}, default "raise"
        Whether rows with a missing value are an error, or dropped and counted.

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
    """
    from stakes.tables import frame_columns

    by = [groups] if isinstance(groups, str) else list(groups or ())
    named = list(dict.fromkeys([*by, *([] if clusters is None else [clusters])]))
    found = frame_columns(
        frame, label=label, models=models, weight=weight, groups=named, pos_label=pos_label, on_missing=on_missing
    )
    return evaluate_predictions(
        found,
        groups=by,
        clusters=clusters,
        lags=lags,
        costs=costs,
        rule=rule,
        scale=scale,
        prevalence=prevalence,
        confidence_level=confidence_level,
        unit_cost=unit_cost,
        per=per,
        metrics=metrics,
    )


def evaluate_predictions(
    predictions: Any,
    *,
    groups: Sequence[str] | None = None,
    clusters: str | None = None,
    lags: int | str | None = None,
    costs: CostDistribution | tuple[float, float] | None = None,
    rule: Rule = "score",
    scale: Scale | None = None,
    prevalence: float | None = None,
    confidence_level: float = 0.95,
    unit_cost: float = 1.0,
    per: float = 1.0,
    metrics: MetricsRequest = (),
) -> Evaluation:
    """Evaluate the clean columns that the tables room read; those that divide the rows are subgroups or clusters."""
    from stakes._inputs import reweighted

    settings = make_settings(
        costs, rule, scale, confidence_level=confidence_level, unit_cost=unit_cost, per=per, metrics=metrics
    )
    columns, n_rows = predictions.groups or {}, len(predictions.y)
    by = [name for name in columns if name != clusters] if groups is None else groups
    rows = {}
    for name, scores in zip(predictions.models, predictions.scores, strict=True):
        sample = BinarySample(predictions.y, scores, predictions.weight)
        rows[name] = sample if prevalence is None else reweighted(sample, prevalence)
    return _evaluate_rows(
        rows,
        settings,
        fixed_prevalence=prevalence is not None,
        groups=check_groups({name: columns[name] for name in by} or None, n_rows, None),
        dependence=check_dependence(None if clusters is None else columns[clusters], lags, n_rows),
        backend=predictions.backend,
        n_dropped=predictions.n_dropped,
        source=predictions.source,
    )


def _evaluate_rows(
    rows: Mapping[str, BinarySample],
    settings: Settings,
    *,
    fixed_prevalence: bool,
    groups: Mapping[str, NDArray[Any]],
    dependence: tuple[NDArray[np.intp] | None, int | str | None],
    **about: Any,
) -> Evaluation:
    """Evaluate clean rows of models that share labels and weights."""
    taken = [name for name in rows if name in REFERENCES]
    if taken:
        raise ValueError(f"a model cannot be called {taken[0]!r}: that names a reference.")
    tables = tuple(
        replace(ScoreTable._from_sample(sample), fixed_prevalence=fixed_prevalence) for sample in rows.values()
    )
    first = next(iter(rows.values()))
    scores = [sample.score for sample in rows.values()]
    if settings.rule == "optimal":
        scores = [t.pav_by_score()[np.searchsorted(t.scores, s)] for t, s in zip(tables, scores, strict=True)]
    codes, lags = dependence
    paired = PairedRows(first.y, scores, first.weight, fixed_prevalence=fixed_prevalence, clusters=codes, lags=lags)
    moments = loss_moments(paired, settings.costs, settings.plain_rule, constants=True)
    by_group = evaluate_groups(tuple(rows), paired, groups, settings)
    return _assemble(tuple(rows), tables, moments, settings, rows=paired, groups=by_group, **about)


def _evaluate_table(table: ScoreTable, settings: Settings) -> Evaluation:
    moments = table_moments(table, settings.costs, settings.rule)
    return _assemble(("model",), (table,), moments, settings)


def _assemble(
    names: tuple[str, ...], tables: tuple[ScoreTable, ...], moments: LossMoments, settings: Settings, **about: Any
) -> Evaluation:
    if settings.rule == "optimal":  # the thresholds are fitted to these rows: their plug-in error is not honest
        moments = moments.without_intervals(len(names))
    results = [
        _result(name, table, index, moments, settings)
        for index, (name, table) in enumerate(zip(names, tables, strict=True))
    ]
    results += [
        _scaled(name, index, moments, settings, share_acted_on=float(name == REFERENCES[0]))
        for index, name in enumerate(REFERENCES, start=len(names))
    ]
    return Evaluation(
        names,
        tables,
        moments,
        tuple(results),
        settings.costs,
        settings.rule,
        settings.scale,
        settings.factor,
        settings.confidence_level,
        tables[0].n_rows,
        unit_cost=settings.unit_cost,
        per=settings.per,
        **about,
    )


def _result(name: str, table: ScoreTable, index: int, moments: LossMoments, settings: Settings) -> ModelResult:
    both = table.total_positives > 0.0 and table.total_negatives > 0.0
    acted_on = share_acted_on(table, settings.costs, settings.rule)
    return _scaled(
        name,
        index,
        moments,
        settings,
        decomposition=decompose_table(table, settings.costs, settings.scale, settings.factor),
        auc=area_under_roc(table) if both else math.nan,
        share_acted_on=acted_on,
        in_range=_in_range(table, settings.costs.low, settings.costs.high),
        acts_like=_acts_like(acted_on, moments, index),
        metrics=settings.further(table),
    )


def _scaled(name: str, index: int, moments: LossMoments, settings: Settings, **facts: Any) -> ModelResult:
    mine = moments.of(index).scaled(settings.factor)
    low, high = mine.interval(settings.confidence_level)
    interval = (max(low, 0.0) if mine.value >= 0.0 else low, high)  # regret is never negative
    return ModelResult(name, mine.value, mine.standard_error, interval, note=mine.note, **facts)


def share_acted_on(table: ScoreTable, costs: CostDistribution, rule: Rule) -> float:
    """Share of weight acted on, averaged over the cost distribution; nan where its mass is infinite."""
    weight = table.positives + table.negatives
    if not isinstance(rule, str):
        return float(weight[np.searchsorted(table.scores, rule, side="left") :].sum()) / table.total
    if not math.isfinite(costs.mass):
        return math.nan
    scores = table.pav_by_score() if rule == "optimal" else table.scores
    never, total = float(costs.positive_loss(-np.inf)), 0.0
    for part in blocks(len(scores)):
        # mass at or below a score = what acting on a negative costs + what acting on a positive saves
        below = costs.negative_loss(scores[part]) + (never - costs.positive_loss(scores[part]))
        total += weighted_sum(weight[part], below)
    return total / (costs.mass * table.total)


def _in_range(table: ScoreTable, low: float, high: float) -> tuple[float, float, float]:
    inside = slice(np.searchsorted(table.scores, low, side="left"), np.searchsorted(table.scores, high, side="right"))
    weight = table.positives[inside] + table.negatives[inside]
    mass = float(weight.sum())
    if mass == 0.0:
        return 0.0, math.nan, math.nan
    return (
        mass / table.total,
        float(np.dot(weight, table.scores[inside])) / mass,
        float(table.positives[inside].sum()) / mass,
    )


def _acts_like(acted_on: float, moments: LossMoments, index: int) -> str:
    count = len(moments.means) - len(REFERENCES)
    for offset, name in enumerate(REFERENCES):
        other = acted_on if name == REFERENCES[1] else 1.0 - acted_on
        cost, own = float(moments.means[count + offset]), float(moments.means[index])  # inf - inf: nan, not a warning
        if other <= _SAME_DECISIONS and abs(own - cost) <= _SAME_DECISIONS * cost:
            return name
    return ""


def named_models(y_prob: Any) -> tuple[dict[str, Any], str | None]:
    """Several models by name, from a mapping, a data frame or one array."""
    if y_prob is None:
        raise ValueError("y_prob is missing: pass probabilities, or several by name.")
    if isinstance(y_prob, Mapping):
        models = {str(name): scores for name, scores in y_prob.items()}
        if any(isinstance(scores, ScoreTable) for scores in models.values()):
            raise ValueError(PAIRED_NEEDS_ROWS)
        backend = backend_of(*models.values())
    else:
        models, backend = _columns(y_prob), backend_of(y_prob)
    if not models:
        raise ValueError("y_prob must hold at least one model, got none.")
    return models, backend


def _columns(y_prob: Any) -> dict[str, Any]:
    import narwhals.stable.v2 as nw

    native = nw.from_native(y_prob, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return {name: native[name].to_numpy() for name in native.columns}
    return {"model": to_array(y_prob, "y_prob")}

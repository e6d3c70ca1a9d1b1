"""Ask for an evaluation: of arrays, or of the columns of a data frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes.core.inputs import refuse_weighing, reweighted
from stakes.core.outcome import Outcome
from stakes.core.row_order import check_same_order
from stakes.core.score_table import ScoreTable
from stakes.core.validation import BinarySample, to_array
from stakes.evaluation._assemble import evaluate_rows, evaluate_tables
from stakes.evaluation._money import AS_STATED
from stakes.evaluation._request import MetricsRequest, check_request
from stakes.inference import PAIRED_NEEDS_ROWS
from stakes.shown.frames import backend_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stakes.core.options import Options
    from stakes.core.regret import Rule
    from stakes.core.scale import Scale
    from stakes.costs import CostsLike
    from stakes.evaluation._evaluation import Evaluation
    from stakes.inference import PairSums
    from stakes.outcomes import OutcomeColumns
    from stakes.tables import Predictions


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
    per: float = 1.0,
    metrics: MetricsRequest = (),
    pairs: PairSums | None = None,
) -> Evaluation:
    """Say which model to act on over the plausible thresholds, by how much it is better, and how sure that is.

    Parameters
    ----------
    y_true : array_like of shape (n,), ScoreTable, or mapping of str to ScoreTable
        Labels with two values. A table may stand for the labels and scores of one model, tables by name for those of
        several on the same rows; the differences between these then need ``pairs``.
    y_prob : array_like, mapping of str to array_like, or data frame
        Probabilities of the positive class: one model, or several by name (the columns of a data frame).
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
    per : float, default 1
        Number of decisions that scores refer to, such as 1,000; needs the scale "regret".
    metrics : sequence of str or mapping of str to mapping, optional
        Further registered metrics, with their arguments where they need any, such as
        ``{"net_benefit_score": {"threshold": 0.1}}``. Bounds and costs default to those of the evaluation.
    pairs : PairSums, optional
        Where tables stand for the rows: what says how sure the differences between the models are.

    Returns
    -------
    Evaluation
        Ask it for ``.conclusion``, ``.frame()``, ``.compare(a, b)``, ``.curves(kind)``, ``.plot()``,
        ``.to_html(path)``.

    Raises
    ------
    ValueError
        For invalid data, costs or settings, columns of pandas whose indexes differ, rows of one class only, or tables
        of different rows.

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
    given = locals()
    by_amount = isinstance(y_true, Outcome) and y_true.by_amount
    options = _asked(given, ("y_true", "y_prob", "pairs"), by_amount=by_amount)
    return _evaluate(y_true, y_prob, options, pairs)


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
    per: float = 1.0,
    metrics: MetricsRequest = (),
    on_missing: Literal["raise", "drop"] = "raise",
    outcome: OutcomeColumns | None = None,
    resolution: int | None = None,
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
    resolution : int, optional
        For a lazy frame: pool the scores of each model's table into so many cells of equal width. What comes from the
        tables then has the error that :meth:`ScoreTable.error_bound` bounds. None is exact.

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
    given = locals() | {"sample_weight": weight}
    by_amount = outcome is not None and outcome.by_amount
    options = _asked(given, ("frame", "label", "models", "weight", "on_missing", "resolution"), by_amount=by_amount)
    what = {"label": label, "models": _names(models, "models"), "on_missing": on_missing}
    return _evaluate_frame(frame, what, options, resolution)


def _asked(given: dict[str, Any], data: tuple[str, ...], *, by_amount: bool) -> Options:
    """Check the arguments of a call but for those that name the data; amounts in the rows state the costs."""
    asked = {name: value for name, value in given.items() if name not in data}
    return check_request(**asked | ({"costs": AS_STATED} if asked["costs"] is None and by_amount else {}))


def _evaluate(y_true: Any, y_prob: Any, options: Options, pairs: PairSums | None) -> Evaluation:
    tables = {"model": y_true} if isinstance(y_true, ScoreTable) else y_true
    if isinstance(tables, Mapping):
        return _evaluate_tables(tables, y_prob, options, pairs)
    if pairs is not None:
        raise ValueError("pairs= belongs to tables: rows say themselves how sure differences are.")
    models, backend = named_models(y_prob)
    _refuse_labels(y_true, models, y_prob)
    called = {name: f"y_prob[{name!r}]" if isinstance(y_prob, Mapping) else "y_prob" for name in models}
    rows = {name: options.data(y_true, scores, called[name], amounts=True).rows for name, scores in models.items()}
    outcome = y_true if isinstance(y_true, Outcome) else None
    return evaluate_rows(rows, options, backend=backend or backend_of(y_true), outcome=outcome)


def _evaluate_tables(tables: Mapping[Any, Any], y_prob: Any, options: Options, pairs: PairSums | None) -> Evaluation:
    odd = [
        f"{type(table).__name__} for {name!r}" for name, table in tables.items() if not isinstance(table, ScoreTable)
    ]
    if odd or not tables:
        raise ValueError(f"y_true must be labels, a ScoreTable or tables by name, got {odd[0] if odd else 'no table'}.")
    if y_prob is not None:
        raise ValueError(PAIRED_NEEDS_ROWS)
    if not options.groups is options.clusters is options.lags is None:
        raise ValueError("groups=, clusters= and lags= need the rows: pass y_true and y_prob instead of a ScoreTable.")
    for table in tables.values():
        refuse_weighing(table, "evaluate")
    return evaluate_tables({str(n): options.data(table, None).table for n, table in tables.items()}, options, pairs)


def _evaluate_frame(frame: Any, what: dict[str, Any], options: Options, resolution: int | None) -> Evaluation:
    import narwhals.stable.v2 as nw

    from stakes.tables import frame_columns

    options = replace(options, groups=_names(options.groups, "groups"))
    for name, column in (("label", what["label"]), ("weight", options.sample_weight)):
        if not isinstance(column, str) and not (name == "weight" and column is None):
            raise ValueError(f"{name} must be the name of a column, got {type(column).__name__}.")
    if not isinstance(options.clusters, str | None):
        raise ValueError(f"clusters must be the name of a column, got {type(options.clusters).__name__}.")
    if isinstance(frame, np.ndarray | Mapping | list | tuple):
        raise ValueError(f"frame must be a data frame, got {type(frame).__name__}: evaluate() takes arrays.")
    if isinstance(nw.from_native(frame, pass_through=True), nw.LazyFrame):
        from stakes.evaluation._engine import evaluate_lazy

        return evaluate_lazy(frame, options, resolution=resolution, **what)
    if resolution is not None:
        raise ValueError("resolution= is for lazy frames: the rows of this one are in memory, and all counted.")
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


def evaluate_predictions(predictions: Predictions, options: Options) -> Evaluation:
    """Evaluate the clean columns that the tables room read."""
    rows, asked = {}, divided(predictions, options)
    for name, scores in zip(predictions.models, predictions.scores, strict=True):
        if predictions.outcome is not None:
            rows[name] = asked.data(predictions.outcome, scores, name, amounts=True).rows
            continue
        sample = BinarySample(predictions.y, scores, predictions.weight)
        rows[name] = sample if options.prevalence is None else reweighted(sample, options.prevalence)
    return evaluate_rows(
        rows,
        replace(asked, pos_label=options.pos_label),
        backend=predictions.backend,
        n_dropped=predictions.n_dropped,
        source=predictions.source,
        outcome=predictions.outcome,
    )


def _refuse_labels(y_true: Any, models: Mapping[str, Any], y_prob: Any) -> None:
    """Raise where the column of labels was left in the frame of the models: it would be the best of them."""
    name = getattr(y_true, "name", None)
    if isinstance(y_prob, Mapping) or not isinstance(name, str) or name not in models:
        return
    if np.array_equal(to_array(y_true, "y_true"), to_array(models[name], "y_prob")):
        raise ValueError(
            f"y_prob must hold models only, got the labels themselves in column {name!r}: leave it out, as in "
            f"data.drop(columns={name!r})."
        )


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

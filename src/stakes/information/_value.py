"""The expected value of perfect and of sample information, and how many rows a question needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.validation import (
    Bools,
    Floats,
    Integers,
    brief,
    by_name,
    check_choice,
    check_level,
    check_number,
    check_same_order,
    check_size,
    check_unit,
    generator,
    settled_order,
)
from stakes.core.options import check_unit_cost, evaluation_data, refuse_weighing
from stakes.costs import CostDistribution, CostsLike, Fixed, as_costs
from stakes.inference import CostRows, area_of, largest_of
from stakes.outputs.hooks import draw
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import REFERENCES, count, level_name, number, percent, stated
from stakes.variance.largest import same_values
from stakes.variance.sums import Sums, half_width

# Value of information at one threshold, exactly: a model, treating all and treating no one on four cells of rows.
#
# The rows acted on (TP, FP) and not acted on (FN, TN) carry independent Beta posteriors of their event rates, which
# is the Bayesian bootstrap of the rows when nothing is added to the cells. Values are net benefits, per decision.

PRIORS = ("indifference", "haldane", "uniform")
_OPEN = 1e-14  # both doubts matter only where both are open
_PANELS, _NODES = 24, 24


@dataclass(frozen=True, eq=False, repr=False)
class CellValue:
    """Expected value of perfect information, and probabilities that each of the three is best."""

    evpi: float
    p_model: float
    p_all: float
    p_none: float


def pseudo_rows(prior: str, t: float) -> tuple[float, float]:
    """Positives and negatives added to the rows acted on, and to those not acted on."""
    return {"haldane": (0.0, 0.0), "indifference": (t, 1.0 - t), "uniform": (1.0, 1.0)}[prior]


def cell_value(cells: tuple[float, float, float, float], t: float) -> CellValue:
    """Compute exact values from TP, FP, FN, TN including the prior."""
    tp, fp, fn, tn = cells
    odds, total = t / (1.0 - t), sum(cells)
    # gains in rows: acting on the model over no one, and on everyone over the model
    model, everyone = tp - odds * fp, fn - odds * tn
    everyone_up = (fn + tn) * _positive_part(fn, tn, t) / (1.0 - t)
    model_down = (tp + fp) * _positive_part(tp, fp, t) / (1.0 - t) - model
    p_over_none, p_over_all = 1.0 - _below(tp, fp, t), _below(fn, tn, t)
    both = negative = 0.0
    if (1.0 - p_over_none) * (1.0 - p_over_all) > _OPEN:
        both, negative = _overlap(cells, odds)
    now = max(0.0, model, model + everyone)
    evpi = (model + everyone_up + model_down - both - now) / total
    p_none = (1.0 - p_over_none) * p_over_all + negative
    p_model = p_over_none * p_over_all
    return CellValue(max(evpi, 0.0), p_model, max(1.0 - p_model - p_none, 0.0), p_none)


def _positive_part(a: float, b: float, t: float) -> float:
    """E (v - t)+ for v ~ Beta(a, b)."""
    if a == 0.0 or b == 0.0:
        return 0.0 if a == 0.0 else 1.0 - t
    return a / (a + b) * (1.0 - _below(a + 1.0, b, t)) - t * (1.0 - _below(a, b, t))


def _below(a: float, b: float, t: float) -> float:
    """P(v < t) for v ~ Beta(a, b); a half without rows."""
    from scipy.special import betainc

    if a == 0.0 or b == 0.0:
        return 1.0 if a == 0.0 else 0.0
    return float(betainc(a, b, t))


def _overlap(cells: tuple[float, float, float, float], odds: float) -> tuple[float, float]:
    """Probability that treating none beats the model and treating all beats it too, by gamma variables X and Z.

    The integral of P(Z > z) P(X < -z), and the probability that X < 0 < Z and X + Z < 0.
    """
    from scipy.special import gammaincc, gammaln

    tp, fp, fn, tn = cells
    if fn == 0.0 or fp == 0.0:
        return 0.0, 0.0
    top = min(_far(fn), odds * _far(fp))
    edges = [np.array([0.0]), np.geomspace(1e-6, 1.0, _PANELS) * top]
    # with many rows Z and -X step within a few of their standard deviations
    for gain, lost in ((fn, tn), (-tp, -fp)):
        edges.append(gain - odds * lost + math.sqrt(abs(gain + odds**2 * lost)) * np.arange(-14.0, 15.0))
    every = np.unique(np.concatenate(edges))
    z, weight = _legendre(every[(every >= 0.0) & (every <= top)])
    by_tn, by_tp = _gamma_nodes(tn, _far(fn) / odds), _gamma_nodes(tp, _far(fp) * odds)
    up = gammaincc(fn, z[:, None] + odds * by_tn[0]) @ by_tn[1]
    down = gammaincc(fp, (z[:, None] + by_tp[0]) / odds) @ by_tp[1]
    places = z[:, None] + odds * by_tn[0]
    density = np.exp((fn - 1.0) * np.log(places) - places - gammaln(fn)) @ by_tn[1]
    return float(weight @ (up * down)), float(weight @ (density * down))


def _far(shape: float) -> float:
    """Beyond which a gamma variable hardly ever lies."""
    return shape + 14.0 * math.sqrt(shape) + 60.0


def _gamma_nodes(shape: float, reach: float) -> tuple[Floats, Floats]:
    """Nodes and weights of the expectation over a gamma variable of what vanishes beyond a reach."""
    from scipy.special import gammaln

    if shape == 0.0:
        return np.zeros(1), np.ones(1)
    edges = np.linspace(max(0.0, shape - 14.0 * math.sqrt(shape) - 30.0), _far(shape), _PANELS + 1)
    if shape >= 1.0:
        if edges[0] < reach < edges[4]:  # a few panels are too coarse
            edges = np.unique([*edges, *(edges[0] + (reach - edges[0]) * np.geomspace(1e-6, 1.0, _PANELS))])
        g, weight = _legendre(edges)
        return g, weight * np.exp((shape - 1.0) * np.log(g) - g - gammaln(shape))
    # below one the density is infinite at zero: integrate over v = g ** shape
    v, weight = _legendre(np.concatenate([[0.0], np.geomspace(1e-12, edges[-1], 4 * _PANELS) ** shape]))
    g = v ** (1.0 / shape)
    return g, weight * np.exp(-g - gammaln(shape + 1.0))


def _legendre(edges: Floats) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = 0.5 * np.diff(edges)[:, None]
    x = 0.5 * (edges[1:] + edges[:-1])[:, None] + half * nodes
    return x.ravel(), (half * weights).ravel()


# The input of a value of information: costs of each row under each decision, and the number of decisions.


class JointCells(NamedTuple):
    """Cells of rows with equal decisions of all models: their positives and negatives, the prior's among them.

    These are effective rows; ``scales`` is how many each row of the positives, then of the negatives, stands for: 1
    where all rows weigh alike.
    """

    patterns: Floats
    ups: Floats
    downs: Floats
    scales: Floats


class CostCells(NamedTuple):
    """Cells of rows with equal costs: those under each decision, and effective rows and scales as of joint cells."""

    costs: Floats
    rows: Floats
    scales: Floats


class StudyOptions(NamedTuple):
    """Checked options of a value-of-information study."""

    threshold: float | None
    prior: str
    sizes: tuple[int, ...]
    n_decisions: float | None
    unit_cost: float | None
    per: float
    row_cost: float | None
    fixed_cost: float


def _size(m: Any) -> int:
    if not isinstance(m, (int, np.integer)) or isinstance(m, bool) or m < 1:
        raise ValueError(f"more_rows must hold whole numbers > 0, got {m!r}.")
    return int(m)


def check_study(
    *,
    more_rows: Sequence[int] = (100, 1000),
    decisions: float | Sequence[float] | None = None,
    discount: float | None = None,
    unit_cost: float | None = None,
    per: float = 1.0,
    row_cost: float | None = None,
    fixed_cost: float = 0.0,
) -> tuple[tuple[int, ...], float | None, float | None, float, float | None, float]:
    """Check units, years and prices of :class:`StudyOptions`."""
    if not isinstance(more_rows, (list, tuple, np.ndarray)) or np.ndim(more_rows) != 1:
        remedy = f": pass [{more_rows!r}]" if isinstance(more_rows, int) else ""
        raise TypeError(f"more_rows must be a list of numbers of rows, got {brief(more_rows)}{remedy}.")
    sizes, total = tuple(map(_size, more_rows)), total_decisions(decisions, discount)
    cost, size = None if unit_cost is None else check_unit_cost(unit_cost), check_positive(per, "per")
    fixed = check_size(fixed_cost, "fixed_cost", zero=True)
    row_cost = 0.0 if row_cost is None and fixed > 0.0 else row_cost
    price = None if row_cost is None else check_size(row_cost, "row_cost", zero=True)
    return sizes, total, cost, size, price, fixed


def check_positive(value: Any, name: str) -> float:
    """A finite number above zero, or raise."""
    number = check_number(value, name)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}.")
    return number


def total_decisions(decisions: float | Sequence[float] | None, discount: float | None) -> float | None:
    """Discounted total number of decisions."""
    if decisions is None or not isinstance(decisions, Sequence):
        if discount is not None:
            raise ValueError(f"discount needs decisions by year, got decisions={decisions!r}.")
        return None if decisions is None else check_size(decisions, "decisions", zero=True)
    if not decisions:
        raise ValueError(f"decisions must hold at least one year, got {decisions!r}.")
    rate = 0.0 if discount is None else check_unit(discount, "discount", open_high=True)
    years = [check_size(each, "decisions", zero=True) for each in decisions]
    return sum(each / (1.0 + rate) ** year for year, each in enumerate(years))


# Sentences on the value of information: the expected loss of choosing now, savings by more rows, and study costs.

_WORTH_SAYING = 0.005


def sentences(found: Any) -> Iterator[str]:
    """Yield sentences on the value of information, the most important first."""
    over = "" if found.total is None else f", {number(found.total)} over all {found.n_decisions:,.0f} decisions"
    unit = " of net benefit" if found.scale == "net benefit" else ""
    yield f"Choosing {found.chosen} now is expected to lose {number(found.evpi)}{unit} {_per(found.per)}{over}."
    if found.evsi and found.evpi > 0.0:
        shares = ((m, _share(saved / found.evpi)) for m, saved in found.evsi.items())
        yield "; ".join(f"{m:,} further rows would save {share} of that" for m, share in shares) + "."
    if found.row_cost is not None and found.evsi:
        yield _study(found.net_gain(found.row_cost, fixed_cost=found.fixed_cost))


def _per(decisions: float) -> str:
    return "per decision" if decisions == 1.0 else f"per {stated(decisions)} decisions"


def unit_of(found: ValueOfInformation) -> str:
    """In what values are: net benefit or regret, and per how many decisions."""
    return f"{found.scale} {_per(found.per)}"


def _share(share: float) -> str:
    return percent(share, 2) if share >= _WORTH_SAYING else "less than 0.5%"


def _study(gains: Mapping[int, float]) -> str:
    best = max(gains, key=lambda m: gains[m])
    if gains[best] <= 0.0:
        return "No study of these sizes is worth its price."
    return f"Of these studies that of {best:,} rows gains most: {number(gains[best])} after its price."


# ``value_of_information``: the expected loss of choosing now, and how much of it further rows save.

ENOUGH = 40  # deciding rows of the scarcer class from which on the normal form is close
_DRAWS, _LEAST_DRAWS = 20_000, 1_000
_MOST_VALUES, _MOST_COUNTS = 10_000_000, 2_000_000  # drawn of a posterior, and of further rows
_BLOCK = 4_000_000
_WIDTH = 0.1  # of cells of costs, in standard deviations of rows
_SAME = 1e-12  # expected costs that rounding alone tells apart


@dataclass(frozen=True, eq=False, repr=False)
class ValueOfInformation(Tabular):
    """What is uncertain about a choice, in the units of what is chosen.

    Parameters
    ----------
    chosen : str
        The decision with the best mean on these rows.
    evpi : float
        Expected value of perfect information, which is the expected loss of choosing now, per decision.
    p_best : dict of str to float
        Probability that each model, "treat all" and "treat none" is the best; models that decide alike have the same.
    p_useful : dict of str to float
        Probability that each model is better than treating all and treating no one.
    evsi : dict of int to float
        What so many more rows are expected to save, per decision.
    method : str
        How the posterior was worked out.
    deciding_rows : int
        Of events and of non-events among the rows that the two leading decisions treat differently, the fewer.
    scale : str
        "net benefit" at a threshold, else "regret".
    n_decisions : float or None
        How many decisions the choice is for, discounted.
    threshold : float or None
        At which values are net benefits; None over a range of costs, and in units of cost.
    per : float
        Number of decisions that values are counted in.
    row_cost, fixed_cost : float
        Price of one further row, and of any study, where they are known.

    Examples
    --------
    >>> from stakes import value_of_information
    >>> y_true, y_prob = [0, 1, 0, 1] * 20, [0.1, 0.8, 0.3, 0.6] * 20
    >>> value_of_information(y_true, y_prob, threshold=0.2).chosen
    'model'
    """

    chosen: str
    evpi: float
    p_best: dict[str, float]
    p_useful: dict[str, float]
    evsi: dict[int, float]
    method: str
    deciding_rows: int
    scale: str
    n_decisions: float | None
    threshold: float | None
    per: float
    row_cost: float | None
    fixed_cost: float

    @property
    def total(self) -> float | None:
        """Value of perfect information over all decisions."""
        return None if self.n_decisions is None else self.evpi * self.n_decisions / self.per

    @property
    def conclusion(self) -> list[str]:
        """The conclusion for a report."""
        return list(sentences(self))

    def study_records(self) -> list[dict[str, Any]]:
        """Records of each number of further rows: its savings per decision, in total, and net of its price."""
        gains = {} if self.row_cost is None else self.net_gain(self.row_cost, fixed_cost=self.fixed_cost)
        many = None if self.n_decisions is None else self.n_decisions / self.per
        totals = {m: None if many is None else saved * many for m, saved in self.evsi.items()}
        return [
            {"more_rows": m, "saving": saved, "total_saving": totals[m], "net_gain": gains.get(m)}
            for m, saved in self.evsi.items()
        ]

    def _content(self) -> Any:
        return self.record()

    def record(self) -> dict[str, Any]:
        """Everything as plain values."""
        plain = ("chosen", "evpi", "scale", "per", "method", "deciding_rows", "n_decisions", "total")
        record = {key: getattr(self, key) for key in plain} | {"decisions": self._records()}
        return record | {"studies": self.study_records(), "conclusion": self.conclusion}

    @property
    def total_in_false_positives(self) -> float | None:
        """Total value in avoided false positives, if the unit is a true positive."""
        if self.total is None or self.threshold is None:
            return None
        return self.total * (1.0 - self.threshold) / self.threshold

    def net_gain(self, row_cost: float, *, fixed_cost: float = 0.0) -> dict[int, float]:
        """Say what a study of each size in ``evsi`` would save over all decisions, less what it costs.

        Parameters
        ----------
        row_cost : float
            Price of one further row, in the unit of the values: true positives at a threshold.
        fixed_cost : float, default 0
            Price of any study.

        Returns
        -------
        dict of int to float
            The best size is the key of the largest; a study that is not worth its price has a negative gain.

        Raises
        ------
        ValueError
            If it is not known how many decisions the choice is for, or for prices below zero.

        Examples
        --------
        >>> from stakes import value_of_information
        >>> y_true, y_prob = [0] * 147 + [1] * 2 + [0] * 310 + [1] * 41, [0.01] * 149 + [0.03] * 351
        >>> found = value_of_information(y_true, y_prob, threshold=0.02, decisions=800_000, more_rows=(500, 5000))
        >>> gain = found.net_gain(0.05)
        >>> max(gain, key=gain.get)
        500
        """
        if self.n_decisions is None:
            raise ValueError(
                "net_gain needs to know how many decisions the choice is for, to set what they save against row_cost "
                "and fixed_cost: pass decisions=."
            )
        for name, price in (("row_cost", row_cost), ("fixed_cost", fixed_cost)):
            check_size(price, name, zero=True)
        many = self.n_decisions / self.per
        return {m: saved * many - fixed_cost - row_cost * m for m, saved in self.evsi.items()}

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw what further rows are expected to save, with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to the display, such as ``legend=None``.

        Returns
        -------
        ValueOfInformationDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import value_of_information
        >>> value_of_information([0, 1] * 40, [0.3, 0.4] * 40, threshold=0.35).plot().ax_.get_xlabel()
        'Further rows'
        """
        return draw(self, ax, **options)

    def _records(self) -> list[dict[str, Any]]:
        return [{"decision": name, "p_best": p, "p_useful": self.p_useful.get(name)} for name, p in self.p_best.items()]

    def __repr__(self) -> str:
        return f"ValueOfInformation({self.chosen}, EVPI {self.evpi:.4g} {unit_of(self)}, {self.method})"


def value_of_information(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike],
    *,
    costs: CostsLike | None = None,
    threshold: float | None = None,
    prior: str = "indifference",
    more_rows: Sequence[int] = (100, 1000),
    decisions: float | Sequence[float] | None = None,
    discount: float | None = None,
    unit_cost: float | None = None,
    per: float = 1.0,
    row_cost: float | None = None,
    fixed_cost: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    logits: bool = False,
    random_state: int | np.random.Generator | None = 0,
) -> ValueOfInformation:
    """Say what choosing among models, treating all and treating no one on these rows is expected to lose.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels with two values.
    y_prob : array_like of shape (n,) or mapping of str to array_like
        Probabilities of the positive class, of one model or by model.
    costs : CostDistribution, tuple of float or float, optional
        How much each cost ratio counts; the choice is made once for all of them. This or ``threshold``.
    threshold : float, optional
        The decision threshold, in (0, 1): values are then net benefits, in true positives per decision.
    prior : {"indifference", "haldane", "uniform"}, default "indifference"
        What is added to the rows acted on and not acted on at a threshold, seen or not: one row whose expected gain is
        zero, nothing, or a positive and a negative.
    more_rows : sequence of int, default (100, 1000)
        Numbers of further rows to value.
    decisions : float or sequence of float, optional
        How many decisions the choice is for, in all or by year.
    discount : float, optional
        Yearly rate below 1 at which later years of ``decisions`` count less: 0.035 for 3.5%.
    unit_cost : float, optional
        What a false positive and a false negative cost together: values are then mean regrets in that unit, at a
        threshold too.
    per : float, default 1
        Number of decisions that values are counted in.
    row_cost, fixed_cost : float, optional
        Price of one further row and of any study, in the unit of the values; needs ``decisions``. Rows cost nothing
        where only ``fixed_cost`` is stated.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0. The prior and further rows are effective rows, which are drawn as those that are there were.
    pos_label : object, optional
        The label of the positive class.
    logits : bool, default False
        Whether the scores are log-odds.
    random_state : int, numpy Generator or None, default 0
        For the draws where there is no closed form.

    Returns
    -------
    ValueOfInformation

    Raises
    ------
    ValueError
        For invalid data or settings.

    Notes
    -----
    Perfect information is worth the expected best true value less the expected value of what looks best now
    (Sadatsafavi, Lee, Vickers and Gustafson 2023). At one threshold, one model, or several that decide alike, has an
    exact form; several others, or rows of unlike weights in a cell, take draws of their joint cells, which have the
    spread of rows that are drawn again by their weights. Over a range the posterior comes from draws of the Bayesian
    bootstrap where fewer than 40 rows decide, with rows of nearly equal costs as one cell, and is taken as normal where
    more do. What further rows save is a share of that, by up to 20,000 draws of such rows from the posterior, or by the
    normal form where that is taken: it rises with the number of rows up to all of it, and is 0 where none of the draws
    changes the choice. At a threshold both have one prior, which also holds for the rows that a model does not act on
    where it acts on all of these, and the other way round. One cost ratio is a threshold, in units of cost.

    Examples
    --------
    >>> from stakes import value_of_information
    >>> y_true, y_prob = [0] * 147 + [1] * 2 + [0] * 310 + [1] * 41, [0.01] * 149 + [0.03] * 351
    >>> found = value_of_information(y_true, y_prob, threshold=0.02)
    >>> round(found.evpi, 6), round(found.p_best["model"], 2)
    (0.000509, 0.8)
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    measure = _at_or_over(threshold, costs)
    models = by_name(y_prob, "y_prob") if isinstance(y_prob, Mapping) else {"model": y_prob}
    refuse_weighing(y_true, "value_of_information")
    if not models:
        raise ValueError("y_prob must hold at least one model, got none.")
    for name in models:
        if name in REFERENCES:
            raise ValueError(f"y_prob must not call a model {name!r}: that names a reference.")
    if not np.isfinite(measure.mass):
        raise ValueError(f"costs must have a finite mass for a value per decision, got {measure!r}.")
    about: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "logits": logits}
    data = (evaluation_data(y_true, score, name=f"y_prob[{name!r}]", **about) for name, score in models.items())
    samples = [each.rows for each in data]
    rows = CostRows.of(samples, measure, factor=1.0 / measure.mass)
    cost = 1.0 if unit_cost is None and threshold is None else unit_cost
    units: dict[str, Any] = {"decisions": decisions, "discount": discount, "unit_cost": cost, "per": per}
    study = check_study(more_rows=more_rows, **units, row_cost=row_cost, fixed_cost=fixed_cost)
    asked = StudyOptions(one_threshold(measure), check_choice(prior, "prior", PRIORS), *study)
    scores = [sample.score for sample in samples]
    return value_of(rows, (*models, *REFERENCES), scores, asked, generator(random_state))


def value_of(
    rows: CostRows, names: tuple[str, ...], scores: Sequence[Floats], asked: StudyOptions, rng: np.random.Generator
) -> ValueOfInformation:
    """Value of information from row regrets of the models, then of treating all and treating none."""
    t = asked.threshold
    order = np.argsort(rows.means, kind="stable")
    chosen, deciding = int(order[0]), _deciding(rows, order)
    count, sizes = len(scores), sorted(set(asked.sizes))
    if t is None:
        evpi, p_best, p_useful, method, shares = (_by_normal if deciding >= ENOUGH else _by_draws)(rows, sizes, rng)
    else:
        cells = _joint_cells(rows, np.stack([score >= t for score in scores], axis=1), t, asked.prior)
        chosen = _cheapest(cells, t, order)
        evpi, p_best, p_useful, method = _at_threshold(cells, t, asked.prior, rng)
        shares = _shares(*saved_by_cells(priced(cells, t), sizes, rng))
    share = dict(zip(sizes, shares.tolist(), strict=True))
    benefit = t is not None and asked.unit_cost is None
    unit = asked.per * (1.0 / (1.0 - t) if t is not None and benefit else asked.unit_cost or 1.0)
    best = dict(zip(names, map(float, p_best), strict=True))
    useful = dict(zip(names[:count], map(float, p_useful), strict=True))
    evsi = {m: unit * (evpi * share[m]) for m in asked.sizes}
    scale, at = ("net benefit", t) if benefit else ("regret", None)
    study = asked.n_decisions, at, asked.per, asked.row_cost, asked.fixed_cost
    found = ValueOfInformation(names[chosen], unit * evpi, best, useful, evsi, method, deciding, scale, *study)
    found.study_records()  # invalid prices are refused here
    return found


def _deciding(rows: CostRows, order: Integers) -> int:
    """Events or non-events, the fewer, on which the best decision and the next that is another one differ."""
    differs = (rows.costs[:, order[0]] != rows.costs[:, k] for k in order[1:])
    differ = next((each for each in differs if each.any()), np.zeros(len(rows.y), dtype=bool))
    return int(min(np.count_nonzero(differ & rows.y), np.count_nonzero(differ & ~rows.y)))


def _by_normal(
    rows: CostRows, sizes: Sequence[int], rng: np.random.Generator
) -> tuple[float, Floats, list[float], str, Floats]:
    """Value over a range of cost ratios, and the shares of it from further rows, by the normal approximation."""
    covariance, now = rows.covariance(), float(rows.weight.sum()) ** 2 / float((rows.weight**2).sum())
    largest = largest_of(-rows.means, covariance, random_state=rng)
    most = largest_of(-rows.means, covariance, random_state=0).excess
    # more/(now + more) of the variance is resolved, with the same draws for every number of rows
    saved = [largest_of(-rows.means, covariance * (m / (now + m)), random_state=0).excess for m in sizes]
    return largest.excess, largest.p_best, _useful(-rows.means, covariance), "normal", _shares(np.array(saved), most)


def _by_draws(
    rows: CostRows, sizes: Sequence[int], rng: np.random.Generator
) -> tuple[float, Floats, list[float], str, Floats]:
    """Value over a range of cost ratios, and the shares of it from further rows, by the Bayesian bootstrap."""
    cells = cost_cells(rows)
    draws, parts = _most_draws(_MOST_VALUES, cells), []
    for part in _parts(draws, cells):
        weight = cells.scales * rng.standard_gamma(cells.rows / cells.scales, (part, len(cells.rows)))
        parts.append(weight @ cells.costs / weight.sum(axis=1)[:, None])
    method = f"{draws:,} draws of the Bayesian bootstrap"
    return *_from_draws(np.concatenate(parts), cells, method), _shares(*saved_by_cells(cells, sizes, rng))


def _shares(saved: Floats, most: float) -> Floats:
    """Savings as shares of ``most``, made monotone in the number of rows and at most 1.

    The true shares are so ordered, for further rows are a martingale of posterior means and the best of those is
    convex; what estimates differ from that is error of the draws, and each takes the largest before it.
    """
    if most <= 0.0:
        return np.zeros(len(saved))
    return np.asarray(np.maximum.accumulate(np.minimum(saved / most, 1.0)))


def _at_or_over(threshold: Any, costs: Any) -> CostDistribution:
    """Return the cost distribution."""
    if (costs is None) == (threshold is None):
        raise ValueError(f"exactly one of costs and threshold must be given, got {costs!r} and {threshold!r}.")
    if threshold is None:
        return as_costs(costs)
    return Fixed(check_unit(threshold, "threshold", open_low=True, open_high=True))


def one_threshold(measure: CostDistribution) -> float | None:
    """Say at which threshold decisions fall into cells, or None where more than one counts."""
    return measure.c if isinstance(measure, Fixed) and measure.tie == 1.0 and 0.0 < measure.c < 1.0 else None


def _useful(gains: Floats, covariance: Floats) -> list[float]:
    """Probability that each model beats both references, which are the last columns; 0 for one that is one of them."""
    first, useful = same_values(gains, covariance), []
    for k in range(len(gains) - 2):
        three = [k, len(gains) - 2, len(gains) - 1]
        beats = largest_of(gains[three], covariance[np.ix_(three, three)]).p_best[0]
        useful.append(0.0 if first[k] in first[-2:] else float(beats))
    return useful


def _at_threshold(
    cells: JointCells, t: float, prior: str, rng: np.random.Generator
) -> tuple[float, Floats, list[float], str]:
    """Value at one threshold from the cells of rows with equal decisions of all models, in regret at t."""
    patterns, ups, downs, scales = cells
    if np.all(patterns == patterns[:, :1]) and np.allclose(scales, 1.0, rtol=1e-9):
        not_acted, acted = zip(ups.tolist(), downs.tolist(), strict=True)
        value = cell_value((*acted, *not_acted), t)
        alike = [value.p_model] * patterns.shape[1]
        p_best = np.array([*alike, value.p_all, value.p_none])
        return value.evpi * (1.0 - t), p_best, alike, f"exact, {prior} prior"
    prices, classes = priced(cells, t), zip((ups, downs), scales, strict=True)
    up, down = (rng.standard_gamma(count / scale, (_DRAWS, len(patterns))) * scale for count, scale in classes)
    mass = (up.sum(axis=1) + down.sum(axis=1))[:, None]
    drawn = (up @ prices.costs[: len(patterns)] + down @ prices.costs[len(patterns) :]) / mass
    return _from_draws(drawn, prices, f"{_DRAWS:,} draws on joint cells, {prior} prior")


def _joint_cells(rows: CostRows, acting: Bools, t: float, prior: str) -> JointCells:
    """Divide the rows into cells, and add the prior.

    A model that acts on every row may not act on a further one, and the other way round: the cell of rows on which no
    model acts, or on which all do, is there for the prior although no row has shown it.
    """
    unseen = [np.full((1, acting.shape[1]), act) for act in (False, True) if np.all(acting != act, axis=0).any()]
    every = np.concatenate([acting, *unseen])
    place = np.zeros(len(every), dtype=np.intp)
    for column in every.T:  # the place of each row's decisions so far among all that occur, without a sort
        place = 2 * place + column
        place = (np.cumsum(np.bincount(place) > 0) - 1)[place]
    patterns = np.empty((int(place.max()) + 1, every.shape[1]), dtype=bool)
    patterns[place] = every
    place = place[: len(acting)]
    weight = rows.weight * (float(rows.weight.sum()) / float((rows.weight**2).sum()))  # as effective rows
    # the posterior of each is a gamma variable with the mean and the variance of rows drawn again by their weights
    means, variances = (
        np.stack([np.bincount(place, each * (rows.y == k), len(patterns)) for k in (True, False)])
        + np.array(pseudo_rows(prior, t))[:, None]
        for each in (weight, weight**2)
    )
    scales = np.divide(variances, means, out=np.ones(means.shape), where=means > 0.0)
    return JointCells(patterns.astype(np.float64), means[0], means[1], scales)


def _cheapest(cells: JointCells, t: float, order: Integers) -> int:
    """The decision of least expected cost with the prior, of equal ones the first in order."""
    patterns, ups, downs, _ = cells
    act = _with_references(patterns)
    expected = ((1.0 - t) * ups @ (1.0 - act) + t * downs @ act)[order]
    return int(order[np.argmax(expected <= expected.min() * (1.0 + _SAME))])


def _with_references(patterns: Floats) -> Floats:
    """Append treating all and treating none as columns."""
    return np.concatenate([patterns, np.ones((len(patterns), 1)), np.zeros((len(patterns), 1))], axis=1)


def cost_cells(rows: CostRows) -> CostCells:
    """Divide the rows into cells of nearly equal costs, in an order that does not depend on the input.

    No difference between two decisions varies in a cell by more than a tenth of its standard deviation among rows, by
    which at most 0.25% of its variance is left out.
    """
    first, second = np.triu_indices(rows.costs.shape[1], 1)
    order = settled_order(*rows.costs.T, rows.weight)
    costs, weight = rows.costs[order], rows.weight[order]
    weight = weight * (float(weight.sum()) / float((weight**2).sum()))  # as effective rows
    gaps = costs[:, first] - costs[:, second]
    spread = np.sqrt(weight**2 @ (gaps - weight @ gaps / weight.sum()) ** 2 / float(weight @ weight))
    keys = np.floor(np.divide(gaps, _WIDTH * spread, out=np.zeros(gaps.shape), where=spread > 0.0))
    order = settled_order(*keys.T)
    place = np.cumsum(np.any(np.diff(keys[order], axis=0, prepend=keys[order[:1]]) != 0.0, axis=1))
    weight = weight[order]
    sums = np.stack([np.bincount(place, each) for each in (weight, weight**2, *(weight * costs[order].T))])
    sums = sums[:, sums[1] > 0.0]  # some weights are lost beside the others
    return CostCells((sums[2:] / sums[0]).T, sums[0], sums[1] / sums[0])


def priced(cells: JointCells, t: float) -> CostCells:
    """Costs at a threshold of joint cells: of their positives, then of their negatives."""
    act = _with_references(cells.patterns)
    costs = np.concatenate([(1.0 - t) * (1.0 - act), t * act])
    return CostCells(costs, np.concatenate([cells.ups, cells.downs]), cells.scales.ravel())


def saved_by_cells(cells: CostCells, sizes: Sequence[int], rng: np.random.Generator) -> tuple[Floats, float]:
    """Savings of each number of further rows, and of perfect information, by the same draws.

    Costs are drawn from the posterior, further rows from them, and the choice is made with those rows; ``sizes`` rise,
    and each study holds the one before it. Further rows are effective ones, which weigh like those that are there.
    """
    costs, now, scale = cells
    chosen, rows, draws = int((now @ costs).argmin()), now / scale, _most_draws(_MOST_COUNTS, cells)
    counts = np.rint(float(rows.sum() / now.sum()) * np.array(sizes)).astype(np.int64)
    saved = np.zeros(len(sizes) + 1)  # the last by perfect information
    for part in _parts(draws, cells):
        drawn = rng.standard_gamma(rows, (part, len(now)))
        drawn /= drawn.sum(axis=1)[:, None]
        later = np.broadcast_to(rows, drawn.shape)
        for k, more in enumerate(np.diff(counts, prepend=0).tolist()):
            later = later + rng.multinomial(more, drawn)
            saved[k] += _spared(_weighed(later, scale) @ costs, chosen)
        saved[-1] += _spared(_weighed(drawn, scale) @ costs, chosen)
    return saved[:-1] / draws, float(saved[-1]) / draws


def _most_draws(values: int, cells: CostCells) -> int:
    return min(max(values // len(cells.rows), _LEAST_DRAWS), _DRAWS)


def _parts(draws: int, cells: CostCells) -> Iterator[int]:
    """Numbers of draws that are held at a time."""
    step = max(_BLOCK // len(cells.rows), 1)
    return (min(step, draws - start) for start in range(0, draws, step))


def _weighed(rows: Floats, scale: Floats) -> Floats:
    """Shares of the cells from rows of unequal weight."""
    weight = rows * scale
    return np.asarray(weight / weight.sum(axis=1)[:, None])


def _spared(costs: Floats, chosen: int) -> float:
    """Sum over draws of the chosen decision's cost minus the lowest cost."""
    return float((costs[:, chosen] - costs.min(axis=1)).sum())


def _from_draws(drawn: Floats, cells: CostCells, method: str) -> tuple[float, Floats, list[float], str]:
    """Average loss of the apparently best decision, from draws; decisions of equal costs are one."""
    costs = cells.costs[cells.rows > 0.0]
    first = np.array([np.argmax(np.all(costs == column[:, None], axis=0)) for column in costs.T])
    now, best = int((cells.rows @ cells.costs).argmin()), first[drawn[:, first].argmin(axis=1)]
    evpi = float((drawn[:, now] - drawn.min(axis=1)).mean())
    p_best = np.bincount(best, minlength=drawn.shape[1])[first] / len(drawn)
    useful = (drawn[:, first[:-2]] < drawn[:, first[-2:]].min(axis=1)[:, None]).mean(axis=0)
    return evpi, p_best, useful.tolist(), method


# Sample sizes for an interval of a stated width, for a difference, or for a certificate.

_OPEN_SHARE = {"open_low": True, "open_high": True}
_MOST_ROWS = 10_000_000
_GAINS = 4_000  # samples drawn
_CARRYING = 50  # rows that carry what is rare, from which on normal formulas are near
_MOST_PLACES = 10_000  # quantiles
_SLACK = 0.05  # share of the width, or of the rarer of being shown and not, by which they may miss what is asked


@dataclass(frozen=True, repr=False)
class Plan(Tabular):
    """How many rows a question needs, for one look at the data.

    Parameters
    ----------
    question : str
        What is asked about.
    rows : int
        Rows needed.
    events : int or None
        Positives expected among them, rounded up, where the prevalence is known; 0 where less than one is.
    why : str
        The reason, as a sentence.
    enough : int or None
        For "gain", to two digits: with how many rows the tests of this library have the power in drawn samples, or its
        intervals the width on average and in half of them, where that takes more than ``rows``. For "auc", with how
        many the interval has the width where scores lie at the quantiles of normal ones, spread alike in both classes.

    Examples
    --------
    >>> from stakes.information import rows_needed
    >>> rows_needed(question="auc", auc=0.8, prevalence=0.1, width=0.1)
    Plan(836 rows, 84 of them positive: the 95% interval of an AUC of 0.800 is then about 0.100 wide)
    """

    question: str
    rows: int
    events: int | None
    why: str
    enough: int | None = None

    def _records(self) -> list[dict[str, Any]]:
        return [dict(vars(self))]

    @property
    def sentence(self) -> str:
        """The sentence that the command prints."""
        positives = "" if self.events is None else f", {_positives(self.events)}"
        return f"{count(self.rows)} row{'' if self.rows == 1 else 's'}{positives}: {self.why}"

    def __repr__(self) -> str:
        return f"Plan({self.sentence})"


def _events(expected: float) -> int:
    """Positives expected, rounded up; 0 where less than one is."""
    return math.ceil(expected) if expected >= 1.0 else 0


def _positives(events: int) -> str:
    return f"{count(events) if events else 'fewer than one'} of them positive"


def rows_needed(
    *,
    question: str,
    width: float | None = None,
    power: float | None = None,
    prevalence: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    threshold: float | None = None,
    standard_deviation: float | None = None,
    difference: float | None = None,
    auc: float | None = None,
    o_to_e: float | None = None,
    linear_predictor: tuple[float, float] | None = None,
    error: float | None = None,
    max_error: float | None = None,
    confidence_level: float = 0.95,
) -> Plan:
    """Work out how many rows a validation needs.

    Parameters
    ----------
    question : {"net_benefit", "standardized_net_benefit", "gain", "regret", "auc", "o_to_e", "slope", "certificate"}
        What is to be known: net benefit, or as a share of the prevalence; its gain over treating all; mean regret, or
        any mean; the AUC; observed over expected events; the calibration slope; a certificate of ``certify_decided``.
    width : float, optional
        Full width that the interval is to have.
    power : float, optional
        In place of the width, for "gain" and "regret": probability of showing that the difference is not zero, above
        1 - ``confidence_level``; for "certificate", of its being issued.
    prevalence, sensitivity, specificity, threshold : float, optional
        What is expected, for net benefit and gain; the prevalence for AUC and O:E too.
    standard_deviation, difference : float, optional
        For "regret": of the rows' costs, or of their differences between two models; and, with ``power``, the mean to
        be shown.
    auc, o_to_e : float, optional
        What is expected; O:E is 1 by default.
    linear_predictor : tuple of float, optional
        For "slope": mean and standard deviation of the log-odds of the scores, taken as normal.
    error, max_error : float, optional
        For "certificate": true share of mistakes among the decided, and the limit.
    confidence_level : float, default 0.95
        Of the interval, the test (two-sided) or the certificate.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        Where something is missing, superfluous or out of range.

    Notes
    -----
    Riley et al. 2021, doi:10.1002/sim.9025, for O:E, slope, AUC and standardised net benefit, with quadrature for
    the slope. All but the certificate are normal approximations; from ``rows`` decided rows on, every number of rows
    suffices for it. Few missed positives carry a gain, and few positives an AUC, which makes their intervals wider than
    normal ones: where ``rows`` are too few, ``enough`` says how many are not, for a gain by 4,000 drawn samples. For
    mean regret and the slope there is no such number: with fewer than 50 rows that carry the largest costs, or of the
    rarer class, intervals are wider, and a difference that a few large costs lessen is shown less often.
    Numbers are for one look at the data.

    Examples
    --------
    >>> from stakes.information import rows_needed
    >>> cells = {"prevalence": 0.1, "sensitivity": 0.7, "specificity": 0.8, "threshold": 0.1}
    >>> (
    ...     rows_needed(question="net_benefit", width=0.02, **cells).rows,
    ...     rows_needed(question="gain", power=0.8, **cells).rows,
    ... )
    (2679, 115)
    """
    asked: dict[str, Any] = {"width": width, "power": power, "prevalence": prevalence, "sensitivity": sensitivity}
    asked |= {"specificity": specificity, "threshold": threshold, "standard_deviation": standard_deviation}
    asked |= {"difference": difference, "auc": auc, "o_to_e": o_to_e, "linear_predictor": linear_predictor}
    asked |= {"error": error, "max_error": max_error}
    level = check_level(confidence_level)
    check_choice(question, "question", tuple(_PLANS))
    given = {name: value for name, value in asked.items() if value is not None}
    check_asked(question, set(given))
    given = _checked(given)
    _refuse_too_wide(question, given)
    try:
        rows, why, *enough = _PLANS[question](**given, level=level)
    except ArithmeticError:
        rows, why, enough = math.inf, "", []
    if not rows <= _MOST_ROWS:
        written = ", ".join(f"{name}={value!r}" for name, value in given.items())
        raise ValueError(f"{question} needs more than {count(_MOST_ROWS)} rows for {written}: ask for less.")
    rows = rows if question == "certificate" else max(rows, 2.0)  # a single row shows no spread
    events = None if "prevalence" not in given else _events(rows * given["prevalence"])
    return Plan(question, math.ceil(rows), events, why, *enough)


def check_asked(question: str, given: set[str], called: str | None = None, written: Callable[[str], str] = str) -> None:
    """Refuse missing or superfluous arguments, with names of the library or of the command line."""
    known, called = signature(_PLANS[question]).parameters, called or f"question={question!r}"
    needed = {name for name, each in known.items() if each.default is each.empty} - {"level"}
    for names, problem in ((needed - given, "also needs"), (given - set(known), "takes no")):
        if names:
            raise ValueError(f"{called} {problem} {', '.join(map(written, sorted(names)))}.")
    if "power" in known and "width" in known and len(given & {"power", "width"}) != 1:
        raise ValueError(f"{called} needs either {written('width')} or {written('power')}.")
    if {"width", "difference"} <= given:
        raise ValueError(f"{called} takes no {written('difference')} beside {written('width')}: it is for the power.")


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """Check ranges: shares in (0, 1), a width and other amounts above zero."""
    shares = {"power", "prevalence", "sensitivity", "specificity", "threshold", "auc", "max_error"}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in shares:
            found[name] = check_unit(value, name, **_OPEN_SHARE)
        elif name == "error":
            found[name] = check_unit(value, name)
        elif name == "linear_predictor":
            pair = np.asarray(value, dtype=object)
            if pair.shape != (2,) or not math.isfinite(check_number(pair[0], name)):
                raise ValueError(f"{name} must be two finite numbers, mean and standard deviation, got {value!r}.")
            found[name] = (check_number(pair[0], name), check_positive(pair[1], name))
        else:
            found[name] = check_positive(value, name)
    return found


def _refuse_too_wide(question: str, given: Mapping[str, Any]) -> None:
    """Refuse a width that the interval has with no row at all, as the measure can take no other values."""
    rate, t = given.get("prevalence", math.nan), given.get("threshold", math.nan)
    whole = rate + (1.0 - rate) * t / (1.0 - t)  # from the least to the largest net benefit
    spans = {"auc": 1.0, "net_benefit": whole, "standardized_net_benefit": whole / rate, "gain": whole}
    span = spans.get(question, math.inf)
    if given.get("width", 0.0) >= span:
        raise ValueError(f"width must be below {span:.3g}, the whole range of values, got {given['width']:g}.")


def _for_mean(variance: float, width: float | None, power: float | None, gain: float, level: float) -> float:
    """Rows for an interval of a mean, or for a test of a zero mean."""
    z = _z(0.5 + level / 2.0)
    if width is not None:
        return (2.0 * z / width) ** 2 * variance
    if power is None or gain == 0.0:
        raise ValueError("power needs a difference other than zero.")
    if power <= 1.0 - level:
        raise ValueError(
            f"power must be above {1.0 - level:.2g}, with which the test shows a difference that is not there, got "
            f"{power:g}: ask for 0.8, say."
        )
    return ((z + _z(power)) / gain) ** 2 * variance


def _outcome(width: float | None, power: float | None, shown: str, level: float) -> str:
    """What comes of rows: an interval of this width, or else something shown with this probability."""
    if width is not None:
        return f"the {level_name(level)} interval is then about {number(width)} wide"
    return f"{shown} is then shown at {1.0 - level:.2g} with probability about {power:g}"


def _net_benefit(
    *, prevalence: float, sensitivity: float, specificity: float, threshold: float, width: float, level: float
) -> tuple[float, str]:
    odds, true = threshold / (1.0 - threshold), prevalence * sensitivity
    false = (1.0 - prevalence) * (1.0 - specificity)
    variance = true + odds**2 * false - (true - odds * false) ** 2
    return _for_mean(variance, width, None, 0.0, level), _outcome(width, None, "", level)


def _standardized_net_benefit(
    *, prevalence: float, sensitivity: float, specificity: float, threshold: float, width: float, level: float
) -> tuple[float, str]:
    se, sp, phi = sensitivity, specificity, prevalence
    q = (1.0 - phi) / phi * threshold / (1.0 - threshold)
    parts = se * (1.0 - se) / phi, q**2 * sp * (1.0 - sp) / (1.0 - phi), (q * (1.0 - sp)) ** 2 / (phi * (1.0 - phi))
    return _for_mean(sum(parts), width, None, 0.0, level), _outcome(width, None, "", level)


def _gain(
    *,
    prevalence: float,
    sensitivity: float,
    specificity: float,
    threshold: float,
    level: float,
    width: float | None = None,
    power: float | None = None,
) -> tuple[float, str, int | None]:
    odds, missed = threshold / (1.0 - threshold), prevalence * (1.0 - sensitivity)
    spared = (1.0 - prevalence) * specificity
    gain = odds * spared - missed
    shown = f"a gain of {number(gain)} over treating all"
    rows = _for_mean(missed + odds**2 * spared - gain**2, width, power, gain, level)
    why = _outcome(width, power, shown, level)
    if not rows <= _MOST_ROWS:
        return rows, why, None
    rows = max(math.ceil(rows), 2)  # a single row shows no spread
    shares, asked = (spared, 1.0 - prevalence - spared, missed, prevalence - missed), width or power or 0.0

    def drawn(n: int) -> float:
        value, half = _drawn_gains(n, shares, odds, level)
        return float(np.mean(np.abs(value) > half) if width is None else 2.0 * max(np.mean(half), np.median(half)))

    def close(found: float, slack: float) -> bool:
        return asked - found <= slack * min(asked, 1.0 - asked) if width is None else found - asked <= slack * asked

    found = drawn(rows)
    if close(found, _SLACK):
        return rows, why, None
    enough = _enough(rows, lambda n: close(drawn(n), 0.0))
    came = _outcome(None if width is None else found, round(found, 3), shown, level)
    return rows, _too_few(came, asked, enough, prevalence), enough


def _drawn_gains(rows: int, shares: Sequence[float], odds: float, level: float) -> tuple[Floats, Floats]:
    """Gains over treating all in drawn samples, and half of the width of their intervals.

    Shares are those of negatives spared and not, and of positives missed and not.
    """
    drawn = np.random.default_rng(0).multinomial(rows, shares, _GAINS).T.astype(np.float64).reshape(2, 2, _GAINS)
    carrying, size, value = drawn[:, 0], drawn.sum(axis=1), np.array([odds, -1.0])
    raw = [carrying * (value**j)[:, None] for j in range(1, 5)]
    sums = Sums.from_powers(size, size, np.array([raw[0], size, raw[0], raw[1], size, *raw]), carrying)
    found = sums.variance(np.abs(value))
    return sums.value, half_width(found.variance, found.degrees, found.unseen_variance, 1.0 - level)


def _too_few(came: str, asked: float, enough: int, prevalence: float) -> str:
    takes = f"{asked:g} takes about {count(enough)} rows, {_positives(_events(enough * prevalence))}"
    return f"enough by the normal formula, but {came}; {takes}"


def _enough(low: int, holds: Callable[[int], bool]) -> int:
    """About the fewest rows above ``low`` with which something holds, to two digits."""
    high = 2 * low
    while not holds(high):
        low, high = high, 2 * high
    while high - low > max(0.01 * low, 1.0):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    step = 10 ** max(len(str(high)) - 2, 0)
    return -(-high // step) * step


def _regret(
    *,
    standard_deviation: float,
    level: float,
    width: float | None = None,
    power: float | None = None,
    difference: float = 0.0,
) -> tuple[float, str]:
    came = _outcome(width, power, f"a difference of {number(difference)}", level)
    rows = _for_mean(standard_deviation**2, width, power, difference, level)
    return rows, f"where some {_CARRYING} rows or more carry the largest costs, {came}"


def _o_to_e(*, prevalence: float, width: float, level: float, o_to_e: float = 1.0) -> tuple[float, str]:
    error = math.asinh(width / (2.0 * o_to_e)) / _z(0.5 + level / 2.0)
    why = f"the {level_name(level)} interval of an O:E of {number(o_to_e)} is then about {number(width)} wide"
    return (1.0 - prevalence) / (prevalence * error**2), why


def _slope(*, linear_predictor: tuple[float, float], width: float, level: float) -> tuple[float, str]:
    mean, spread = linear_predictor
    edges = np.append(np.arange(-40.0, 41.0, 4.0), mean + spread * np.arange(-12.0, 13.0))  # of both factors
    edges = np.unique(np.clip(edges, -750.0, 750.0))  # beyond, the logistic one is zero
    x, weight = _legendre(edges[np.abs(edges - mean) <= 12.001 * spread])
    odds, density = np.exp(-np.abs(x)), np.exp(-0.5 * ((x - mean) / spread) ** 2) / (spread * math.sqrt(2.0 * math.pi))
    information = weight * density * odds / (1.0 + odds) ** 2
    centre = float(information @ x) / float(information.sum())
    error = width / (2.0 * _z(0.5 + level / 2.0))
    rows = 1.0 / (error**2 * float(information @ (x - centre) ** 2))
    positive = float(weight * density @ (np.where(x < 0.0, odds, 1.0) / (1.0 + odds)))
    positive += 1.0 - NormalDist(mean, spread).cdf(edges[-1])
    why = f"the {level_name(level)} interval of the calibration slope is then about {number(width)} wide"
    if (rarer := rows * min(positive, 1.0 - positive)) < _CARRYING:
        few = math.ceil(rarer)
        why += f", and wider than that with only {count(few)} row{'s' * (few > 1)} of the rarer class"
    return rows, why


def _auc(*, auc: float, prevalence: float, width: float, level: float) -> tuple[float, str, int | None]:
    z = _z(0.5 + level / 2.0)

    def too_few(n: float) -> bool:
        pairs = 1.0 + (n / 2.0 - 1.0) * ((1.0 - auc) / (2.0 - auc) + auc / (1.0 + auc))
        return 2.0 * z * math.sqrt(auc * (1.0 - auc) * pairs / (n**2 * prevalence * (1.0 - prevalence))) > width

    low, high = 1, 2
    while too_few(high) and high <= _MOST_ROWS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if too_few(middle) else (low, middle)
    if high > _MOST_ROWS:
        return high, "", None
    found, interval = _area_width(high, auc, prevalence, level), f"the {level_name(level)} interval of an AUC of"
    if found <= (1.0 + _SLACK) * width:
        return high, f"{interval} {number(auc)} is then about {number(width)} wide", None
    enough = _enough(high, lambda n: _area_width(n, auc, prevalence, level) <= width)
    came = f"{interval} {number(auc)} is then about {number(found)} wide"
    return high, _too_few(came, width, enough, prevalence), enough


def _area_width(rows: int, auc: float, prevalence: float, level: float) -> float:
    """Width of the interval of an AUC where scores lie at the quantiles of normal ones; 1 where there is none."""
    from scipy.special import ndtr, ndtri

    sizes = np.array([rows * (1.0 - prevalence), rows * prevalence])
    sums = []
    for size in sizes.tolist():
        n = min(max(round(size), 1), _MOST_PLACES)
        outranked = ndtr(math.sqrt(2.0) * _z(auc) + ndtri((np.arange(n) + 0.5) / n))  # shares of the other class
        sums.append([size * float(np.mean(outranked**power)) for power in range(5)])
    raw = np.transpose(sums)
    low, high = area_of(Sums.from_powers(sizes, sizes, np.array([raw[1], *raw[:3], *raw]), sizes)).interval(level)
    return high - low if math.isfinite(high) else 1.0


def _certificate(*, error: float, max_error: float, power: float, level: float) -> tuple[float, str]:
    from scipy.stats import binom

    if error >= max_error:
        raise ValueError(f"error must be below max_error for a certificate, got {error} and {max_error}.")
    delta = 1.0 - level
    spread = sum(z * math.sqrt(p * (1.0 - p)) for z, p in ((_z(level), max_error), (_z(power), error)))
    last = 200 + 4 * math.ceil((spread / (max_error - error)) ** 2 - math.log(delta) / max_error)
    if last > _MOST_ROWS:
        return math.inf, ""
    n = np.arange(1, last + 1)
    most = binom.ppf(delta, n, max_error)
    most -= binom.cdf(most, n, max_error) > delta
    failing = n[binom.cdf(most, n, error) < power]
    shown = f"{percent(max_error)} where {percent(error)} of decisions are mistakes"
    why = f"so many decided rows certify at most {shown}, {level_name(level)} sure, with probability {power:g}"
    return int(failing.max(initial=0)) + 1, why


def _z(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


_EVERY_PLAN = (_net_benefit, _standardized_net_benefit, _gain, _regret, _auc, _o_to_e, _slope, _certificate)
_PLANS: dict[str, Callable[..., tuple[Any, ...]]] = {plan.__name__.removeprefix("_"): plan for plan in _EVERY_PLAN}
QUESTIONS = tuple(_PLANS)

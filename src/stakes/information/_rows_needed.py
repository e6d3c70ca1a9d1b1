"""Sample sizes for an interval of a stated width, for a difference, or for a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from statistics import NormalDist
from typing import Any

import numpy as np

from stakes.base.validation import check_choice, check_level, check_number, check_unit
from stakes.information._value import check_positive
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import count, number, percent

_OPEN = {"open_low": True, "open_high": True}
_NODES = 200
_MOST_ROWS = 10_000_000


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
        Positives expected among them, where the prevalence is known.
    why : str
        The reason, as a sentence.

    Examples
    --------
    >>> from stakes.information import rows_needed
    >>> rows_needed(question="auc", auc=0.8, prevalence=0.1, width=0.1)
    Plan(836 rows, 84 of them positive: the 95% interval of an AUC of 0.800 is then at most 0.100 wide)
    """

    question: str
    rows: int
    events: int | None
    why: str

    def _records(self) -> list[dict[str, Any]]:
        return [{"question": self.question, "rows": self.rows, "events": self.events, "why": self.why}]

    @property
    def sentence(self) -> str:
        """The sentence that the command prints."""
        positives = "" if self.events is None else f", {count(self.events)} of them positive"
        return f"{count(self.rows)} rows{positives}: {self.why}"

    def __repr__(self) -> str:
        return f"Plan({self.sentence})"


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
        In place of the width, for "gain" and "regret": probability of showing that the difference is not zero; for
        "certificate", of its being issued.
    prevalence, sensitivity, specificity, threshold : float, optional
        What is expected, for net benefit and gain; the prevalence for AUC and O:E too.
    standard_deviation, difference : float, optional
        For "regret": of the rows' costs, or of their differences between two models; and the mean to be shown.
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
    suffices for it. Numbers are for one look at the data.

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
    try:
        rows, why = _PLANS[question](**given, level=level)
    except OverflowError:
        rows, why = math.inf, ""
    if not rows <= _MOST_ROWS:
        written = ", ".join(f"{name}={value!r}" for name, value in given.items())
        raise ValueError(f"{question} needs more than {count(_MOST_ROWS)} rows for {written}: ask for less.")
    events = None if "prevalence" not in given else math.ceil(rows * given["prevalence"])
    return Plan(question, math.ceil(rows), events, why)


def check_asked(question: str, given: set[str], called: str | None = None, written: Callable[[str], str] = str) -> None:
    """Refuse missing or superfluous arguments, with names of the library or of the command line."""
    known, called = signature(_PLANS[question]).parameters, called or f"question={question!r}"
    needed = {name for name, each in known.items() if each.default is each.empty} - {"level"}
    for names, problem in ((needed - given, "also needs"), (given - set(known), "takes no")):
        if names:
            raise ValueError(f"{called} {problem} {', '.join(map(written, sorted(names)))}.")
    if "power" in known and "width" in known and len(given & {"power", "width"}) != 1:
        raise ValueError(f"{called} needs either {written('width')} or {written('power')}.")


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """Check ranges: shares in (0, 1), a width and other amounts above zero."""
    shares = {"power", "prevalence", "sensitivity", "specificity", "threshold", "auc", "max_error"}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in shares:
            found[name] = check_unit(value, name, **_OPEN)
        elif name == "error":
            found[name] = check_unit(value, name)
        elif name == "linear_predictor":
            mean, spread = value
            found[name] = (check_number(mean, name), check_positive(spread, name))
        else:
            found[name] = check_positive(value, name)
    return found


def _for_mean(
    variance: float, width: float | None, power: float | None, gain: float, level: float
) -> tuple[float, str]:
    """Rows for an interval of a mean, or for a test of a zero mean."""
    z = _z(0.5 + level / 2.0)
    if width is not None:
        return (2.0 * z / width) ** 2 * variance, f"the {level:.0%} interval is then {number(width)} wide"
    if power is None or gain == 0.0:
        raise ValueError("power needs a difference other than zero.")
    shown = f"a difference of {number(gain)} is then shown at {1.0 - level:.2g} with probability about {power:g}"
    return ((z + _z(power)) / gain) ** 2 * variance, shown


def _net_benefit(
    *, prevalence: float, sensitivity: float, specificity: float, threshold: float, width: float, level: float
) -> tuple[float, str]:
    odds, true = threshold / (1.0 - threshold), prevalence * sensitivity
    false = (1.0 - prevalence) * (1.0 - specificity)
    variance = true + odds**2 * false - (true - odds * false) ** 2
    return _for_mean(variance, width, None, 0.0, level)


def _standardized_net_benefit(
    *, prevalence: float, sensitivity: float, specificity: float, threshold: float, width: float, level: float
) -> tuple[float, str]:
    se, sp, phi = sensitivity, specificity, prevalence
    q = (1.0 - phi) / phi * threshold / (1.0 - threshold)
    parts = se * (1.0 - se) / phi, q**2 * sp * (1.0 - sp) / (1.0 - phi), (q * (1.0 - sp)) ** 2 / (phi * (1.0 - phi))
    return _for_mean(sum(parts), width, None, 0.0, level)


def _gain(
    *,
    prevalence: float,
    sensitivity: float,
    specificity: float,
    threshold: float,
    level: float,
    width: float | None = None,
    power: float | None = None,
) -> tuple[float, str]:
    odds, missed = threshold / (1.0 - threshold), prevalence * (1.0 - sensitivity)
    spared = (1.0 - prevalence) * specificity
    gain = odds * spared - missed
    return _for_mean(missed + odds**2 * spared - gain**2, width, power, gain, level)


def _regret(
    *,
    standard_deviation: float,
    level: float,
    width: float | None = None,
    power: float | None = None,
    difference: float = 0.0,
) -> tuple[float, str]:
    return _for_mean(standard_deviation**2, width, power, difference, level)


def _o_to_e(*, prevalence: float, width: float, level: float, o_to_e: float = 1.0) -> tuple[float, str]:
    error = math.asinh(width / (2.0 * o_to_e)) / _z(0.5 + level / 2.0)
    why = f"the {level:.0%} interval of an O:E of {number(o_to_e)} is then {number(width)} wide"
    return (1.0 - prevalence) / (prevalence * error**2), why


def _slope(*, linear_predictor: tuple[float, float], width: float, level: float) -> tuple[float, str]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    x = linear_predictor[0] + linear_predictor[1] * nodes
    information = weights / math.sqrt(2.0 * math.pi) / (2.0 + np.exp(x) + np.exp(-x))
    zero, one, two = (float(information @ x**power) for power in (0, 1, 2))
    error = width / (2.0 * _z(0.5 + level / 2.0))
    why = f"the {level:.0%} interval of the calibration slope is then {number(width)} wide"
    return zero / (error**2 * (zero * two - one**2)), why


def _auc(*, auc: float, prevalence: float, width: float, level: float) -> tuple[float, str]:
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
    return high, f"the {level:.0%} interval of an AUC of {number(auc)} is then at most {number(width)} wide"


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
    why = f"so many decided rows certify at most {shown}, {level:.0%} sure, with probability {power:g}"
    return int(failing.max(initial=0)) + 1, why


def _z(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


_EVERY_PLAN = (_net_benefit, _standardized_net_benefit, _gain, _regret, _auc, _o_to_e, _slope, _certificate)
_PLANS: dict[str, Callable[..., tuple[float, str]]] = {plan.__name__.removeprefix("_"): plan for plan in _EVERY_PLAN}
QUESTIONS = tuple(_PLANS)

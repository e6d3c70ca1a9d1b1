"""The figures: what stands around each drawing. The drawing itself is made in the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stakes.curves._decision import net_benefit_curve_of, regret_curve_of
from stakes.report._assets import filled
from stakes.report._figure import Figure
from stakes.report._html import follows, table
from stakes.report._left_out import no_bands, no_plain_bands
from stakes.report._numbers import percent
from stakes.report._thin import passing
from stakes.shown.sentences import say
from stakes.shown.words import odds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stakes.evaluation import Evaluation
    from stakes.report._models import Model

REFERENCES = ("treat all", "treat none")


def figures(evaluation: Evaluation, models: Sequence[Model]) -> dict[str, str]:
    """HTML of every figure by its key."""
    every = (*_threshold_figures(evaluation, models), *_other_figures(evaluation, len(models)))
    return {figure.key: figure.html(models) for figure in every}


def _threshold_figures(evaluation: Evaluation, models: Sequence[Model]) -> Iterator[Figure]:
    """Regret and net benefit against the threshold."""
    shaded, banded = follows("shaded", shaded_words(evaluation), "span"), _band_words(evaluation)
    band = "" if no_bands(evaluation) else f"{evaluation.confidence_level * 100:g}% band over the range as reported"
    lines = f"for {len(models)} of {len(evaluation.models)} models and for treating all and treating none"
    of_kinds = (
        ("regret", "regret", "regret per decision (lower is better)", follows("precision", "", "span")),
        ("decision", "net_benefit", "net benefit per case (higher is better)", ""),
    )
    for key, kind, axis, precision in of_kinds:
        words = f"Line chart of {kind.replace('_', ' ')} against the threshold, {lines}."
        caption = filled(f"caption_{key}.html", precision=precision, range=shaded, band=banded)
        label = f"{words} {_middle(evaluation, models, kind)}"
        yield Figure(key, axis, label, caption, REFERENCES, near=True, band=band)


def _other_figures(evaluation: Evaluation, count: int) -> Iterator[Figure]:
    """Reliability, decomposition and ROC."""
    level = f"{evaluation.confidence_level * 100:g}%"
    why = no_plain_bands(evaluation)
    alone = "" if why else f"{level} interval at each score, of the smooth curve"
    band = f"No band is drawn, for {why}." if why else f"The light band is its {level} interval at each score alone."
    yield Figure(
        "reliability",
        "observed share of positives (above), share of cases scored lower (below)",
        f"Reliability diagram of {count} models, with the distribution of their scores below. "
        "The table beside it has every model's numbers within the range.",
        filled("caption_reliability.html", band=band),
        near=True,
        band=alone,
        smooth=True,
        below="scores",
    )
    yield Figure(
        "decomposition",
        "discrimination DSC (more is better)",
        f"Chart of miscalibration against discrimination for {count} models. The table below has the numbers.",
        filled("caption_decomposition.html"),
    )
    yield Figure(
        "roc",
        "share of positives acted on (true positive rate)",
        f"ROC curves of {count} models. The part that the plausible thresholds use is thick.",
        filled("caption_roc.html"),
    )


def shaded_words(evaluation: Evaluation) -> str:
    """What is shaded."""
    low, high = evaluation.costs.low, evaluation.costs.high
    ends = {"low": percent(low), "high": percent(high), "odds": odds(low), "odds_high": odds(high)}
    return say("shaded_one" if low == high else "shaded", **ends)


def in_range_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """What scores within the plausible thresholds came to."""
    low, high = percent(evaluation.costs.low), percent(evaluation.costs.high)
    rows = [[f"{model.rank}", model.sample, *(percent(value) for value in model.result.in_range)] for model in models]
    heads = ["#", "Model", "Share of cases", "Mean score", "Observed positives"]
    shown = table(say("in_range", low=low, high=high), heads, rows, follow="in-range")
    return f"<details><summary>The numbers within the range</summary>{shown}</details>"


def _band_words(evaluation: Evaluation) -> str:
    why = no_bands(evaluation)
    if why:
        return f"No band is drawn, for {why}."
    level = f"{evaluation.confidence_level * 100:g}%"
    return f"The light band is simultaneous over the range as reported: all of the curve there, at {level} confidence."


def _middle(evaluation: Evaluation, models: Sequence[Model], kind: str) -> str:
    """The best model and the references in the middle of the range as reported, in words."""
    at = min(0.5 * (evaluation.costs.low + evaluation.costs.high), 0.99)
    table = passing(evaluation.tables[evaluation.models.index(models[0].name)])
    if evaluation.rule == "score":
        table = table.at_threshold(at)  # all that matters there, and small
    make = regret_curve_of if kind == "regret" else net_benefit_curve_of
    curve = make(table, evaluation.rule, harm=evaluation.options.harm_of(models[0].name))
    lines = {models[0].short: curve, **curve.references}
    values = ", ".join(f"{name} {float(line.at(at)):.3g}" for name, line in lines.items())
    return f"At a threshold of {percent(at)}: {values}."

"""The figures: what stands around each drawing. The drawing itself is made in the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stakes.curves._decision import net_benefit_curve_of, regret_curve_of
from stakes.report._assets import filled
from stakes.report._html import figure_html, follows, table
from stakes.report._numbers import odds, percent
from stakes.report._payload import no_bands
from stakes.report._thin import passing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.evaluation import Evaluation
    from stakes.report._models import Model

REFERENCES = ("treat all", "treat none")


@dataclass(frozen=True)
class Figure:
    """What is said about a figure.

    Parameters
    ----------
    key : str
        Identifier in the page.
    axis : str
        What the vertical axis shows, as text.
    label : str
        The figure in words, for those who do not see it, as text.
    caption : str
        HTML.
    references : tuple of str
        References drawn, for the legend.
    near : bool
        Whether there is a closer look at the plausible thresholds.
    banded : bool
        Whether the reader can choose whose band is drawn.
    below : str
        Identifier of a second drawing under the first, if there is one.
    """

    key: str
    axis: str
    label: str
    caption: str
    references: tuple[str, ...] = ()
    near: bool = False
    banded: bool = False
    below: str = ""


def figures(evaluation: Evaluation, models: Sequence[Model]) -> dict[str, str]:
    """HTML of every figure by its key."""
    words = {
        "range": follows("shaded", shaded_words(evaluation), "span"),
        "band": _band_words(evaluation),
    }
    lines = f"for {len(models)} of {len(evaluation.models)} models and for treating all and treating none"
    every = (
        Figure(
            "regret",
            "regret per decision (lower is better)",
            f"Line chart of regret against the threshold, {lines}. {_middle(evaluation, models, 'regret')}",
            filled("caption_regret.html", precision=_precision(), **words),
            REFERENCES,
            near=True,
            banded=not no_bands(evaluation),
        ),
        Figure(
            "decision",
            "net benefit per case (higher is better)",
            f"Line chart of net benefit against the threshold, {lines}. {_middle(evaluation, models, 'net_benefit')}",
            filled("caption_decision.html", precision="", **words),
            REFERENCES,
            near=True,
            banded=not no_bands(evaluation),
        ),
        Figure(
            "reliability",
            "observed share of positives (above), share of cases scored lower (below)",
            f"Reliability diagram of {len(models)} models, with the distribution of their scores below. "
            "The table beside it has every model's numbers within the range.",
            filled("caption_reliability.html"),
            near=True,
            below="scores",
        ),
        Figure(
            "decomposition",
            "discrimination DSC (more is better)",
            f"Chart of miscalibration against discrimination for {len(models)} models. "
            "The table below has the numbers.",
            filled("caption_decomposition.html"),
        ),
        Figure(
            "roc",
            "share of positives acted on (true positive rate)",
            f"ROC curves of {len(models)} models. The part that the plausible thresholds use is thick.",
            filled("caption_roc.html"),
        ),
    )
    return {figure.key: figure_html(figure, models) for figure in every}


def shaded_words(evaluation: Evaluation) -> str:
    """What is shaded."""
    low, high = evaluation.costs.low, evaluation.costs.high
    if low == high:
        return f"The line marks the threshold {percent(low)} (odds {odds(low)})."
    return f"Shaded: the plausible thresholds, {percent(low)} to {percent(high)} (odds {odds(low)} to {odds(high)})."


def in_range_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """What scores within the plausible thresholds came to."""
    low, high = percent(evaluation.costs.low), percent(evaluation.costs.high)
    rows = [[f"{model.rank}", model.sample, *(percent(value) for value in model.result.in_range)] for model in models]
    heads = ["#", "Model", "Share of cases", "Mean score", "Observed positives"]
    shown = table(f"Cases with a score between {low} and {high}", heads, rows, follow="in-range")
    return f"<details><summary>The numbers within the range</summary>{shown}</details>"


def _precision() -> str:
    return follows("precision", "", "span")


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
    curve = make(table, evaluation.rule)
    lines = {models[0].short: curve, **curve.references}
    values = ", ".join(f"{name} {float(line.at(at)):.3g}" for name, line in lines.items())
    return f"At a threshold of {percent(at)}: {values}."

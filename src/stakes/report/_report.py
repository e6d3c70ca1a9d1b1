"""The page as a whole: sections in order, numbers as data, scripts under a policy that lets nothing else run."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from stakes._version import __version__
from stakes.core.validation import check_kind
from stakes.evaluation import Evaluation
from stakes.report import _sections
from stakes.report._amounts import render_amounts
from stakes.report._assets import asset, page_script
from stakes.report._calibration import calibration_section
from stakes.report._crossing import crossing_payload, crossing_section
from stakes.report._decomposition import decomposition_table
from stakes.report._escaped import json_for_script, named, text_html
from stakes.report._figures import figures, in_range_table
from stakes.report._findings import findings_list
from stakes.report._further import deferral_section, information_section
from stakes.report._groups import groups_tables
from stakes.report._models import models_of
from stakes.report._numbers import percent
from stakes.report._page import made_now, whole_page
from stakes.report._payload import MAX_DRAWN, payload
from stakes.report._ranking import further_table, ranking_table
from stakes.shown.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.report._models import Model
    from stakes.report._payload import Json

_TITLE = "What acting on these predictions would cost"
_HEADINGS = {
    "stake": "What is at stake",
    "ranking-section": "Ranking",
    "regret": "Regret at each threshold",
    "decision": "Decision curve",
    "crossing": "Where another decision costs less",
    "threshold": "At one threshold",
    "reliability": "Reliability",
    "calibration": "Calibration",
    "decomposition": "Where the cost comes from",
    "roc": "ROC curves, and what they assume",
    "deferral": "Leaving cases to someone else",
    "information": "Is it worth more rows?",
    "groups": "Groups",
    "findings": "Findings",
    "data": "Data",
    "method": "Method and references",
}


def render_report(evaluation: Evaluation, *, title: str | None = None) -> str:
    """Return the report of an evaluation as one interactive HTML page that needs no network.

    Parameters
    ----------
    evaluation : Evaluation
        What to report.
    title : str, optional
        Heading of the page.

    Returns
    -------
    str
        HTML with styles, scripts and data in it, to be written as UTF-8.

    Notes
    -----
    The page holds a thinned table of each model's scores, from which it computes every other range of thresholds as the
    library would; see ``docs/report.md`` for the bound of the error. Rows with amounts of their own have the page of
    :func:`render_amounts`.

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.report import render_report
    >>> page = render_report(evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6]}, costs=(0.2, 0.6)))
    >>> page.startswith("<!doctype html>")
    True
    """
    check_kind(evaluation, "evaluation", Evaluation, "what evaluate returned")
    if evaluation.options.per_stake:
        return render_amounts(evaluation, title=title)
    models = models_of(evaluation)
    content = payload(evaluation, models) | {"crossing": crossing_payload(evaluation, models)}
    made = made_now()
    bodies = _bodies(evaluation, models, content, made)
    return whole_page(
        named(_TITLE if title is None else title),
        _facts(evaluation),
        {key: (_HEADINGS[key], body) for key, body in bodies.items()},
        made=made,
        controls=_sections.controls(evaluation),
        script=page_script(),
        payload=json_for_script(content),
    )


def _bodies(evaluation: Evaluation, models: Sequence[Model], content: Json, made: str) -> dict[str, str]:
    """Every section by its key, in order; that of groups only where there are any."""
    shown = models[:MAX_DRAWN]
    drawn = figures(evaluation, shown)
    bodies = {
        "stake": _sections.stake(evaluation, models),
        "ranking-section": ranking_table(evaluation, models) + _further(evaluation, models),
        "crossing": crossing_section(evaluation, models),
        "threshold": asset("threshold.html"),
        "calibration": calibration_section(evaluation, shown),
        "deferral": deferral_section(evaluation, shown),
        "information": information_section(evaluation),
        "groups": groups_tables(evaluation, models) if evaluation.groups else "",
        "findings": findings_list(evaluation, models),
        "data": _sections.data(evaluation, models, made, __version__),
        "method": _sections.method(evaluation, content),
        **drawn,
    }
    bodies["reliability"] += in_range_table(evaluation, models)
    bodies["decomposition"] += decomposition_table(evaluation, models)
    return {key: bodies[key] for key in _HEADINGS if bodies[key]}


def _further(evaluation: Evaluation, models: Sequence[Model]) -> str:
    numbers = f"<details><summary>Further numbers</summary>{further_table(evaluation, models)}</details>"
    if len(models) <= MAX_DRAWN:
        return numbers
    return f"{numbers}<p>The figures show the {MAX_DRAWN} best of the {len(models)} models.</p>"


def _facts(evaluation: Evaluation) -> str:
    source = f"{text_html(evaluation.source, 60)} · " if evaluation.source else ""
    low, high = percent(evaluation.costs.low), percent(evaluation.costs.high)
    where = f"threshold {low}" if low == high else f"thresholds {low} to {high}"
    rows = html.escape(evaluation.data_line) or f"{count(evaluation.n_rows)} rows"
    share = percent(evaluation.prevalence)
    return f"{source}{rows}, {share} positive · reported for {where}"

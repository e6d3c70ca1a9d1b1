"""The page as a whole: sections in order, figures as data, scripts under a policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import html
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from stakes._version import __version__
from stakes.report import _sections
from stakes.report._assets import asset, filled, plotly_script
from stakes.report._decision import decision_figure, regret_figure
from stakes.report._decomposition import decomposition_figure, decomposition_table
from stakes.report._html import figure_html, section
from stakes.report._models import models_of
from stakes.report._numbers import count, percent
from stakes.report._ranking import further_table, ranking_table
from stakes.report._reliability import reliability_figure
from stakes.report._spec import MAX_DRAWN
from stakes.report._text import json_for_script, shorten, text_html, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.evaluation import Evaluation
    from stakes.report._models import Model
    from stakes.report._spec import Figure

_TITLE = "What acting on these predictions would cost"
_TITLE_LIMIT = 120
_HEADINGS = {
    "stake": "What is at stake",
    "ranking-section": "Ranking",
    "regret": "Regret at each threshold",
    "decision": "Decision curve",
    "reliability": "Reliability",
    "decomposition": "Where the cost comes from",
    "data": "Data",
    "method": "Method and references",
}


def render_report(evaluation: Evaluation, *, title: str | None = None) -> str:
    """Return the report of an evaluation as one HTML page that needs no network.

    Parameters
    ----------
    evaluation : Evaluation
        What to report.
    title : str, optional
        Heading of the page.

    Returns
    -------
    str
        HTML with styles, scripts, figures and data in it, to be written as UTF-8.

    Raises
    ------
    ImportError
        If plotly is not installed (``pip install 'stakes[report]'``).

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.report import render_report
    >>> page = render_report(evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6]}, costs=(0.2, 0.6)))
    >>> page.startswith("<!doctype html>")
    True
    """
    plotly, script = plotly_script(), asset("page.js")
    models = models_of(evaluation)
    figures = _figures(evaluation, models[:MAX_DRAWN])
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    full_title = visible(_TITLE if title is None else title)
    return filled(
        "page.html",
        policy=_policy(plotly, script),
        version=__version__,
        title=html.escape(shorten(full_title, _TITLE_LIMIT)),
        style=asset("style.css"),
        heading=text_html(full_title, _TITLE_LIMIT),
        facts=_facts(evaluation),
        contents="".join(f'<li><a href="#{key}">{heading}</a></li>' for key, heading in _HEADINGS.items()),
        sections=_page_sections(evaluation, models, figures, made),
        made=made,
        figures=json_for_script({figure.key: figure.spec for figure in figures if figure.spec}),
        plotly=plotly,
        script=script,
    )


def _figures(evaluation: Evaluation, models: Sequence[Model]) -> list[Figure]:
    makers = (regret_figure, decision_figure, reliability_figure, decomposition_figure)
    return [maker(evaluation, models) for maker in makers]


def _page_sections(evaluation: Evaluation, models: Sequence[Model], figures: Sequence[Figure], made: str) -> str:
    shown = models[:MAX_DRAWN]
    bodies = {figure.key: figure_html(figure, shown) for figure in figures}
    bodies["stake"] = _sections.stake(evaluation, models)
    bodies["ranking-section"] = ranking_table(evaluation, models) + _further(evaluation, models)
    bodies["decomposition"] += decomposition_table(evaluation, models)
    bodies["data"] = _sections.data(evaluation, models, made, __version__)
    bodies["method"] = _sections.method(evaluation)
    return "\n".join(section(key, heading, bodies[key]) for key, heading in _HEADINGS.items())


def _further(evaluation: Evaluation, models: Sequence[Model]) -> str:
    numbers = f"<details><summary>Further numbers</summary>{further_table(evaluation, models)}</details>"
    if len(models) <= MAX_DRAWN:
        return numbers
    return f"{numbers}<p>The figures show the {MAX_DRAWN} best of the {len(models)} models.</p>"


def _facts(evaluation: Evaluation) -> str:
    source = f"{text_html(evaluation.source, 60)} · " if evaluation.source else ""
    low, high = percent(evaluation.costs.low), percent(evaluation.costs.high)
    where = f"threshold {low}" if low == high else f"thresholds {low} to {high}"
    rows, share = count(evaluation.n_rows), percent(evaluation.prevalence)
    return f"{source}{rows} rows, {share} positive · {where}"


def _policy(*scripts: str) -> str:
    """Content-security policy: these scripts and inline styles, pictures made in the page, nothing from elsewhere."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )

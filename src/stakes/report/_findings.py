"""The section of findings: what to know before acting on the result, and what to do about it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from stakes.evaluation import FINDINGS
from stakes.report._escaped import text_html
from stakes.report._models import NAME_LIMIT, typeset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stakes.evaluation import Evaluation, Finding
    from stakes.report._models import Model

_GRAVE = ("error", "warning")


def findings_list(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Every finding with its severity, code and remedy, or that there are none."""
    if len(evaluation.findings) == 0:
        made = sum(check.of_amounts or not evaluation.options.per_stake for check in FINDINGS.values())
        return f"<p>None of the {made} checks found anything.</p>"
    names = {model.name: f"<b>{model.html}</b>" for model in models}
    return finding_items(evaluation.findings, names)


def grave_findings(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """The errors and warnings, which stand under the headline: they may make it worth little."""
    names = {model.name: f"<b>{model.html}</b>" for model in models}
    return grave_items(evaluation.findings, names, " (the range as reported)")


def grave_items(findings: Iterable[Finding], names: dict[str, str], where: str = "") -> str:
    """Errors and warnings of all findings, with the names of models as ready HTML."""
    grave = [finding for finding in findings if finding.severity in _GRAVE]
    return f'<p class="grave">Before acting on this{where}:</p>{finding_items(grave, names)}' if grave else ""


def finding_items(findings: Iterable[Finding], names: dict[str, str]) -> str:
    """A list of findings, with the names of models as ready HTML."""
    return f'<ul class="checks">{"".join(_item(finding, names) for finding in findings)}</ul>'


def _item(finding: Finding, names: dict[str, str]) -> str:
    # the template is escaped before the names, which are ready HTML, take their places in it
    groups = (f"<b>{text_html(group, NAME_LIMIT)}</b>" for group in finding.groups)
    sentence = typeset(finding.template).format(*(names[model] for model in finding.models), *groups)
    return (
        f'<li><span class="severity {finding.severity}">{finding.severity}</span> <code>{finding.code}</code>'
        f'<p>{sentence}</p><p class="remedy">{html.escape(finding.remedy)}</p></li>'
    )

"""No accessibility violation, by axe-core, where it is at hand: npm pack axe-core, and STAKES_AXE names axe.min.js."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stakes import evaluate
from stakes.report import write_report
from tests.report.conftest import simulated

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CALL = """axe.run(document, {{resultTypes: ['violations'], runOnly: {}}}).then(found => JSON.stringify(
    found.violations.map(rule => [rule.id, rule.impact, rule.nodes.map(node => node.html.slice(0, 100))])))"""


@pytest.fixture(params=["example", "groups", "hostile"], scope="module")
def path(request, folder):
    """Write a report."""
    kind = request.param
    if kind == "groups":
        y, scores = simulated(["a", "b"])
        evaluation = evaluate(y, scores, costs=(0.1, 0.3), groups={"sex": np.where(np.arange(len(y)) % 2, "f", "m")})
    else:
        evaluation = request.getfixturevalue(kind)
    return write_report(evaluation, folder / f"{kind}.html")


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (390, "dark"),
        pytest.param(1280, "dark", marks=pytest.mark.thorough),
        pytest.param(390, "light", marks=pytest.mark.thorough),
    ],
)
def test_axe_finds_nothing_as_reported_and_for_another_range(chromium, axe, path, width, scheme):
    chromium.open(path, width=width, scheme=scheme)
    chromium.wait_for("document.documentElement.dataset.drawn === 'true'")
    chromium.run("document.querySelectorAll('details').forEach(block => { block.open = true; })")
    chromium.run(axe + "; 0")
    for address in ("", "#thresholds=0.02:0.6&weighting=log-odds&costs=odds"):
        chromium.run(f"location.hash = {address!r}")
        chromium.wait_for("document.documentElement.dataset.settled === 'true'")
        assert json.loads(chromium.run(CALL.format(RULES))) == []

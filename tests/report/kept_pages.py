"""The numbers of report pages, part by part, of which a table is kept: drawings, tables, sentences and embedded data.

``python -m tests.report.kept_pages`` writes the table anew; what then differs from the last commit was changed.
"""

import json
import re
from pathlib import Path

import numpy as np

from stakes import RowCosts, costs, evaluate
from stakes.actions import evaluate_actions
from stakes.report import render_actions, render_report
from tests.answers import summed

KEPT = Path(__file__).with_name("kept_pages.json")
RNG = np.random.default_rng(2)
ROWS = 300
RISK = np.round(RNG.beta(1.0, 3.0, ROWS), 3)
Y = (RNG.random(ROWS) < RISK).astype(int)
MODELS = {"sharp": RISK, "coarse": np.round(RISK, 1), "late": np.round(RISK**2, 2)}
THREE = RNG.dirichlet([2.0, 1.0, 1.0], ROWS).round(3)
THREE /= THREE.sum(axis=1, keepdims=True)
KIND = (RNG.random((ROWS, 1)) > THREE.cumsum(axis=1)).sum(axis=1)
MATRIX = [[0, 5, 9], [4, 0, 3], [30, 6, 0]]
PART = np.where(np.arange(ROWS) % 3, "many", "few")
AMOUNTS = RowCosts(Y, false_positive=7.0, false_negative=20.0 + np.arange(ROWS) % 11, unit="EUR")
PAGES = {
    "range": lambda: render_report(evaluate(Y, MODELS, costs=(0.1, 0.3))),
    "groups": lambda: render_report(evaluate(Y, MODELS, costs=(0.05, 0.5), groups=PART, incumbent="late")),
    "one ratio": lambda: render_report(evaluate(Y, MODELS["coarse"], costs=0.2, unit_cost=10.0, per=1000.0)),
    "log-odds": lambda: render_report(evaluate(Y, MODELS, costs=costs.LogOddsUniform(0.02, 0.6), prevalence=0.1)),
    "weights": lambda: render_report(evaluate(Y, MODELS, costs=(0.1, 0.3), sample_weight=1.0 + np.arange(ROWS) % 2)),
    "all costs": lambda: render_report(evaluate(Y, MODELS, n_tried=9, harm={"sharp": 0.01})),
    "deployed": lambda: render_report(evaluate(Y, MODELS, costs=(0.1, 0.3), rule=0.25, clusters=np.arange(ROWS) // 4)),
    "rare": lambda: render_report(evaluate(np.arange(ROWS) % 60 == 0, {"a": RISK / 20.0}, costs=(0.01, 0.03))),
    "amounts": lambda: render_report(evaluate(AMOUNTS, MODELS)),
    "amounts in a range": lambda: render_report(
        evaluate(AMOUNTS, MODELS, costs=costs.LogOddsUniform(1 / 3, 2 / 3), groups=PART)
    ),
    "actions": lambda: render_actions(
        evaluate_actions(
            KIND, {"own": THREE, "flat": np.full((ROWS, 3), 1 / 3)}, matrices=[[0, 5, 9], [4, 0, 3], [30, 6, 0]]
        )
    ),
}


def numbers_of(page):
    """Return, for each part of a page between two ids, its numbers summed up; colours and made dates are left out."""
    page = re.sub(r"data:[\w/+-]+;base64,[\w+/=]+|#[0-9a-fA-F]{3,8}\b|\d{4}-\d\d-\d\d[T ]?|\d\d:\d\d(:\d\d)?", "", page)
    page = re.sub(r"<style.*?</style>|<script(?![^>]*json).*?</script>|<meta[^>]*>", "", page, flags=re.DOTALL)
    page = re.sub(r"stakes \d[\w.+]*|[\w+/]{16,}={0,2}(?=\")", "", page)  # encoded columns differ by the last bit
    pieces = re.split(r'(?=<\w+ [^>]*\bid="[^"]*")', page)
    found = {}
    for place, piece in enumerate(pieces):
        name = re.match(r'<\w+ [^>]*\bid="([^"]*)"', piece)
        numbers = re.findall(r"(?<![\w.])-?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?", piece)
        found[f"{place} {name[1] if name else ''}"] = summed(
            [float(each.replace(",", "").rstrip(".")) for each in numbers]
        )
    return found


def write():
    """Write the table of all pages."""
    kept = {name: numbers_of(make()) for name, make in PAGES.items()}
    KEPT.write_text(json.dumps(kept, separators=(",", ":")).replace('},"', '},\n"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()

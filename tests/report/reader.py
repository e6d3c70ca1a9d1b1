"""A reader of reports: opens one in the browser, moves its controls, and reads its numbers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from stakes import evaluate, expected_regret
from stakes.report import write_report
from tests.report.pages import Page

SETTLED = "document.documentElement.dataset.settled === 'true'"
ROWS = """[...document.querySelectorAll('{} tbody tr')].map(row => [
    row.querySelector('th [data-reference]')?.dataset.reference ?? row.querySelector('th .name').textContent.trim(),
    ...[...row.children].slice(2).map(cell => [cell.dataset.value ?? 'NaN', cell.dataset.interval ?? ''])
])"""


class Report:
    """A report, in the browser and as text."""

    def __init__(self, evaluation, path):
        self.evaluation = evaluation
        self.path = write_report(evaluation, path)
        self.page = Page(self.path.read_text(encoding="utf-8"))


def published(name, load_data, path):
    label, bounds = {
        "bcsc_predictions/bcsc_predictions": ("cancer", (0.0163, 0.0291)),
        "solar_flares_c1/solar_flares_c1": ("y", (0.1, 0.6)),
    }[name]
    frame = load_data(name)
    scores = frame.drop(columns=[label, "date"], errors="ignore")
    return Report(evaluate(frame[label], scores, costs=bounds), path)


def opened(chromium, report, address="", **options):
    chromium.open(report.path, **options)
    if address:
        chromium.run(f"location.hash = {address!r}")
    chromium.wait_for("document.documentElement.dataset.drawn === 'true'")
    chromium.wait_for(SETTLED + (f" && document.querySelector('#reset').disabled === {'false' if address else 'true'}"))
    return chromium


def shown(chromium, table="#answer"):
    """Return name, values and intervals of every row of a table, in order."""
    rows = chromium.run(ROWS.format(table))
    return {
        name: ([float(v.replace("Infinity", "inf")) for v, _ in cells], [text for _, text in cells])
        for name, *cells in rows
    }


def state(chromium):
    values = (
        "[...document.querySelectorAll('[role=slider]')].map(handle => Number(handle.getAttribute('aria-valuenow')))"
    )
    return chromium.run(values)


def type_range(chromium, low, high):
    # the end that moves away from the other first, so that the two are in order all the while
    fields = [("low", low), ("high", high)]
    for key, value in fields[::-1] if isinstance(low, float) and low > state(chromium)[1] else fields:
        chromium.run(f"document.getElementById('field-{key}').select()")
        chromium.type(value if isinstance(value, str) else repr(value))
        chromium.press("Tab")
    chromium.wait_for(SETTLED)


def choose(chromium, name, value):
    act = f"box => {{ box.value = {value!r}; box.dispatchEvent(new Event('change')); }}"
    chromium.run(f"({act})(document.getElementById({name!r}))")
    chromium.wait_for(SETTLED)


def assert_table_is_the_librarys(chromium, report, measure):
    """Every number of the answer's table, per 1,000 decisions where a mean exists, and the order of its rows."""
    rows = shown(chromium)
    names = report.evaluation.models
    tables = {name: report.page.table(name) for name in names}
    integral = {name: expected_regret(table, costs=measure, scale="integral") for name, table in tables.items()}
    ranked = list(rows)[: len(names)]
    assert sorted(ranked) == sorted(names)
    # models that decide alike differ by rounding only
    assert all(integral[a] <= integral[b] + 1e-15 for a, b in pairwise(ranked))
    by = 1000.0 / measure.mass if math.isfinite(measure.mass) else measure.loss_factor
    table = tables[ranked[0]]
    integral["treat all"] = (1 - table.prevalence) * float(measure.negative_loss(np.inf))
    integral["treat none"] = table.prevalence * float(measure.positive_loss(-np.inf))
    assert list(rows)[len(names) :] == ["treat all", "treat none"]
    for name, (values, _) in rows.items():
        assert values[0] == pytest.approx(by * integral[name], abs=1e-6, nan_ok=True)
        more = by * (integral[name] - integral[ranked[0]])
        shown_more = more if name != ranked[0] and math.isfinite(more) else math.nan
        assert values[1] == pytest.approx(shown_more, abs=1e-6, nan_ok=True)


def assert_clean(chromium, report):
    assert chromium.complaints() == []
    assert chromium.requests(report.path) == []

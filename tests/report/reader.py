"""A reader of reports: opens one in the browser, moves its controls, and reads its numbers."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from stakes import decompose, evaluate, expected_regret
from stakes.report import write_report
from tests.report.pages import Page

SETTLED = "document.documentElement.dataset.settled === 'true'"
ROWS = """[...document.querySelectorAll('{} tbody tr')].map(row => [
    row.querySelector('th .name, th [data-reference]').textContent.trim(),
    ...[...row.querySelectorAll('td[data-value]')].map(cell => [cell.dataset.value, cell.dataset.interval ?? ''])
])"""
SCALES = ("regret", "integral", "loss")


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


def shown(chromium, table="#ranking"):
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


def assert_ranking_is_the_librarys(chromium, report, measure):
    """Every number of the ranking, and the order of its rows, from the tables of the page by the library."""
    rows = shown(chromium)
    names = report.evaluation.models
    tables = {name: report.page.table(name) for name in names}
    finite = math.isfinite(measure.mass)
    integral = {name: expected_regret(table, costs=measure, scale="integral") for name, table in tables.items()}
    ranked = list(rows)[: len(names)]
    assert sorted(ranked) == sorted(names)
    # models that decide alike differ by rounding only
    assert all(integral[a] <= integral[b] + 1e-15 for a, b in pairwise(ranked))
    factor = {"integral": 1.0, "loss": measure.loss_factor, "regret": 1.0 / measure.mass if finite else math.nan}
    main = factor["regret" if finite else "loss"]
    table = tables[ranked[0]]
    always = (1 - table.prevalence) * float(measure.negative_loss(np.inf))
    never = table.prevalence * float(measure.positive_loss(-np.inf))
    for name in names:
        values, _ = rows[name]
        expected = [factor[scale] * integral[name] for scale in SCALES]
        assert values[:3] == pytest.approx(expected, abs=1e-9, nan_ok=True)
        skill = decompose(tables[name], costs=measure, scale="integral").skill
        gaps = [values[3], *values[5:]]
        others = [main * (integral[name] - other) for other in (integral[ranked[0]], always, never)]
        assert values[4] == pytest.approx(skill, abs=1e-9, nan_ok=True)
        assert gaps[1:] == pytest.approx(others[1:], abs=1e-9, nan_ok=True)
        assert math.isnan(gaps[0]) if name == ranked[0] else gaps[0] == pytest.approx(others[0], abs=1e-9, nan_ok=True)
    assert rows["treat all"][0][1] == pytest.approx(always, abs=1e-9)
    assert rows["treat none"][0][1] == pytest.approx(never, abs=1e-9)


def assert_clean(chromium, report):
    assert chromium.complaints() == []
    assert chromium.requests(report.path) == []

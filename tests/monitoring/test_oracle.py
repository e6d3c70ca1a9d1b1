"""The evidence, limits and challenger as the oracle computes them day by day; a few of its values stand here too."""

import json
import math

import numpy as np
import pytest

from stakes.monitoring import ChallengerMonitor, CostMonitor
from tests.conftest import existing

COSTS = (0.05, 0.3)  # sums are watched here: the costs only fill a place
LOOKS = (1, 2, 10, 60, 120)


@pytest.fixture(scope="module")
def cases(reference_dir):
    """Return the values of `reference/monitor_oracle.py`."""
    path = existing(reference_dir / "reference" / "monitor_reference.json")
    return json.loads(path.read_text(encoding="utf-8"))


def watched(monitor, days):
    """Feed days of sums; return the log evidence and the limits after each."""
    evidence, limits = [], []
    for day, (n, total, squares) in enumerate(days, 1):
        monitor.update_sums(day, n=n, total=total, squares=squares)
        evidence.append(monitor.log_evidence)
        limits.append(monitor.limits)
    return evidence, limits


def monitor_for(case, unit):
    asked = {"budget": case["budget"], "largest": case["largest"], "alpha": case["alpha"]}
    return CostMonitor(COSTS, **asked, unit=unit, force=True)


@pytest.mark.parametrize("unit", ["day", "row"])
def test_evidence_and_alarm_are_those_of_the_oracle(cases, unit):
    for case in cases:
        monitor = monitor_for(case, unit)
        evidence, _ = watched(monitor, case["days"])
        assert [evidence[look - 1] for look in LOOKS] == pytest.approx(case[unit]["log_m"], abs=1e-9)
        assert monitor.alarm_day == case[unit]["alarm_day"]


def test_evidence_of_exact_rows_is_that_of_the_oracle(cases):
    for case in cases:
        monitor, found = monitor_for(case, "exact"), []
        for day, costs in enumerate(case["rows_of_first_3_days"], 1):
            found.append(monitor.update_costs(day, costs).log_evidence)
        assert found[:2] == pytest.approx(case["exact"]["log_m"][:2], abs=1e-9)


def test_limits_of_rows_are_those_of_the_oracle(cases):
    for case in cases:
        _, limits = watched(monitor_for(case, "row"), case["days"])
        for look, stated in case["limits_at"].items():
            assert limits[int(look) - 1] == pytest.approx(stated, abs=1e-9)


def test_challenger_is_that_of_the_oracle(cases):
    for case in cases:
        monitor = ChallengerMonitor(COSTS, margin=case["challenger"]["margin"], alpha=0.05)
        assert monitor._question.shift == pytest.approx(0.825)  # of these costs; the oracle's is .8
        monitor._start(monitor._question.__class__(**{**vars(monitor._question), "budget": 0.802, "largest": 1.6,
                                                      "centre": 0.8, "shift": 0.8}))  # fmt: skip
        evidence, _ = watched(monitor, [(n, 0.2 * s, 0.5 * q) for n, s, q in case["days"]])
        assert [evidence[look - 1] for look in (1, 60, 120)] == pytest.approx(case["challenger"]["log_m"], abs=1e-9)
        assert monitor.alarm_day == case["challenger"]["alarm_day"]


def by_start(days, budget, unit):
    """Log evidence of every start at the last day, by its definition."""
    grid = (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
    found = []
    for start in range(len(days)):
        value = 0.0
        for u in grid:
            log, psi = 0.0, -math.log(1 - u) - u
            for n, s, q in days[start:]:
                if unit == "day":
                    log += math.log(1 + u / budget * (s / n - budget))
                else:
                    log += u / budget * (s - n * budget) - psi / budget**2 * (q - 2 * budget * s + n * budget**2)
            value += math.exp(log) / len(grid)
        found.append(math.log(value))
    return found


@pytest.mark.parametrize("unit", ["day", "row"])
def test_since_is_the_start_with_most_evidence_at_the_alarm(cases, unit):
    case = cases[1]  # rises by half on day 61
    monitor = monitor_for(case, unit)
    watched(monitor, case["days"])
    until = monitor.alarm_day
    found = by_start(case["days"][:until], case["budget"], unit)
    assert monitor.since == int(np.argmax(found)) + 1
    assert 55 <= monitor.since <= 66
    # the value of a rise since the first day stands in the oracle's file
    assert by_start(case["days"], case["budget"], unit)[0] == pytest.approx(case[unit]["log_since_start"], abs=1e-9)


DAYS = [(246, 9.3, 5.77), (155, 7.5, 4.09), (218, 7.9, 4.51)]  # of monitor_reference.json, "steady"
STATED = {"day": None, "row": [-0.5306500281284033, -0.9100189491235736]}


def test_two_values_of_the_oracle_without_its_file():
    monitor = CostMonitor(COSTS, budget=0.052, largest=0.8, unit="row", force=True)
    evidence, limits = watched(monitor, DAYS)
    assert evidence[:2] == pytest.approx(STATED["row"], abs=1e-9)
    assert limits[0] == pytest.approx((0.00202481808136759, 0.08563890108268357), abs=1e-9)

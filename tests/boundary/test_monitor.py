"""The monitor of a promised precision: evidence by its definition, error rate at any time, delay of the alarm."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from stakes.boundary import PrecisionMonitor, fit_boundary
from stakes.boundary._monitor import _BETS


def evidence_by_definition(y, promise):
    """Sum over starts and bets of stake times likelihood ratio, plus what is not yet staked, row by row."""
    odds = promise / (1 - promise) * np.exp(-_BETS)
    rivals = odds / (1 + odds)
    out = []
    for t in range(1, len(y) + 1):
        total, staked = 0.0, 0.0
        for s in range(1, t + 1):
            stake = 0.5 if s == 1 else 0.5 / (s * (s - 1))
            staked += stake
            part = np.asarray(y[s - 1 : t])
            factors = np.where(part[:, None], rivals / promise, (1 - rivals) / (1 - promise))
            total += stake * factors.prod(axis=0).mean()
        out.append(total + 1 - staked)
    return out


def test_evidence_is_the_capital_of_all_bets_and_starts():
    y = np.random.default_rng(0).random(40) < 0.6
    monitor = PrecisionMonitor(0.8)
    one_by_one = [monitor.update([int(label)]).e_value for label in y]
    assert one_by_one == pytest.approx(evidence_by_definition(y, 0.8), rel=1e-10)


def test_batches_do_not_matter():
    y = (np.random.default_rng(1).random(500) < 0.7).astype(int)
    whole, parts = PrecisionMonitor(0.8).update(y), PrecisionMonitor(0.8)
    for part in np.split(y, [1, 2, 50, 51, 300]):
        parts.update(part)
    assert parts.e_value == pytest.approx(whole.e_value)
    assert parts.max_e_value == pytest.approx(whole.max_e_value)
    assert (parts.alarm_row, parts.n_rows, parts.true_positives) == (whole.alarm_row, 500, y.sum())


@pytest.mark.simulation
@pytest.mark.parametrize("promise", [0.6, 0.9])
def test_false_alarms_ever_are_rarer_than_alpha(promise):
    rng = np.random.default_rng(2)
    alarms = [
        PrecisionMonitor(promise, confidence_level=0.9).update(rng.random(2000) < promise).alarm for _ in range(500)
    ]
    assert np.mean(alarms) <= 0.1


def test_expected_evidence_under_the_promise_is_one_and_less_if_it_is_exceeded():
    def expected(precision):
        paths = list(product([0, 1], repeat=8))
        chances = [precision ** sum(path) * (1 - precision) ** (8 - sum(path)) for path in paths]
        return sum(p * PrecisionMonitor(0.8).update(path).e_value for p, path in zip(chances, paths, strict=True))

    assert expected(0.8) == pytest.approx(1.0, abs=1e-12)
    assert expected(0.9) < 1.0 < expected(0.7)


def test_broken_promise_is_noticed_also_after_a_long_good_time():
    rng = np.random.default_rng(4)
    for good in (0, 3000):
        delays = []
        for _ in range(30):
            monitor = PrecisionMonitor(0.9).update(rng.random(good) < 0.93)
            assert not monitor.alarm
            monitor.update(rng.random(1500) < 0.75)
            delays.append(monitor.alarm_row - good)
        assert np.median(delays) < 300


def test_alarm_stays_and_the_p_value_is_the_inverse_of_the_largest_evidence():
    monitor = PrecisionMonitor(0.9, confidence_level=0.95).update(np.zeros(10, int))
    first = monitor.alarm_row
    assert monitor.alarm
    assert monitor.p_value == 1 / monitor.max_e_value <= 0.05
    monitor.update(np.ones(5000, int))
    assert (monitor.alarm, monitor.alarm_row) == (True, first)
    assert monitor.e_value < 1


def test_alarm_is_the_first_time_that_evidence_reaches_one_over_alpha():
    labels = np.random.default_rng(5).random(200) < 0.7
    for alpha in (0.3, 0.05, 0.001):
        monitor = PrecisionMonitor(0.9, confidence_level=1 - alpha)
        values = [monitor.update([label]).e_value for label in labels]
        first = int(np.argmax(np.array(values) >= 1.0 / alpha)) + 1
        assert first > 1
        assert monitor.alarm_row == PrecisionMonitor(0.9, confidence_level=1 - alpha).update(labels).alarm_row == first
        assert monitor.max_e_value == max(values)
        assert PrecisionMonitor(0.9, confidence_level=1 - alpha).update(labels).max_e_value == pytest.approx(
            max(values), rel=1e-12
        )


def test_largest_evidence_may_lie_within_a_batch():
    monitor = PrecisionMonitor(0.9).update([0] * 6 + [1] * 300)
    assert monitor.max_e_value > 100.0 * monitor.e_value


def test_very_long_failure_does_not_overflow():
    monitor = PrecisionMonitor(0.9).update(np.zeros(100_000, int))
    assert np.isfinite(monitor.e_value)
    assert PrecisionMonitor.from_json(monitor.to_json()).to_dict() == monitor.to_dict()


def test_table_has_one_row_per_update():
    pytest.importorskip("pandas")
    monitor = PrecisionMonitor(0.8).update([1, 0, 1]).update([]).update([1])
    assert monitor.frame("pandas")["rows"].tolist() == [3, 4]


@pytest.mark.parametrize("promise", [0, 1, "5/4"])
def test_promise_must_lie_inside_0_and_1(promise):
    with pytest.raises(ValueError, match=r"^min_precision must lie in \(0, 1\), got"):
        PrecisionMonitor(promise)


def test_monitor_takes_over_the_promise_of_a_boundary():
    boundary = fit_boundary([0, 1, 1], [0.2, 0.7, 0.8], [1, 2, 3], min_precision="2/3")
    assert PrecisionMonitor.from_boundary(boundary).min_precision == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="boundary must be fitted under min_precision="):
        PrecisionMonitor.from_boundary(fit_boundary([0, 1], [0.2, 0.7], [1, 2], capacity=1))


@pytest.mark.parametrize(
    "arguments", [{"min_precision": 1}, {"min_precision": 0}, {"min_precision": 0.9, "confidence_level": 1}]
)
def test_bad_settings_are_refused(arguments):
    with pytest.raises(ValueError, match="must lie in"):
        PrecisionMonitor(**arguments)
    with pytest.raises(ValueError, match="y_true must be 1-D"):
        PrecisionMonitor(0.5).update([[1, 0]])


@pytest.mark.parametrize(("name", "value"), [("min_precision", 2.0), ("min_precision", 0.0), ("confidence_level", 1.5)])
def test_a_state_of_what_cannot_be_watched_is_called_damaged(name, value):
    state = json.loads(PrecisionMonitor(0.9).update([1, 0, 1]).to_json())
    state[name] = value
    with pytest.raises(
        ValueError, match=rf"^text is no whole state of a monitor: what is watched must be whole \({name} "
    ):
        PrecisionMonitor.from_json(json.dumps(state))

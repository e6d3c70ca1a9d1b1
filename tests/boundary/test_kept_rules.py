"""A watch and a calibration come back from JSON as they were, and are refused where they contradict themselves."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit

from stakes.boundary import PrecisionMonitor, UncertaintyCalibration, uncertainty_calibrate
from stakes.boundary._monitor import _BETS


def calibration():
    rng = np.random.default_rng(3)
    score, uncertainty = rng.random(300), rng.random(300)
    return uncertainty_calibrate(rng.random(300) < score, score, uncertainty, levels=3), score, uncertainty


def test_a_monitor_goes_on_where_it_stopped():
    labels = np.random.default_rng(1).random(40) < 0.8
    stopped = PrecisionMonitor.from_json(PrecisionMonitor(0.9).update(labels[:25]).to_json()).update(labels[25:])
    whole = PrecisionMonitor(0.9).update(labels)
    assert stopped.n_rows == 40
    assert stopped.e_value == pytest.approx(whole.e_value, rel=1e-12)
    assert PrecisionMonitor.from_json(stopped.to_json()).to_dict() == stopped.to_dict()
    with pytest.raises(ValueError, match="of format 'stakes-precision-monitor-1', got format None"):
        PrecisionMonitor.from_json("{}")


@pytest.mark.parametrize(
    ("place", "change", "rule"),
    [
        (0, {"rows": 0, "true_positives": 0}, "counts that grow"),
        (1, {"rows": 25}, "counts that grow"),
        (1, {"rows": 24}, "counts that grow"),
        (1, {"true_positives": 0, "precision": 0.0}, "counts that grow"),
        (1, {"rows": 26, "true_positives": 26, "precision": 1.0}, "counts that grow"),
        (1, {"precision": 0.5}, "true_positives / rows"),
        (1, {"e_value": -0.1}, ">= 0"),
    ],
)
def test_a_history_of_counts_that_fall_is_refused(place, change, rule):
    labels = np.random.default_rng(1).random(40) < 0.8
    content = json.loads(PrecisionMonitor(0.9).update(labels[:25]).update(labels[25:]).to_json())
    assert PrecisionMonitor.from_json(json.dumps(content)).n_rows == 40
    content["history"][place] |= change
    with pytest.raises(ValueError, match=rule):
        PrecisionMonitor.from_json(json.dumps(content))


@pytest.mark.parametrize("size", [1, 5])
def test_a_monitor_whose_last_row_raises_the_alarm_comes_back(size):
    monitor = PrecisionMonitor(0.9).update([1])
    while not monitor.alarm:
        monitor.update([1] * (size - 1) + [0])
    assert monitor.alarm_row == monitor.n_rows
    assert PrecisionMonitor.from_json(monitor.to_json()).to_dict() == monitor.to_dict()


RIVALS = expit(logit(0.8) - _BETS)  # precisions that the bets against 0.8 are on
MOST = float(np.mean(((1.0 - RIVALS) / 0.2) ** 5))  # of e_value with five negatives: they come first


def watched():
    """Six positives, five negatives, of which the last raises the alarm, and three positives."""
    monitor = PrecisionMonitor(0.8, confidence_level=0.8)
    for labels in ([1] * 6, [0] * 5, [1] * 3):
        monitor.update(labels)
    return json.loads(monitor.to_json())


@pytest.mark.parametrize("change", [{"alarm_row": 7}, {"alarm_row": 11}, {"max_e_value": MOST * (1.0 - 1e-9)}])
def test_a_state_that_its_history_allows_is_read(change):
    content = watched()
    assert (content["alarm_row"], content["max_e_value"] < MOST) == (11, True)
    assert PrecisionMonitor.from_json(json.dumps(content | change)).to_dict().items() >= change.items()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda s: s.update(n_rows=8), "true_positives must be at most n_rows, 8, got 9"),
        (lambda s: s.update(alarm_row=0), "alarm_row must be null or a row from 1 to 14, got 0"),
        (lambda s: s.update(alarm_row=15), "alarm_row must be null or a row from 1 to 14, got 15"),
        (lambda s: s.update(alarm_row=6), "alarm_row must be from 7 to 11, as history says, got 6"),
        (lambda s: s.update(alarm_row=12), "alarm_row must be from 7 to 11, as history says, got 12"),
        (lambda s: s["history"][1].update(alarm=False), "alarm_row must be from 12 to 14, as history says, got 11"),
        (lambda s: s.update(alarm_row=None), "alarm_row must be a row, as max_e_value and confidence_level say"),
        (lambda s: s.update(confidence_level=0.9), "alarm_row must be null, as max_e_value and confidence_level say"),
        (lambda s: s["log_capital"].pop(), "log_capital must be 10 numbers, got 9"),
        (lambda s: s["log_capital"].__setitem__(3, 9.0), "at place 3, as the counts say, got 9"),
        (lambda s: s.update(e_value=1.000001 * s["e_value"]), "e_value must be .*, as log_capital says"),
        (lambda s: s.update(max_e_value=0.999999 * s["max_e_value"]), "max_e_value must be from 5.53864.*, as history"),
        (lambda s: s.update(max_e_value=1.000001 * MOST), f"max_e_value must be from .* to {MOST:.4f}"),
        (lambda s: s["history"][2].update(e_value=2.0), "history must be such that its last e_value is that of the"),
        (lambda s: s["history"][2].update(rows=15, precision=0.6), "history must be such that its last rows is that"),
        (lambda s: s["history"].clear(), "history must be such that its last rows is that of the state, 14"),
    ],
)
def test_a_state_that_contradicts_its_history_is_refused(change, rule):
    content = watched()
    change(content)
    with pytest.raises(ValueError, match=rule):
        PrecisionMonitor.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("labels", "place", "least", "most"),
    [([0], 4, 0.0, np.log(2.0)), ([1], 9, 0.0, np.log(2.0) - np.log(RIVALS[9] / 0.8)), ([], 3, -np.inf, -np.inf)],
)
def test_capital_beyond_what_any_order_of_the_labels_leaves_is_refused(labels, place, least, most):
    """One label after a bet of half the stake, the least; the most is all of the stake, and nothing lost."""
    content = json.loads(PrecisionMonitor(0.8).update(labels).to_json())
    before = float(content["log_capital"][place])
    steps = {least - 1e-6: "log_capital", least + 1e-6: "e_value", most - 1e-6: "e_value", most + 1e-6: "log_capital"}
    for step, entry in steps.items() if labels else [(np.inf, "log_capital")]:
        content["log_capital"][place] = before + step if labels else 0.0
        rule = f"at place {place}, as the counts say" if entry == "log_capital" else "as log_capital says"
        with pytest.raises(ValueError, match=f"{entry} must be .*{rule}"):
            PrecisionMonitor.from_json(json.dumps(content))


def test_a_calibration_comes_back_to_the_last_bit():
    made, score, uncertainty = calibration()
    back = UncertaintyCalibration.from_json(made.to_json())
    assert back.to_json() == made.to_json()
    assert repr(back) == repr(made)
    assert [len(scores) for scores in back.scores] == [len(scores) for scores in made.scores]
    assert np.array_equal(back.predict(score, uncertainty), made.predict(score, uncertainty))


@pytest.mark.parametrize(
    ("entry", "change", "rule"),
    [
        ("cuts", lambda values: values[::-1], "cuts must be ascending"),
        ("cuts", lambda values: values[:1] * 2, "cuts must be ascending"),
        ("level", lambda values: values[:-1], "score must be as long as level and probability"),
        ("level", lambda values: [*values[:-1], 7], "level must be ascending whole numbers from 0 to 2"),
        ("score", lambda values: values[::-1], "score must be ascending in each level"),
        ("probability", lambda values: [*values[:-1], 1.5], r"probability must be in \[0, 1\]"),
        ("probability", lambda values: values[::-1], "ascending in each level"),
    ],
)
def test_a_calibration_that_contradicts_itself_is_refused(entry, change, rule):
    content = json.loads(calibration()[0].to_json())
    content[entry] = change(content[entry])
    with pytest.raises(ValueError, match=rule):
        UncertaintyCalibration.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("scores", "rates", "refused"),
    [
        ([0.1, 0.6], [0.3, 0.3], None),  # rates may stay the same from one score to the next, ...
        ([0.1, 0.6], [0.0, 1.0], None),
        ([-1e300, 1e300], [0.0, 0.0], None),
        ([0.1, 0.1], [0.3, 0.4], "score must be ascending"),  # ... and scores may not
        ([0.1, 0.6], [0.3, 0.2999999], "probability must be .* ascending"),
        ([0.1, 0.6], [-1e-9, 0.3], "probability must be in"),
        ([0.1, 0.6], [0.3, 1.0 + 1e-9], "probability must be in"),
    ],
)
@pytest.mark.parametrize("level", [0, 1])
def test_scores_of_a_kept_calibration_rise_and_its_rates_do_not_fall_within_a_level(scores, rates, refused, level):
    other = {"level": [1 - level], "score": [0.3], "probability": [0.2]}
    mine = {"level": [level] * 2, "score": scores, "probability": rates}
    first, second = (other, mine) if level else (mine, other)
    joined = {name: first[name] + second[name] for name in mine}
    text = json.dumps({"format": "stakes-uncertainty-calibration-1", "cuts": [5.0], **joined})
    if refused:
        with pytest.raises(ValueError, match=refused):
            UncertaintyCalibration.from_json(text)
    else:
        found = UncertaintyCalibration.from_json(text)
        assert found.predict([*scores, 0.0], [4.0 + 2 * level] * 3)[:2].tolist() == rates
        assert found.predict([0.9], [6.0 - 2 * level]).tolist() == [0.2]
        assert repr(found) == "UncertaintyCalibration(2 levels, 3 blocks)"

"""A watch and a calibration come back from JSON as they were, and are refused where they contradict themselves."""

import json

import numpy as np
import pytest

from stakes.boundary import PrecisionMonitor, UncertaintyCalibration, uncertainty_calibrate


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


def test_a_calibration_comes_back_to_the_last_bit():
    made, score, uncertainty = calibration()
    back = UncertaintyCalibration.from_json(made.to_json())
    assert back.to_json() == made.to_json()
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

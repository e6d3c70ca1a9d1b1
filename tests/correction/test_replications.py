"""The replications of the correction run, on few rows, and say what they claim."""

import numpy as np
import pytest

from replications import calibration_tests, correction_models, loss_calibration, update_gain


def test_rates_of_rejection(capsys):
    calibration_tests.main(["--runs", "20", "--bootstrap", "19"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[0].strip("| ") for line in lines[2::2]] == list(calibration_tests.CASES)
    size, wrong, steep = (calibration_tests.rates(case, 60, 39) for case in calibration_tests.CASES)
    assert np.all(size <= 0.2)
    assert wrong[0] > 0.8
    assert steep[0] > 0.8


def test_gains_of_updates(capsys):
    update_gain.main(["--runs", "4", "--sizes", "200"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| 200")]
    assert len(lines) == len(update_gain.CASES) * len(update_gain.METHODS)
    found = update_gain.fitted("0.8 + x", "intercept", 4000, 0)
    rng, total = np.random.default_rng(1), 0.0
    x = rng.normal(update_gain.CENTRE, update_gain.SPREAD, 400_000)
    risk = 1.0 / (1.0 + np.exp(-0.8 - x))
    for event, share in ((True, risk), (False, 1.0 - risk)):
        old, new = (
            score if event else 1.0 - score
            for score in (1.0 / (1.0 + np.exp(-x)), found.predict(1.0 / (1.0 + np.exp(-x))))
        )
        total += np.mean(share * (np.log(new) - np.log(old)))
    assert update_gain.true_gains(found, update_gain.CASES["0.8 + x"])[0] == pytest.approx(total, abs=5e-4)


@pytest.mark.thorough
def test_figures_3_and_4(reference_dir, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib.pyplot")
    found = loss_calibration.curves(reference_dir, 1, rows=3000)
    for (curve, test), share in zip(found.values(), loss_calibration.SHARES, strict=True):
        assert curve.positive_share == pytest.approx(share)
        assert test.after.log_loss <= test.before.log_loss
    loss_calibration.draw(found, tmp_path)
    assert len(list(tmp_path.glob("figure_[34]_log*.png"))) == 4


@pytest.mark.thorough
def test_real_models(reference_dir):
    pytest.importorskip("pandas")
    rows = list(correction_models.study(reference_dir, "bank_marketing", ["logistic regression"]))
    assert [row[2] for row in rows] == list(correction_models.SHARES)
    before, after, unweighted = (np.array([float(row[k]) for row in rows]) for k in (4, 5, 7))
    assert np.all(after[1:] < before[1:] - 0.2)
    assert np.all(np.abs(after - unweighted) < 0.01)

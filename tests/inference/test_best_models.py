"""Sets of models that may be the best: the truly best one is kept, a clearly worse one goes."""

import re
from functools import partial

import numpy as np
import pytest

from stakes import ScoreTable, evaluate, regret_curve
from stakes.inference import PairSums, best_models, select_best

POINTS = np.array([0.1, 0.2, 0.3, 0.4])


def sample(n, seed, bent):
    rng = np.random.default_rng(seed)
    q = rng.beta(1, 3, n)
    return rng.random(n) < q, q, q**bent


@pytest.mark.simulation
def test_the_best_model_is_kept_at_all_thresholds_at_once():
    """A calibrated forecast has the lowest expected regret at every threshold, whatever the others are."""
    lost = 0
    for seed in range(200):
        y, q, bent = sample(500, seed, 1.2)
        models = {"calibrated": q, "bent": bent, "noisy": np.clip(q + 0.02 * np.sin(999 * q), 0, 1)}
        lost += not best_models(y, models, thresholds=POINTS).possible[:, 0].all()
    assert lost / 200 <= 0.06


def test_a_clearly_worse_model_is_left_out():
    pytest.importorskip("polars")
    y, q, bent = sample(20_000, 1, 3.0)
    found = best_models(y, {"bent": bent, "calibrated": q}, thresholds=POINTS)
    assert found.sets() == [("calibrated",)] * 4
    assert found.surely("calibrated").tolist() == POINTS.tolist()
    assert found.surely("bent").size == 0
    assert found.frame("polars")["lowest"].to_list() == ["calibrated"] * 4


def test_models_that_decide_alike_are_all_kept():
    y, q, _ = sample(2000, 3, 1.0)
    found = best_models(y, {"one": q, "same": q.copy()}, thresholds=POINTS)
    assert found.possible.all()


def test_references_compete():
    y, q, _ = sample(4000, 2, 1.0)
    found = best_models(y, {"m": q}, thresholds=[0.001, 0.2, 0.99], references=True)
    assert found.models == ("m", "treat all", "treat none")
    assert "treat all" in found.sets()[0]
    assert found.sets()[1] == ("m",)
    assert "treat none" in found.sets()[2]
    table = ScoreTable.from_predictions(y, q)
    assert found.regret[:, 0] == pytest.approx(regret_curve(table).at(found.thresholds))
    assert found.regret[:, 1] == pytest.approx(found.thresholds * (1 - y.mean()))
    assert found.regret[:, 2] == pytest.approx((1 - found.thresholds) * y.mean())


def test_weights_of_zero_and_one_choose_rows():
    y, q, bent = sample(800, 3, 2.0)
    w = (np.arange(800) % 3 > 0).astype(float)
    kept = best_models(y[w > 0], {"q": q[w > 0], "bent": bent[w > 0]}, thresholds=POINTS)
    weighted = best_models(y, {"q": q, "bent": bent}, thresholds=POINTS, sample_weight=w)
    assert (weighted.possible == kept.possible).all()
    assert weighted.regret == pytest.approx(kept.regret)


@pytest.mark.parametrize("call", [best_models, partial(PairSums.from_predictions, costs=0.5)])
@pytest.mark.parametrize(
    ("models", "told"),
    [
        ({}, "{}"),
        ([0.1, 0.2], "[0.1, 0.2]"),
        (np.linspace(0.1, 0.2, 1000), "ndarray"),
        (np.linspace(0.1, 0.2, 1000).tolist(), "list of 1000"),
        (0.1, "0.1"),
        (None, "None"),
    ],
)
def test_models_without_names_are_refused_and_told_in_few_words(call, models, told):
    with pytest.raises(
        ValueError, match=re.escape(f"y_prob must map the names of models to probabilities, got {told}.")
    ):
        call([0, 1] * 500, models)


@pytest.mark.parametrize("call", [best_models, partial(PairSums.from_predictions, costs=0.5)])
def test_a_frame_without_columns_names_no_model_and_a_series_is_none(call):
    pandas = pytest.importorskip("pandas")
    for given in (pandas.DataFrame(index=range(2)), pandas.Series([0.1, 0.2])):
        with pytest.raises(ValueError, match="must map the names of models to probabilities, got "):
            call([0, 1], given)


def test_a_model_is_not_called_like_a_reference():
    with pytest.raises(ValueError, match="a model cannot be called 'treat all': that names a reference"):
        best_models([0, 1], {"treat all": [0.1, 0.2]})


SIX = np.array([0, 1, 0, 1, 1, 0])


@pytest.mark.parametrize(
    "call",
    [
        lambda frame: select_best(SIX, frame, costs=(0.1, 0.3)),
        lambda frame: best_models(SIX, frame),
        lambda frame: PairSums.from_predictions(SIX, frame, costs=(0.1, 0.3)),
        lambda frame: evaluate(SIX, frame, costs=(0.1, 0.3)),
    ],
)
def test_the_two_columns_of_predict_proba_are_not_two_models(call):
    pd = pytest.importorskip("pandas")
    no = np.array([0.25, 0.5, 0.75, 0.125, 0.375, 0.625])
    with pytest.raises(ValueError, match=r"column for each model, got \['no', 'yes'\], which add up to 1 in every row"):
        call(pd.DataFrame({"no": no, "yes": 1.0 - no}))
    assert call({"no": no, "yes": 1.0 - no}) is not None  # by names that were meant
    assert call(pd.DataFrame({"no": no, "yes": 0.9 - no})) is not None


def test_the_order_of_the_models_changes_no_set():
    rng = np.random.default_rng(3)
    q = rng.beta(1, 2, 300)
    y = rng.random(300) < q
    models = {str(k): np.clip(q + rng.normal(0.0, 0.12 * k, 300), 0, 1) for k in range(3)}
    asked = {"thresholds": np.linspace(0.02, 0.6, 60), "confidence_level": 0.5}
    found, turned = (best_models(y, each, **asked) for each in (models, dict(reversed(models.items()))))
    np.testing.assert_array_equal(found.possible, turned.possible[:, ::-1])

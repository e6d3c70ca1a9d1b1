"""What scores promise to cost: against a sum over rows and both outcomes, and what observed costs come to."""

import numpy as np
import pytest

import stakes
from stakes import costs, expected_regret, promised_regret

SCORES = np.array([0.0, 0.02, 0.1, 0.25, 0.5, 0.93, 1.0])
MEASURES = [costs.Uniform(0.1, 0.3), costs.Fixed(0.2), costs.LogOddsUniform(0.02, 0.5), costs.Beta(2.0, 5.0)]


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_a_promise_is_the_mean_cost_over_both_outcomes(measure):
    wanted = 0.0
    for s in SCORES:
        for outcome, chance in ((1, s), (0, 1.0 - s)):
            both = [outcome, 1 - outcome]  # one class alone has a cost too, but not every function takes it
            weight = [1.0, 0.0]
            wanted += chance * expected_regret(both, [s, 0.5], costs=measure, sample_weight=weight) / len(SCORES)
    assert promised_regret(SCORES, costs=measure) == pytest.approx(wanted, rel=1e-12)


def test_what_cannot_happen_costs_nothing():
    assert promised_regret([0.0, 1.0], costs=costs.LogOddsUniform(0, 1), scale="integral") == 0.0


def test_weights_are_repeated_rows_and_units_are_factors():
    plain = promised_regret(np.repeat(SCORES, [1, 2, 3, 1, 1, 2, 1]), costs=(0.1, 0.3))
    weighted = promised_regret(SCORES, costs=(0.1, 0.3), sample_weight=[1, 2, 3, 1, 1, 2, 1])
    assert weighted == pytest.approx(plain, rel=1e-13)
    money = promised_regret(SCORES, costs=(0.1, 0.3), unit_cost=250.0, per=1000.0)
    assert money == pytest.approx(250_000 * promised_regret(SCORES, costs=(0.1, 0.3)))
    loss = promised_regret(SCORES, costs=(0.1, 0.3), scale="loss")
    assert loss == pytest.approx(2.0 * 0.2 * promised_regret(SCORES, costs=(0.1, 0.3)))


def test_true_probabilities_keep_their_promise():
    rng = np.random.default_rng(0)
    risk = rng.beta(1.0, 5.0, 200_000)
    y = rng.random(len(risk)) < risk
    kept = expected_regret(y, risk, costs=(0.1, 0.3))
    assert promised_regret(risk, costs=(0.1, 0.3)) == pytest.approx(kept, rel=0.01)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_prob": [0.2, 1.2]}, r"y_prob must lie in \[0, 1\], got 1.2 at index 1"),
        ({"y_prob": []}, "y_prob must hold at least one row"),
        ({"sample_weight": [1.0]}, "sample_weight must have one value per row"),
        ({"scale": "loss", "per": 1000.0}, 'need scale="regret"'),
    ],
)
def test_bad_input_is_refused(given, message):
    asked = {"y_prob": [0.2, 0.4], "costs": (0.1, 0.3), **given}
    with pytest.raises(ValueError, match=message):
        promised_regret(asked.pop("y_prob"), **asked)


def test_it_stands_at_the_top():
    assert "promised_regret" in dir(stakes)

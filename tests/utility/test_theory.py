"""What the papers prove, by simulation and enumeration: consistency, ranking principle, batch against population."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit, logit
from utility_brute import DEFINITIONS, best_of_all_decisions, count_laws, curve
from utility_cases import MEASURES

from stakes.utility import F1, Jaccard, _summation, expected_utility, optimal_decisions, population_threshold
from stakes.utility._exponential import Batch
from stakes.utility._fourier import Spectrum


def value_of(decision, p, measure):
    """Expected value of any decision, from the laws of the positives among the rows acted on and among the others."""
    sides = []
    for part in (p[decision == 1], p[decision == 0]):
        spectrum = Spectrum.of(Batch.of(part)) if len(part) else None
        inside = spectrum.counts <= len(part) if spectrum else None
        sides.append((spectrum.counts[inside], spectrum.law()[inside]) if spectrum else (np.zeros(1), np.ones(1)))
    (tp, first), (fn, rest) = sides
    k = int(decision.sum())
    return float(first @ measure.value(tp[:, None], k - tp[:, None], fn, len(p) - k - fn) @ rest)


def test_value_of_any_decision_is_what_enumeration_says():
    p = np.array([0.3, 0.9, 0.4, 0.6])
    best = expected_utility(p, F1())
    assert value_of(best.predict(), p, F1()) == pytest.approx(best.utility, abs=1e-13)


@pytest.mark.parametrize("name", ["f1", "jaccard", "am", "g_tp_pr"])
def test_utility_gap_vanishes_as_the_probabilities_converge(name):
    """arXiv:1505.01802, Theorem 13: estimates within epsilon of the truth lose O(epsilon)."""
    rng = np.random.default_rng(13)
    p = rng.beta(0.6, 2.0, 300)
    best = expected_utility(p, MEASURES[name]).utility
    noise = rng.normal(size=(20, len(p)))
    gaps = []
    for scale in (1.0, 0.3, 0.1, 0.03, 0.01):
        decisions = [optimal_decisions(expit(logit(p) + scale * z), MEASURES[name]) for z in noise]
        gaps.append(np.mean([best - value_of(d, p, MEASURES[name]) for d in decisions]))
    assert all(later < earlier / 2 for earlier, later in pairwise(gaps))
    assert 0 <= gaps[-1] < 1e-4


@pytest.mark.parametrize("name", ["f1", "jaccard", "am", "g_mean", "mcc"])
def test_best_of_all_decisions_takes_the_most_probable_rows(name):
    """The experiment of the paper's Figure 1: simulated logistic probabilities of ten rows, all 1,024 decisions."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        p = expit(rng.normal(size=10) * 2.0)
        result = expected_utility(p, MEASURES[name])
        assert result.utility == pytest.approx(float(best_of_all_decisions(p, DEFINITIONS[name], 0)), abs=1e-13)
        acted = result.predict() == 1
        assert p[acted].min() >= p[~acted].max(initial=0.0)


def test_expected_utility_of_a_batch_is_the_mean_over_its_labels():
    rng = np.random.default_rng(2)
    p = rng.random(40)
    result = expected_utility(p, Jaccard())
    acted = result.predict() == 1
    labels = rng.random((40_000, 40)) < p
    tp = (labels & acted).sum(axis=1)
    values = tp / np.maximum((labels | acted).sum(axis=1), 1)
    assert abs(values.mean() - result.utility) < 4 * values.std() / 200


def realised(decision, labels, measure):
    tp, fp = np.sum(decision & labels), np.sum(decision & ~labels)
    return float(measure.value(tp, fp, np.sum(~decision & labels), np.sum(~decision & ~labels)))


def paired_gain(batches, size, distort, seed=3):
    """Mean and standard error of (batch-optimal less population threshold) in realised F1."""
    rng = np.random.default_rng(seed)
    train = rng.beta(0.5, 1.5, 20_000)
    held_out = population_threshold(rng.random(20_000) < train, distort(train), F1(), n_resamples=0)
    gains = []
    for _ in range(batches):
        p = rng.beta(0.5, 1.5, size)
        labels = rng.random(size) < p
        plug_in = held_out.predict(distort(p)) == 1
        gains.append(realised(optimal_decisions(distort(p), F1()) == 1, labels, F1()) - realised(plug_in, labels, F1()))
    return np.mean(gains), np.std(gains) / np.sqrt(batches)


@pytest.mark.simulation
def test_looking_at_the_batch_wins_on_small_batches_of_calibrated_rows():
    mean, error = paired_gain(3000, 12, lambda p: p)
    assert mean > 4 * error > 0


def test_on_large_batches_both_approaches_are_alike():
    mean, error = paired_gain(40, 5000, lambda p: p)
    assert abs(mean) < 1e-3 + 3 * error


def test_a_threshold_found_on_labels_wins_where_the_probabilities_are_wrong():
    mean, error = paired_gain(200, 500, lambda p: expit(logit(p) - 2.0))
    assert mean < -4 * error < 0


def test_curve_of_many_measures_has_dips_and_their_best_value_is_found():
    """expected_utility.md, section 7: MCC dips most often, balanced accuracy never."""
    rng = np.random.default_rng(4)
    dips = dict.fromkeys(("mcc", "kappa", "g_tp_pr", "am", "g_mean", "q_mean"), 0)
    for _ in range(400):
        p = rng.random(int(rng.integers(3, 10)))
        laws = count_laws(p)
        for name in dips:
            exact = curve(p, DEFINITIONS[name], 0, laws)
            turns = np.sign(np.diff(exact[1:-1] if name in {"mcc", "kappa"} else exact[1:]))
            dips[name] += bool(np.any(np.diff(turns) > 0))
            assert expected_utility(p, MEASURES[name]).utility == pytest.approx(float(exact.max()), abs=1e-13)
    assert dips["mcc"] > 10
    assert dips["am"] == dips["g_mean"] == dips["q_mean"] == 0


@pytest.mark.parametrize("variance", [0.0, 0.3, 5.0, 1e4, 1e8])
def test_a_count_reaches_as_far_as_bernstein_says(variance):
    # P(|count - mean| >= t) <= 2 exp(-t^2 / (2 (variance + t / 3)))
    reach = _summation._reach(variance)
    tail = math.log(2) - reach**2 / (2 * (variance + reach / 3))
    assert tail == pytest.approx(math.log(_summation.WINDOW), rel=1e-9)

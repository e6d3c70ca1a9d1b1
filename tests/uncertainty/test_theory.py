"""Entropy of Beta distributions, the posterior of the true positivity, the bias of scores: by integrals and draws."""

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import betaln, hyp2f1

from stakes.uncertainty import advise_uncertainty, beta_entropy, estimation_bias, positivity_posterior

# N, S, a1, a0, tau, mean: reference oracle boundary_oracle.py (--make), by 2F1 and by quadrature
PUBLISHED = [
    (20, 1, 0.5, 4.5, 1, 0.059999999999999984),
    (20, 5, 0.5, 4.5, 3, 0.10285794567201542),
    (20, 18, 0.5, 4.5, 3, 0.5606833678562705),
    (50, 45, 0.2, 1.8, 5, 0.6054607367770444),
    (10, 5, 2, 18, 0.5, 0.2704213800735473),
    (200, 190, 0.1, 0.9, 20, 0.4885115712760136),
]


def kernel(q, n, s, prior, tau):
    a1, a0 = prior
    return q ** (a1 - 1 + s) * (1 - q) ** (a0 - 1 + n - s) / (1 + (tau - 1) * q) ** n


@given(st.floats(0.05, 1e5), st.floats(0.05, 1e5))
def test_entropy_agrees_with_scipy(alpha, beta):
    assert beta_entropy(alpha, beta) == pytest.approx(stats.beta(alpha, beta).entropy(), rel=1e-8, abs=1e-8)


def test_entropy_is_the_integral_of_its_definition():
    for alpha, beta in [(0.5, 3), (9, 1), (19.9, 2), (20.1, 40)]:
        density = stats.beta(alpha, beta)
        value, _ = quad(lambda q, d=density: -d.pdf(q) * d.logpdf(q), 0, 1, limit=200)
        assert beta_entropy(alpha, beta) == pytest.approx(value, abs=1e-7)


def test_entropy_is_as_exact_where_the_series_begins():
    for alpha, beta in [(19.9, 20.1), (20.1, 20.1), (25, 0.5)]:
        assert beta_entropy(alpha, beta) == pytest.approx(stats.beta(alpha, beta).entropy(), abs=1e-11)


def test_entropy_of_many_counts_is_that_of_a_normal_distribution():
    a, b = 3e11, 1e12
    variance = a * b / (a + b) ** 3
    assert beta_entropy(a, b) == pytest.approx(0.5 * np.log(2 * np.pi * np.e * variance), abs=1e-10)


@pytest.mark.parametrize(("mean", "evidence"), [(0.9, 9.271), (0.95, 19.2), (0.99, 99.2)])
def test_entropy_is_largest_at_some_evidence_and_falls_on_both_sides(mean, evidence):
    def less_entropy(total):
        return -float(beta_entropy(mean * total, (1 - mean) * total))

    found = minimize_scalar(less_entropy, bounds=(0.1, 1000), method="bounded", options={"xatol": 1e-6}).x
    assert found == pytest.approx(evidence, abs=0.0005 if mean == 0.9 else 0.05)
    # the paper claims that less evidence at the same score is more uncertain: not by entropy
    assert less_entropy(found / 5) > less_entropy(found) < less_entropy(5 * found)


@pytest.mark.parametrize("case", PUBLISHED)
def test_mean_positivity_is_that_of_the_reference(case):
    n, s, a1, a0, tau, mean = case
    assert positivity_posterior(s, n, prior=(a1, a0), undersampling=tau).mean[0] == pytest.approx(mean, abs=1e-10)


def test_mean_positivity_is_that_of_the_reference_file(reference_dir):
    cases = json.loads((reference_dir / "reference" / "boundary_reference.json").read_text(encoding="utf-8"))
    for case in cases["theorem31"]:
        found = positivity_posterior(case["S"], case["N"], prior=(case["a1"], case["a0"]), undersampling=case["tau"])
        assert found.mean[0] == pytest.approx(case["mean"], abs=1e-8)


@settings(max_examples=60)
@given(st.integers(0, 60), st.floats(0, 1), st.floats(0.1, 5), st.floats(0.1, 5), st.sampled_from([0.5, 1, 2, 5, 20]))
def test_mean_positivity_is_the_ratio_of_hypergeometric_functions(n, share, a1, a0, tau):
    s = round(share * n)
    a, b, x = a1 + s, a0 + n - s, 1 - 1 / tau
    upper, lower = hyp2f1(a + 1, a1 + a0 + 1, a + b + 1, x), hyp2f1(a, a1 + a0, a + b, x)
    found = positivity_posterior(s, n, prior=(a1, a0), undersampling=tau)
    assert found.mean[0] == pytest.approx(a / (a + b) / tau * upper / lower, abs=1e-8)


def test_mean_positivity_of_many_examples_by_mpmath():
    mpmath = pytest.importorskip("mpmath")
    for n, s, a1, a0, tau in [(5000, 2500, 0.5, 4.5, 20), (200, 0, 50, 950, 100), (2000, 1999, 0.1, 0.9, 0.05)]:
        with mpmath.workdps(40):
            a, b, x = mpmath.mpf(a1) + s, mpmath.mpf(a0) + n - s, 1 - 1 / mpmath.mpf(tau)
            ratio = mpmath.hyp2f1(a + 1, a1 + a0 + 1, a + b + 1, x) / mpmath.hyp2f1(a, a1 + a0, a + b, x)
            mean = float(a / (a + b) / tau * ratio)
        assert positivity_posterior(s, n, prior=(a1, a0), undersampling=tau).mean[0] == pytest.approx(mean, abs=1e-10)


def test_density_and_variance_agree_with_integrals():
    for n, s, a1, a0, tau in [(10, 3, 1.5, 2.5, 4.0), (5, 5, 2, 1.2, 0.5), (30, 12, 1, 4, 1.0)]:
        found = positivity_posterior(s, n, prior=(a1, a0), undersampling=tau)
        parts = (n, s, (a1, a0), tau)
        integrals = [quad(lambda q, k=k, p=parts: q**k * kernel(q, *p), 0, 1, epsabs=0, limit=200)[0] for k in range(3)]
        total, mean, second = integrals
        assert found.variance[0] == pytest.approx(second / total - (mean / total) ** 2, rel=1e-7)
        assert found.pdf(0.3)[0] == pytest.approx(kernel(0.3, *parts) / total, rel=1e-7)


def test_without_undersampling_the_posterior_is_a_beta_distribution():
    found = positivity_posterior([0, 3, 9], [9, 9, 9], prior=(0.01, 0.02))
    exact = [stats.beta(0.01 + s, 0.02 + 9 - s) for s in (0, 3, 9)]
    np.testing.assert_allclose(found.mean, [d.mean() for d in exact], atol=1e-12)
    np.testing.assert_allclose(found.variance, [d.var() for d in exact], atol=1e-12)


@pytest.mark.parametrize("prior", [(0.01, 1000.0), (1000.0, 0.01), (3.0, 1e6), (1e6, 3.0), (1e4, 1e4), (200.0, 1e5)])
def test_without_undersampling_any_prior_is_counted_on(prior):
    s, n = np.array([0.0, 0.0, 5.0, 3.0, 1000.0]), np.array([0.0, 5.0, 5.0, 9.0, 2000.0])
    found, a, b = positivity_posterior(s, n, prior=prior), prior[0] + s, prior[1] + n - s
    np.testing.assert_allclose(found.mean, a / (a + b), rtol=1e-7)
    np.testing.assert_allclose(found.variance, a * b / (a + b) ** 2 / (a + b + 1.0), rtol=1e-6)
    np.testing.assert_allclose(found.log_normaliser, betaln(a, b), rtol=1e-9)


@pytest.mark.parametrize("tau", [0.05, 3.0, 20.0, 1000.0])
def test_positives_and_negatives_may_change_places(tau):
    """With p = 1 - q the density is that of the negatives, kept 1 / tau times as often as the positives."""
    n = np.repeat([5.0, 200.0, 5000.0, 200_000.0], 5)
    s = np.round(n * np.tile([0.0, 0.1, 0.5, 0.99, 1.0], 4))
    one = positivity_posterior(s, n, prior=(0.7, 3.0), undersampling=tau)
    other = positivity_posterior(n - s, n, prior=(3.0, 0.7), undersampling=1.0 / tau)
    np.testing.assert_allclose(one.mean, 1.0 - other.mean, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(one.variance, other.variance, rtol=1e-8)
    np.testing.assert_allclose(one.log_normaliser, other.log_normaliser - n * np.log(tau), rtol=1e-12, atol=1e-9)


def test_many_regions_are_what_each_is_alone():
    n = np.arange(1, 9001) % 50 + 1
    found = positivity_posterior(n // 2, n, prior=(1, 3), undersampling=3)
    alone = [positivity_posterior(n[i] // 2, n[i], prior=(1, 3), undersampling=3).mean[0] for i in (0, 4095, 4096, -1)]
    np.testing.assert_array_equal(found.mean[[0, 4095, 4096, -1]], alone)


def draws(prior, n, tau, size, seed):
    """True positivity and positives among n kept examples of regions, simulated by thinning."""
    rng = np.random.default_rng(seed)
    q = rng.beta(*prior, size)
    kept = q / (q + (1 - q) / tau)  # a negative is kept with probability 1/tau
    return q, rng.binomial(n, kept)


@pytest.mark.parametrize(("s", "n", "tau"), [(5, 20, 3), (18, 20, 3), (10, 20, 10)])
def test_mean_positivity_is_the_mean_of_simulated_regions(s, n, tau):
    q, positives = draws((0.5, 4.5), n, tau, 1_000_000, seed=s)
    mine = q[positives == s]
    found = positivity_posterior(s, n, prior=(0.5, 4.5), undersampling=tau).mean[0]
    assert abs(mine.mean() - found) < 4 * mine.std() / np.sqrt(len(mine))


@pytest.mark.parametrize(("true", "model", "tau"), [((1, 4), (1, 1), 1), ((0.2, 1.8), (2, 2), 1), ((1, 3), (1, 1), 5)])
def test_bias_is_the_mean_error_of_simulated_scores(true, model, tau):
    n = 12
    q, positives = draws(true, n, tau, 400_000, seed=1)
    score = (model[0] + positives) / (sum(model) + n)
    for s in (0, 3, 8):
        mine = positives == s
        found = estimation_bias(score[mine][0], n, true_prior=true, model_prior=model, undersampling=tau)[0]
        assert abs((score - q)[mine].mean() - found) < 4 * q[mine].std() / np.sqrt(mine.sum())


@given(st.floats(0.05, 0.95), st.floats(20, 1e4), st.floats(0.1, 5), st.floats(0.1, 5), st.floats(0.1, 0.9))
def test_bias_follows_the_formula(score, n, a1, a0, b1):
    nu, xi, omega, gamma = (a1 + a0), b1, a1 / (a1 + a0), 1 / n
    formula = (score * (nu - 1) + xi - nu * omega) * gamma / (1 + nu * gamma)
    found = estimation_bias(score, n, true_prior=(a1, a0), model_prior=(b1, 1 - b1))
    assert found[0] == pytest.approx(formula, abs=1e-10)


def test_bias_vanishes_where_the_model_has_the_true_prior():
    found = estimation_bias([0.3, 0.5, 0.6], [5, 50, 500], true_prior=(1, 3), model_prior=(1, 3))
    np.testing.assert_allclose(found, 0.0, atol=1e-12)


@pytest.mark.parametrize("n", [1.0, 1e3, 1e6])
def test_scores_may_be_rounded_beyond_those_of_no_and_of_all_positives(n):
    priors = {"true_prior": (1, 3), "model_prior": (0.3, 0.9)}
    for end, outwards in ((0.3 / (1.2 + n), -1.0), ((0.3 + n) / (1.2 + n), 1.0)):
        exact, rounded = (estimation_bias(end + by * outwards, n, **priors)[0] for by in (-1e-12, 0.9e-9))
        assert rounded == pytest.approx(exact, abs=1e-9)
        with pytest.raises(ValueError, match="score must lie in"):
            estimation_bias(end + 1.1e-9 * outwards, n, **priors)


def test_undersampling_can_leave_a_score_too_low():
    # the paper says that it overestimates "across the entire score range"
    # no positive of 20: a model with next to no prior says nearly 0, the truth is 0.010 on average
    prior = (1e-9, 1e-9)
    score = 1e-9 / (20 + 2e-9)
    found = estimation_bias(score, 20, true_prior=(1, 3), model_prior=prior, undersampling=5)
    assert found[0] == pytest.approx(-0.010, abs=0.001)


def test_advice_pays_where_the_model_shrinks_too_little():
    # designs A, D, E, C of the reference's simulations, with their coefficients at 0.9
    cases = [((0.1, 0.9), (1, 1), 0.0, False), ((1, 4), (1, 1), 1.35, True), ((0.3, 0.7), (0.1, 0.1), 2.6, True)]
    for true, model, coefficient, pays in [*cases, ((0.2, 1.8), (0.1, 0.1), 7.6, True)]:
        found = advise_uncertainty(true_prior=true, model_prior=model)
        assert found.pays is pays
        assert found.bias_coefficient == pytest.approx(coefficient, abs=0.06)
    low = advise_uncertainty(true_prior=(4, 1), model_prior=(1, 1), score=0.1)
    assert low.nu > 1
    assert not low.pays


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: beta_entropy([1, 0], 1), "alpha must be finite and > 0, got 0.0 at index 1"),
        (lambda: beta_entropy([1, 2], [1, 2, 3]), "same shape"),
        (lambda: positivity_posterior(3, 2, prior=(1, 1)), "at most n_examples, got 3.0 of 2.0"),
        (lambda: positivity_posterior([2, 4, 5], [2, 3, 1], prior=(1, 1)), "n_examples, got 4.0 of 3.0 at index 1"),
        (lambda: positivity_posterior(-1, 2, prior=(1, 1)), "positives must be finite and >= 0"),
        (lambda: positivity_posterior([1, 2], [1, 2, 3], prior=(1, 1)), "positives and n_examples .* got 2 and 3"),
        (lambda: positivity_posterior(1, 2, prior=(0, 1)), "prior must be two"),
        (lambda: positivity_posterior(1, 2, prior=(1, 1), undersampling=0), "undersampling"),
        (lambda: positivity_posterior(1, 2, prior=(1, 1)).pdf(1.0), r"q must lie in \(0, 1\)"),
        (lambda: estimation_bias(0.99, 5, true_prior=(1, 1), model_prior=(1, 1)), r"lie in \[0.142857, 0.857143\]"),
        (lambda: estimation_bias([0.5] * 2, [5] * 3, true_prior=(1, 1), model_prior=(1, 1)), "score and n_examples"),
        (lambda: estimation_bias(0.5, 0, true_prior=(1, 1), model_prior=(1, 1)), "n_examples must be > 0"),
        (lambda: advise_uncertainty(true_prior=(1, 1), model_prior=(1, 1), score=2), "score must lie"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

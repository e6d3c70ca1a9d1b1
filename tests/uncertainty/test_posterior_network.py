"""What is promised of the Posterior Network, on small cases: `python -m replications posterior_network` measures it."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from replications import posterior_network as study
from stakes.uncertainty import PosteriorNetwork, estimation_bias

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'stakes[torch]'")

from stakes.uncertainty._posterior_network import latents  # noqa: E402

QUICK = {**study.SETTINGS, "epochs": 12}


@pytest.fixture(scope="module")
def many():
    """128 regions, and what the network counts in each."""
    torch.set_num_threads(1)
    data = study.draw(128, 3)
    return data, *study.counts_seen(data, 0, **QUICK)


def test_regions_hold_the_share_of_positives_that_thinning_leaves():
    data = study.draw(200, 0, undersampling=5.0, largest=2000)
    # of M originals M q positives stay, and (1 - q) / 5 of M negatives
    expected = data.truth / (data.truth + (1 - data.truth) / 5)
    error = (data.positives - data.sizes * expected) / np.sqrt(data.sizes * expected * (1 - expected))
    assert abs(error.mean()) < 4 / np.sqrt(200)
    assert error.std() == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("seed", range(3))
def test_evidence_orders_a_few_regions_by_their_number_of_rows(seed):
    data = study.draw(12, seed)
    seen = np.sum(study.counts_seen(data, seed, **QUICK), axis=0)
    assert spearmanr(seen, data.sizes).statistic > 0.9


def test_evidence_orders_many_regions_by_their_number_of_rows(many):
    data, negative, positive = many
    seen = negative + positive
    assert spearmanr(seen, data.sizes).statistic > 0.93
    assert np.median(seen / data.sizes) == pytest.approx(1, abs=0.15)
    assert np.polyfit(np.log(data.sizes), np.log(seen), 1)[0] == pytest.approx(1, abs=0.1)


def test_score_has_no_bias_where_the_prior_is_the_true_one(many):
    data, negative, positive = many
    truth = data.truth
    score = (1 + positive) / (5 + positive + negative)
    for group in (data.sizes < 20, data.sizes >= 20, score > 0.2, score <= 0.2):
        error = (score - truth)[group]
        assert abs(error.mean()) < 3 * error.std() / np.sqrt(group.sum())


@pytest.mark.parametrize("model", [(1.0, 1.0), (0.5, 0.5)])
def test_bias_follows_the_formula_in_sign_and_size(many, model):
    data, negative, positive = many
    table = (data.sizes, data.truth, data.positives, negative, positive, np.arange(128) // 8)
    score, found, expected = study.score_and_bias(table, (1.0, 4.0), model)
    # the formula, again from the room's own posterior, at what the network saw
    seen = estimation_bias(score, negative + positive, true_prior=(1, 4), model_prior=model)
    high = (score > 0.3) & (data.sizes < 30)
    assert found[high].mean() > 3 * found[high].std() / np.sqrt(high.sum())
    assert found[high].mean() == pytest.approx(seen[high].mean(), abs=0.05)
    slope, error = study.slope_on(expected, found, table[5])
    assert error < 0.25
    assert slope == pytest.approx(1, abs=3 * error)


def test_formula_is_that_of_the_posterior():
    score, n = np.array([0.3, 0.5, 0.8]), np.array([5.0, 20, 100])
    for true, model in (((1, 4), (1, 1)), ((0.3, 0.7), (0.1, 0.1)), ((2, 3), (2, 3))):
        exact = estimation_bias(score, n, true_prior=true, model_prior=model)
        np.testing.assert_allclose(study.formula(score, n, true, model), exact, atol=1e-9)


def test_log_loss_on_adult_is_that_of_the_same_encoder_under_a_softmax_layer(reference_dir):
    from replications._classification import read_classification

    torch.set_num_threads(1)
    X, y, excluded = read_classification(reference_dir, "adult")
    train = excluded["split"] == "train"
    X, y, X_new, y_new = X[train][:10_000], y[train][:10_000], X[~train], y[~train]
    model = PosteriorNetwork(epochs=12, learning_rate=2e-3, random_state=0).fit(X, y)
    z, z_new = (latents(model.module_, model._tensor(torch, rows)).numpy() for rows in (X, X_new))
    softmax = LogisticRegression(C=1e6, max_iter=1000).fit(z, y).predict_proba(z_new)
    assert log_loss(y_new, softmax) < 0.35
    assert log_loss(y_new, model.predict_proba(X_new)) < log_loss(y_new, softmax) + 0.01

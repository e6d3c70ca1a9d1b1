"""Published data: ratings of web pages with their cost matrix, and the class probabilities of two networks."""

import numpy as np
import pytest

from stakes.actions import certify_decided, decision_calibration_test, evaluate_actions

ORDER = ["G", "P", "R", "X"]


@pytest.fixture(scope="module")
def ratings(load_data):
    """True ratings of 333 pages, and the smoothed shares of all their crowd ratings and of the first two."""
    pandas = pytest.importorskip("pandas")
    frame = load_data("crowd_ratings_costs/crowd_ratings").dropna(subset=["gold"])
    gold = frame.groupby("item")["gold"].first()
    prior = gold.value_counts(normalize=True)[ORDER].to_numpy()
    probs = {}
    for name, rows in {"all ratings": frame, "two ratings": frame.groupby("item").head(2)}.items():
        votes = pandas.crosstab(rows["item"], rows["label"]).reindex(gold.index, fill_value=0)
        votes = votes.reindex(columns=ORDER, fill_value=0).to_numpy() + prior
        probs[name] = votes / votes.sum(axis=1, keepdims=True)
    return gold.to_numpy(), probs


@pytest.fixture(scope="module")
def matrix(load_data):
    table = load_data("crowd_ratings_costs/cost_matrix").pivot(index="true", columns="assigned", values="cost")
    return table.loc[ORDER, ORDER].to_numpy()


def p_value_of_draws(gold, prob, matrix, draws=10_000):
    """How often labels drawn by the probabilities give a gap as large."""
    costs = matrix[:, (prob @ matrix).argmin(axis=1)].T
    announced = (prob * costs).sum(axis=1)
    labels = (np.random.default_rng(0).random((draws, len(prob), 1)) > prob.cumsum(axis=1)).sum(axis=2)
    drawn = (np.take_along_axis(costs[None], labels[:, :, None], axis=2)[:, :, 0] - announced).sum(axis=1)
    gap = sum(row[ORDER.index(y)] for row, y in zip(costs, gold, strict=True)) - announced.sum()
    return np.mean(np.abs(drawn) >= abs(gap) - 1e-9)


def test_more_ratings_cost_less_under_the_published_matrix(ratings, matrix):
    gold, probs = ratings
    found = evaluate_actions(gold, probs, matrices=matrix, labels=ORDER)
    assert (found["all ratings"].cost.value, found["two ratings"].cost.value) == pytest.approx(
        (0.3033, 0.3994), abs=1e-4
    )
    assert found.skill == pytest.approx(0.6393, abs=1e-4)
    assert found.compare("all ratings", "two ratings").significant
    by_hand = [matrix[ORDER.index(y), np.argmin(p @ matrix)] for y, p in zip(gold, probs["two ratings"], strict=True)]
    assert found["two ratings"].cost.value == pytest.approx(np.mean(by_hand), abs=1e-14)
    tested = [decision_calibration_test(gold, prob, matrices=matrix, labels=ORDER).p_value for prob in probs.values()]
    assert tested == pytest.approx([0.069, 0.026], abs=0.002)  # normal; some changes of cost are drawn
    assert tested[1] == pytest.approx(0.026, abs=5e-4)
    assert tested == pytest.approx([p_value_of_draws(gold, prob, matrix) for prob in probs.values()], abs=0.011)


def test_they_cost_less_however_dear_it_is_to_rate_too_mildly(ratings, matrix):
    gold, probs = ratings
    dear = np.where(np.tril(np.ones((4, 4)), -1) > 0, 10 * matrix, matrix)
    found = evaluate_actions(gold, probs, matrices=[matrix, dear], theta=(0, 1), labels=ORDER)
    dominance = found.dominance("all ratings", "two ratings")
    assert dominance.b_better == 0.0
    assert dominance.a_better == pytest.approx(1.0)
    assert dominance.difference == pytest.approx(-0.2709, abs=1e-4)


@pytest.fixture(scope="module")
def images(load_data):
    """Probability of the top class of 10,000 images, and whether it is right, by network."""
    found = {}
    for network in ("wideresnet16_4", "lenet5"):
        frame = load_data(f"cifar10_probs/cifar10_{network}")
        prob = frame[[f"p{k}" for k in range(10)]].to_numpy()
        found[network] = prob.max(axis=1), prob.argmax(axis=1) == frame["y"].to_numpy()
    return found


@pytest.mark.simulation
@pytest.mark.parametrize(("network", "limit"), [("wideresnet16_4", 0.03), ("lenet5", 0.2)])
def test_certificates_of_half_the_images_hold_for_all(images, network, limit):
    """300 splits: the certified set breaks the limit on all 10,000 images in 5% of them at most."""
    top, right = images[network]
    rng, broken = np.random.default_rng(0), 0
    for _ in range(300):
        half = rng.permutation(10_000)[:5000]
        found = certify_decided(right[half], top[half], threshold=0.01, max_error=limit)
        broken += found.certified and np.mean(~right[top >= found.zone[1]]) > limit
    assert broken / 300 <= 0.05


@pytest.mark.simulation
@pytest.mark.parametrize(("network", "limit", "splits"), [("wideresnet16_4", 0.03, 60), ("lenet5", 0.2, 20)])
def test_certificates_about_the_other_half_hold_there(images, network, limit, splits):
    """A promise about named images: broken in 0 and 1 of 1,000 splits (the replication), in none of the first."""
    top, right = images[network]
    rng, broken, issued = np.random.default_rng(0), 0, 0
    for _ in range(splits):
        order = rng.permutation(10_000)
        half, other = order[:5000], order[5000:]
        found = certify_decided(right[half], top[half], threshold=0.01, max_error=limit, new_prob=top[other])
        issued += found.certified
        broken += found.certified and np.mean(~right[other][top[other] >= found.zone[1]]) > limit
    assert issued == splits
    assert broken / splits <= 0.05

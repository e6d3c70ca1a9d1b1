"""One way to read an interval: ``.interval`` on every estimate, ``ci_low`` and ``ci_high`` in every frame.

Both are pointwise, of one number alone; ``simultaneous_low`` and ``simultaneous_high`` are of a whole column.
"""

import dataclasses
import importlib
import json
import re
from itertools import product

import numpy as np
import pytest

from stakes import correction, costs, evaluate, inference, utility
from stakes.inference import select_best

ROOMS = ["boundary", "correction", "curves", "evaluation", "inference", "information", "metrics", "training", "utility"]
# bins and bands have one interval for each of their points, a bootstrap one of each kind: their frames name the ends
SERIES = {"Band", "BinnedReliability", "Bootstrap", "ThresholdIntervals"}

Y = [0, 1, 0, 1, 1, 0, 0, 1] * 10
P = [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9] * 10
Q = [0.2, 0.6, 0.3, 0.7, 0.4, 0.4, 0.1, 0.8] * 10
COSTS = costs.Uniform(0.1, 0.4)

RESULTS = {
    "Estimate": lambda: inference.metric_interval(Y, P, "bounded_brier_loss", bounds=(0.1, 0.4)),
    "Comparison": lambda: inference.compare(Y, P, Q, costs=COSTS),
    "Selection": lambda: select_best(Y, {"p": P, "q": Q}, costs=COSTS),
    "Bootstrap": lambda: inference.bootstrap(Y, P, "roc_auc_score", n_resamples=20, random_state=0),
    "Band": lambda: inference.confidence_band(Y, P, "regret", thresholds=[0.2, 0.4]),
    "ThresholdIntervals": lambda: inference.threshold_intervals(Y, P, thresholds=[0.2, 0.4]),
    "ImpliedWeight": lambda: correction.implied_weight(Y, P),
    "PriorEstimate": lambda: correction.estimate_prior(P, training_prior=0.4, n_resamples=20),
    "PopulationThreshold": lambda: utility.population_threshold(Y, P, "f1", n_resamples=20),
}


def frame_ends(result):
    return {name for name in result.frame("pandas").columns if re.search("(ci_low|ci_high)$", name)}


@pytest.mark.parametrize("name", RESULTS)
def test_an_interval_is_read_in_one_way(name):
    pytest.importorskip("pandas")
    result = RESULTS[name]()
    assert type(result).__name__ == name
    assert {end[-6:] for end in frame_ends(result)} == {"ci_low", "i_high"}
    if name not in SERIES:
        low, high = result.interval
        assert np.all(np.isnan(low) | (np.asarray(low) <= np.asarray(high)))


def public_results():
    for room in ROOMS:
        module = importlib.import_module(f"stakes.{room}")
        for name in module.__all__:
            item = getattr(module, name)
            if isinstance(item, type) and dataclasses.is_dataclass(item):
                yield name, item


@pytest.mark.parametrize(("name", "kind"), list(public_results()))
def test_whoever_has_the_ends_of_an_interval_has_the_interval(name, kind):
    ends = {field.name for field in dataclasses.fields(kind)} & {"ci_low", "ci_high", "interval"}
    if ends and name not in SERIES:
        assert hasattr(kind, "interval") or "interval" in ends


MODELS = {
    name: np.clip(np.random.default_rng(seed).normal(P, spread), 0, 1)
    for name, seed, spread in (("p", 1, 0.05), ("q", 2, 0.15), ("r", 3, 0.3))
}
NAMES = (*MODELS, "treat all", "treat none")


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(Y, MODELS, costs=COSTS)


def rows_of_everything(evaluation):
    """The ranking as its frame, its JSON and its flat metrics hold it, by name."""
    pytest.importorskip("pandas")
    flat = evaluation.to_metrics()
    frames = evaluation.frame("pandas").to_dict("records"), json.loads(evaluation.to_json())["models"]
    yield from ({row["model"]: row for row in rows} for rows in frames)
    yield {name: {k.split("/")[1]: v for k, v in flat.items() if k.startswith(f"{name}/")} for name in NAMES}


def test_pointwise_and_simultaneous_intervals_have_names_of_their_own(evaluation):
    one_by_one = select_best(Y, MODELS, costs=COSTS)
    for rows, name in product(rows_of_everything(evaluation), NAMES):
        row = rows[name]
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(evaluation[name].interval, rel=1e-12)
        together = row["simultaneous_low"], row["simultaneous_high"]
        assert together == pytest.approx(one_by_one.intervals[name], rel=1e-6)
        assert together == pytest.approx(evaluation.selection.intervals[name], rel=1e-12)


def test_simultaneous_intervals_reach_as_far_as_the_largest_of_all_errors():
    """Max-T from draws of the joint normal law of the mean costs, by numpy from the rows alone."""
    rng = np.random.default_rng(7)
    risk = rng.beta(1, 3, 4000)
    y = rng.random(4000) < risk
    models = {name: np.clip(risk + rng.normal(0, 0.15, 4000), 0, 1) for name in "abc"}
    rows = [*models.values(), np.ones(4000), np.zeros(4000)]  # the references stand in the same column
    losses = np.stack([COSTS.row_loss(y, scores) for scores in rows], axis=1) / 0.3
    errors = rng.multivariate_normal(np.zeros(5), np.cov(losses.T) / len(y), 200_000)
    q = np.quantile(np.abs(errors / errors.std(axis=0)).max(axis=1), 0.95)
    found = evaluate(y, models, costs=COSTS)
    assert found.selection.chosen in models
    for row in json.loads(found.to_json())["models"]:
        reach = (row["simultaneous_high"] - row["score"]) / (row["ci_high"] - row["score"])
        assert reach == pytest.approx(q / 1.959964, rel=0.01)


def test_differences_of_a_column_have_both_intervals_and_no_p_value(evaluation):
    best = evaluation.ranking[0]
    bonferroni = evaluate(
        Y, MODELS, costs=COSTS, confidence_level=1 - 0.05 / 5
    )  # three pairs of models, two references
    for rows, name in product(rows_of_everything(evaluation), NAMES):
        if name == best:
            continue
        row, alone = rows[name], evaluation.compare(name, best)
        assert row["vs_best"] == pytest.approx(alone.difference, rel=1e-12)
        assert [row[f"vs_best_ci_{end}"] for end in ("low", "high")] == pytest.approx(alone.interval, rel=1e-12)
        together = [row[f"vs_best_simultaneous_{end}"] for end in ("low", "high")]
        assert together == pytest.approx(evaluation.more_than_first[name][1:], rel=1e-12)
        widest = bonferroni.compare(name, best).interval
        assert widest[0] < together[0] < alone.interval[0] < alone.interval[1] < together[1] < widest[1]
        assert not [key for key in row if "p_value" in key or "p_adjusted" in key or "p_best" in key]
        assert not [key for key in row if key.startswith("vs_treat")]


def test_a_choice_has_pointwise_intervals_beside_the_simultaneous_ones(evaluation):
    chosen = select_best(Y, MODELS, costs=COSTS)
    for row in json.loads(chosen.to_json()):
        name = row["decision"]
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(evaluation[name].interval, rel=1e-6)
        assert (row["simultaneous_low"], row["simultaneous_high"]) == pytest.approx(chosen.intervals[name])
        assert row["simultaneous_low"] <= row["ci_low"] <= row["ci_high"] <= row["simultaneous_high"]


def test_every_text_says_which_intervals_it_shows(evaluation):
    assert "simultaneous 95% intervals" in evaluation._repr_html_()
    assert "(simultaneous intervals)" in evaluation.to_latex()
    text = evaluation.methods()
    assert "Pointwise 95% confidence intervals, of one number alone (ci_low, ci_high)" in text
    assert "Simultaneous intervals (simultaneous_low, simultaneous_high) hold for all rows of a column" in text

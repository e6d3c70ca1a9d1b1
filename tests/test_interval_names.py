"""One way to read an interval: ``.interval`` on every estimate, ``ci_low`` and ``ci_high`` in every frame."""

import dataclasses
import importlib
import re

import numpy as np
import pytest

from stakes import correction, costs, inference, select_best, utility

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
    "PriorEstimate": lambda: correction.estimate_prior(P, old=0.4, n_bootstrap=20),
    "PopulationThreshold": lambda: utility.population_threshold(Y, P, "f1", n_bootstrap=20),
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

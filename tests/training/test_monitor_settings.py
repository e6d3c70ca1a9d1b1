"""Settings of monitors have one text where they are alike, and another where they only look alike."""

from copy import deepcopy

import pytest

from stakes import costs
from stakes.training import Checkpoint, MetricMonitor

pd = pytest.importorskip("pandas")


def _matrix(cost, *, names):
    frame = pd.DataFrame([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, cost, 0.0]])
    return frame.set_axis(names, axis=0).set_axis(names, axis=1) if names else frame


@pytest.mark.parametrize(
    ("metric", "name", "one", "other"),
    [
        ("expected_regret", "costs", costs.Empirical([0.1, 0.2, 0.3]), costs.Empirical([0.1, 0.15, 0.3])),
        (
            "expected_regret",
            "costs",
            *(costs.Uniform(0.1, 0.2) + step * costs.Beta(2, 3) for step in (2.0, 2.0 + 1e-8)),
        ),
        ("one_vs_rest_bounded_loss", "class_weight", *(pd.Series([1.0, 5.0, 2.0], list(k)) for k in ("abc", "bac"))),
        ("cost_matrix_loss", "matrices", *(_matrix(1.0 + step, names=None) for step in (1e-9, 2e-9))),
        ("cost_matrix_loss", "matrices", *([_matrix(1.0 + step, names=None).to_numpy()] for step in (1e-9, 2e-9))),
        ("cost_matrix_loss", "matrices", *(_matrix(1.0, names=list(names)) for names in ("abc", "bac"))),
    ],
)
def test_settings_that_look_alike_are_told_apart(metric, name, one, other, tmp_path):
    labels = {"labels": ["a", "b", "c"]} if metric != "expected_regret" else {}
    first, again, second = (MetricMonitor(metric, **{name: value}, **labels) for value in (one, deepcopy(one), other))
    assert first.settings() == again.settings()
    assert first.merge(again).n_rows == 0
    with pytest.raises(ValueError, match="monitors must be alike to be merged"):
        first.merge(second)
    Checkpoint(tmp_path, first).step(0.5, lambda path: path.write_text("a model"), suffix=".txt")
    assert Checkpoint(tmp_path, again).epoch == 1
    with pytest.raises(ValueError, match="take another folder"):
        Checkpoint(tmp_path, second)


def test_settings_that_are_alike_have_one_text_whatever_holds_them():
    frame = MetricMonitor("cost_matrix_loss", matrices=_matrix(1.0, names=None))
    assert (
        frame.settings() == MetricMonitor("cost_matrix_loss", matrices=_matrix(1.0, names=None).to_numpy()).settings()
    )
    weights = {"a": 1.0, "b": 5.0, "c": 2.0}
    kinds = weights, dict(reversed(weights.items())), pd.Series(weights)
    texts = [MetricMonitor("one_vs_rest_bounded_loss", class_weight=each, labels=["a", "b", "c"]) for each in kinds]
    assert texts[0].settings() == texts[1].settings() == texts[2].settings()

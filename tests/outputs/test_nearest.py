"""A name that is not known is met with the nearest that is."""

import pytest

from stakes import evaluate
from stakes.inference import bootstrap, metric_difference, metric_interval
from stakes.metrics import get_scorer
from stakes.outputs.text import guess, nearest
from stakes.training import MetricMonitor

Y, P = [0, 1] * 20, [0.1, 0.8, 0.3, 0.6] * 10
ENTRANCES = {
    "evaluate": lambda name: evaluate(Y, P, costs=(0.1, 0.3), metrics=[name]),
    "bootstrap": lambda name: bootstrap(Y, P, name),
    "metric_interval": lambda name: metric_interval(Y, P, name),
    "metric_difference": lambda name: metric_difference(Y, P, P[::-1], name),
    "get_scorer": get_scorer,
    "MetricMonitor": MetricMonitor,
}


@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize(
    ("given", "meant"), [("auc", "roc_auc_score"), ("brier", "bounded_brier_loss"), ("log_loss", "bounded_log_loss")]
)
def test_every_entrance_names_the_nearest_metric(entrance, given, meant):
    with pytest.raises(ValueError, match=rf"got '{given}'; did you mean '\w*{meant}'\?$"):
        ENTRANCES[entrance](given)


def test_registered_metric_without_a_closed_form_goes_to_the_bootstrap():
    with pytest.raises(ValueError, match="got 'bounded_auc_score'; bootstrap serves the others"):
        metric_interval(Y, P, "bounded_auc_score", bounds=(0.0, 0.2))


@pytest.mark.parametrize("word", ["", "-", "zzz", "\x00"])
def test_nothing_is_guessed_where_nothing_is_near(word):
    assert nearest(word, ["error", "few-events"]) is None
    assert guess(word, ["error"]) == ""


def test_case_spaces_and_hyphens_do_not_matter():
    assert nearest("Few Events", ["few_events", "error"]) == "few_events"


def test_foreign_name_is_used_only_where_what_it_means_is_known():
    assert nearest("auc", ["a_auc_b", "error"], {"auc": "roc_auc_score"}) == "a_auc_b"

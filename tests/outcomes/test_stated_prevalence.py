"""A stated prevalence where an outcome weighs the rows, against the same rows as plain labels."""

import re

import numpy as np
import pytest

from stakes import PartlyVerified, TimeToEvent, evaluate, expected_regret, metric_interval
from stakes.inference import confidence_band
from stakes.outcomes import Imputed
from stakes.report import _any_range

PREVALENCE = 0.05


def rows(kind, n=1200):
    """Labels, the same rows with one class in 1,200 unknown, and scores."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    hazard = 0.25 * np.exp(x)
    time = rng.exponential(1.0 / hazard)
    score, lost = 1.0 - np.exp(-hazard), np.arange(n) == 7
    if kind == "labels":
        return time <= 1.0, score
    if kind == "verified":
        return PartlyVerified(np.where(lost, np.nan, time <= 1.0), groups=np.zeros(n)), score
    seen = np.where(lost, 0.01, np.minimum(time, 1.0))
    return TimeToEvent(event=(time <= 1.0) & ~lost, time=seen, horizon=1.0), score


def evaluated(kind, *, imputed=False):
    outcome, score = rows(kind)
    scores = Imputed([score, score**1.05]) if imputed else score
    group = np.where(score > np.median(score), "high", "low")
    groups = {} if imputed else {"groups": group}
    return evaluate(outcome, {"a": scores}, costs=(0.1, 0.3), prevalence=PREVALENCE, **groups)


@pytest.mark.parametrize("kind", ["followed", "verified"])
@pytest.mark.parametrize("imputed", [False, True])
def test_bands_and_tables_are_those_of_labels(kind, imputed):
    wanted, found = evaluated("labels", imputed=imputed), evaluated(kind, imputed=imputed)
    for curve in ("net_benefit", "regret"):
        one, other = (each.bands(curve, [0.1, 0.2, 0.3], references=True) for each in (wanted, found))
        for name in ("a", "treat all"):
            assert other[name].estimate == pytest.approx(one[name].estimate, abs=0.001)
            assert other[name].high - other[name].low == pytest.approx(one[name].high - one[name].low, abs=0.001)
    tables = [each.clinical_table([0.2]).to_markdown().splitlines()[3] for each in (wanted, found)]
    assert tables[0] == tables[1]  # of treating all


@pytest.mark.parametrize("kind", ["followed", "verified"])
def test_bands_are_those_of_each_threshold(kind):
    outcome, score = rows(kind)
    band = evaluated(kind).bands("net_benefit", [0.2])["a"]
    alone = metric_interval(outcome, score, "net_benefit_score", threshold=0.2, prevalence=PREVALENCE)
    assert band.estimate[0] == pytest.approx(alone.value, rel=1e-12)
    assert (band.low[0], band.high[0]) == pytest.approx(alone.interval, rel=1e-6)


@pytest.mark.parametrize("kind", ["followed", "verified"])
def test_groups_and_shares_are_those_of_labels(kind):
    wanted, found = evaluated("labels"), evaluated(kind)
    for one, other in zip(wanted.groups, found.groups, strict=True):
        for name in ("prevalence", "score", "difference", "more_than_promised", "skill", "standard_error"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), rel=0.02), name
    one, other = wanted["a"], found["a"]
    assert other.share_acted_on == pytest.approx(one.share_acted_on, rel=0.005)
    assert other.in_range == pytest.approx(one.in_range, rel=0.005)


def test_groups_of_rows_lost_at_unlike_rates_have_their_own_censoring_at_the_stated_prevalence():
    rng, n = np.random.default_rng(1), 40_000
    group = np.repeat(["few lost", "many lost"], n // 2)
    x = rng.normal(size=n)
    hazard = 0.25 * np.exp(x)
    time, left = rng.exponential(1.0 / hazard), rng.exponential(np.where(group == "few lost", 20.0, 0.8))
    outcome = TimeToEvent(event=time <= left, time=np.minimum(time, left), horizon=1.0)
    score = 1.0 - np.exp(-hazard)
    asked = {"costs": (0.1, 0.3), "prevalence": PREVALENCE, "groups": group}
    one, other = (evaluate(each, {"a": score}, **asked).groups for each in (time <= 1.0, outcome))
    for known, found in zip(one, other, strict=True):
        assert found.prevalence == pytest.approx(known.prevalence, rel=0.03)
        assert found.score == pytest.approx(known.score, rel=0.03)
    assert np.mean([row.prevalence for row in other]) == pytest.approx(PREVALENCE, rel=0.03)


def test_groups_beside_one_that_joined_late_are_at_the_stated_prevalence():
    rng, n = np.random.default_rng(2), 45_000
    group = np.repeat(["a", "b", "late"], n // 3)
    x = rng.normal(size=n)
    hazard = 0.25 * np.exp(x)
    time, left = rng.exponential(1.0 / hazard), rng.exponential(np.where(group == "a", 20.0, 2.0))
    left = np.where(group == "late", np.minimum(left, rng.uniform(0.3, 0.95, n)), left)
    outcome = TimeToEvent(event=time <= left, time=np.minimum(time, left), horizon=1.0)
    asked = {"costs": (0.1, 0.3), "prevalence": PREVALENCE, "groups": group}
    one, other = (evaluate(each, {"a": 1.0 - np.exp(-hazard)}, **asked).groups for each in (time <= 1.0, outcome))
    for known, found in zip(one[:2], other[:2], strict=True):
        assert found.prevalence == pytest.approx(known.prevalence, rel=0.04)
        assert found.score == pytest.approx(known.score, rel=0.04)
    assert np.isnan(other[2].prevalence)


def test_calibration_on_the_page_is_at_the_stated_prevalence():
    outcome, score = rows("followed")
    found = evaluated("followed")
    assert "followed" not in _any_range.shapes_beside(found)  # each bin's rate is that of the rows as they are
    band = confidence_band(outcome, score, "smooth", prevalence=PREVALENCE, n_resamples=1000)
    drawn = _any_range._shape(found, found.score_tables[0], 0, "smooth")
    assert drawn["y"] == _any_range.encoded(band.estimate, "f4")
    assert _any_range._everyone(found, 0, 100, (0.1, 0.3)) == {}


def test_methods_say_which_share_of_positives_is_counted():
    said = evaluated("followed").methods()
    assert "5% of them positive (stated, the classes being reweighted to it)" in said
    before = said.index("The share of positives is 1 less the Kaplan-Meier estimate")
    assert before < said.index("The classes were then reweighted to the stated 5%.")


def test_findings_on_censoring_state_costs_at_the_stated_prevalence():
    rng, n = np.random.default_rng(1), 1500
    x = rng.normal(size=n)
    hazard = 0.25 * np.exp(x)
    time, left = rng.exponential(1.0 / hazard), rng.exponential(2.0 * np.exp(-0.8 * x))
    outcome, score = TimeToEvent(event=time <= left, time=np.minimum(time, left), horizon=1.0), 1.0 - np.exp(-hazard)
    fifths = np.searchsorted(np.quantile(score, [0.2, 0.4, 0.6, 0.8]), score, side="right")
    changes = []
    for prevalence in (None, 0.1):
        asked = {"costs": (0.4, 0.6), "prevalence": prevalence}
        found = evaluate(outcome, {"p": score}, **asked)
        said = {each.code: each.sentence for each in found.findings}
        now, other = (
            1000.0 * evaluate(each, score, **asked).results[0].score for each in (outcome, outcome.within(fifths))
        )
        sentence = said["censoring-follows-score"]
        stated = re.search(r"Its cost is ([\d.]+) per 1,000 decisions as it stands and ([\d.]+) with", sentence)
        assert [float(each) for each in stated.groups()] == pytest.approx([now, other], abs=0.5)
        changes.append(float(re.search(r"a difference of ([\d.]+) of the difference's", sentence)[1]))
        assert ("censoring-reading" in said) == (prevalence is None)  # dcurves takes no prevalence
    draws = []
    for _ in range(200):
        rows = rng.integers(n, size=n)
        again = outcome.take(rows)
        place = np.searchsorted(np.quantile(score[rows], [0.2, 0.4, 0.6, 0.8]), score[rows], side="right")
        one, two = (expected_regret(each, score[rows], **asked) for each in (again, again.within(place)))
        draws.append(1000.0 * (one - two))
    assert changes[1] == pytest.approx(abs(now - other) / np.std(draws), rel=0.2)

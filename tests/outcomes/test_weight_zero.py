"""A row of weight zero is as if absent, whatever stands beside an outcome: groups, clusters, resamples, the page."""

import numpy as np
import pytest

from stakes import PartlyVerified, RowCosts, TimeToEvent, compare, evaluate, metric_interval
from stakes.actions import evaluate_deferral
from stakes.evaluation import evaluate_horizons
from stakes.inference import (
    bootstrap,
    calibration_summary,
    confidence_band,
    difference_band,
    metric_difference,
    select_best,
)
from stakes.report._carriers import most_degrees, rows_by_class, unit_ratios

N = 120
RNG = np.random.default_rng(11)
P, Q = RNG.random(N), RNG.random(N)
Y = RNG.random(N) < P
WEIGHT = RNG.integers(0, 3, N).astype(float)
GROUP, SITES = RNG.choice(["a", "b"], N), RNG.integers(0, 30, N)
COUNTS = WEIGHT > 0.0
SEEN, LOSS = np.where(RNG.random(N) < 0.7, Y.astype(object), None), RNG.lognormal(1.0, 0.3, N)
WHOLE = {
    "followed": lambda rows: TimeToEvent(
        event=Y[rows], time=np.where(Y, 1, 9)[rows], horizon=5, sample_weight=WEIGHT[rows]
    ),
    "verified": lambda rows: PartlyVerified(Y[rows], sample_weight=WEIGHT[rows]),
}
CLUSTERED = {
    "evaluate": lambda y, p, q, sites: repr(evaluate(y, {"p": p, "q": q}, costs=(0.1, 0.4), clusters=sites).results),
    "metric_interval": lambda y, p, _, sites: metric_interval(y, p, "roc_auc_score", clusters=sites),
    "metric_difference": lambda y, p, q, sites: metric_difference(y, p, q, "bounded_brier_loss", clusters=sites),
    "compare": lambda y, p, q, sites: compare(y, p, q, costs=0.3, clusters=sites),
    "confidence_band": lambda y, p, _, sites: repr(
        confidence_band(y, p, "net_benefit", thresholds=[0.2, 0.4], clusters=sites).low
    ),
    "difference_band": lambda y, p, q, sites: repr(
        difference_band(y, p, q, "net_benefit", thresholds=[0.2, 0.4], clusters=sites, n_resamples=1000).low
    ),
    "calibration_summary": lambda y, p, _, sites: calibration_summary(y, p, clusters=sites).interval("slope"),
    "select_best": lambda y, p, q, sites: repr(select_best(y, {"p": p, "q": q}, costs=0.3, clusters=sites)),
    "bootstrap": lambda y, p, _, sites: bootstrap(
        y, p, "bounded_brier_loss", clusters=sites, n_resamples=9
    ).replicates.tolist(),
    "evaluate_deferral": lambda y, p, _, sites: repr(
        evaluate_deferral(y, p, costs=0.3, deferral=0.1, clusters=sites)._records()
    ),
}


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("name", CLUSTERED)
def test_clusters_are_those_of_all_rows_where_the_class_of_each_is_known(name, kind):
    found = CLUSTERED[name](WHOLE[kind](slice(None)), P, Q, SITES)
    assert found == CLUSTERED[name](WHOLE[kind](COUNTS), P[COUNTS], Q[COUNTS], SITES[COUNTS])


@pytest.mark.parametrize("kind", WHOLE)
def test_groups_are_those_of_all_rows_where_the_class_of_each_is_known(kind):
    found = evaluate(WHOLE[kind](slice(None)), P, costs=0.3, groups=GROUP).groups
    apart = evaluate(WHOLE[kind](COUNTS), P[COUNTS], costs=0.3, groups=GROUP[COUNTS]).groups
    assert repr(found) == repr(apart)


def partly(rows):
    return PartlyVerified(SEEN[rows], probability=np.full(N, 0.7)[rows], sample_weight=WEIGHT[rows])


def set_aside(rows):
    amounts = np.where(np.arange(N) % 9 == 0, -1.0, LOSS)[rows]
    return RowCosts(
        Y[rows], false_positive=1, false_negative=amounts, sample_weight=WEIGHT[rows], on_dominated="set_aside"
    )


@pytest.mark.parametrize(
    ("outcome", "name"), [(partly, "bootstrap"), (partly, "evaluate_deferral"), (set_aside, "evaluate_deferral")]
)
def test_clusters_are_those_of_all_rows_where_some_have_no_part(outcome, name):
    found = CLUSTERED[name](outcome(slice(None)), P, Q, SITES)
    assert found == CLUSTERED[name](outcome(COUNTS), P[COUNTS], Q[COUNTS], SITES[COUNTS])
    place = np.flatnonzero(outcome(slice(None)).weight)  # as clusters of these rows alone
    assert found == CLUSTERED[name](outcome(slice(None)), P, Q, SITES[place])


def test_resamples_of_follow_up_hold_no_row_of_weight_zero():
    time = RNG.exponential(1.0, N).round(2)

    def drawn(rows, **options):
        outcome = TimeToEvent(event=Y[rows], time=time[rows], horizon=0.8, sample_weight=WEIGHT[rows])
        return bootstrap(outcome, P[rows], "bounded_brier_loss", n_resamples=9, **options).replicates

    for options in ({}, {"block_length": 5}):
        np.testing.assert_array_equal(drawn(slice(None), **options), drawn(COUNTS, **options))


def test_the_page_reads_the_clusters_of_the_rows_that_count():
    def of(rows):
        outcome = PartlyVerified(SEEN[rows], groups=GROUP[rows], sample_weight=WEIGHT[rows])
        return evaluate(outcome, P[rows], costs=0.3, clusters=SITES[rows]).rows

    whole, apart = of(slice(None)), of(COUNTS)
    np.testing.assert_allclose(rows_by_class(whole), rows_by_class(apart))
    assert most_degrees(whole) == pytest.approx(most_degrees(apart))
    ratios = [unit_ratios(rows, [lambda part, s=rows.scores[0]: s[part]], np.array([0.2])) for rows in (whole, apart)]
    np.testing.assert_allclose(*ratios)


def test_a_missing_group_is_named_by_its_row_among_all():
    group = np.where(np.arange(N) == np.flatnonzero(COUNTS)[40], None, GROUP.astype(object))
    said = rf"a missing one in row {np.flatnonzero(COUNTS)[40]}\."
    amounts = RowCosts(Y, false_positive=1, false_negative=LOSS, sample_weight=WEIGHT)
    for outcome, given in ((Y, WEIGHT), (amounts, None), (WHOLE["verified"](slice(None)), None)):
        with pytest.raises(ValueError, match=said):
            evaluate(outcome, P, groups=group, sample_weight=given)


def test_rows_of_weight_zero_need_no_values():
    rows = {"event": [1, 0, 1, 0, 2], "time": [1.0, 2.0, 3.0, 5.0, 6.0], "groups": ["a", "a", "b", "a", "b"]}
    nothing = {"event": None, "time": np.nan, "groups": None}
    whole = TimeToEvent(**rows, horizon=4, cause=1)
    for name, value in nothing.items():
        more = {key: [*column[:2], value if key == name else column[0], *column[2:]] for key, column in rows.items()}
        found = TimeToEvent(**more, horizon=4, cause=1, sample_weight=[1, 1, 0, 1, 1, 1])
        assert repr(found) == repr(whole)
        assert np.delete(found.weight, 2).tolist() == whole.weight.tolist()
        assert (found.weight[2], found.y[2]) == (0.0, name == "groups")
    grouped = TimeToEvent(event=[1, 0], time=[1, 3], horizon=2, sample_weight=[1, 0]).within(["a", None])
    assert grouped.weight.tolist() == [1.0, 0.0]
    given = TimeToEvent(event=[1, 0], time=[1, 3], horizon=2, sample_weight=[1, 0], censoring=[0.5, np.nan])
    assert given.weight.tolist() == [2.0, 0.0]
    asked = {"sample_weight": [1, 1, 1, 0]}
    for how in ({"groups": ["a", "a", "a", None]}, {"probability": [0.5, 0.5, 0.5, 0.0]}):
        found = PartlyVerified([1, 0, None, 1], **how, **asked)
        apart = PartlyVerified([1, 0, None], **{key: value[:3] for key, value in how.items()})
        assert found.weight.tolist() == [*apart.weight.tolist(), 0.0]


def test_risks_by_horizon_of_rows_that_do_not_count_are_not_looked_at():
    time = np.arange(1.0, N + 1.0)
    outcome = TimeToEvent(event=Y, time=time, horizon=60.0, sample_weight=WEIGHT)
    risk = np.where(COUNTS[:, None], [0.2, 0.21], [0.9, 0.1])
    found = evaluate_horizons(outcome, {"a": risk}, horizons=[30.0, 60.0]).estimates["a"]
    apart = evaluate_horizons(outcome.take(COUNTS), {"a": risk[COUNTS]}, horizons=[30.0, 60.0]).estimates["a"]
    assert repr(found) == repr(apart)
    heavy = outcome.repeated(np.where(np.arange(N) == np.argmax(COUNTS), 999, 1))
    fall = np.where(np.arange(N)[:, None] == np.argmax(COUNTS), [0.5, 0.3], [0.2, 0.21])
    with pytest.raises(ValueError, match=r"must not fall with the horizon, got a mean of 0\.4"):
        evaluate_horizons(heavy, {"a": fall}, horizons=[30.0, 60.0])
    with pytest.raises(
        ValueError, match=rf"y_prob\['a'\] must hold one row for each of the {N} rows of outcome, got 3"
    ):
        evaluate_horizons(outcome, {"a": risk[:3]}, horizons=[30.0, 60.0])


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (PartlyVerified([1, 1, None, 0], groups=[1] * 4, sample_weight=[1, 1, 1, 0]), "3 rows, of which 2 count, all"),
        (TimeToEvent(event=[0, 0, 0, 0], time=[1, 2, 2, 4], horizon=4, cause=1), "4 rows, of which 1 counts, all"),
        (
            RowCosts([0, 1] * 2, false_positive=5, false_negative=[1, -1] * 2, on_dominated="set_aside"),
            "4 rows, of which 2 count, all negative",
        ),
        (PartlyVerified([1, 1, 0, 1], sample_weight=[1, 1, 0, 1]), "3 rows that are all positive"),
    ],
)
def test_one_class_is_said_of_the_rows_that_count(outcome, said):
    with pytest.raises(ValueError, match=f"y_true must hold both classes, got {said}"):
        evaluate(outcome, [0.1, 0.2, 0.3, 0.4])

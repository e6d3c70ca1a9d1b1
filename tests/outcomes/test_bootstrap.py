"""The bootstrap of censored follow-up: rows are drawn, known or not, and censoring is estimated anew."""

import numpy as np
import pytest

from stakes import ScoreTable, TimeToEvent, metric_interval
from stakes.base.validation import check_sample
from stakes.inference import bootstrap, select_best
from stakes.inference._bootstrap import KINDS, OutcomeSource, draw_blocks, draw_clusters, draw_rows

N = 300
RNG = np.random.default_rng(8)
X = RNG.normal(size=N)
TIME, LEFT = RNG.exponential(np.exp(-X)), RNG.exponential(1.5, N)
RISK = np.clip(1.0 - np.exp(-0.7 * np.exp(X)), 0.0, 1.0).round(2)
ROWS = {"event": (TIME <= LEFT).astype(int), "time": np.minimum(TIME, LEFT).round(2)}
OUTCOME = TimeToEvent(**ROWS, horizon=0.7)
SITES = np.arange(N) // 10
DRAWS = {
    "rows": ({}, lambda sites: draw_rows([np.arange(len(sites))], len(sites))),
    "clusters": ({"clusters": SITES}, draw_clusters),
    "blocks": ({"block_length": 7}, lambda sites: draw_blocks(len(sites), 7)),
}


@pytest.mark.parametrize("scheme", DRAWS)
@pytest.mark.parametrize("weight", [None, RNG.integers(0, 4, N)], ids=["alone", "weighted"])
def test_resamples_are_those_of_the_rows_that_are_drawn(scheme, weight):
    outcome, (options, drawing) = TimeToEvent(**ROWS, horizon=0.7, sample_weight=weight), DRAWS[scheme]
    counted = np.arange(N) if weight is None else np.flatnonzero(weight)
    draw = drawing(SITES[counted])
    scores = {"a": RISK, "b": RISK[::-1]}
    found = bootstrap(outcome, scores, "bounded_brier_loss", n_resamples=20, random_state=3, **options)
    rng = np.random.default_rng(3)
    for row in found.replicates:
        drawn = np.repeat(counted, draw(rng))
        again = outcome.take(drawn)
        for value, score in zip(row[:, 0], scores.values(), strict=True):
            loss = np.average((score[drawn] - again.y) ** 2, weights=again.weight)
            assert value == pytest.approx(loss, rel=1e-12)
    assert found.scheme == scheme
    assert found.redrawn == 0


def test_spread_is_that_of_the_closed_form_with_censoring_estimated():
    for name in ("bounded_brier_loss", "roc_auc_score"):
        found = bootstrap(OUTCOME, RISK, name, n_resamples=400)
        closed = metric_interval(OUTCOME, RISK, name)
        assert found.values[0, 0] == pytest.approx(closed.value, rel=1e-12)
        assert found.standard_errors[0, 0] == pytest.approx(closed.standard_error, rel=0.15)


def test_resamples_that_end_before_the_horizon_are_drawn_again_and_counted():
    outcome = TimeToEvent(event=[1, 0, 1, 0, 0, 0], time=[1, 2, 3, 4, 5, 9], horizon=6)
    score = np.linspace(0.9, 0.1, 6)
    found = bootstrap(outcome, score, lambda table: table.prevalence, n_resamples=50, random_state=1)
    draw, rng, redrawn = draw_rows([np.arange(6)], 6), np.random.default_rng(1), 0
    for (value,) in found.replicates[:, 0]:
        # only the last row was followed to the horizon; a resample whose last row has an event is known for all that
        while (last := np.flatnonzero(counts := draw(rng)).max()) in {1, 3, 4}:
            redrawn += 1
        assert last in {0, 2, 5}
        assert value == pytest.approx(outcome.take(np.repeat(np.arange(6), counts)).prevalence)
    assert found.redrawn == redrawn > 5
    assert f"{redrawn} drawn again" in repr(found)


def test_resamples_that_never_reach_the_horizon_are_refused():
    outcome = TimeToEvent(event=[0, 1], time=[1, 9], horizon=6)
    source = OutcomeSource.of(outcome, [check_sample(outcome, [0.1, 0.2])], lambda _rng: np.array([2, 0]))
    with pytest.raises(ValueError, match=r"100 resamples in a row end before the horizon 6: .* followed to it \(1\)"):
        source.tables(np.random.default_rng(0))


def test_resamples_without_a_known_row_are_drawn_again_where_censoring_is_given():
    outcome = TimeToEvent(event=[1, 0, 0, 0, 0, 0], time=[1, 9, 1, 1, 1, 1], horizon=2, censoring=[0.9] * 6)
    found = bootstrap(outcome, np.linspace(0.1, 0.6, 6), lambda table: table.prevalence, n_resamples=50, random_state=1)
    draw, rng, redrawn = draw_rows([np.arange(6)], 6), np.random.default_rng(1), 0
    for (value,) in found.replicates[:, 0]:
        while not (counts := draw(rng))[:2].any():
            redrawn += 1
        assert value == pytest.approx(counts[0] / counts[:2].sum())
    assert found.redrawn == redrawn > 0


def test_metric_of_a_table_and_known_censoring():
    known = TimeToEvent(**ROWS, horizon=0.7, censoring=np.full(N, 0.8))
    found = bootstrap(known, RISK, lambda table: table.prevalence, n_resamples=50)
    assert found.values[0, 0] == pytest.approx(ScoreTable.from_predictions(known, RISK).prevalence)
    whole = TimeToEvent(event=[1, 0] * 20, time=[1, 9] * 20, horizon=5)  # nobody is censored: as plain labels
    scores = np.linspace(0.0, 1.0, 40)
    plain = bootstrap([1, 0] * 20, scores, "roc_auc_score", n_resamples=50)
    np.testing.assert_array_equal(
        bootstrap(whole, scores, "roc_auc_score", n_resamples=50).replicates, plain.replicates
    )


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="prevalence= cannot be given beside a TimeToEvent"):
        bootstrap(OUTCOME, RISK, "roc_auc_score", prevalence=0.1)
    with pytest.raises(ValueError, match="sample_weight"):
        bootstrap(OUTCOME, RISK, "roc_auc_score", sample_weight=np.ones(N))


def test_few_followed_to_the_horizon_allow_no_interval_and_rule_nothing_out():
    sure = np.linspace(0.1, 3.0, 200)
    event = np.arange(200) % 3 == 0
    for followed in (4, 5):
        time = np.where(np.arange(200) < 200 - followed, np.minimum(sure, 0.9), 2.0)
        outcome = TimeToEvent(event=event, time=time, horizon=1.0)
        reason = f"only {followed} rows were followed to the horizon: an interval needs 5" if followed < 5 else ""
        models = {"good": np.where(event, 0.9, 0.1), "bad": np.where(event, 0.1, 0.9)}
        one = bootstrap(outcome, models, "bounded_brier_loss", n_resamples=20)
        two = bootstrap(outcome, models, "bounded_brier_loss", n_resamples=20).difference("good", "bad")
        for found in (one, two):
            assert all(np.isnan(found.intervals(kind)).all() == bool(reason) for kind in KINDS)
            assert found.note == reason
            assert reason in repr(found)
        chosen = select_best(outcome, models, costs=(0.1, 0.3))
        assert np.isnan([*chosen.interval, *chosen.pointwise["bad"], chosen.p_values["bad"]]).all() == bool(reason)
        if reason:
            assert chosen.note == reason
            assert chosen.possible == ("good", "bad", "treat all", "treat none")
            assert not any(other.shown for other in chosen.against.values())

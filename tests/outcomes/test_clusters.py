"""Outcomes of rows in clusters: clusters, not their rows, say how much is known."""

import numpy as np
import pytest

from stakes import PartlyVerified, RowCosts, TimeToEvent, evaluate, money
from stakes.inference import calibration_summary

N = 400
RNG = np.random.default_rng(9)
P = RNG.beta(2, 5, N).round(3)
Y = RNG.random(N) < P
SEEN = RNG.random(N) < 0.7
TIME = RNG.exponential(1.0, N)
AMOUNTS = {"false_positive": RNG.lognormal(0.0, 0.3, N), "false_negative": RNG.lognormal(1.0, 0.3, N)}
LABELS = {
    "labels": lambda rows: Y[rows],
    "verified": lambda rows: PartlyVerified(
        np.where(SEEN, Y.astype(object), None)[rows], groups=(P > 0.3)[rows], sample_weight=(np.arange(N) % 5 > 0)[rows]
    ),
    "followed": lambda rows: TimeToEvent(event=Y[rows], time=TIME[rows], horizon=0.5),
}


def outcome_of(kind, rows):
    return RowCosts(LABELS[kind](rows), **{name: amount[rows] for name, amount in AMOUNTS.items()}, unit="EUR")


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("n", [60, N])
def test_rows_that_stand_several_times_in_one_cluster_tell_no_more(kind, n):
    once, often = np.arange(n), np.repeat(np.arange(n), 20)
    alone, repeated = (money(outcome_of(kind, rows), P[rows], clusters=rows) for rows in (once, often))
    for name in ("cost", "gain", "savings"):
        one, other = getattr(alone, name), getattr(repeated, name)
        assert (other.value, *other.interval) == pytest.approx((one.value, *one.interval), rel=1e-9, nan_ok=True)
        assert other.note == one.note
        assert "rows" not in one.note
    assert np.isnan(alone.cost.interval).all() == (n == 60)
    single = money(outcome_of(kind, once), P[once])
    assert single.cost.note.replace("rows", "clusters") == alone.cost.note
    found = [evaluate(outcome_of(kind, rows), P[rows], clusters=rows).findings for rows in (once, often)]
    said = [[str(each) for each in findings if each.code == "few-amounts-decide"] for findings in found]
    assert said[0] == said[1]
    assert said[0] or n == N
    assert all("cluster" in each for each in said[0])


def test_a_cluster_bears_what_its_rows_bear_together():
    """Two rows of each household: of mistakes in one, and of mistakes in either."""
    home = np.repeat(np.arange(N // 2), 2)
    outcome = outcome_of("labels", np.arange(N))
    lost = np.where(Y, AMOUNTS["false_negative"], 0.0) * (outcome.scores(P) < 0.5)
    wrong = np.where(Y, 0.0, AMOUNTS["false_positive"]) * (outcome.scores(P) >= 0.5)

    def kish(each):
        return each.sum() ** 2 / np.sum(each**2)

    seen = max((each.reshape(-1, 2).sum(axis=1) for each in (wrong, lost)), key=lambda each: np.sum(each**2))
    expected = []
    for act, mine, amount in ((True, ~Y, "false_positive"), (False, Y, "false_negative")):
        every = AMOUNTS[amount] * ((outcome.scores(P) >= 0.5) == act)
        homes = every.reshape(-1, 2).sum(axis=1)
        share = (np.count_nonzero((every * mine).reshape(-1, 2).sum(axis=1)) + 1) / (np.count_nonzero(homes) + 1)
        expected.append((share * np.sum(homes**2), share * kish(homes)))
    note = money(outcome, P, clusters=home).cost.note
    assert f"about {min(kish(seen), max(expected)[1]):.0f} clusters decide" in note


@pytest.mark.parametrize("events", [4, 6])
def test_observed_over_expected_rests_on_clusters_where_some_labels_are_unknown(events):
    once, often = np.arange(60), np.repeat(np.arange(60), 5)
    ill = np.isin(once, 7 * np.arange(1, 1 + events))
    labels = np.where(once % 7 == 1, None, ill.astype(object))

    def found(rows):
        outcome = PartlyVerified(labels[rows], groups=[1] * len(rows))
        return calibration_summary(outcome, P[rows], clusters=rows).estimates[0]

    assert found(often).interval == pytest.approx(found(once).interval, rel=1e-9, nan_ok=True)
    assert found(often).note == found(once).note
    assert (found(often).note == "only 4 clusters with positives: an interval needs 5") == (events == 4)

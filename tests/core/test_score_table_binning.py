"""Tables with less resolution: the bound of the error covers what binning changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import distributions, samples

from stakes import ScoreTable, costs
from stakes.core.score_table import in_cells, table_integral


def table_of(sample):
    return ScoreTable.from_predictions(sample.y, sample.score, sample_weight=sample.weight)


@st.composite
def binned(draw):
    """Rows, and the table that keeps the weighted mean of each of 4 cells."""
    sample = draw(samples(weight=st.sampled_from([0.5, 1.0, 2.0])))
    exact = table_of(sample)
    cell = np.minimum((exact.scores * 4).astype(int), 3)
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    mass = exact.positives + exact.negatives
    ends = np.append(starts[1:], len(cell)) - 1
    mean = np.add.reduceat(mass * exact.scores, starts) / np.add.reduceat(mass, starts)
    columns = [
        np.add.reduceat(c, starts)
        for c in (exact.positives, exact.negatives, exact.positives_squared, exact.negatives_squared)
    ]
    lower, upper = exact.scores[starts], exact.scores[ends]
    scores = np.clip(mean, lower, upper)
    return exact, ScoreTable(scores, *columns, n_rows=exact.n_rows, lower=lower, upper=upper)


def integral(table, made):
    """Sum of weight * loss over a table of finite losses, the plain way."""
    terms = table.negatives @ made.negative_loss(table.scores) + table.positives @ made.positive_loss(table.scores)
    return terms / table.total


@given(binned(), distributions())
def test_error_bound_covers_what_binning_changes(tables, made):
    exact, coarse = tables
    assert exact.error_bound(made) == 0.0
    if np.isfinite(made.mass):
        assert abs(integral(exact, made) - integral(coarse, made)) <= coarse.error_bound(made) + 1e-13 * made.mass


@given(binned(), distributions(), st.sampled_from(["optimal", "cell ends", 0.3, 0.5]))
def test_error_bound_covers_what_binning_changes_under_any_rule(tables, made, rule):
    exact, coarse = tables
    if not np.isfinite(made.mass):
        return
    slack = 1e-13 * made.mass
    for r in [*coarse.lower, *coarse.upper] if rule == "cell ends" else [rule]:
        changed = abs(table_integral(exact, made, r) - table_integral(coarse, made, r))
        assert changed <= coarse.error_bound(made, r) + slack
        if r != "optimal":
            hard = coarse.at_threshold(r)
            assert abs(table_integral(hard, made, "score") - table_integral(exact, made, r)) <= (
                hard.error_bound(made) + slack + hard_labels_meet_the_ends(made)
            )
    again = coarse.recalibrated()
    changed = abs(table_integral(exact, made, "optimal") - table_integral(again, made, "score"))
    assert changed <= again.error_bound(made) + slack


def hard_labels_meet_the_ends(made):
    """Atoms at 0 and 1, which hard labels tie with and a threshold does not."""
    values, weights = made.atoms
    return float(weights[(values == 0.0) | (values == 1.0)].sum())


def test_error_bound_by_hand():
    arrays = [np.array([0.25]), np.array([1.0]), np.array([3.0]), np.array([1.0]), np.array([3.0])]
    coarse = ScoreTable(*arrays, n_rows=4, lower=np.array([0.0]), upper=np.array([0.5]))
    # Brier / 2: negatives (0.25 - 0) / 2, positives (1 - 0.25) / 2
    assert coarse.error_bound(costs.Uniform()) == pytest.approx((3 * 0.125 + 0.375) / 4)
    assert coarse.error_bound(costs.LogOddsUniform()) == float("inf")


def test_error_bound_of_a_cell_with_one_score_is_zero():
    arrays = [np.array([0.0]), np.array([1.0]), np.array([0.0]), np.array([1.0]), np.array([0.0])]
    exact = ScoreTable(*arrays, n_rows=1, lower=np.zeros(1), upper=np.zeros(1))
    assert exact.error_bound(costs.LogOddsUniform()) == 0.0


@pytest.mark.parametrize("rule", ["optimal", 0.505])
def test_error_bound_covers_the_other_rules(rule):
    exact = ScoreTable.from_predictions([0] * 5 + [1] * 5, [0.5] * 5 + [0.51] * 5)
    five = np.array([5.0])
    coarse = ScoreTable(
        np.array([0.505]), five, five, five, five, n_rows=10, lower=np.array([0.5]), upper=np.array([0.51])
    )
    changed = abs(table_integral(exact, costs.Uniform(), rule) - table_integral(coarse, costs.Uniform(), rule))
    assert changed <= coarse.error_bound(costs.Uniform(), rule)


def test_hard_labels_of_a_binned_table_do_not_claim_to_be_exact():
    arrays = [np.array([0.25]), np.array([1.0]), np.array([3.0]), np.array([1.0]), np.array([3.0])]
    coarse = ScoreTable(*arrays, n_rows=4, lower=np.array([0.0]), upper=np.array([0.5]))
    hard = coarse.at_threshold(0.3)
    assert hard.error_bound(costs.Fixed(0.5)) > 0.0
    assert (hard.scores.tolist(), hard.lower.tolist(), hard.upper.tolist()) == ([0.0], [0.0], [1.0])
    sure = coarse.at_threshold(0.6)
    assert (sure.scores.tolist(), sure.lower.tolist(), sure.upper.tolist()) == ([0.0], [0.0], [0.0])


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("rule", ["optimal", 0.5, 0.9])
def test_error_bound_of_an_infinite_loss_is_zero_where_nothing_can_have_changed(rule):
    arrays = [np.array([0.5]), np.array([3.0]), np.array([0.0]), np.array([3.0]), np.array([0.0])]
    coarse = ScoreTable(*arrays, n_rows=3, lower=np.array([0.5 if rule == 0.5 else 0.4]), upper=np.array([0.6]))
    bound = coarse.error_bound(costs.LogOddsUniform(), rule)
    assert bound == 0.0


def test_error_bound_of_the_best_threshold_is_reached_where_a_cell_splits():
    exact = ScoreTable.from_predictions([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    two = np.ones(2)
    ends = {"lower": np.array([0.1, 0.3]), "upper": np.array([0.2, 0.4])}
    coarse = ScoreTable(np.array([0.15, 0.35]), two, two, two, two, n_rows=4, **ends)
    half = costs.Fixed(0.5)  # of four rows the best threshold gets one wrong, and two of them where no cell is split
    assert table_integral(exact, half, "optimal") == pytest.approx(0.125)
    assert table_integral(coarse, half, "optimal") == pytest.approx(0.25)
    assert coarse.error_bound(half, "optimal") == pytest.approx(0.125)


@pytest.mark.parametrize("resolution", [None, 4])
def test_error_bound_takes_costs_as_everything_does_and_names_what_is_wrong(resolution):
    table = ScoreTable.from_predictions([0, 1, 0, 1], [0.1, 0.2, 0.7, 0.8])
    table = table if resolution is None else in_cells(table, resolution)
    assert table.error_bound((0.1, 0.9)) == table.error_bound(costs.Uniform(0.1, 0.9))
    assert table.error_bound(0.15) == table.error_bound(costs.Fixed(0.15)) == (0.0 if resolution is None else 0.25)
    for given_wrongly, message in (
        (("x",), "costs must be"),
        ((0.3, None), "rule must be"),
        ((0.3, True), "rule must be"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            table.error_bound(*given_wrongly)

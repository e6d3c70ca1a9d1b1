"""Curves and tables keep their domain, their units, and what their options say of scores and rows."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from stakes import RowCosts, ScoreTable, net_benefit_curve, regret_curve
from stakes.curves import brier_curve, cost_curve, interventions_avoided_curve, regret_curve_of, threshold_table
from stakes.outcomes import PartlyVerified

Y = np.array([0, 1, 0, 1, 1, 0, 0, 1])
SCORE = np.array([0.1, 0.2, 0.35, 0.4, 0.4, 0.6, 0.7, 0.9])
LOG_ODDS = np.log(SCORE / (1.0 - SCORE))
OVER_THRESHOLDS = [regret_curve, net_benefit_curve, interventions_avoided_curve, brier_curve]


@pytest.mark.parametrize("make", OVER_THRESHOLDS)
def test_references_are_straight_lines_over_the_whole_axis(make):
    for line in make(Y, SCORE).references.values():
        assert line.knots.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("make", [regret_curve, net_benefit_curve, interventions_avoided_curve])
def test_one_fixed_threshold_is_a_straight_line_that_ends_at_1(make):
    curve = make(Y, SCORE, rule=0.35)
    assert curve.knots.tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match=r"exists for threshold in .*, got 1\.2"):
        curve.at(1.2)


@pytest.mark.parametrize("make", OVER_THRESHOLDS)
def test_log_odds_give_the_curve_of_their_probabilities(make):
    at = [0.15, 0.3, 0.5, 0.65, 0.8]
    np.testing.assert_allclose(make(Y, LOG_ODDS, logits=True).at(at), make(Y, SCORE).at(at), rtol=1e-12)


@pytest.mark.parametrize("high", [1.0 + 1e-9, 1.2, 1.5])
def test_no_area_beyond_a_cost_ratio_of_1(high):
    with pytest.raises(ValueError, match="in order within"):
        brier_curve(Y, SCORE).integral(0.2, high)


@pytest.mark.parametrize("harm", [0.001, 0.05])
def test_harm_adds_missed_positives_to_regret(harm):
    at = np.array([0.0, 0.15, 0.4, 0.8, 1.0])
    table = ScoreTable.from_predictions(Y, SCORE)
    added = regret_curve_of(table, harm=harm).at(at) - regret_curve_of(table).at(at)
    np.testing.assert_allclose(added, harm * (1.0 - at), atol=1e-15)


@pytest.mark.parametrize("per", [1, 1000.0])
@pytest.mark.parametrize("t", [0.35, 0.5, 0.95])
def test_counts_are_scaled_to_the_cases_asked_for(per, t):
    table = threshold_table(Y, SCORE, thresholds=[t], per=per)
    acted = t <= SCORE
    expected = [acted & (Y == 1), acted & (Y == 0), ~acted & (Y == 1), ~acted & (Y == 0)]
    found = [float(getattr(table, name)[0]) for name in ("tp", "fp", "fn", "tn")]
    assert found == pytest.approx([per * case.mean() for case in expected])


def test_pieces_of_a_cost_curve_have_a_width():
    score = np.array([0.9, np.nextafter(0.9, 1.0), 0.95, np.nextafter(0.95, 1.0), 0.3, np.nextafter(0.3, 1.0)])
    curve = cost_curve([0, 1, 0, 1, 1, 0], score, rule="score")
    assert np.all(np.diff(curve.knots) > 0.0)
    assert [curve.knots[0], curve.knots[-1]] == [0.0, 1.0]


def test_lines_of_one_class_have_no_rate_of_the_other():
    with pytest.warns(UndefinedMetricWarning, match="only one class"):
        curve = cost_curve([1, 1, 1], [0.2, 0.5, 0.7])
    _, at_zero, at_one = curve.lines()
    assert np.isnan(at_zero).all()
    assert at_one == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0])


def test_share_flagged_counts_rows_that_were_not_looked_up():
    outcome = PartlyVerified([0, None, 1, None, 1, 0, None, 1], groups=[0, 0, 0, 1, 1, 1, 1, 1])
    table = threshold_table(outcome, SCORE, thresholds=[0.15, 0.4, 0.65])
    assert table.share_flagged == pytest.approx([7 / 8, 5 / 8, 2 / 8])
    assert "not looked up" in interventions_avoided_curve(outcome, SCORE).about


def test_net_benefit_of_amounts_is_what_they_save_over_acting_on_nobody():
    missed, alarm = np.array([90.0, 40, 70, 20, 35, 60, 15, 10]), 12.0
    outcome = RowCosts(Y, false_positive=alarm, false_negative=missed)
    acted = SCORE * missed >= (1.0 - SCORE) * alarm
    saved = float(np.where(Y == 1, missed, -alarm)[acted].sum())
    assert float(net_benefit_curve(outcome, SCORE).at(0.5)) * outcome.at_stake == pytest.approx(saved)

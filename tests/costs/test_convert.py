"""Cost ratios from odds, false alarms per miss, harm and benefit, and cost matrices."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from stakes import costs

NAN, INF = float("nan"), float("inf")
AMOUNTS = st.floats(1e-6, 1e6)


@pytest.mark.parametrize(
    ("odds", "ratio"),
    [
        ("1:50", Fraction(1, 51)),
        ("1/50", Fraction(1, 51)),
        (" 1 : 50 ", Fraction(1, 51)),
        ("2:98", Fraction(1, 50)),
        ("0.5:1.5", Fraction(1, 4)),
        (0.25, Fraction(1, 5)),
        ("0.25", Fraction(1, 5)),
        (1, Fraction(1, 2)),
        ("0:3", Fraction(0)),
        ("3:0", Fraction(1)),
    ],
)
def test_odds_of_one_to_fifty_are_one_in_fifty_one(odds, ratio):
    assert costs.from_odds(odds) == pytest.approx(float(ratio), rel=1e-15)


@pytest.mark.parametrize(
    "odds", ["", "1:", "a:b", "1;50", "one to fifty", "1:2:3", "-1:50", "1:-50", "0:0", "nan", "inf:1", -0.5, INF, NAN]
)
def test_odds_that_make_no_sense_are_shown(odds):
    with pytest.raises(ValueError, match=r"^odds must .*1:50") as error:
        costs.from_odds(odds)
    assert repr(odds) in str(error.value)


@given(AMOUNTS, AMOUNTS)
def test_odds_agree_with_cost_matrix_harm_and_false_alarms(false_positive, false_negative):
    ratio = false_positive / (false_positive + false_negative)
    assert costs.from_odds(f"{false_positive!r}:{false_negative!r}") == pytest.approx(ratio, rel=1e-14)
    assert costs.from_cost_matrix(0, false_positive, false_negative, 0) == pytest.approx(ratio, rel=1e-14)
    assert costs.from_harm_to_benefit(false_positive / false_negative) == pytest.approx(ratio, rel=1e-13)
    assert costs.from_false_alarms_per_miss(false_negative / false_positive) == pytest.approx(ratio, rel=1e-13)


@given(*[st.floats(-100, 100)] * 4, st.floats(0, 1))
def test_cost_matrix_ratio_is_where_the_two_decisions_cost_the_same(tn, gap_negative, tp, gap_positive, shift):
    fp, fn = tn + abs(gap_negative) + 1, tp + abs(gap_positive) + 1
    c = costs.from_cost_matrix(tn=tn, fp=fp, fn=fn, tp=tp)
    acting, waiting = c * tp + (1 - c) * fp, c * fn + (1 - c) * tn
    assert acting == pytest.approx(waiting, abs=1e-9)
    # adding a constant to a row of the matrix changes no decision
    moved = costs.from_cost_matrix(tn=tn + shift, fp=fp + shift, fn=fn, tp=tp)
    assert moved == pytest.approx(c, abs=1e-9)


@pytest.mark.parametrize("matrix", [(-1e308, 1e308, 1e308, -1e308), (0, 1e308, 1.5e308, -1e308), (0.1, 0.3, 0.7, 0.2)])
def test_cost_matrix_ratio_is_rounded_once(matrix):
    tn, fp, fn, tp = map(Fraction, matrix)
    assert costs.from_cost_matrix(*matrix) == float((fp - tn) / (fp - tn + fn - tp))
    assert costs.from_cost_matrix(0, 1, 1e-20, 0) == 1.0


@pytest.mark.parametrize(
    "matrix", [(0, 0, 5, 0), (1, 0, 5, 0), (0, 1, 0, 0), (0, 1, 0, 1), (0, NAN, 5, 0), (0, INF, 5, 0), (-INF, 1, 5, 0)]
)
def test_cost_matrix_needs_mistakes_that_cost_more(matrix):
    tn, fp, fn, tp = matrix
    with pytest.raises(ValueError, match="costs must be finite with fp > tn and fn > tp, got") as error:
        costs.from_cost_matrix(tn=tn, fp=fp, fn=fn, tp=tp)
    assert f"tn={tn}, fp={fp}, fn={fn}, tp={tp}" in str(error.value)


def test_false_alarms_per_miss_and_harm_to_benefit_by_hand():
    assert costs.from_false_alarms_per_miss(50) == 1 / 51
    assert costs.from_false_alarms_per_miss(0) == 1.0
    assert costs.from_harm_to_benefit(0.25) == 0.2
    assert costs.from_harm_to_benefit(0) == 0.0


@pytest.mark.parametrize("value", [-1, NAN, INF])
def test_numbers_of_false_alarms_and_harms_are_finite_and_not_negative(value):
    with pytest.raises(ValueError, match=rf"^false_alarms must be a finite number >= 0, got {value}"):
        costs.from_false_alarms_per_miss(value)
    with pytest.raises(ValueError, match=rf"^ratio must be a finite number >= 0, got {value}"):
        costs.from_harm_to_benefit(value)

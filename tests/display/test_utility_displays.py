"""Pictures of expected utility and of utility curves: exact lines, the best choice, its ties and its runner-up."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from stakes.display import ExpectedUtilityDisplay, UtilityCurveDisplay
from stakes.utility import (
    F1,
    MCC,
    Accuracy,
    FractionalLinear,
    Precision,
    SquaredErrorInCounting,
    expected_utility,
    population_threshold,
    utility_curve,
)


def point(line):
    (x,), (y,) = line.get_data()
    return float(x), float(y)


def test_expected_utility_is_drawn_with_its_best_number_of_rows_and_the_runner_up(rows):
    result = expected_utility(rows[1]["sharp"], F1())
    shown = result.plot()
    assert type(shown) is ExpectedUtilityDisplay
    assert point(shown.best_[0]) == (result.best_k, result.utility)
    assert point(shown.rivals_[-1]) == (result.runner_up, result.curve[result.runner_up])
    assert shown.best_[0].get_label() == (
        f"best: {result.best_k:,} rows, from probability {result.threshold:.4g}: {result.utility:.4g}"
    )
    assert shown.rivals_[-1].get_label() == f"runner-up: {result.runner_up:,} rows, {result.gap:.2g} worse"
    assert shown.ax_.get_ylabel() == "Expected F1"
    x, y = shown.lines_[0].get_data()
    assert np.allclose(y, np.interp(x, np.arange(result.n_rows + 1), result.curve), atol=1e-12)
    shown.figure_.canvas.draw()


def test_ties_are_marked_beside_the_best_number():
    shown = expected_utility([0.5, 0.5, 0.2], Precision()).plot()
    ties, runner_up = shown.rivals_
    assert point(shown.best_[0])[0] == 1
    assert ties.get_xdata().tolist() == [2]
    assert ties.get_label() == "2 numbers of rows that cannot be distinguished"
    assert runner_up.get_xdata().tolist() == [3]


def test_all_numbers_of_rows_alike_have_no_runner_up():
    shown = expected_utility([0.5], Accuracy()).plot()
    assert [line.get_label() for line in shown.rivals_] == ["2 numbers of rows that cannot be distinguished"]
    assert shown.best_[0].get_label() == "best: 0 rows: 0.5"


def test_losses_and_measures_that_take_the_least_probable_rows_are_drawn():
    loss = expected_utility([0.9, 0.2, 0.4], SquaredErrorInCounting()).plot()
    assert point(loss.best_[0])[1] == pytest.approx(min(loss.lines_[0].get_ydata()))
    falling = expected_utility([0.9, 0.2, 0.4], FractionalLinear(c=(1, -1, 0.5), d=(1, 0, 0, 0))).plot()
    assert "up to probability 0.4" in falling.best_[0].get_label()


def test_one_row_and_a_flat_curve_are_drawn():
    for measure in (F1(), MCC()):
        expected_utility([0.3], measure).plot().figure_.canvas.draw()


def test_several_models_are_told_apart(rows):
    _, models = rows
    shown = ExpectedUtilityDisplay.from_predictions(models, "f1")
    assert [line.get_label() for line in shown.lines_] == list(models)
    assert len({line.get_color() for line in shown.best_}) == len(models)
    assert all(line.get_label().startswith(f"{name}, best: ") for name, line in zip(models, shown.best_, strict=True))


def test_several_measures_of_one_batch_share_axes(rows):
    p = rows[1]["sharp"]
    curves = [expected_utility(p, measure).as_curve() for measure in ("f1", "jaccard")]
    shown = ExpectedUtilityDisplay(curves).plot()
    assert shown.ax_.get_ylabel() == "Expected value of the measure"
    assert [line.get_label() for line in shown.lines_] == ["F1()", "Jaccard()"]


def test_second_display_beside_a_first_one_keeps_both_in_view(rows):
    p = rows[1]["sharp"]
    first = expected_utility(p, F1()).plot()
    second = expected_utility(p[:40], F1()).plot(first.ax_)
    assert second.ax_.get_xlim()[1] > len(p)
    assert second.lines_[0].get_color() != first.lines_[0].get_color()


def test_utility_curve_is_drawn_with_the_best_threshold(rows):
    y, models = rows
    shown = utility_curve(y, models["sharp"], F1()).plot()
    found = population_threshold(y, models["sharp"], F1(), n_resamples=0)
    assert type(shown) is UtilityCurveDisplay
    assert point(shown.best_[0]) == (found.threshold, found.utility)
    assert shown.best_[0].get_label() == f"best: threshold {found.threshold:.4g}: {found.utility:.4g}"
    assert (shown.ax_.get_ylabel(), shown.rivals_) == ("F1", [])
    shown.figure_.canvas.draw()
    assert "%" in shown.ax_.get_xticklabels()[0].get_text()


def test_acting_on_no_row_is_marked_at_the_end_of_the_axis():
    shown = utility_curve([0, 0], [0.2, 0.4], Accuracy()).plot()
    assert point(shown.best_[0]) == (1.0, 1.0)
    assert shown.best_[0].get_label() == "best: act on no row: 1"


def test_scores_that_are_no_probabilities_have_no_percentages():
    shown = utility_curve([0, 1, 0, 1], [-3.0, 2.0, 5.0, 7.0], "f1").plot()
    shown.figure_.canvas.draw()
    assert not any("%" in label.get_text() for label in shown.ax_.get_xticklabels())


def test_estimators_are_drawn_as_their_predictions(rows):
    y, models = rows
    X = models["sharp"][:, None]
    fitted = LogisticRegression().fit(X, y)
    p = fitted.predict_proba(X)[:, 1]
    batch = ExpectedUtilityDisplay.from_estimator(fitted, X, "f1")
    assert point(batch.best_[0])[0] == expected_utility(p, "f1").best_k
    labelled = UtilityCurveDisplay.from_estimator({"a": fitted}, X, y, "f1")
    assert math.isclose(point(labelled.best_[0])[0], population_threshold(y, p, "f1", n_resamples=0).threshold)


def test_legend_can_be_left_out_and_other_options_are_refused(rows):
    result = expected_utility(rows[1]["sharp"], F1())
    shown = result.plot(legend=None)
    assert shown.ax_.get_legend() is None
    assert shown.figure_.legends == []
    with pytest.raises(TypeError, match="colour"):
        result.plot(colour="red")


def test_curves_of_another_kind_are_refused(rows):
    y, models = rows
    with pytest.raises(ValueError, match="curves must be expected utility curves"):
        ExpectedUtilityDisplay(utility_curve(y, models["sharp"], F1()))

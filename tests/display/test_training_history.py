"""The picture of a training history shows the recorded numbers and the chosen epochs."""

import math

import numpy as np
import pytest

from stakes.display import MonitorDisplay
from stakes.training import compare_monitors

pytest.importorskip("matplotlib")

HISTORY = {
    "f1": [0.2, 0.5, 0.4, 0.3, 0.6],
    "log": [math.inf, 0.4, 0.5, 0.6, 0.3],
    "accuracy": [0.1, 0.5, 0.4, 0.6, 0.7],
}
CRITERIA = {"log": "lower", "accuracy": "higher"}


def test_panels_hold_the_recorded_values_with_better_upwards():
    display = compare_monitors(HISTORY, criteria=CRITERIA, patience=2).plot()
    assert isinstance(display, MonitorDisplay)
    assert [ax.get_ylabel() for ax in display.axes_] == ["f1", "log", "accuracy"]
    assert [bool(ax.yaxis_inverted()) for ax in display.axes_] == [False, True, False]
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), HISTORY["f1"])
    np.testing.assert_array_equal(display.lines_[1].get_ydata(), [math.nan, 0.4, 0.5, 0.6, 0.3])
    assert display.axes_[-1].get_xlabel() == "Epoch"


def test_marked_epochs_are_those_chosen():
    comparison = compare_monitors(HISTORY, criteria=CRITERIA, patience=2)
    display = comparison.plot()
    for choice in comparison.choices:
        marker = display.markers_[choice.criterion, choice.rule]
        assert marker.get_xdata() == [choice.epoch]
        assert marker.get_ydata() == [HISTORY[choice.criterion][choice.epoch]]
    assert "0." in display.axes_[2].get_title(loc="right")
    assert display.axes_[1].get_title(loc="right") == ""  # with an infinite loss there is no correlation


def test_any_run_can_be_drawn_into_a_given_figure():
    from matplotlib.figure import Figure

    runs = {name: values * 2 for name, values in HISTORY.items()} | {"seed": [7] * 5 + [8] * 5}
    runs["f1"] = [*HISTORY["f1"], 0.9, 0.8, 0.7, 0.6, 0.5]
    comparison = compare_monitors(runs, criteria=CRITERIA, run="seed")
    figure = Figure()
    display = comparison.plot(figure, run=8)
    assert display.figure_ is figure
    assert display.lines_[0].get_ydata().tolist() == [0.9, 0.8, 0.7, 0.6, 0.5]
    with pytest.raises(ValueError, match="run must be one of 7, 8, got 9"):
        comparison.plot(run=9)

"""The picture of what further rows would save."""

import pytest

from stakes import value_of_information
from stakes.display import ValueOfInformationDisplay


def test_points_are_the_savings_and_the_line_is_perfect_information(rows):
    y, models = rows
    found = value_of_information(y, models, costs=(0.1, 0.3), more_rows=(1000, 100))
    display = found.plot()
    assert isinstance(display, ValueOfInformationDisplay)
    x, drawn = display.lines_[0].get_data()
    assert list(x) == [100, 1000]
    assert list(drawn) == [found.evsi[100], found.evsi[1000]]
    assert display.lines_[1].get_ydata()[0] == pytest.approx(found.evpi)
    assert display.ax_.get_ylabel() == "Regret per decision"

"""The picture of what further rows would save."""

import pytest

from stakes import evaluate, value_of_information
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


@pytest.mark.parametrize(
    ("per", "said"), [(1, "per decision"), (1000, "per 1,000 decisions"), (0.5, "per 0.5 decisions")]
)
def test_axis_says_of_how_many_decisions_the_values_are(rows, per, said):
    y, models = rows
    name = next(iter(models))
    one, many = (value_of_information(y, models[name], threshold=0.2, per=size) for size in (1, per))
    drawn, bare = many.plot(), one.plot()
    assert bare.ax_.get_ylabel() == "Net benefit per decision"
    assert drawn.ax_.get_ylabel() == f"Net benefit {said}"
    assert drawn.lines_[1].get_ydata()[0] == pytest.approx(per * bare.lines_[1].get_ydata()[0])
    told = evaluate(y, models, costs=(0.1, 0.3), per=per).with_information().information.plot()
    assert told.ax_.get_ylabel() == f"Regret {said}"

"""Pictures of the option to defer."""

import numpy as np
import pytest

from stakes.actions import deferral_curve
from stakes.display import DeferralDisplay


@pytest.mark.parametrize("over", ["fee", "capacity", "coverage"])
def test_lines_are_the_curves(rows, over):
    y, models = rows
    display = DeferralDisplay.from_predictions(y, models, costs=0.2, deferral=0.02, over=over)
    assert [line.get_label() for line in display.lines_] == list(models)
    curve = deferral_curve(y, models["coarse"], costs=0.2, deferral=0.02, over=over)
    x, drawn = display.lines_[1].get_data()
    inner = (x > curve.knots[0]) & (np.min(np.abs(x[:, None] - curve.knots), axis=1) > 1e-9)
    assert drawn[inner] == pytest.approx(curve.at(x[inner]), abs=1e-9)
    assert display.ax_.get_xlabel() == curve.x_label.capitalize()
    # what deciding every case costs depends on the model, deferring every case does not
    count = {"decide all": len(models), "defer all": 1}
    assert len(display.reference_lines_) == sum(count[name] for name in curve.references)


def test_a_curve_draws_itself_and_axes_are_not_mixed(rows):
    y, models = rows
    fee, share = (deferral_curve(y, models["sharp"], costs=0.2, over=over) for over in ("fee", "coverage"))
    assert fee.plot().ax_.get_ylabel() == "Cost per case"
    with pytest.raises(ValueError, match="over the same axis, got fee and share decided"):
        DeferralDisplay([fee, share])


def test_deciding_all_is_drawn_for_each_population(rows):
    y, models = rows
    labels = {"few": y, "most": 1 - y}
    found = {name: deferral_curve(each, models["sharp"], costs=0.2) for name, each in labels.items()}
    display = DeferralDisplay(found).plot()
    alone = {name: curve.references["decide all"].at(0.0) for name, curve in found.items()}
    lines = [line for line in display.reference_lines_ if line.get_gid() == "reference decide all"]
    drawn = {line.get_label(): line.get_ydata()[0] for line in lines}
    assert drawn == {f"_{name}": pytest.approx(float(cost)) for name, cost in alone.items()}
    assert display.ax_.get_ylim()[1] > max(alone.values())

"""The picture of costs among many actions: its bars are the parts of the cost."""

import numpy as np
import pytest

from stakes.actions import evaluate_actions
from stakes.display import ActionCostsDisplay


def test_bars_add_up_to_the_regret_and_the_cheapest_model_is_on_top():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 200)
    y = (rng.random((200, 1)) > prob.cumsum(axis=1)).sum(axis=1)
    found = evaluate_actions(y, {"sharp": prob, "flat": np.full((200, 3), 1 / 3)}, matrices=[[-1, 1], [1, 0], [5, 2]])
    display = found.plot()
    assert isinstance(display, ActionCostsDisplay)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["flat", "sharp"]
    widths = np.array([[bar.get_width() for bar in bars] for bars in display.bars_])
    assert widths.sum(axis=0) == pytest.approx([found["flat"].regret.value, found["sharp"].regret.value])
    assert display.lines_[0].get_xdata()[0] == pytest.approx(found.best.best_constant - found.oracle)
    assert display.ax_.get_xlabel() == "Cost per decision beyond perfect knowledge"

"""The picture of a cost monitor shows what its records hold."""

import math

import numpy as np
import pytest

from stakes.display import CostMonitorDisplay
from stakes.monitoring import ChallengerMonitor, CostMonitor

pytest.importorskip("matplotlib")


def monitor(*, dated=False):
    found = CostMonitor((0.05, 0.3), budget=0.05)
    for day in range(1, 61):
        name = str(np.datetime64("2026-01-01") + day) if dated else day
        found.update_sums(name, n=200, total=9.0 if day < 31 else 16.0, squares=6.0, promised=9.0)
    return found


@pytest.mark.parametrize("dated", [False, True])
def test_lines_are_the_running_mean_and_the_evidence(dated):
    found = monitor(dated=dated)
    display = found.plot()
    records = found._records()
    mean, evidence = display.lines_
    assert mean.get_ydata() == pytest.approx([1000 * record["mean"] for record in records])
    assert evidence.get_ydata() == pytest.approx([record["log_evidence"] / math.log(10) for record in records])
    marks = [line for line in display.axes_[0].lines if len(set(map(str, line.get_xdata()))) == 1]
    assert [str(line.get_xdata()[0]) for line in marks] == [str(found.since), str(found.alarm_day)]


def test_the_line_of_an_alarm_is_named_above_its_left_end():
    found = monitor()
    ax = found.plot().axes_[1]
    (level,) = (line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--")
    assert level == pytest.approx(math.log10(20.0))  # a false alarm with probability 1/20
    (name,) = ax.texts
    box, frame = name.get_window_extent(), ax.get_window_extent()
    assert name.get_text() == "alarm"
    assert frame.x0 < box.x0 < frame.x0 + 0.1 * frame.width
    assert 0.0 < 0.5 * (box.y0 + box.y1) - ax.transData.transform((0.0, level))[1] < box.height


def test_a_budget_and_a_promise_are_in_the_legend():
    texts = [text.get_text() for text in CostMonitorDisplay(monitor()).plot().axes_[0].get_legend().get_texts()]
    assert {"budget", "as its own scores say", "mean so far"} <= set(texts)


def test_differences_reach_below_zero():
    found = ChallengerMonitor((0.05, 0.3)).update_sums(1, n=100, total=-3.0, squares=1.0)
    assert found.plot().axes_[0].get_ylim()[0] < -29


def test_a_monitor_without_a_day_has_no_picture():
    with pytest.raises(ValueError, match="monitor must have taken in a day, got none"):
        CostMonitorDisplay(CostMonitor((0.05, 0.3), budget=0.05))
    with pytest.raises(ValueError, match="monitor must be a CostMonitor, got int"):
        CostMonitorDisplay(3)

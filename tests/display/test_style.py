"""Ticks and colours need no matplotlib: odds and percentages that people can read."""

from __future__ import annotations

from itertools import pairwise

import pytest

from stakes import costs
from stakes.display._axes import (
    LINE_STYLES,
    PALETTE,
    format_odds,
    format_percent,
    log_odds,
    model_style,
    odds_ticks,
    percent_ticks,
)


@pytest.mark.parametrize("odds", ["1:50", "1:1", "2:1", "1:1.5", "1:2.5", "2.5:1", "1:1000", "100:1"])
def test_odds_are_written_as_they_are_read(odds):
    assert format_odds(costs.from_odds(odds.replace(":", "/"))) == odds


def test_odds_of_the_ends_are_written_without_dividing_by_zero():
    assert (format_odds(0.0), format_odds(1.0)) == ("0:1", "1:0")


def test_percentages_are_written_without_rounding_noise():
    assert [format_percent(x) for x in (0.1 + 0.2, 0.025, 0.0)] == ["30%", "2.5%", "0%"]


@pytest.mark.parametrize("shown", [(0.0, 1.0), (0.01, 0.035), (0.0, 0.14), (0.3, 0.32), (0.9, 0.999)])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_odds_ticks_are_round_apart_and_at_least_three(shown, logarithmic):
    low, high = (0.001, 0.999) if logarithmic and shown == (0.0, 1.0) else (max(shown[0], 1e-3), shown[1])
    ticks = odds_ticks(low, high, 0.15, logarithmic=logarithmic)
    place = log_odds if logarithmic else float
    steps = [place(b) - place(a) for a, b in pairwise(ticks)]
    assert len(ticks) >= 3
    assert min(ticks) >= low
    assert max(ticks) <= high
    assert min(steps) >= 0.15 * (place(high) - place(low)) * (1.0 - 1e-9)
    for tick in ticks:
        assert costs.from_odds(format_odds(tick).replace(":", "/")) == pytest.approx(tick, rel=1e-9)


def test_odds_ticks_take_round_numbers_first():
    assert [format_odds(t) for t in odds_ticks(0.01, 0.035, 0.15)][:2] == ["1:70", "1:50"]
    assert {"1:10", "1:1", "10:1"} <= {format_odds(t) for t in odds_ticks(0.0, 1.0, 0.08)}


def test_percent_ticks_get_finer_only_where_round_ones_are_too_few():
    assert [format_percent(t) for t in percent_ticks(0.001, 0.999, 0.15)] == [
        "0.1%",
        "1%",
        "10%",
        "50%",
        "90%",
        "99%",
        "99.9%",
    ]
    assert [format_percent(t) for t in percent_ticks(0.0121, 0.0389, 0.15)] == ["1.5%", "2%", "2.5%", "3%"]


def test_percent_ticks_reach_below_a_ten_thousandth():
    assert [format_percent(t) for t in percent_ticks(3e-6, 3e-5, 0.15)] == ["0.0005%", "0.001%", "0.002%"]
    assert [format_percent(t) for t in percent_ticks(1.0 - 3e-5, 1.0 - 3e-6, 0.15)] == [
        "99.998%",
        "99.999%",
        "99.9995%",
    ]


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [(0.21, 0.41, 0.05), (0.21, 0.249, 0.01), (0.21, 0.229, 0.005), (0.212, 0.2159, 0.001), (0.2121, 0.2139, 0.0001)],
)
def test_percent_ticks_of_a_narrow_range_are_multiples_of_the_coarsest_step_that_gives_three(low, high, step):
    ticks = percent_ticks(low, high, 0.15)
    assert len(ticks) >= 3
    assert [tick / step for tick in ticks] == pytest.approx([round(tick / step) for tick in ticks])


def test_models_beyond_the_palette_differ_in_line_and_marker():
    looks = [model_style(k) for k in range(len(PALETTE) * len(LINE_STYLES))]
    assert len({(look.color, look.line) for look in looks}) == len(looks)
    assert len({(look.color, look.marker) for look in looks}) == len(looks)
    assert {look.line for look in looks[: len(PALETTE)]} == {"-"}

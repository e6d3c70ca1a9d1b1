"""The ways in which people write a range of thresholds."""

import pytest

from stakes import costs

pytest.importorskip("click")
pytest.importorskip("rich")

from stakes.cli.console import UsageError
from stakes.cli.reading import read_costs


def ranges(costs=None, odds=None, false_alarms=None, weighting=None):
    return read_costs(costs, odds, false_alarms, weighting)


@pytest.mark.parametrize(
    "written",
    [
        {"costs": "0.02:0.1"},
        {"costs": " 0.02 : 0.10 "},
        {"costs": "2%:10%"},
        {"odds": "1/49:1/9"},
        {"odds": "2/98:10/90"},
        {"false_alarms": "9:49"},
        {"false_alarms": "49:9"},
    ],
)
def test_one_range_in_many_words(written):
    found = ranges(**written)
    assert isinstance(found, costs.Uniform)
    assert (found.low, found.high) == (pytest.approx(0.02, abs=1e-15), pytest.approx(0.1, abs=1e-15))


def test_odds_may_be_decimal_quotients():
    found = ranges(odds="0.0166:0.03")
    assert (found.low, found.high) == (0.0166 / 1.0166, 0.03 / 1.03)


@pytest.mark.parametrize("written", [{"costs": "0.1"}, {"costs": "10%"}, {"odds": "1/9"}, {"false_alarms": "9"}])
def test_single_value_is_a_known_threshold(written):
    assert ranges(**written) == costs.Fixed(0.1)


@pytest.mark.parametrize("odds", ["1:50", "0:1", "3:2"])
def test_two_whole_numbers_might_be_one_odds_or_a_range_and_are_refused(odds):
    low, high = odds.split(":")
    with pytest.raises(UsageError, match=f"write {low}/{high} for the single odds"):
        ranges(odds=odds)
    assert ranges(odds=f"{low}/{high}") == costs.Fixed(costs.from_odds(odds))


@pytest.mark.parametrize(
    ("weighting", "expected"),
    [
        (None, costs.Uniform(0.02, 0.1)),
        ("uniform", costs.Uniform(0.02, 0.1)),
        ("log-odds", costs.LogOddsUniform(0.02, 0.1)),
        ("net-benefit", costs.NetBenefitUniform(0.02, 0.1)),
        ("beta:2,8", costs.Beta(2, 8, 0.02, 0.1)),
        ("beta: 2 , 8", costs.Beta(2, 8, 0.02, 0.1)),
        ("shifted:0.05", costs.Shifted(0.05, 0.02, 0.1)),
    ],
)
def test_weightings_are_the_cost_distributions_of_the_library(weighting, expected):
    assert ranges(costs="0.02:0.1", weighting=weighting) == expected


@pytest.mark.parametrize("weighting", [None, "uniform", "log-odds", "beta:2,2"])
def test_without_a_range_every_threshold_counts(weighting):
    found = ranges(weighting=weighting)
    assert (found.low, found.high) == (0.0, 1.0)


WRITTEN = {
    "0.05-0.3": "0.05:0.3",
    "0.05\u20130.3": "0.05:0.3",
    "0,05:0,3": "0.05:0.3",
    "0,05-0,3": "0.05:0.3",
    "0,05,0,3": "0.05:0.3",
    "0.05,0.3": "0.05:0.3",
    "(0.05, 0.3)": "0.05:0.3",
    "0.05 to 0.3": "0.05:0.3",
    "0.05..0.3": "0.05:0.3",
    "1e-3-1e-1": "1e-3:1e-1",
    "5%-30%": "5%:30%",
    "5-30%": "5%:30%",
    "5,30": "5%:30%",
    "0,05": "0.05",
}


@pytest.mark.parametrize("typed", WRITTEN)
def test_range_written_otherwise_is_met_with_the_way_to_write_it(typed):
    with pytest.raises(UsageError) as refused:
        ranges(typed)
    assert str(refused.value).endswith(f"got {typed!r}: write --costs {WRITTEN[typed]}")
    ranges(WRITTEN[typed])


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"odds": "1/50-1/10"}, "write --odds 1/50:1/10"),
        ({"false_alarms": "10-50"}, "write --false-alarms-per-miss 10:50"),
    ],
)
def test_odds_and_false_alarms_written_otherwise_too(given, advice):
    with pytest.raises(UsageError, match=f": {advice}$"):
        ranges(**given)


@pytest.mark.parametrize(
    ("typed", "written"),
    [("1/50", "0.0196078"), ("1/50:1/10", "0.0196078:0.0909091"), ("1/10:1/50", "0.0196078:0.0909091"), ("2/2", "0.5")],
)
@pytest.mark.parametrize("command", ["update", "decide", "evaluate"])
def test_odds_as_costs_are_met_with_what_the_command_takes(command, typed, written, cli, folder):
    (folder / "s.csv").write_text("risk,y\n" + "0.2,0\n0.4,1\n0.1,0\n0.7,1\n0.5,0\n" * 20, encoding="utf-8")
    ask = {"decide": ["--deferral", "0.001"]}.get(command, ["--label", "y"])
    outcome = cli(command, "s.csv", "--models", "risk", *ask, "--costs", typed)
    assert outcome.code == 2
    said = " ".join(outcome.err.split())
    assert said.endswith(f"got {typed!r}: write --costs {written} for the odds {typed}")
    again = cli(command, "s.csv", "--models", "risk", *ask, "--costs", written)
    assert again.code == 0 or "single" in again.err  # a deferral has one ratio of costs


@pytest.mark.parametrize("option", ["costs", "false_alarms"])
@pytest.mark.parametrize("typed", ["0/0", "1/0/2"])
def test_odds_of_nothing_are_not_suggested(option, typed):
    with pytest.raises(UsageError) as refused:
        ranges(**{option: typed})
    assert "write" not in str(refused.value)


@pytest.mark.parametrize(
    "typed", ["low:high", "0.3-0.05", "0.1-", "-", "-0.1-0.2", "0.1:0.2:0.3", "1.2.3", "", "0.1-0.1"]
)
def test_nothing_is_suggested_that_is_no_range(typed):
    with pytest.raises(UsageError) as refused:
        ranges(typed)
    assert "write" not in str(refused.value)

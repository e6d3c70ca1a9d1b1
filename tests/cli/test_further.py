"""`stakes evaluate --deferral --more-rows`: the library's numbers, and options that need others."""

import json

import numpy as np
import pytest

from stakes import evaluate

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

ASKED = ["--label", "cancer", "--models", "sharp,blurred", "--costs", "0.2"]


@pytest.fixture
def file(columns, folder):
    pl.DataFrame(columns).write_csv(folder / "p.csv")
    return "p.csv"


def test_answers_are_the_librarys(file, columns, cli):
    study = ["--more-rows", "100,1000", "--decisions", "500,500", "--discount", "0.1", "--row-cost", "0.001"]
    outcome = cli("evaluate", file, *ASKED, "--deferral", "0.05", "--capacity", "0.3", *study, "--json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    models = {name: np.asarray(columns[name]) for name in ("sharp", "blurred")}
    expected = evaluate(columns["cancer"], models, costs=0.2).with_deferral(0.05, capacity=0.3)
    assert found["deferral"]["models"][0]["value"] == pytest.approx(expected.deferral["sharp"].value, abs=1e-12)
    expected = expected.with_information(more_rows=[100, 1000], decisions=[500, 500], discount=0.1, row_cost=0.001)
    gains = [row["net_gain"] for row in found["value_of_information"]["studies"]]
    assert gains == pytest.approx([row["net_gain"] for row in expected.information.study_records()], abs=1e-9)
    text = cli("evaluate", file, *ASKED, "--deferral", "0.05", *study).out
    assert "With the option to defer" in text
    assert "further rows" in text


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["--capacity", "0.1"], 2, "--capacity needs --deferral"),
        (["--decisions", "10"], 2, "--decisions needs --more-rows"),
        (["--more-rows", "10", "--row-cost", "1"], 2, "--row-cost needs --decisions"),
        (["--more-rows", "10,x"], 2, "--more-rows must be a whole number > 0, got 'x'"),
        (["--more-rows", "10,"], 2, "--more-rows must be numbers, separated by commas"),
        (["--deferral", "0.1", "--rule", "0.3"], 2, "--deferral needs --rule score, got 0.3"),
        (["--more-rows", "10", "--rule", "optimal"], 2, "--more-rows needs --rule score, got optimal"),
        (["--more-rows", "10", "--harm", "sharp=0.1"], 2, "--more-rows does not count --harm"),
        (["--deferral", "0.1", "--harm", "0.1"], 2, "--deferral does not count --harm"),
        (["--more-rows", "10", "--clusters", "blurred"], 2, "--clusters does not fit --more-rows"),
        (["--more-rows", "10", "--prevalence", "0.1"], 2, "--prevalence does not fit --more-rows"),
        (["--more-rows", "10", "--lags", "2"], 2, "--lags does not fit --more-rows"),
        (["--deferral", "0.1", "--lags", "auto"], 2, "--lags does not fit --deferral"),
        (["--more-rows", "10", "--scale", "loss"], 2, "--more-rows needs --scale regret, got loss"),
        (
            ["--deferral", "0.1", "--capacity", "9", "--costs", "0.1:0.3"],
            2,
            "--capacity needs one cost ratio, such as --costs 0.2, got 0.1 to 0.3",
        ),
        (
            ["--deferral", "0.1", "--costs", "0:0.3", "--weighting", "log-odds"],
            2,
            "--deferral needs a mean cost, and --weighting over this range leaves none",
        ),
        (
            ["--more-rows", "10", "--false-positive-cost", "1", "--false-negative-cost", "2"],
            2,
            "--more-rows needs plain labels",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(file, cli, argv, code, message):
    asked = ASKED[:-2] if "--costs" in argv else ASKED
    outcome = cli("evaluate", file, *asked, *argv)
    assert outcome.code == code
    assert message in outcome.err.replace("\n", " ")


def test_what_does_not_fit_is_said_before_the_file_is_read(cli):
    outcome = cli("evaluate", "nosuch.csv", *ASKED, "--more-rows", "10", "--lags", "2")
    assert (outcome.code, "nosuch" in outcome.err) == (2, False)
    assert cli("evaluate", "nosuch.csv", *ASKED, "--more-rows", "10", "--harm", "sharp=0").code == 3


@pytest.mark.parametrize(("typed", "numbers"), [("1,500", "1, 500"), ("1, 500", ""), ("1500", ""), ("10,50", "")])
@pytest.mark.parametrize("option", ["--more-rows", "--decisions"])
def test_several_numbers_that_look_like_one_are_said_to_be_several(option, typed, numbers, file, cli):
    study = {"--more-rows": "50", option: typed}
    outcome = cli("evaluate", file, *ASKED, *(part for pair in study.items() for part in pair))
    assert outcome.code == 0, outcome.err
    assert (f"{option} {typed} is read as 2 numbers, {numbers}: write 1500 for a single one" in outcome.err) == bool(
        numbers
    )

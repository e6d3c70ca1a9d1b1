"""`stakes compare` gives the library's difference, interval and p-value."""

import json

import numpy as np
import pytest

import stakes
from stakes import costs
from stakes.outputs.files import json_ready
from tests.cli.conftest import write_csv

pl = pytest.importorskip("polars")

RANGE = ["--label", "cancer", "--costs", "0.05:0.3"]
PAIR = ["--models", "sharp,blurred"]


def expected(columns, first="sharp", second="blurred", **options):
    models = {name: columns[name] for name in ("sharp", "blurred")}
    evaluation = stakes.evaluate(columns["cancer"], models, **{"costs": costs.Uniform(0.05, 0.3), **options})
    return json_ready(evaluation.compare(first, second)._records())


def test_json_equals_the_library(columns, data, cli):
    outcome = cli("compare", data, *RANGE, *PAIR, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out)["records"] == expected(columns)
    losses = [np.array(columns["cancer"]), *(np.array(columns[name]) for name in ("sharp", "blurred"))]
    by_hand = stakes.expected_regret(losses[0], losses[1], costs=costs.Uniform(0.05, 0.3)) - stakes.expected_regret(
        losses[0], losses[2], costs=costs.Uniform(0.05, 0.3)
    )
    assert json.loads(outcome.out)["records"][0]["difference"] == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (["--weight", "weight"], {"sample_weight": "weight"}),
        (["--rule", "0.2"], {"rule": 0.2}),
        (["--scale", "loss"], {"scale": "loss"}),
        (["--prevalence", "0.02"], {"prevalence": 0.02}),
        (["--confidence-level", "0.8"], {"confidence_level": 0.8}),
        (["--unit-cost", "250", "--per", "1,000"], {"unit_cost": 250.0, "per": 1000.0}),
        (["--weighting", "log-odds"], {"costs": costs.LogOddsUniform(0.05, 0.3)}),
    ],
)
def test_options_mean_what_they_mean_in_the_library(options, same, columns, data, cli):
    same = {key: columns[value] if key == "sample_weight" else value for key, value in same.items()}
    assert json.loads(cli("compare", data, *RANGE, *PAIR, "--json", *options).out)["records"] == expected(
        columns, **same
    )


def test_order_of_the_models_is_the_sign(columns, data, cli):
    turned = json.loads(cli("compare", data, *RANGE, "--models", "blurred,sharp", "--json").out)["records"]
    assert turned == expected(columns, "blurred", "sharp")
    assert turned[0]["difference"] == -expected(columns)[0]["difference"]


@pytest.mark.parametrize("reference", ["treat all", "treat none"])
def test_constant_decisions_can_be_rivals(reference, columns, data, cli):
    outcome = cli("compare", data, *RANGE, "--models", f"sharp,{reference}", "--json")
    assert json.loads(outcome.out)["records"] == expected(columns, "sharp", reference)
    assert cli("compare", data, *RANGE, "--models", "treat all,treat none").code == 2


def test_answer_is_one_sentence_with_all_numbers_below(columns, data, cli, tmp_path):
    outcome = cli("compare", data, *RANGE, "--models", "sharp,treat none")
    (record,) = expected(columns, "sharp", "treat none")
    assert "sharp costs less than treat none." in outcome.out
    for key in ("difference", "ci_low", "ci_high", "p_value"):
        label, shown = key.replace("_", " "), f"{record[key]:.6g}"
        assert any(line.startswith(label) and line.endswith(shown) for line in outcome.out.splitlines()), key
    turned = cli("compare", data, *RANGE, "--models", "treat none,sharp")
    assert "sharp costs less than treat none." in turned.out
    twins = write_csv(tmp_path / "twins.csv", {**columns, "blurred": columns["sharp"]})
    assert "do not show a real difference between sharp and blurred" in cli("compare", twins, *RANGE, *PAIR).out


def test_infinite_costs_are_said_in_words(columns, cli, tmp_path):
    sure = [float(not value) for value in columns["cancer"]]
    file = write_csv(tmp_path / "sure.csv", {**columns, "sharp": sure})
    whole = ["--label", "cancer", "--costs", "0:1", "--weighting", "log-odds"]
    finite = [max(value, 0.01) for value in columns["blurred"]]
    write_csv(file, {**columns, "sharp": sure, "blurred": [min(value, 0.99) for value in finite]})
    assert "blurred costs less than sharp." in cli("compare", file, *whole, *PAIR).out
    write_csv(file, {**columns, "sharp": sure, "blurred": sure})
    assert "both have an infinite cost" in cli("compare", file, *whole, *PAIR).out


@pytest.mark.parametrize("models", ["sharp", "sharp,blurred,weight", "sharp,sharp"])
def test_exactly_two_models_are_compared(models, data, cli):
    outcome = cli("compare", data, *RANGE, "--models", models)
    assert (outcome.code, outcome.out) == (2, "")
    assert "--models must name two models" in outcome.err


def test_missing_column_is_bad_data(data, cli):
    assert cli("compare", data, *RANGE, "--models", "sharp,absent").code == 3


@pytest.mark.parametrize("length", [0, 5000])
def test_hostile_names_are_text(length, columns, cli, tmp_path):
    evil = "\x1b[31mred\u202e" + "n" * length
    file = tmp_path / "p.csv"
    pl.DataFrame({"cancer": columns["cancer"], evil: columns["sharp"], "b": columns["blurred"]}).write_csv(file)
    outcome = cli("compare", file, *RANGE, "--models", f"{evil},b")
    assert outcome.code == 0
    assert "\x1b" not in outcome.out
    assert "\u202e" not in outcome.out
    assert r"\x1b[31mred\u202e" in outcome.out
    assert len(outcome.out) < 3000


def test_example_of_the_help_is_a_valid_command(cli):
    example = cli("compare", "--help").out.partition("Example:\n")[2].split()
    assert cli(*example[1:]).code == 3  # there is no such file


@pytest.mark.parametrize("ending", ["json", "csv", "md", "txt"])
def test_comparison_goes_to_a_file(ending, data, cli, folder):
    assert cli("compare", data, *RANGE, *PAIR, "--output", f"c.{ending}").code == 0
    assert "blurred" in (folder / f"c.{ending}").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ([], "regret per decision"),
        (["--per", "1,000"], "regret per 1,000 decisions"),
        (["--scale", "loss"], "loss"),
    ],
)
def test_for_how_many_decisions_a_difference_is(options, scale, data, cli):
    lines = cli("compare", data, *RANGE, *PAIR, *options).out.splitlines()
    assert next(line for line in lines if line.startswith("scale ")).split() == ["scale", *scale.split()]


def test_harm_that_a_difference_counts_is_said(data, cli):
    said = "Obtaining a score costs each case, in missed positives (test harm): sharp 0.0200 and blurred 0. The costs"
    assert said in " ".join(cli("compare", data, *RANGE, *PAIR, "--harm", "sharp=0.02").out.split())
    assert "test harm" not in cli("compare", data, *RANGE, *PAIR).out


@pytest.mark.parametrize("ending", ["json", "csv", "md"])
def test_harm_that_a_difference_counts_is_said_in_files(ending, data, cli, tmp_path):
    for harm, said in ((["--harm", "sharp=0.02"], "counts test harm: sharp 0.0200 and blurred 0"), ([], "harm")):
        target = tmp_path / f"found.{ending}"
        assert cli("compare", data, *RANGE, *PAIR, *harm, "-o", target).code == 0
        assert (said in target.read_text("utf-8")) is bool(harm)


def test_a_difference_without_an_interval_is_not_called_undecided_by_the_rows(data, cli):
    text = " ".join(cli("compare", data, *RANGE, *PAIR, "--rule", "optimal").out.split())
    assert "Neither of sharp and blurred can be called better here: their difference has no interval." in text
    assert "do not show" not in text

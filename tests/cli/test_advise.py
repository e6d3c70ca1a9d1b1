"""`stakes advise` gives the library's advice without any file."""

import ast
import json

import pytest

from stakes import advise

SITUATIONS = [(d, t) for d in ("independent", "budget") for t in ("known", "range", "unknown")]


def said(outcome):
    assert outcome.code == 0, outcome.err
    return " ".join(outcome.out.split())


@pytest.mark.parametrize(("decisions", "threshold"), SITUATIONS)
def test_every_situation_gets_metric_reason_code_and_warnings(decisions, threshold, cli):
    outcome = cli("advise", "--decisions", decisions, "--knowledge", threshold)
    advice = advise(decisions=decisions, knowledge=threshold)
    text = said(outcome)
    assert f"Use {advice.metric}. {advice.why}" in text
    for line in advice.call.splitlines():
        assert f"  {line}\n" in outcome.out or not line
    for metric, wrong in advice.wrong.items():
        assert f"{metric} {wrong}" in text


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (["--costs", "0.1"], {"decisions": "independent", "knowledge": "known", "cost_ratio": 0.1}),
        (["--costs", "2%:10%"], {"decisions": "independent", "knowledge": "range", "bounds": (0.02, 0.1)}),
        (["--odds", "1/9"], {"decisions": "independent", "knowledge": "known", "cost_ratio": 0.1}),
        (["--capacity", "1,000"], {"decisions": "budget", "knowledge": "known", "capacity": 1000}),
        (["--capacity", "5:50"], {"decisions": "budget", "knowledge": "range", "capacity": (5, 50)}),
        (
            ["--costs", "0.1", "--ranking-only", "--prevalence", "0.03"],
            {
                "decisions": "independent",
                "knowledge": "known",
                "cost_ratio": 0.1,
                "probabilities": False,
                "prevalence": 0.03,
            },
        ),
    ],
)
def test_options_mean_what_they_mean_in_the_library(options, same, cli):
    content = json.loads(cli("advise", *options, "--json").out)["records"]
    assert content == json.loads(advise(**same).to_json())


def test_without_options_the_whole_table_is_shown(cli):
    lines = cli("advise").out.splitlines()
    for decisions, threshold in SITUATIONS:
        metric = advise(decisions=decisions, knowledge=threshold).metric
        assert [decisions, threshold, metric] in [line.split() for line in lines]
    assert len(json.loads(cli("advise", "--json").out)["records"]) == 6
    assert len(json.loads(cli("advise", "--decisions", "budget", "--json").out)["records"]) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--capacity", "0"], "--capacity must be a count of rows >= 1 or a share of them in (0, 1), got '0'"),
        (["--capacity", "1.0"], "--capacity=1.0 can mean one row"),
        (["--capacity", "9:3"], "--capacity must be"),
        (["--capacity", "3:3"], "--capacity must be"),
        (["--capacity", "1:2:3"], "--capacity must be"),
        (["--capacity", "x\x1b[2J"], r"got 'x\\x1b[2J'"),
        (["--capacity", "5", "--costs", "0.1"], "a cost ratio belongs to independent decisions"),
        (["--capacity", "5", "--decisions", "independent"], "--capacity has no place with --decisions independent"),
        (["--costs", "0.1", "--knowledge", "unknown"], "--costs has no place with --decisions independent and --know"),
        (
            ["--odds", "1/9", "--decisions", "budget"],
            "--odds has no place with --decisions budget and --knowledge known",
        ),
        (["--odds", "1/9", "--decisions", "budget"], "got '1/9'"),
        (["--costs", "0.1:0.3", "--decisions", "budget"], "--costs has no place"),
        (["--capacity", "5", "--knowledge", "range"], "--capacity must be LOW:HIGH, got '5'"),
        (["--outcome", "amounts", "--costs", "0.1"], "--costs has no place with --outcome amounts"),
        (["--costs", "0.3:0.1"], "--costs must run from low to high"),
        (["--costs", "0"], "--costs must lie in (0, 1), got '0'"),
        (["--prevalence", "3"], "--prevalence must be a number between 0 and 1"),
        (["--decisions", "both"], "'both' is not one of"),
    ],
)
def test_mistakes_in_usage(options, message, cli):
    outcome = cli("advise", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


def test_example_of_the_help_is_a_valid_command(cli):
    example = cli("advise", "--help").out.partition("Example:\n")[2].split()
    assert cli(*example[1:]).code == 0


def test_advice_goes_to_a_file(cli, folder):
    assert cli("advise", "--capacity", "10", "--output", "advice.md").code == 0
    assert "top_k_scores" in (folder / "advice.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("outcome", ["labels", "time_to_event", "amounts"])
def test_code_in_a_table_is_one_line_that_runs(outcome, cli, tmp_path):
    options = {"decisions": "independent", "knowledge": "range"}
    target = tmp_path / "advice.md"
    assert cli("advise", *spelled(options), "--outcome", outcome, "-o", target).code == 0
    text = target.read_text("utf-8")
    assert text == f"{advise(**options, outcome=outcome).to_markdown()}\n"
    lines = advise(**options, outcome=outcome).call.splitlines()
    code = text.splitlines()[2].replace("\\", "").split(" | ")[4]
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse("\n".join(lines)))


def spelled(options):
    return [part for key, value in options.items() for part in (f"--{key}", value)]

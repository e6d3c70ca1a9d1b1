"""`stakes check` says what the library finds, and ends with the exit code that scripts ask for."""

import json

import pytest

import stakes
from stakes.outputs.files import json_ready
from tests.cli.conftest import write_csv

pl = pytest.importorskip("polars")

COLUMNS = ["--label", "cancer", "--models", "sharp,blurred"]
RANGE = [*COLUMNS, "--costs", "0.05:0.3"]


def findings(columns, bounds=(0.05, 0.3), **options):
    models = {name: columns[name] for name in ("sharp", "blurred")}
    return stakes.evaluate(columns["cancer"], models, costs=bounds, **options).findings


@pytest.fixture
def turned(columns, tmp_path):
    """Return a file in which one model ranks the wrong way round, which is an error."""
    scores = [1.0 - float(value) for value in columns["blurred"]]
    return write_csv(tmp_path / "turned.csv", {**columns, "blurred": scores})


def test_findings_are_those_of_the_library(columns, data, cli):
    outcome = cli("check", data, *RANGE)
    assert (outcome.code, outcome.err) == (0, "")
    text = " ".join(outcome.out.split())
    found = findings(columns)
    assert len(found) > 0
    for finding in found:
        assert f"{finding.severity} {finding.code}: {finding.sentence} {finding.remedy}" in text


def test_json_holds_findings_settings_and_what_failed(columns, data, cli):
    outcome = cli("check", data, *RANGE, "--json", "--fail-on", "info")
    content = json.loads(outcome.out)
    assert content["findings"] == json_ready([finding.record() for finding in findings(columns)])
    assert content["failed_on"] == ["half-outside"]
    assert content["costs"] == {"kind": "uniform", "low": 0.05, "high": 0.3}
    assert content["data"]["rows"] == len(columns["cancer"])
    assert outcome.code == 4


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 4),
        (["--fail-on", "error"], 4),
        (["--fail-on", "inverted"], 4),
        (["--fail-on", "warning,info"], 4),
        (["--fail-on", "few-events"], 0),
        (["--fail-on", "few-events", "--fail-on", "half-outside"], 4),
        (["--fail-on", "none"], 0),
        (["--ignore", "inverted"], 0),
        (["--ignore", "inverted,half-outside", "--fail-on", "half-outside"], 0),
    ],
)
def test_exit_code_says_whether_a_named_finding_was_there(options, code, turned, cli):
    outcome = cli("check", turned, *RANGE, *options)
    assert outcome.code == code, outcome.err
    assert ("the check failed: " in outcome.err) == (code == 4)


def test_message_names_what_failed(turned, cli):
    outcome = cli("check", turned, *RANGE, "--fail-on", "error,half-outside")
    assert outcome.err == "error: the check failed: inverted, half-outside\n"


def test_no_findings_are_said_so(data, cli):
    outcome = cli("check", data, *COLUMNS, "--costs", "0.05:0.6", "--ignore", ",".join(stakes.evaluation.FINDINGS))
    assert outcome.code == 0
    assert outcome.out.endswith("No findings.\n")


@pytest.mark.parametrize("option", ["--fail-on", "--ignore"])
def test_unknown_code_is_a_mistake_in_usage(option, data, cli):
    outcome = cli("check", data, *RANGE, option, "typo\x1b[2J")
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{option} must name hard-labels, " in outcome.err
    assert "got 'typo" in outcome.err
    assert "\x1b" not in outcome.err


@pytest.mark.parametrize(
    ("given", "meant"),
    [("errors", "error"), ("warn", "warning"), ("few_events", "few-events"), ("auc", "auc-disagrees")],
)
def test_nearest_code_is_suggested_before_the_list(given, meant, data, cli):
    outcome = cli("check", data, *RANGE, "--fail-on", given)
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: --fail-on got {given!r}; did you mean {meant}? It must name hard-labels, ")


def test_severity_cannot_be_ignored_as_a_whole_and_none_stands_alone(data, cli):
    assert cli("check", data, *RANGE, "--ignore", "info").code == 2
    assert cli("check", data, *RANGE, "--fail-on", "none,error").code == 2


def test_bad_data_stay_bad_data(columns, cli, tmp_path):
    file = write_csv(tmp_path / "p.csv", {**columns, "sharp": [7.0, *columns["sharp"][1:]]})
    assert cli("check", file, *RANGE).code == 3


def test_options_mean_what_they_mean_in_the_library(columns, data, cli):
    outcome = cli("check", data, *RANGE, "--prevalence", "0.5", "--rule", "0.2", "--json")
    found = findings(columns, prevalence=0.5, rule=0.2)
    assert [record["code"] for record in json.loads(outcome.out)["findings"]] == list(found.codes)


@pytest.mark.parametrize("ending", ["json", "csv", "md", "txt"])
def test_findings_go_to_a_file(ending, data, cli, folder):
    outcome = cli("check", data, *RANGE, "--output", f"found.{ending}", "--fail-on", "info")
    assert (outcome.code, outcome.out) == (4, "")
    assert "half-outside" in (folder / f"found.{ending}").read_text(encoding="utf-8")


def test_hostile_names_are_text(columns, cli, tmp_path):
    decided = [float(value > 0.15) for value in columns["blurred"]]
    evil = "\x1b[31mred\u202e{0}[bold]" + "n" * 5000
    file = tmp_path / "p.csv"
    pl.DataFrame({"cancer": columns["cancer"], evil: decided}).write_csv(file)
    outcome = cli("check", file, "--label", "cancer", "--costs", "0.05:0.3")
    assert outcome.code == 0
    assert "\x1b" not in outcome.out
    assert "\u202e" not in outcome.out
    assert r"\x1b[31mred\u202e{0}[bold]" in outcome.out
    assert len(outcome.out) < 3000


def test_evaluate_shows_the_findings_too(columns, data, cli):
    printed = cli("evaluate", data, *RANGE, "--details").out
    for finding in findings(columns):
        assert finding.sentence in " ".join(printed.split())
    content = json.loads(cli("evaluate", data, *RANGE, "--json").out)
    assert content["findings"] == json_ready([finding.record() for finding in findings(columns)])


def test_findings_in_the_details_follow_each_other_line_by_line(columns, cli, tmp_path):
    scores = [1.0 - float(value) for value in columns["blurred"]]
    path = write_csv(tmp_path / "two.csv", {**columns, "blurred": scores, "flat": [0.9] * len(scores)})
    lines = cli("evaluate", path, *RANGE, "--details").out.splitlines()
    begins = [place for place, line in enumerate(lines) if line.startswith(("error ", "warning ", "info "))]
    assert len(begins) > 1
    assert all(lines[begins[0] : begins[-1]])


def test_help_lists_the_exit_code_and_the_example_is_valid(cli):
    text = cli("check", "--help").out
    assert "4" in text
    example = text.partition("Example:\n")[2].split()
    assert cli(*example[1:]).code == 3  # there is no such file

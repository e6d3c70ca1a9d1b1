"""Whatever is wrong with the data or the request: one clear message, the right exit code, and no file."""

import pytest

GOOD = "y,a,b\n0,0.1,0.2\n1,0.9,0.3\n0,0.2,0.4\n1,0.4,0.6\n"

BAD_DATA = {
    "missing label column": ("cancer,a\n0,0.1\n1,0.2\n", ["column 'y'", "no such column", "'cancer'"]),
    "non-numeric score": ("y,a\n0,0.1\n1,high\n0,0.3\n", ["column 'a'", "row 2", "line 3", "'high'", "number"]),
    "missing score": ("y,a\n0,0.1\n1,NaN\n0,0.3\n", ["column 'a'", "row 2", "missing", "--on-missing drop"]),
    "missing label": ("y,a\n0,0.1\n,0.4\n1,0.3\n", ["column 'y'", "row 2", "missing"]),
    "probability of 1.2": ("y,a\n0,0.1\n1,0.4\n0,1.2\n", ["column 'a'", "row 3", "[0, 1]", "1.2", "--models"]),
    "negative probability": ("y,a\n0,0.1\n1,-0.4\n", ["column 'a'", "row 2", "[0, 1]", "-0.4"]),
    "labels of three values": ("y,a\n0,0.1\n1,0.4\n2,0.2\n", ["column 'y'", "two values", "2"]),
    "labels without a known positive": ("y,a\nsick,0.1\nwell,0.4\n", ["column 'y'", "sick", "--pos-label"]),
    "negatives only": ("y,a\n0,0.1\n0,0.4\n", ["column 'y'", "both classes", "all 2 rows are negative"]),
    "positives only": ("y,a\n1,0.1\n1,0.4\n", ["column 'y'", "both classes", "all 2 rows are positive"]),
    "empty file": ("", ["empty"]),
    "header without rows": ("y,a,b\n", ["no rows"]),
    "ragged rows": ("y,a\n0,0.1\n1,0.2,0.3\n", ["row 2", "line 3", "3", "2"]),
    "duplicate column names": ("y,a,a\n0,0.1,0.2\n1,0.3,0.4\n", ["column 'a'", "distinct"]),
    "no model": ("y,name\n0,x\n1,z\n", ["model"]),
    "both classes of one model": ("y,no,yes\n0,0.9,0.1\n1,0.6,0.4\n", ["'no' and 'yes' add up to 1", "--models"]),
    "a model named as a reference": ("y,treat all\n0,0.1\n1,0.4\n", ["column 'treat all'", "rename"]),
}

BAD_REQUEST = {
    "unknown weighting": (["--weighting", "cubic"], ["--weighting", "log-odds", "beta:A,B", "'cubic'"]),
    "beta with one shape": (["--weighting", "beta:2"], ["--weighting", "'beta:2'"]),
    "beta with a bad shape": (["--weighting", "beta:0,2"], ["--weighting", "> 0"]),
    "median outside [0, 1]": (["--weighting", "shifted:2"], ["--weighting", "median"]),
    "weighting of one value": (["--costs", "0.1", "--weighting", "uniform"], ["--weighting", "single value"]),
    "reversed range": (["--costs", "0.3:0.1"], ["low to high", "write --costs 0.1:0.3"]),
    "reversed odds": (["--odds", "1/10:1/50"], ["low to high", "write --odds 1/50:1/10"]),
    "range without width": (["--costs", "0.1:0.1"], ["write --costs 0.1"]),
    "percent as a number": (["--costs", "2:10"], ["[0, 1]", "2%"]),
    "range of three": (["--costs", "0.1:0.2:0.3"], ["LOW:HIGH", "'0.1:0.2:0.3'"]),
    "range of words": (["--costs", "low:high"], ["LOW:HIGH", "0.02:0.10"]),
    "range of nan": (["--costs", "nan:0.2"], ["[0, 1]", "nan"]),
    "half a range": (["--costs", "0.1:"], ["LOW:HIGH"]),
    "ambiguous odds": (["--odds", "1:50"], ["1/50", "1/1:50/1"]),
    "odds of nothing": (["--odds", "0/0"], ["--odds", "1/50:1/10"]),
    "negative false alarms": (["--false-alarms-per-miss", "-3"], ["--false-alarms-per-miss", "10:50"]),
    "two ranges": (["--costs", "0.1:0.2", "--odds", "1/9:1/4"], ["--costs and --odds", "one of them"]),
    "unknown rule": (["--rule", "best"], ["--rule", "optimal", "'best'"]),
    "rule outside [0, 1]": (["--rule", "5"], ["--rule", "[0, 1]"]),
    "undefined scale": (["--weighting", "log-odds", "--scale", "regret"], ["--scale regret", "infinite"]),
    "unknown scale": (["--scale", "utility"], ["--scale", "regret"]),
    "prevalence of 1.2": (["--prevalence", "1.2"], ["--prevalence", "between 0 and 1", "'1.2'"]),
    "prevalence in words": (["--prevalence", "low"], ["--prevalence", "'low'"]),
    "confidence level in percent": (["--confidence-level", "95"], ["--confidence-level", "between 0 and 1"]),
    "nothing per decision": (["--per", "0"], ["--per", "> 0", "'0'"]),
    "more than squares can hold": (["--per", "1e150"], ["--unit-cost", "--per", "1e+140"]),
    "confidence level that rounds to 1": (["--confidence-level", "0.9999999999999999"], ["--confidence-level"]),
    "unit cost with a decimal comma": (["--unit-cost", "0,05"], ["--unit-cost got '0,05'", "as in 1,000"]),
    "number of models with a decimal comma": (["--n-tried", "1,5"], ["--n-tried got '1,5'", "as in 1,000"]),
    "unit cost in words": (["--unit-cost", "much"], ["--unit-cost", "> 0", "'much'"]),
    "unit cost of nothing": (["--unit-cost", "0"], ["--unit-cost", "> 0", "got 0", "leave it out"]),
    "unit cost below nothing": (["--unit-cost", "-500"], ["--unit-cost", "'-500'", "as 500"]),
    "harm of scores for one positive": (["--harm", "5"], ["--harm", "'5'", "write 0.2"]),
    "harm of one score for one positive": (["--harm", "1"], ["--harm", "below 1, got '1'", "none pays\n"]),
    "two harms of one model": (["--harm", "a=0.01,b=0.02,a=0.02"], ["--harm names 'a' more than once"]),
    "unit cost of a loss": (["--scale", "loss", "--unit-cost", "5"], ["--unit-cost", "--scale regret"]),
    "unknown way with missing values": (["--on-missing", "guess"], ["--on-missing", "drop"]),
    "unknown format": (["--format", "xlsx"], ["--format", "parquet"]),
    "empty name of a model": (["--models", "a,,b"], ["--models", "'a,,b'"]),
    "report of another kind": (["--report", "r.pdf"], ["--report", ".html", "'r.pdf'"]),
    "report in no folder": (["--report", "no/r.html"], ["--report", "no folder"]),
    "output of another kind": (["--output", "r.xlsx"], ["--output", ".json"]),
    "JSON in a text file": (["--output", "r.txt", "--json"], ["--json", ".json"]),
    "unknown option": (["--cost", "0.1:0.3"], ["--cost"]),
}


def assert_one_message(outcome, code, parts, folder):
    assert outcome.code == code, outcome.err
    assert outcome.out == ""
    errors = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, outcome.err
    assert [part for part in parts if part not in outcome.err] == [], outcome.err
    assert "Traceback" not in outcome.err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_is_one_message_and_exit_code_3(case, cli, folder, tmp_path):
    text, parts = BAD_DATA[case]
    file = tmp_path / "bad.csv"
    file.write_text(text, encoding="utf-8")
    wanted = ["--costs", "0.1:0.3", "--report", "r.html", "--output", "r.json"]
    outcome = cli("evaluate", file, "--label", "y", *wanted)
    assert_one_message(outcome, 3, ["bad.csv", *parts], folder)


@pytest.mark.parametrize(
    "command",
    [["evaluate"], ["evaluate", "--clusters", "c"], ["evaluate", "--rule", "optimal"], ["check"], ["compare"]],
    ids=" ".join,
)
@pytest.mark.parametrize(
    ("weight", "said"),
    [("1e61", "must have a largest value of each class within [1e-60, "), ("1e155", "must be 0 or lie in [1e-140, ")],
)
def test_weights_beyond_what_errors_can_hold_are_bad_data(command, weight, said, cli, tmp_path):
    file = tmp_path / "heavy.csv"
    rows = [f"{k % 2},0.{1 + k % 7},0.{1 + k % 5},{weight},{k // 2}\n" for k in range(40)]
    file.write_text(f"y,a,b,w,c\n{''.join(rows)}", encoding="utf-8")
    options = ["--label", "y", "--models", "a", "--models", "b", "--weight", "w", "--costs", "0.1:0.3"]
    outcome = cli(command[0], file, *command[1:], *options)
    assert outcome.code == 3, outcome.err
    parts = ["heavy.csv: column 'w'", said, "ivide all weights by a constant"]
    assert [part for part in parts if part not in outcome.err] == [], outcome.err


@pytest.mark.parametrize(
    ("file", "part"),
    [("nowhere.csv", "no such file"), (".", "folder"), ("no/where.parquet", "no such file")],
)
def test_file_that_cannot_be_read_is_bad_data(file, part, cli, folder):
    assert_one_message(cli("evaluate", file, "--label", "y", "--output", "r.json"), 3, [part], folder)


@pytest.mark.parametrize("case", BAD_REQUEST)
def test_bad_request_is_one_message_and_exit_code_2(case, cli, folder, tmp_path):
    options, parts = BAD_REQUEST[case]
    file = tmp_path / "good.csv"
    file.write_text(GOOD, encoding="utf-8")
    assert_one_message(cli("evaluate", file, "--label", "y", *options), 2, parts, folder)


@pytest.mark.parametrize("option", ["--clusters", "--weight", "--verified-by"])
def test_column_without_a_name_is_bad_data_where_there_is_none(option, cli, folder, tmp_path):
    file = tmp_path / "good.csv"
    file.write_text(GOOD, encoding="utf-8")
    assert_one_message(cli("evaluate", file, "--label", "y", "--costs", "0.2", option, ""), 3, ["column ''"], folder)


def test_bad_request_is_told_before_the_file_is_read(cli, folder):
    assert_one_message(cli("evaluate", "nowhere.csv", "--label", "y", "--costs", "0.3:0.1"), 2, ["low to high"], folder)


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        (["evaluate"], "FILE"),
        (["evaluate", "x.csv"], "--label"),
        (["evalate", "x.csv"], "'evalate'"),
        (["--colour"], "--colour"),
        (["evaluate", "x.csv", "--label"], "--label"),
        (["demo", "extra"], "extra"),
        (["demo", "--report", "r.pdf"], ".html"),
    ],
)
def test_incomplete_command_is_a_usage_error_with_the_way_to_help(argv, part, cli, folder):
    assert_one_message(cli(*argv), 2, [part], folder)


MEANT = {
    "--target": "; did you mean --label?",
    "--y-true": "; did you mean --label?",
    "--lable": "; did you mean --label?",
    "--threshold": "; did you mean --costs?",
    "--scores": "; did you mean --models?",
    "--sample-weight": "; did you mean --weight?",
    "--confidence_level": "; did you mean --confidence-level?",
    "--zzz": "",
}


@pytest.mark.parametrize("option", MEANT)
def test_unknown_option_is_met_with_the_one_that_is_meant(option, cli, folder):
    outcome = cli("evaluate", "x.csv", option, "0.1")
    assert_one_message(outcome, 2, ["Try 'stakes evaluate --help'."], folder)
    assert outcome.err.splitlines()[0] == f"error: No such option: {option}{MEANT[option]}"


@pytest.mark.parametrize("argv", [["evaluate", "x.csv", "--costs"], ["watch", "add", "x.csv", "--state"]])
def test_an_option_without_its_value_is_met_with_the_help_of_its_command(argv, cli, folder):
    command = " ".join(argv[:-2])
    expected = [f"Option '{argv[-1]}' requires an argument.", f"Try 'stakes {command} --help'."]
    assert_one_message(cli(*argv), 2, expected, folder)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["evaluate", "a.csv", "b.csv"],
            "stakes evaluate takes one FILE, got also 'b.csv': evaluate, check and compare take ",
        ),
        (
            ["compare", "a.pq", "b.pq", "c.pq", "--models", "a,b"],
            "stakes compare takes FILE [LATER.json], got also 'c.pq': evaluate, check and compare take several",
        ),
        (
            ["decide", "a.csv", "b.csv", "--models", "a"],
            "stakes decide takes one FILE, got also 'b.csv': evaluate, check and compare take",
        ),
        (["boundary", "apply", "b.json", "a.csv", "c.csv"], "apply takes BOUNDARY FILE, got also 'c.csv': evaluate"),
        (["plan", "auc", "b"], "stakes plan takes QUESTION, got also 'b'"),
        (["demo", "b"], "stakes demo takes options only, got also 'b'"),
    ],
)
def test_more_files_than_one_are_met_with_the_way_to_name_them(argv, message, cli, folder):
    outcome = cli(*argv)
    assert_one_message(outcome, 2, [message, f"Try 'stakes {argv[0]}"], folder)
    assert ("in quotes, such as 'day=*/*.parquet'; join other files first" in outcome.err) == ("FILE" in message)


ADDRESSES = [
    "s3://bucket/day.parquet",
    "s3://bucket/*.parquet",
    "https://host/p.csv",
    "gs://b/x.jsonl",
    "abfss://c@a/p",
]


@pytest.mark.parametrize("command", ["evaluate", "compare", "check", "decide", "correct", "update"])
def test_folder_is_met_with_the_way_to_name_its_files(command, cli, folder, tmp_path):
    asked = {"decide": ["--models", "a", "--measure", "f1"], "correct": ["--models", "a", "--positive-share", "0.5"]}
    asked["correct"] += ["--label", "y"]
    outcome = cli(command, tmp_path, *asked.get(command, ["--label", "y", "--models", "a,b"]))
    advice = "Name a file in it; evaluate, check and compare take its Parquet files by a pattern in quotes: "
    assert_one_message(outcome, 3, ["is a folder, not a file. ", advice, "/*.parquet'"], folder)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_address_is_met_with_the_way_to_bring_its_file(command, address, cli, folder):
    outcome = cli(command, address, "--label", "y", "--costs", "0.1:0.3")
    advice = "is an address, and only files of this machine are read: copy it here first, or pipe it into this command"
    assert_one_message(outcome, 3, [f"{address}: {advice} with - as its file"], folder)


def test_address_of_a_file_here_is_met_with_its_path(cli, folder):
    outcome = cli("evaluate", "file:///data/p.csv", "--label", "y", "--costs", "0.1:0.3")
    assert_one_message(outcome, 3, ["is an address: write the path alone, /data/p.csv"], folder)


def test_unknown_column_of_models_names_the_columns_there_are(cli, folder, tmp_path):
    file = tmp_path / "good.csv"
    file.write_text(GOOD, encoding="utf-8")
    outcome = cli("evaluate", file, "--label", "y", "--models", "a,c")
    assert_one_message(outcome, 3, ["column 'c'", "'y', 'a', 'b'"], folder)


def test_input_is_never_overwritten(cli, tmp_path):
    file = tmp_path / "good.csv"
    file.write_text(GOOD, encoding="utf-8")
    outcome = cli("evaluate", file, "--label", "y", "--output", tmp_path / "work" / ".." / "good.csv")
    assert (outcome.code, file.read_text(encoding="utf-8")) == (2, GOOD)
    assert "overwritten" in outcome.err

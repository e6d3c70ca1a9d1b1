"""Files appear complete or not at all."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from stakes.evaluation import Evaluation, _evaluation
from stakes.evaluation._checks import run_checks
from tests.cli.conftest import write_csv

pl = pytest.importorskip("polars")
Task = pytest.importorskip("stakes.cli.task").Task

RANGE = ["--label", "cancer", "--models", "sharp,blurred", "--costs", "0.05:0.3"]


@pytest.fixture
def plain_report(monkeypatch):
    """Stand in for the report, which has tests of its own."""
    monkeypatch.setattr(Evaluation, "to_html", lambda _, path: Path(path).write_text("<html></html>", encoding="utf-8"))


@pytest.mark.parametrize("name", ["r.json", "r.csv", "r.md", "r.txt", "R.JSON"])
def test_output_is_written_in_the_format_of_its_name(name, data, cli, folder):
    outcome = cli("evaluate", data, *RANGE, "--output", name)
    assert (outcome.code, outcome.out) == (0, ""), outcome.err
    assert "result written to" in outcome.err
    assert [path.name for path in folder.iterdir()] == [name]
    text = (folder / name).read_text(encoding="utf-8")
    if name.lower() == "r.json":
        assert text == cli("evaluate", data, *RANGE, "--json").out
    elif name == "r.csv":
        assert pl.read_csv(folder / name)["model"].to_list() == ["sharp", "blurred", "treat all", "treat none"]
    elif name == "r.md":
        assert "| per 1,000 decisions |" in text
    else:
        assert "treat no one" in text
        assert "\x1b" not in text


ASKED = {"--groups": ["--groups", "side"], "--calibration": ["--calibration"], "--details": ["--details"]}
ASKED |= {"--deferral": ["--deferral", "0.05"], "--more-rows": ["--more-rows", "300"]}
ALL = [word for words in ASKED.values() for word in words]


@pytest.fixture
def sided(tmp_path, columns):
    """Return a file of predictions with groups, of which one has a name that Markdown would read."""
    rows = len(columns["cancer"])
    return write_csv(tmp_path / "sided.csv", {**columns, "side": ["left*", "right"] * (rows // 2)})


def numbers(text):
    return set(re.findall(r"\d[\d.,]*\d%?", text))


@pytest.mark.parametrize("options", [*ASKED.values(), ALL])
def test_markdown_holds_every_number_of_the_text(options, sided, cli, folder):
    for name in ("r.txt", "r.md"):
        assert cli("evaluate", sided, *RANGE, *options, "-o", name).code == 0
    text, markdown = ((folder / name).read_text(encoding="utf-8") for name in ("r.txt", "r.md"))
    assert numbers(text) <= numbers(markdown)
    assert all(line.count(" | ") == line.count("|") - 2 for line in markdown.splitlines() if line.startswith("|"))
    assert ("left\\*" in markdown) == ("--groups" in options)
    assert "More:" not in markdown


def test_a_text_holds_names_as_they_are(tmp_path, cli, folder, columns):
    data = write_csv(tmp_path / "named.csv", {"cancer": columns["cancer"], "[bold]a": columns["sharp"]})
    assert (
        cli("evaluate", data, "--label", "cancer", "--models", "[bold]a", "--costs", "0.05:0.3", "-o", "r.txt").code
        == 0
    )
    assert "[bold]a" in (folder / "r.txt").read_text(encoding="utf-8")


def test_each_line_of_a_text_is_a_paragraph_of_markdown(tmp_path, cli, folder):
    risk = [(number + 0.5) / 200 for number in range(200)]
    outcome, amount = [int(number * 7 % 20 < each * 20) for number, each in enumerate(risk)], [1] * 196 + [900] * 4
    data = write_csv(tmp_path / "amounts.csv", {"y": outcome, "risk": risk, "amount": amount})
    costs = ["--false-positive-cost", "5", "--false-negative-cost", "amount", "--unit", "EUR"]
    for name in ("r.txt", "r.md"):
        assert cli("evaluate", data, "--label", "y", "--models", "risk", *costs, "-o", name).code == 0
    text, markdown = ((folder / name).read_text(encoding="utf-8") for name in ("r.txt", "r.md"))
    assert "\\n" not in markdown
    begun = [line[:60] for line in text.splitlines() if line.startswith(("cost: ", "risk, "))]
    assert len(begun) == 3
    assert [each[:60] for each in markdown.split("\n\n") if each.startswith(("cost: ", "risk, "))] == begun


def test_a_table_says_what_it_leaves_out(sided, cli):
    for option, typed in ASKED.items():
        said = cli("evaluate", sided, *RANGE, *typed, "-o", "r.csv").err
        assert f"note: .csv is one table of models, without all that {option} adds: .txt and .md hold it" in said
        for name in ("r.md", "r.txt", "r.json"):
            assert "without all that" not in cli("evaluate", sided, *RANGE, *typed, "-o", name).err
    assert "without all" not in cli("evaluate", sided, *RANGE, "-o", "r.csv").err
    said = cli("evaluate", sided, *RANGE, *ALL, "-o", "r.csv").err
    assert "--groups, --calibration, --details, --deferral and --more-rows add: .txt" in said


@pytest.mark.usefixtures("plain_report")
@pytest.mark.parametrize(
    ("typed", "advised"),
    [
        ([], ["--details", "--report"]),
        (["--details"], ["--report"]),
        (["--report", "r.html"], ["--details"]),
        (["--details", "--report", "r.html"], []),
    ],
)
def test_what_was_asked_for_is_not_advised(typed, advised, data, cli):
    (more,) = re.findall(r"More: (.*)", cli("evaluate", data, *RANGE, *typed).out)
    assert [each.split()[0] for each in more.split(", ")] == [*advised, "stakes"]


@pytest.mark.usefixtures("plain_report")
def test_report_and_output_replace_older_files(data, cli, folder):
    for name in ("r.html", "r.json"):
        (folder / name).write_text("old", encoding="utf-8")
    outcome = cli("evaluate", data, *RANGE, "--report", "r.html", "--output", "r.json")
    assert outcome.code == 0, outcome.err
    assert (folder / "r.html").read_text(encoding="utf-8") == "<html></html>"
    assert json.loads((folder / "r.json").read_text(encoding="utf-8"))["models"]
    assert sorted(path.name for path in folder.iterdir()) == ["r.html", "r.json"]


def test_the_page_and_the_terminal_share_one_answer(data, cli, folder, monkeypatch):
    looked = []
    monkeypatch.setattr(_evaluation, "run_checks", lambda *asked: looked.append(asked) or run_checks(*asked))
    outcome = cli("evaluate", data, *RANGE, "--report", "r.html")
    assert outcome.code == 0, outcome.err
    assert len(looked) == 1
    assert "2 models" in outcome.out
    assert (folder / "r.html").stat().st_size > 100_000


def test_link_to_a_file_stays_a_link(data, cli, folder, tmp_path):
    (tmp_path / "real.json").write_text("old", encoding="utf-8")
    (folder / "r.json").symlink_to(tmp_path / "real.json")
    assert cli("evaluate", data, *RANGE, "--output", "r.json").code == 0
    assert (folder / "r.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text(encoding="utf-8"))["models"]


@pytest.mark.parametrize(
    "failure",
    [
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (KeyError("score"), 1, "--debug"),
        (MemoryError(), 1, "memory"),
        (ImportError("the report needs more: pip install 'stakes[more]'"), 1, "stakes[more]"),
    ],
)
@pytest.mark.parametrize("before", [None, "old"])
@pytest.mark.usefixtures("plain_report")
def test_failure_while_writing_leaves_the_folder_as_it_was(failure, before, data, cli, monkeypatch):
    error, code, part = failure
    folder = Path.cwd()

    def fail(_, path):
        Path(path).write_text("<html>", encoding="utf-8")
        raise error

    if before is not None:
        (folder / "r.html").write_text(before, encoding="utf-8")
    monkeypatch.setattr(Evaluation, "to_html", fail)
    outcome = cli("evaluate", data, *RANGE, "--report", "r.html", "--output", "r.json")
    assert (outcome.code, outcome.out) == (code, "")
    assert part in outcome.err
    assert "Traceback" not in outcome.err
    left = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert left == ({} if before is None else {"r.html": "old"})


def test_folder_is_no_target(data, cli, folder):
    (folder / "r.json").mkdir()
    outcome = cli("evaluate", data, *RANGE, "--output", "r.json")
    assert outcome.code == 2
    assert "folder" in outcome.err


ONE_FILE = {  # by what names one file twice: a command line
    "FILE and --output": "evaluate ONE.csv --label y -o ONE.csv",
    "FILE and --keep": "evaluate ONE.json --label y --keep ONE.json",
    "--cost-matrix and --output": "evaluate p.csv --label y --classes a,b --cost-matrix C.csv "
    "--cost-matrix ONE.csv -o ONE.csv",
    "--keep and --output": "evaluate p.csv --label y --keep ONE.json -o ONE.json",
    "--output and --config": "evaluate p.csv --label y --config ONE.json -o ONE.json",
    "--against and --output": "check p.csv --label y --against ONE.json -o ONE.json",
    "LATER.json and --output": "compare day.json ONE.json -o ONE.json",
    "RULE.json and --output": "export ONE.json --to json -o ONE.json",
    "FILE and --save": "update ONE.json --label y --save ONE.json",
    "BOUNDARY and --output": "boundary apply ONE.csv p.csv -o ONE.csv",
    "BOUNDARY and --state": "boundary monitor ONE.json p.csv --min-precision 0.9 --state ONE.json",
    "--state and --output": "watch add p.csv --state ONE.json -o ONE.json",
    "FILE and --state": "watch add p.csv ONE.json --state ONE.json",
    "KEPT.json and --state": "watch start ONE.json --label y --state ONE.json",
    "KEPT.json and --output": "watch plan ONE.json --rows-per-day 200 -o ONE.json",
}


@pytest.mark.parametrize("both", ONE_FILE)
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_read_or_written_besides_is_overwritten_by_nothing(both, linked, cli, folder):
    words = ONE_FILE[both].split()
    first, second = [at for at, word in enumerate(words) if word.startswith("ONE")]
    words[first] = words[first].replace("ONE", "one")
    words[second] = words[second].replace("ONE", "two" if linked else "./one")
    (folder / words[first]).write_text("# as it was", encoding="utf-8")
    if linked:
        (folder / words[second]).symlink_to(folder / words[first])
    before = sorted(folder.iterdir())
    outcome = cli(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{both} name one file" in " ".join(outcome.err.split())
    assert sorted(folder.iterdir()) == before
    assert (folder / words[first]).read_text(encoding="utf-8") == "# as it was"


def test_file_of_options_that_the_environment_names_is_not_overwritten(data, cli, folder, monkeypatch):
    (folder / "options.json").write_text("[evaluate]\n", encoding="utf-8")
    monkeypatch.setenv("STAKES_CONFIG", "options.json")
    outcome = cli("evaluate", data, *RANGE, "-o", "options.json")
    assert (outcome.code, (folder / "options.json").read_text(encoding="utf-8")) == (2, "[evaluate]\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full.")
def test_full_disk_behind_stdout_is_one_message_and_no_report(data, folder, forker):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        run = forker.run("evaluate", data, *RANGE, "--report", "r.html", stdout=full)
    assert run.returncode == 1
    assert run.stderr.startswith(b"error: No space left on device")
    assert len(run.stderr.splitlines()) == 2
    assert list(folder.iterdir()) == []


# Whoever runs the tests may ignore signals (nohup, a job in the background), and children inherit that.
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "[signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)]; "
    "from stakes.cli import main; sys.exit(main())"
)


def end_while_writing(arguments, ending, folder, forker):
    """Start the program, send it a signal as soon as it writes, and return its exit code and what it said."""
    program = forker.start(*arguments, code=PROGRAM)
    while not program.ended() and not any(folder.iterdir()):
        time.sleep(0.001)
    if not program.ended():
        os.kill(program.pid, getattr(signal, ending))
    done = program.finish()
    return done.returncode, done.stderr.decode()


CORRECT, DECIDE = ["correct", "--scale-pos-weight", "3"], ["decide", "--measure", "accuracy"]


@pytest.fixture
def ended(forker, folder):
    """Return a function that ends a program as soon as it writes: its exit code and what it said."""
    return lambda arguments, ending: end_while_writing(arguments, ending, folder, forker)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a file that takes a moment to write again."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    row = pl.DataFrame({"name": ["x" * 40], "risk": [0.25]})
    pl.concat([row] * 600_000, rechunk=True).write_csv(path)
    return path


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals.")
@pytest.mark.parametrize(
    ("command", "ending", "code"),
    [
        (CORRECT, "SIGINT", 130),
        (DECIDE, "SIGTERM", 143),
        pytest.param(CORRECT, "SIGTERM", 143, marks=pytest.mark.thorough),
        (CORRECT, "SIGHUP", 129),
        pytest.param(DECIDE, "SIGINT", 130, marks=pytest.mark.thorough),
        pytest.param(DECIDE, "SIGHUP", 129, marks=pytest.mark.thorough),
    ],
)
def test_signal_while_a_file_is_being_written_leaves_nothing(ending, code, command, large, ended):
    name, *options = command
    found = ended([name, large, "--models", "risk", *options, "-o", "out.csv"], ending)
    said = "interrupted" if ending == "SIGINT" else f"ended by {ending}"
    assert found == (code, f"{said}\n")
    assert list(Path.cwd().iterdir()) == []


@pytest.fixture
def handler():
    """Return a function that sets the handler of SIGTERM, which is put back in the end."""
    before = signal.getsignal(signal.SIGTERM)
    yield lambda new: signal.signal(signal.SIGTERM, new)
    signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals.")
def test_signal_that_was_to_be_ignored_still_is(data, cli, folder, handler, monkeypatch):
    handler(signal.SIG_IGN)
    evaluate = Task.evaluate

    def terminated(task, predictions):
        os.kill(os.getpid(), signal.SIGTERM)
        return evaluate(task, predictions)

    monkeypatch.setattr(Task, "evaluate", terminated)
    assert cli("evaluate", data, *RANGE, "--output", "r.json").code == 0
    assert [path.name for path in folder.iterdir()] == ["r.json"]


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals.")
def test_handlers_of_the_caller_are_left_as_they_were(data, cli, handler):
    for kept in (signal.SIG_DFL, signal.SIG_IGN):
        handler(kept)
        assert cli("evaluate", data, *RANGE).code == 0
        assert signal.getsignal(signal.SIGTERM) == kept


@pytest.mark.parametrize("command", [["correct", "--scale-pos-weight", "3"], ["decide", "--measure", "f1"]])
def test_rows_for_standard_output_leave_nothing_behind(command, data, cli, tmp_path, monkeypatch):
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    name, *options = command
    typed = [name, data, "--models", "sharp", *options]
    piped = cli(*typed, "-o", "-")
    assert list((tmp_path / "scratch").iterdir()) == []
    assert piped.code == 0, piped.err
    assert cli(*typed, "-o", "out.csv").code == 0
    assert piped.out == Path("out.csv").read_text(encoding="utf-8")
    assert cli(*typed, "-o", "-", "--json").code == 2


@pytest.mark.parametrize(
    ("closed", "output"),
    [
        (["stdout"], []),
        (["stdout"], ["r.json"]),
        (["stderr"], ["r.json"]),
        (["stdin", "stdout", "stderr"], ["r.json"]),
    ],
)
def test_closed_streams_cost_only_what_was_for_them(closed, output, data, cli, monkeypatch):
    for name in closed:  # as Python has them when the program is started with `>&-`
        monkeypatch.setattr(sys, name, None)
    outcome = cli("evaluate", data, *RANGE, *(["-o", *output] if output else []))
    assert outcome.code == (0 if output else 1)
    assert [path.name for path in Path.cwd().iterdir()] == output
    assert ("error: standard output is closed" in outcome.err) == (not output)
    assert outcome.out == ""


def test_closed_standard_input_is_an_empty_file(cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    outcome = cli("evaluate", "-", *RANGE)
    assert (outcome.code, outcome.err) == (3, "error: standard input: the file is empty\n")


@pytest.mark.parametrize("command", [["boundary", "apply"], ["boundary", "monitor", "--min-precision", "0.9"]])
def test_name_of_a_boundary_that_no_file_can_have_is_bad_data(command, data, cli, folder):
    (folder / "loop").symlink_to("loop")
    for name in ("b\0.json", "loop"):
        out = ["-o", "out.csv"] if command[1] == "apply" else ["--label", "cancer", "-o", "out.json"]
        outcome = cli(*command[:2], name, data, *command[2:], "--score", "sharp", "--uncertainty", "blurred", *out)
        assert outcome.code == 3, outcome.err


def test_name_that_a_spreadsheet_would_run_is_warned_of_in_csv_only(data, cli, folder):
    text = data.read_text(encoding="utf-8").replace("sharp", "=1+cmd", 1)
    (folder / "in.csv").write_text(text, encoding="utf-8")
    asked = ["evaluate", "in.csv", "--label", "cancer", "--models", "=1+cmd", "--costs", "0.05:0.3"]
    assert "runs what begins like '=1+cmd' as a formula" in cli(*asked, "-o", "r.csv").err
    assert "formula" not in cli(*asked, "-o", "r.json").err
    assert "formula" not in cli("evaluate", data, *RANGE, "-o", "s.csv").err


@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_output_to_standard_output_is_no_file(command, data, cli, folder):
    assert cli(command, data, *RANGE, "-o", "-").out == cli(command, data, *RANGE).out != ""
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals.")
def test_interruption_leaves_nothing_and_exits_with_130(folder):
    command = [sys.executable, "-c", PROGRAM, "evaluate", "-", *RANGE, "--output", "r.json"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"cancer,sharp,blurred\n" + b"0,0.5,0.5\n" * 50_000)  # more than a pipe holds: it is reading
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.decode()) == (130, "interrupted\n")
    assert list(folder.iterdir()) == []


def test_limit_of_what_a_file_unpacks_to_is_lifted_for_one_run_and_only_by_what_is_typed(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("stakes.tables._text_files._MOST_UNPACKED", 1000)
    monkeypatch.setattr("stakes.tables._text_files._MOST_TIMES", 1)
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"cancer,p\n" + b"0,0.1\n1,0.8\n" * 1000))
    command = ["check", path, "--label", "cancer", "--costs", "0.1:0.3"]
    limited = cli(*command)
    assert (limited.code, limited.out) == (3, "")
    assert "unpacks to more than 1 times its size and 0 MiB. To read it all the same: --any-size" in limited.err
    assert cli(*command, "--any-size").code == 0
    assert cli(*command).code == 3
    config = tmp_path / "stakes.toml"
    config.write_text("[check]\nany-size = true\n", encoding="utf-8")
    outcome = cli(*command, "--config", config)
    assert (outcome.code, "[check] any-size belongs on the command line" in outcome.err) == (2, True)

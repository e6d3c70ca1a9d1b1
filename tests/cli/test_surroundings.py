"""The command in surroundings that its makers do not have: no home, another alphabet, names of files with anything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pytest.importorskip("rich")

ASKED = ["--label", "krank", "--costs", "0.05:0.3"]
NAMED = ["a b.csv", 'it\'s "said".csv', "line\nbreak.csv", "-dash.csv", "üß→.csv", os.fsdecode(b"not\xffutf-8.csv")]
pytestmark = pytest.mark.thorough


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(3)
    risk = rng.beta(1, 4, 300)
    columns = {"krank": (rng.random(300) < risk).astype(int), "modèle «ß»": risk}
    pl.DataFrame(columns).write_csv(tmp_path / "rows.csv")
    return tmp_path / "rows.csv"


def run(arguments, folder, environment):
    command = [sys.executable, "-m", "stakes", "evaluate", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=120)


def numbers(folder):
    return json.loads((folder / "r.json").read_text(encoding="utf-8"))["models"]


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"HOME": "/nowhere/at/all", "XDG_CONFIG_HOME": "/nowhere", "TERM": "dumb", "COLUMNS": "no"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii:strict"},
        {"LC_ALL": "tr_TR.ISO-8859-9", "PYTHONUTF8": "0", "PYTHONIOENCODING": "iso8859-9"},
        {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "TZ": "Pacific/Kiritimati"},
    ],
    ids=["nothing", "no home", "ascii", "turkish", "german"],
)
def test_answer_does_not_depend_on_home_or_locale(rows, environment, tmp_path):
    arguments = [str(rows), *ASKED, "-o", "r.json", "--report", "r.html"]
    answers = []
    for name, given in (("here", dict(os.environ)), ("there", environment)):
        folder = tmp_path / name
        folder.mkdir()
        done = run(arguments, folder, given)
        assert (done.returncode, done.stdout) == (0, b""), done.stderr
        assert "modèle «ß»" in (folder / "r.html").read_text(encoding="utf-8")
        answers.append(numbers(folder))
    assert answers[0] == answers[1]
    assert run([str(rows), *ASKED], tmp_path, environment).returncode == 0  # the table, in letters that there are


@pytest.mark.parametrize("name", NAMED, ids=ascii)
def test_name_of_a_file_may_hold_anything(rows, name, tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    try:
        (folder / name).write_bytes(rows.read_bytes())
    except OSError:
        pytest.skip("the file system takes no such name.")
    page = name.replace(".csv", ".html")
    done = run([f"./{name}", *ASKED, "-o", "r.json", f"--report=./{page}"], folder, dict(os.environ))
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    assert sorted(path.name for path in folder.iterdir()) == sorted([name, page, "r.json"])
    assert numbers(folder)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a file system that takes no files.")
def test_folder_that_takes_no_files_is_named_and_nothing_else_is_written(rows, tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    done = run([str(rows), *ASKED, "-o", "r.json", "--report", "/proc/r.html"], folder, dict(os.environ))
    assert done.returncode in (1, 2), done.stderr
    assert b"/proc" in done.stderr
    assert b"a bug" not in done.stderr
    assert list(folder.iterdir()) == []

"""Everything is run one after the other, goes on where it stopped, and says what failed."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks, _all as sizes_of_benchmarks
from replications import __main__ as replications, _all as sizes_of_replications
from tools import every, record

ROOT = Path(__file__).resolve().parents[1]
PART = """
import pathlib, sys
with open("calls.txt", "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
print("| a table |")
if "--bad" in sys.argv and not pathlib.Path("mended").exists():
    sys.exit("this went wrong")
"""
STEPS = {"good": ["good", "--size", "3"], "second": ["module", "--bad"], "last": ["last"]}


@pytest.fixture
def parts(tmp_path, monkeypatch):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__main__.py").write_text(PART)
    monkeypatch.setattr(every, "ROOT", tmp_path)
    return tmp_path


def run(parts, **options):
    return every.run_every("parts", STEPS, parts / "kept", {"versions": "numpy 7"}, **options)


def test_what_fails_is_named_the_rest_goes_on_and_only_it_runs_again(parts, capsys):
    assert run(parts) == {"second": "failed (1): this went wrong"}
    whole = (parts / "kept" / "all.md").read_text()
    assert whole.startswith("2 of 3 parts are finished.\n- second: failed (1): this went wrong\n\n## good\n\n")
    assert not (parts / "kept" / "second.md").exists()
    told = capsys.readouterr().err
    assert "2 of 3: python -m parts module --bad\n" in told
    assert "left: last" in told
    (parts / "mended").touch()
    assert run(parts) == {}
    assert (parts / "calls.txt").read_text() == "good --size 3\nmodule --bad\nlast\nmodule --bad\n"
    page = (parts / "kept" / "second.md").read_text()
    assert page.startswith("## second\n\n`python -m parts module --bad`\n\n- made: 20")
    assert "- versions: numpy 7\n- CPU seconds: " in page
    assert page.endswith("\n\n| a table |\n")
    assert (parts / "kept" / "all.md").read_text().startswith("3 of 3 parts are finished.\n\n## good\n")
    assert sorted(path.suffix for path in (parts / "kept").iterdir()) == [".md"] * 4


def test_parts_side_by_side_wait_for_none_and_each_has_its_own_time(parts, capsys):
    meet = """
import os, pathlib, sys, time
mine, other = sys.argv[1:3]
pathlib.Path(mine).touch()
end = time.monotonic() + 60
while not pathlib.Path(other).exists() and time.monotonic() < end:
    time.sleep(0.01)
busy = time.process_time() + float(sys.argv[3])
while time.process_time() < busy:
    pass
print(pathlib.Path(other).exists(), os.environ["OMP_NUM_THREADS"])
"""
    (parts / "parts" / "__main__.py").write_text(meet)
    steps = {"idle": ["a", "b", "0"], "busy": ["b", "a", "1.6"]}
    kept = parts / "kept"
    assert every.run_every("parts", steps, kept, {}, first=("gone", "busy"), jobs=2) == {}
    assert capsys.readouterr().err.splitlines()[0].endswith("to do: busy, idle")
    told = {name: (kept / f"{name}.md").read_text() for name in steps}
    assert all("\n\nTrue " in text for text in told.values())
    spent = {name: int(text.split("CPU seconds: ")[1].split()[0]) for name, text in told.items()}
    assert spent["busy"] - spent["idle"] >= 1
    assert list(steps) == [line[3:] for line in (kept / "all.md").read_text().splitlines() if line.startswith("## ")]


@pytest.mark.parametrize(
    ("sizes", "names", "as_they_are"),
    [
        (sizes_of_replications, list(replications.NAMES), {"grid_search", "published", "risk_curves"}),
        (sizes_of_benchmarks, benchmarks.suite_names(), set()),
    ],
    ids=["replications", "benchmarks"],
)
def test_every_part_has_a_tiny_size(sizes, names, as_they_are):
    whole, quick = (sizes.steps(names, quick=quick) for quick in (False, True))
    assert set(names) <= set(whole) == set(quick)
    assert set(getattr(sizes, "LONGEST", ())) <= set(whole)
    assert {name for name in whole if whole[name] == quick[name]} == as_they_are
    for name, arguments in quick.items():
        assert arguments[: len(whole[name])] == whole[name]
        assert arguments[0] in names


@pytest.mark.thorough
@pytest.mark.parametrize(("package", "part"), [("replications", "assel"), ("benchmarks", "correction")])
def test_one_command_runs_a_part_in_a_tiny_size(package, part, tmp_path):
    command = [sys.executable, "-m", package, "all", "--quick", "--only", part, "--folder", str(tmp_path)]
    for count in (0, 1):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stderr.startswith(f"{count} of 1 are finished in ")
    page = (tmp_path / "quick" / "all.md").read_text()
    assert "- versions: numpy " in page
    assert page.count("\n| ") > 3


@pytest.fixture
def kept(parts):
    (parts / "mended").touch()
    assert run(parts) == {}
    kept = parts / "kept"
    last = kept / "last.md"
    last.write_text(last.read_text() + f"\n# Inner\n\nleft in {kept}/x.csv\n")
    return kept


def test_record_holds_every_part_without_the_folder_or_nothing_at_all(kept, tmp_path):
    docs = tmp_path / "docs"
    more = record.Page("benchmarks", "Speed", "Beside others.", [*STEPS, "more"])
    command = [str(kept), "--docs", str(docs)]
    with pytest.raises(SystemExit, match="kept lacks more: run `python -m benchmarks all` to its end"):
        record.write_whole(more, record.parse("benchmarks", command))
    assert not docs.exists()
    record.write_whole(more, record.parse("benchmarks", [*command, "--partial"]))
    assert "\n\n**Not run to the end yet: more.**\n\n## good\n" in (docs / "benchmarks.md").read_text()
    record.write_whole(replace(more, names=list(STEPS)), record.parse("benchmarks", command))
    page = (docs / "benchmarks.md").read_text()
    headings = [line for line in page.splitlines() if line.startswith("#")]
    assert headings[1:] == ["## good", "## second", "## last", "### Inner"]
    assert page.count("numpy 7") == 1
    assert "left in FOLDER/x.csv" in page


def test_replications_have_a_page_each_with_their_pictures(kept, tmp_path):
    docs = tmp_path / "docs"
    page = record.Page("replications", "All", "As printed.", list(STEPS), pictures={"second": "of_*.png"})
    (kept / "of_it.png").write_bytes(b"drawn")
    (docs / "replications").mkdir(parents=True)
    (docs / "replications" / "gone.md").touch()
    record.write_apart(page, record.parse("replications", [str(kept), "--docs", str(docs)]))
    listing = (docs / "replications.md").read_text()
    assert re.findall(r"\n\| \[(\w+)\]\(replications/\1\.md\) \|  \| 20.* UTC \| \d+ \|", listing) == list(STEPS)
    assert listing.endswith("\n\nreplications/good\nreplications/second\nreplications/last\n```\n")
    pages = {path.stem: path.read_text() for path in (docs / "replications").glob("*.md")}
    assert set(pages) == set(STEPS)
    assert (docs / "replications" / "of_it.png").read_bytes() == b"drawn"
    assert pages["second"].endswith("\n\n![Of it](of_it.png)\n")
    headings = [line for line in pages["last"].splitlines() if line.startswith("#")]
    assert headings == ["# last", "## Inner"]
    assert "left in FOLDER/x.csv" in pages["last"]
    assert [text.count("numpy 7") for text in (listing, *pages.values())] == [1, 0, 0, 0]

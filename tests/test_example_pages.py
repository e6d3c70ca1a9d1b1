"""The pages on real data print what they show, and no number of their text is without its line of code."""

import doctest
import re
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[1] / "docs" / "examples"
# the folder that holds the file each page reads
DATA = {"election_forecasts": "fivethirtyeight", "sports_games": "fivethirtyeight", "solar_flares": "solar_flares_c1"}
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# whole or decimal, on its own: not the 21 of CA-21, nor the 1.0 of C1.0
NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?!\w)")


def page(name):
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def test_every_page_is_tested_and_listed_in_the_index():
    names = {path.stem for path in PAGES.glob("*.md")} - {"README"}
    assert names == set(DATA)
    assert set(re.findall(r"^- \[.+?\]\((\w+)\.md\)", page("README"), re.MULTILINE)) == names


@pytest.mark.thorough
@pytest.mark.parametrize("name", DATA)
def test_code_of_a_page_prints_what_it_shows(name, reference_dir, monkeypatch, capsys):
    pytest.importorskip("pandas")
    text = page(name)
    if ".plot()" in text:
        pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(reference_dir / "data" / DATA[name])
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    namespace = {}
    for number, block in enumerate(BLOCK.findall(text)):
        example = doctest.DocTestParser().get_doctest(block, namespace, f"block {number}", name, 0)
        runner.run(example, clear_globs=False)
        namespace = example.globs
    assert runner.failures == 0, capsys.readouterr().out
    assert runner.tries > 10


@pytest.mark.parametrize("name", DATA)
def test_numbers_in_the_text_of_a_page_stand_in_its_code_or_output(name):
    text = page(name).split("\n## Source\n")[0]
    shown = set(re.findall(r"\d+(?:\.\d+)?", "\n".join(BLOCK.findall(text))))
    prose = NUMBER.findall(BLOCK.sub("", text))
    assert len(prose) > 10
    assert sorted(set(prose) - shown) == []


@pytest.mark.parametrize("name", DATA)
def test_page_names_source_and_licence(name):
    source = page(name).split("\n## Source\n")[1]
    assert "https://github.com/" in source
    assert "https://creativecommons.org/" in source

"""The README's commands and examples are true."""

import doctest
import re
from pathlib import Path
from runpy import run_path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def fenced_blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_two_set_up_commands_each_complete_on_a_fresh_machine():
    commands = re.findall(r"^<!-- ci:(\w+) -->\n```console\n(.*)\n```$", TEXT, re.MULTILINE)
    assert [name for name, _ in commands] == ["demo", "test"]
    for _, command in commands:
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert commands[0][1].endswith(" && .venv/bin/stakes demo")
    assert commands[1][1].endswith(" && .venv/bin/python -m pytest")


def test_python_examples_print_what_they_show():
    pytest.importorskip("pandas")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    namespace = {}
    for number, block in enumerate(fenced_blocks("python")):
        example = doctest.DocTestParser().get_doctest(block, namespace, f"block {number}", str(README), 0)
        runner.run(example, clear_globs=False)
        namespace = example.globs
    assert runner.summarize(verbose=False).failed == 0


def test_caption_of_the_picture_says_what_the_example_gives():
    from stakes import compare
    from stakes.correction import undo_class_weight

    pandas = pytest.importorskip("pandas")
    data = pandas.read_csv(ROOT / "src" / "stakes" / "data" / "german_credit.csv")
    found = compare(data["bad"], data["forest"], data["logistic"], costs=(0.10, 0.25))
    difference, low, high = (f"{1000 * value:.1f}" for value in (found.difference, *found.interval))
    caption = f"is {difference} higher for the forest than for the logistic model (95% interval {low} to {high})"
    for page in (README, ROOT / "docs" / "index.md"):
        assert caption in " ".join(page.read_text(encoding="utf-8").split()), page.name
    corrected = undo_class_weight(data["forest"], class_weight={0: 3, 1: 7})
    assert not compare(data["bad"], corrected, data["logistic"], costs=(0.10, 0.25)).significant


def test_picture_draws_the_costs_that_its_title_speaks_of():
    pytest.importorskip("pandas")
    plt = pytest.importorskip("matplotlib.pyplot")
    front = run_path(str(ROOT / "docs" / "front.py"))
    figure, ax = plt.subplots()
    front["draw"](ax)
    names = [text.get_text().split("\n") for text in ax.texts]
    costs = {name: float(line.rsplit(" ", 1)[1]) for name, line in (each for each in names if "costs" in each[-1])}
    aucs = {name: float(line.split()[1].rstrip(",")) for name, line in (each for each in names if "costs" in each[-1])}
    assert max(aucs.values()) == aucs["forest"]
    assert max(costs, key=costs.get) == "forest"
    assert min(costs, key=costs.get) == "forest, class weights undone"
    plt.close(figure)

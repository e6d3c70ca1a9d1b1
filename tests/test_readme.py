"""The README's commands and examples are true."""

import doctest
import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
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
    for library in ("pandas", "polars", "matplotlib"):
        pytest.importorskip(library)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    namespace = {}
    for number, block in enumerate(fenced_blocks("python")):
        example = doctest.DocTestParser().get_doctest(block, namespace, f"block {number}", str(README), 0)
        runner.run(example, clear_globs=False)
        namespace = example.globs
    assert runner.summarize(verbose=False).failed == 0

"""The transcripts in the documentation show what the commands print today."""

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

for library in ("pty", "polars", "rich", "click"):
    pytest.importorskip(library)

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "transcripts"


def load():
    spec = spec_from_file_location("transcripts_make", FOLDER / "make.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = load()
BLOCKS = [block for page in make.PAGES for block in make.blocks(page.read_text(encoding="utf-8"))]
COMMANDS = ["demo", "evaluate", "compare", "check", "advise", "correct", "update", "decide", "plan"]
COMMANDS += [f"boundary {command}" for command in ("fit", "certify", "apply", "monitor")]


@pytest.fixture(scope="module")
def replay():
    """Return a function that replays a block in a process of its own, which loads the program once for all."""
    command = [sys.executable, make.__file__, "--blocks"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as player:

        def replayed(block):
            player.stdin.write(json.dumps(block) + "\n")
            player.stdin.flush()
            return json.loads(player.stdout.readline())

        yield replayed


@pytest.mark.parametrize(
    "number", [0, *(pytest.param(number, marks=pytest.mark.thorough) for number in range(1, len(BLOCKS)))]
)
def test_transcript_is_what_the_commands_print_today(number, replay):
    assert replay(BLOCKS[number]) == BLOCKS[number], "run python docs/transcripts/make.py"


def test_a_command_that_prints_something_else_is_seen(replay):
    block = "$ stakes --version\nstakes 0.0\n"
    assert replay(block).startswith("$ stakes --version\nstakes ")
    assert replay(block) != block


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_shown_and_fails_in_some_way_where_it_can(command):
    shown = [block for block in BLOCKS if f"$ stakes {command}" in block]
    assert shown
    assert command == "demo" or any("error: " in block for block in shown)


def test_lines_fit_the_terminal():
    lines = [line for block in BLOCKS for line in block.splitlines() if not line.startswith(("$ ", "> "))]
    too_long = [line for line in lines if len(line) > 80]
    assert too_long == [line for line in too_long if line.startswith("  stakes evaluate")]  # made to be copied

"""The transcripts in the documentation show what the commands print today."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

for library in ("pty", "polars", "rich", "typer"):
    pytest.importorskip(library)

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "transcripts"


def load():
    spec = spec_from_file_location("transcripts_make", FOLDER / "make.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = load()
BLOCKS = [block for page in make.PAGES for block in make.blocks(page.read_text(encoding="utf-8"))]
COMMANDS = ["demo", "evaluate", "compare", "check", "advise", "correct", "decide", "plan"]
COMMANDS += [f"boundary {command}" for command in ("fit", "certify", "apply", "monitor")]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of forkpty:DeprecationWarning")
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_transcript_is_what_the_commands_print_today(number):
    assert make.replay(BLOCKS[number]) == BLOCKS[number], "run python docs/transcripts/make.py"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_shown_and_fails_in_some_way_where_it_can(command):
    shown = [block for block in BLOCKS if f"$ stakes {command}" in block]
    assert shown
    assert command == "demo" or any("error: " in block for block in shown)


def test_lines_fit_the_terminal():
    lines = [line for block in BLOCKS for line in block.splitlines() if not line.startswith(("$ ", "> "))]
    too_long = [line for line in lines if len(line) > 80]
    assert too_long == [line for line in too_long if line.startswith("  stakes evaluate")]  # made to be copied

"""Which tests README's command leaves out, for ``.ci/run`` to run: `slow.txt`, made by ``python -m tests.slow``.

A test is left out if it takes long on the processor and adds little: it reaches no other statements than the tests that
stay, or so few that each of them would take a tenth of a second. Of each file of tests the quickest stays, and so does
one case of each test in the browser, whose time and script are not watched. A line of `slow.txt` names a test, or all
cases of a parametrised one.

Two runs come first, whose results lie in a folder: ``SECONDS=FOLDER python -m pytest -p tests.slow -m 'not simulation
and not thorough'`` writes what each test takes, and `tests.mutants` keeps which statements it reaches; what that file
lacks is looked at, which takes minutes.
"""

import argparse
import contextlib
import heapq
import importlib
import os
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

LISTED = Path(__file__).with_name("slow.txt")
LONG = 0.01  # seconds on the processor
DEAR = 0.1  # seconds for each statement that no other test reaches
_PAGES = ("accessibility", "amounts_page", "answer", "any_interval", "browser", "drop_page", "drop_use", "elsewhere")
IN_BROWSER = tuple(f"tests/report/test_{name}.py" for name in (*_PAGES, "interactive"))
# What people break without reaching a statement: how the project is built, and its words.
GUARDS = ("tests/test_architecture.py", "tests/test_slow.py", "tests/test_surface.py", "tests/test_words.py")


def listed():
    """Return the lines of the list."""
    return frozenset(LISTED.read_text(encoding="utf-8").splitlines())


def is_listed(name, lines):
    """Say whether the list names a test, or all cases of it."""
    return name in lines or name.partition("[")[0] in lines


def used():
    """Return the seconds on the processor of this process, to the millisecond, and of those that it waited for."""
    return time.process_time() + sum(os.times()[2:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    """Write down what a test takes, with the processes that it starts and waits for; the last ends those of all."""
    before = used()
    answer = yield
    if os.environ.get("SECONDS") and nextitem is not None:
        with Path(os.environ["SECONDS"], f"{os.getpid()}.txt").open("a", encoding="utf-8") as file:
            file.write(f"{item.nodeid}\t{used() - before:.3f}\n")
    return answer


def read_seconds(folder):
    """Return the seconds of each test."""
    lines = [line for path in Path(folder).glob("*.txt") for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: max(float(took), 0.001) for name, _, took in (line.rpartition("\t") for line in lines)}


def further_cases(seconds):
    """Return the cases of tests in the browser, but for the quickest of each."""
    cases = defaultdict(list)
    for name, took in seconds.items():
        if name.startswith(IN_BROWSER):
            cases[name.partition("[")[0]].append((took, name))
    return {name for its in cases.values() for _, name in sorted(its)[1:]}


def left_out(seconds, reached, dear=DEAR):
    """Return the tests to leave out, by the seconds of each and the statements that it reaches."""
    long = {name for name, took in seconds.items() if took >= LONG and not name.startswith(GUARDS)}
    long |= further_cases(seconds)
    stay = set(seconds) - long
    open_yet = set().union(*reached.values()) - set().union(*(reached.get(name, set()) for name in stay))
    worth = [(-len(reached.get(name, set()) & open_yet) / seconds[name], name) for name in long]
    heapq.heapify(worth)
    while open_yet and worth:  # the most new statements for a second, first
        _, name = heapq.heappop(worth)
        new = reached.get(name, set()) & open_yet
        now = -len(new) / seconds[name]
        if not new or dear * len(new) < seconds[name]:
            continue
        if worth and now > worth[0][0]:
            heapq.heappush(worth, (now, name))
            continue
        stay.add(name)
        open_yet -= new
    by_file = defaultdict(list)
    for name, took in seconds.items():
        by_file[name.partition("::")[0]].append((took, name))
    stay |= {min(tests)[1] for tests in by_file.values() if not any(name in stay for _, name in tests)}
    return set(seconds) - stay


def written(names, every):
    """Return the lines of the list: a test in place of all its cases, where all are left out."""
    cases = defaultdict(list)
    for name in every:
        cases[name.partition("[")[0]].append(name)
    whole = {test for test, its in cases.items() if names.issuperset(its)}
    return sorted({test if (test := name.partition("[")[0]) in whole else name for name in names})


def main():
    """Make the list anew."""
    parser = argparse.ArgumentParser(prog="python -m tests.slow", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", required=True, help="folder with what each test took")
    parser.add_argument("--reached", required=True, help="file of tests.mutants with what each test reaches")
    asked = parser.parse_args()
    from tests import mutants

    reached = mutants.watch()
    for path in mutants.files():
        with contextlib.suppress(ImportError):  # of a library that is not here
            importlib.import_module(".".join(path.relative_to(mutants.SOURCE.parent).with_suffix("").parts))
    known, seconds = mutants.Reached(asked.reached, reached), read_seconds(asked.seconds)
    places = {
        name: its
        for file in sorted({name.partition("::")[0] for name in seconds})
        for name, (_, its) in known.of(file).items()
    }
    names = left_out(seconds, places)
    LISTED.write_text("".join(f"{line}\n" for line in written(names, seconds)), encoding="utf-8")
    spared = sum(seconds[name] for name in names)
    every = sum(seconds.values())
    sys.stdout.write(f"{len(names)} of {len(seconds)} tests are left out: {spared:.0f} of {every:.0f} seconds\n")


if __name__ == "__main__":
    main()

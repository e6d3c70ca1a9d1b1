"""The list of slow tests: what it names is there, and what stays reaches as much."""

import itertools
import math
import random
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests import slow

ROOT = Path(__file__).resolve().parents[1]


def test_every_test_that_is_listed_is_there():
    by_file = defaultdict(set)
    for line in slow.listed():
        file, _, test = line.partition("[")[0].partition("::")
        by_file[file].add(test.rpartition("::")[2] if file.startswith("tests/") else test.rpartition(".")[2])
    for file, tests in by_file.items():
        defined = set(re.findall(r"^ *(?:def|class) (\w+)", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE))
        assert tests - defined == set(), file


def test_a_test_is_listed_by_itself_or_with_all_cases_of_it():
    every = ["a::one[1]", "a::one[2]", "a::two[1]", "a::two[2]", "a::three"]
    lines = frozenset(slow.written({"a::one[1]", "a::one[2]", "a::two[2]", "a::three"}, every))
    assert lines == {"a::one", "a::two[2]", "a::three"}
    assert [slow.is_listed(name, lines) for name in every] == [True, True, False, True, True]


@pytest.mark.parametrize("dear", [0.2, math.inf])
@pytest.mark.parametrize("seed", range(5))
def test_what_stays_reaches_all_that_is_not_dear_and_each_file_keeps_a_test(seed, dear):
    rng = random.Random(seed)  # noqa: S311
    seconds = {f"f{file}::t{k}": rng.choice([0.01, 0.2, 1.0]) for file in range(4) for k in range(5)}
    reached = {name: set(rng.sample(range(40), 4)) for name in seconds}
    names = slow.left_out(seconds, reached, dear)
    stay = set(seconds) - names
    by_others = set().union(*(reached[name] for name in stay))
    assert all(seconds[name] > dear * len(reached[name] - by_others) for name in names if reached[name] - by_others)
    assert (by_others == set().union(*reached.values())) == (dear == math.inf)
    assert {name.partition("::")[0] for name in stay} == {f"f{file}" for file in range(4)}
    assert all(seconds[name] >= slow.LONG for name in names)
    assert names


def test_of_a_test_in_the_browser_one_case_stays_and_those_that_reach_more():
    page, other = "tests/report/test_interactive.py::typed", "tests/report/test_write.py::typed"
    seconds = {f"{test}[{k}]": 0.002 + 0.001 * (k != 2) for test in (page, other) for k in range(5)}
    reached = {name: {1, 2} for name in seconds} | {f"{page}[4]": {1, 3}}
    assert slow.left_out(seconds, reached) == {f"{page}[{k}]" for k in (0, 1, 3)}


def test_the_cheapest_way_to_reach_everything_is_not_far():
    # by brute force: eight long tests, of which some must stay
    seconds = dict(zip((f"f::t{k}" for k in range(8)), (0.3, 0.5, 0.2, 0.9, 0.4, 0.7, 0.6, 0.1), strict=True))
    reached = {name: {k % 5, (3 * k + 1) % 7} for k, name in enumerate(seconds)}
    whole = set().union(*reached.values())
    ways = [
        some
        for size in range(1, 9)
        for some in itertools.combinations(seconds, size)
        if set().union(*(reached[name] for name in some)) == whole
    ]
    least = min(sum(seconds[name] for name in some) for some in ways)
    stay = set(seconds) - slow.left_out(seconds, reached, math.inf)
    assert sum(seconds[name] for name in stay) <= 1.5 * least


def test_seconds_of_tests_are_those_of_all_processes_that_ran_them(tmp_path):
    (tmp_path / "1.txt").write_text("a::b[x\ty]\t0.250\n", encoding="utf-8")
    (tmp_path / "2.txt").write_text("a::c\t0.500\n", encoding="utf-8")
    assert slow.read_seconds(tmp_path) == {"a::b[x\ty]": 0.25, "a::c": 0.5}

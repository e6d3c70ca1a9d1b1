"""Odd arguments and files, and data said in other ways, for as long as is asked: ``python -m tests.soak``.

``--minutes 60`` goes round all of them for an hour of the clock; ``--cases 1000`` runs about so many once. Each case
has a number, which alone makes it: what is found is run again by ``--start``.
"""

import argparse
import sys
import time
from collections import Counter

from tests import soak_calls, soak_files, soak_meanings, soak_texts

# how many of each in a round; a command and a file take as long as a dozen calls
ROUND = {"calls": 500, "meanings": 200, "texts": 400, "files": 40, "commands": 20}
SOAKS = {
    "calls": soak_calls.soak,
    "meanings": soak_meanings.soak,
    "texts": soak_texts.soak_texts,
    "files": soak_files.soak,
    "commands": soak_texts.soak_commands,
}


def run(argv=None):
    """Read the command line, soak, and print the counts; 1 where anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--cases", type=int, default=sum(ROUND.values()))
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=SOAKS, default=list(SOAKS))
    asked = parser.parse_args(argv)
    end = None if asked.minutes is None else time.monotonic() + 60.0 * asked.minutes
    counts, problems, done = {kind: Counter() for kind in asked.kinds}, [], 0
    while time.monotonic() < end if end is not None else done < asked.cases:
        rounds = done // sum(ROUND.values())
        for kind in asked.kinds:
            found, wrong = SOAKS[kind](ROUND[kind], asked.start + rounds * ROUND[kind])
            counts[kind] += found
            problems += [f"{kind}: {problem}" for problem in wrong]
            sys.stdout.writelines(f"{kind}: {problem}\n" for problem in wrong)
        done += sum(ROUND.values())
    for kind, found in counts.items():
        listed = ", ".join(f"{what} {number:,}" for what, number in sorted(_briefly(found).items(), key=str))
        sys.stdout.write(f"{kind:9} {sum(found.values()):9,} cases: {listed}\n")
    spent = time.process_time()
    sys.stdout.write(
        f"{sum(map(Counter.total, counts.values())):,} cases, {spent:.0f} CPU seconds, {len(problems)} problems\n"
    )
    return int(bool(problems))


def _briefly(found):
    """Of files, the exit codes alone."""
    brief = Counter()
    for what, number in found.items():
        brief[what[-1] if isinstance(what, tuple) else what] += number
    return brief


if __name__ == "__main__":
    sys.exit(run())

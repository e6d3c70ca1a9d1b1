"""Compare stakes with the values of other packages: `python -m conformance`."""

import argparse
import os
import sys

from conformance import _shown
from conformance._inputs import FOLDER, draw_anew
from conformance._live import MODULES, run_package
from conformance._page import PAGE, keep_live, table, write
from conformance._record import DAY
from conformance._suite import check_package, explanations, packages

ELSEWHERE = 5  # times what a difference may be at most on the kept inputs, where they are drawn anew


def _parse():
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these packages (or differences); default: all")
    parser.add_argument("--live", action="store_true", help="run the Python packages that are installed")
    parser.add_argument("--seed", type=int, default=0, help="with --live: draw the made inputs anew")
    parser.add_argument("--show", action="store_true", help="show why the values of each difference differ")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} anew (with --live: keep the counts)")
    options = parser.parse_args()
    known = MODULES if options.live else _shown.LINES if options.show else [path.stem for path in packages()]
    if missing := set(options.names) - set(known):
        parser.error(f"there are no values of {', '.join(sorted(missing))}; known: {', '.join(known)}.")
    if (options.live or options.show) and FOLDER not in os.environ:
        parser.error(f"{FOLDER} must name the folder of published data.")
    if options.seed and (options.write or not options.live):
        parser.error("--seed goes with --live, and without --write.")
    options.named, options.names = options.names, options.names or known
    options.whole = len(options.names) == len(known)
    return options


def _run_live(options, known):
    """Print the packages as they are done; return what disagrees."""
    draw_anew(options.seed)
    for entry in known if options.seed else ():
        entry["at_most"] = entry["at_most"] and ELSEWHERE * entry["at_most"]
    found = {name: run_package(name, known) for name in options.names}
    tallies = [tally for tally in found.values() if tally is not None]
    print(table(tallies))
    absent = [name for name, tally in found.items() if tally is None]
    if absent:
        print(f"not installed: {', '.join(absent)}")
    wrong = [f"{tally.package}: {line}" for tally in tallies for line in tally.failed]
    wrong += [f"{name}: asked for, and not installed" for name in absent if name in options.named]
    if options.write and options.whole and not absent and not wrong:
        keep_live(tallies, DAY)
    return wrong


def _run_kept(options, known):
    """Compare the kept values; return what disagrees, and the explanations that explain nothing."""
    tallies = [check_package(path, known) for path in packages() if path.stem in options.names]
    print(table(tallies))
    skipped = sum(tally.skipped for tally in tallies)
    if skipped:
        print(f"{skipped} values were not compared: {FOLDER} names no folder with their data.")
    whole = options.whole and not skipped
    wrong = [f"{tally.package}: {line}" for tally in tallies for line in tally.failed]
    wrong += [f"explains nothing: {entry['reason']}" for entry in known if whole and "seen" not in entry]
    if options.write and whole and not wrong:
        write(tallies, known)
    return wrong


def main():
    """Print the table; fail where a value disagrees without an explanation, or an explanation explains nothing."""
    options = _parse()
    if options.show:
        wrong = [line for name in options.names for line in _shown.show(name)]
    else:
        wrong = (_run_live if options.live else _run_kept)(options, explanations())
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

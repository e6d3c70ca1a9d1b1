"""Compare stakes with the values of other packages: `python -m conformance`."""

import argparse
import sys

from conformance._inputs import FOLDER
from conformance._page import PAGE, table, write
from conformance._suite import check_package, explanations, packages


def _parse():
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PACKAGE", help="only these (default: all)")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} of the documentation anew")
    options = parser.parse_args()
    if missing := set(options.names) - {path.stem for path in packages()}:
        parser.error(f"there are no values of {', '.join(sorted(missing))}.")
    return options


def main():
    """Print the table; fail where a value disagrees without an explanation, or an explanation explains nothing."""
    options = _parse()
    known = explanations()
    tallies = [check_package(path, known) for path in packages() if not options.names or path.stem in options.names]
    print(table(tallies))
    skipped = sum(tally.skipped for tally in tallies)
    if skipped:
        print(f"{skipped} values were not compared: {FOLDER} names no folder with their data.")
    whole = not options.names and not skipped
    wrong = [f"{tally.package}: {line}" for tally in tallies for line in tally.failed]
    wrong += [f"explains nothing: {entry['reason']}" for entry in known if whole and "seen" not in entry]
    print(*wrong, sep="\n")
    if options.write and whole and not wrong:
        write(tallies, known)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Reproduce published tables and figures: `python -m replications NAME`."""

from __future__ import annotations

import argparse
from importlib import import_module

NAMES = {
    "assel": "net benefit and bounded scores of Assel et al.'s eight tests, corrected, exactly and by simulation",
    "expected_utility": "expected utility, plug-in threshold and one half for four measures, on the paper's data",
    "grid_search": "which model a search picks by our scorer, scikit-learn's and briertools'",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m replications",
        description=__doc__,
        epilog="\n".join(f"  {name}: {what}" for name, what in NAMES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    name, options = parser.parse_known_args()
    import_module(f"replications.{name.name}").main(options)


if __name__ == "__main__":
    main()

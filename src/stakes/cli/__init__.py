"""The command line: ``stakes evaluate``, ``compare``, ``check``, ``decide``, ``plan`` and the other commands.

It parses and prints; every number comes from the library. This module imports without click and rich, so that the
installed command can say what is missing.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from stakes.cli.memory import address_limit, keep_freed, one_blas_thread, skip_last_collection, supervised

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_NEEDED = ("click", "rich")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 done, 1 unexpected, 2 usage, 3 bad data, 4 a check, certificate or promise that failed, 130 interrupted.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the name of the program; by default those of the process.

    Returns
    -------
    int

    Examples
    --------
    >>> from stakes.cli import main
    >>> main(["evaluate"])  # names the missing argument on stderr
    2
    """
    if argv is None:
        keep_freed()  # the process is the program's own
        one_blas_thread()
        started = partial(_started, sys.argv[1:])
        code = started() if address_limit() is None else supervised(started)
        skip_last_collection()
        return code
    return _started(argv)


def _started(argv: Sequence[str]) -> int:
    """Run the program, or say which library it lacks."""
    try:
        import click
        import rich

        from stakes.cli.program import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        sys.stderr.write(f"error: the command line needs {error.name}: pip install 'stakes[cli]'\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return run(list(argv))

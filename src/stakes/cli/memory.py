"""How the program's own process holds memory and threads, and what it does where its address space is limited."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# numbers of glibc's malloc.h
_TRIM_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -4, -8
_KEPT = 1 << 30
_SELDOM = 300_000  # objects: a command that answers in half a second makes fewer
# what the libraries reserve with one thread each, a third more than was measured with polars 1.41 and OpenBLAS 0.3.30
_NEEDED = 640 << 20
_THREADS = ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
# how libraries end the process where they get no memory
_FAULTS = ("SIGABRT", "SIGSEGV", "SIGBUS")
_GRACE = 5  # seconds in which the work may end by itself after a signal


def keep_freed() -> None:
    """Let arrays take the place of those before them, and look for cycles of objects seldom.

    By default glibc maps each large array anew and gives it back to the system: fetching fresh pages took a quarter of
    the time of a report of 10^7 rows. Looks for cycles took a tenth of the time to start.
    """
    gc.set_threshold(_SELDOM)
    _set_malloc((_TRIM_THRESHOLD, _KEPT), (_MMAP_MAX, 0))


def one_blas_thread() -> None:
    """Let OpenBLAS work in one thread unless the user says otherwise.

    numpy and scipy each start a pool that spins while it waits: of two threads, it took a third of the processor time
    of a small answer and two fifths of that of a report of 10^6 rows, and no answer came sooner.
    """
    if "OMP_NUM_THREADS" not in os.environ:  # which OpenBLAS heeds too
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def skip_last_collection() -> None:
    """Exclude live objects from the garbage collection at the end of the interpreter.

    The system frees the memory in any case, and that collection took a fifth of the time of a small answer.
    """
    gc.freeze()


def _set_malloc(*options: tuple[int, int]) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    if set_option is not None:
        for option, value in options:
            set_option(option, value)


def address_limit() -> int | None:
    """Return the most bytes that this process may reserve, None without a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine, None where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows
        return None


def too_little() -> str | None:
    """Say that the address space does not hold the libraries that read and judge a file, None where it does.

    Some of them wait for ever where a thread cannot start.
    """
    limit = address_limit()
    if limit is None or limit >= _NEEDED:
        return None
    return (
        f"{limit_in_words()}, and the libraries that read and judge a file reserve up to {_NEEDED >> 20:,} MiB: raise "
        "the limit, or limit the memory in use instead"
    )


def limit_in_words() -> str:
    """Say what the address space is limited to; nothing without a limit."""
    limit = address_limit()
    return "" if limit is None else f"the address space is limited to {limit >> 20:,} MiB (ulimit -v)"


def supervised(work: Callable[[], int]) -> int:
    """Work in a process of its own with few threads, so that one that dies for want of memory ends in a sentence."""
    for variable in _THREADS:
        os.environ.setdefault(variable, "1")
    _set_malloc((_ARENA_MAX, 1))
    passed_on = {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)  # until there is somebody to pass them on
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, passed_on)
        return work()
    asked: list[int] = []

    def end(number: int, _: object) -> None:
        asked.append(number)
        if number != signal.SIGINT:  # which a terminal sends to both
            os.kill(child, number)
        signal.alarm(_GRACE)

    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    for number in passed_on:
        signal.signal(number, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, passed_on)
    _, status = os.waitpid(child, 0)
    signal.alarm(0)
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    killed_by = os.WTERMSIG(status)
    if asked or killed_by not in {getattr(signal, name) for name in _FAULTS}:
        return 128 + (asked[0] if asked else killed_by)
    sys.stderr.write(f"error: there is not enough memory for these data: {limit_in_words()}\n")
    return 1

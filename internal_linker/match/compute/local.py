"""This computer: the blocks of a k-NN join on its cores, and memory returned to its system."""

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache

from threadpoolctl import ThreadpoolController

from internal_linker.model.arrays import Ints, JoinTask, Nearest, Vectors


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries whose threads can be limited; to look for them takes as long as a small join."""
    return ThreadpoolController()


class Threads:
    """A `ports.Compute` with one thread per block, so that selecting one block's best overlaps another's product.

    Each of the `count` blocks at a time takes up to 90 MB.
    """

    def __init__(self, count: int) -> None:
        self._count = max(1, count)

    def run(
        self,
        work: Callable[[Vectors, Ints, JoinTask], Nearest],
        vectors: Vectors,
        languages: Ints,
        blocks: Sequence[JoinTask],
    ) -> Iterator[tuple[JoinTask, Nearest]]:
        """Yield each block with its result; up to one finished block per thread waits for the caller."""
        waiting = iter(blocks)
        running: dict[Future[Nearest], JoinTask] = {}
        limit = _libraries().limit(limits=1, user_api="blas")
        with limit, ThreadPoolExecutor(self._count, "join") as pool:
            while True:
                while len(running) < 2 * self._count and (block := next(waiting, None)):
                    running[pool.submit(work, vectors, languages, block)] = block
                if not running:
                    return
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(done), done.result()


def return_free_memory() -> None:
    """Return free memory to the system if the C library is glibc, which keeps 430 of 925 MB after 20,000 pages."""
    if trim := _trim():
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    if sys.platform != "linux":
        return None
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim

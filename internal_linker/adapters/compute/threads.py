"""Blocks of a join -> their results, on the cores of this computer."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from threadpoolctl import ThreadpoolController

from internal_linker.core.arrays import Block, Ints, Nearest, Vectors


class Threads:
    """One block a thread, and products of one thread: picking the best of one block then overlaps with the
    product of another.

    Args:
        count: blocks at a time; each takes up to 90 MB.
    """

    def __init__(self, count: int) -> None:
        self._count = max(1, count)
        self._libraries = ThreadpoolController()

    def run(
        self,
        work: Callable[[Vectors, Ints, Block], Nearest],
        vectors: Vectors,
        languages: Ints,
        blocks: Sequence[Block],
    ) -> Iterator[tuple[Block, Nearest]]:
        """See `ports.Compute`; at most one finished block a thread waits to be taken."""
        waiting = iter(blocks)
        running: dict[Future[Nearest], Block] = {}
        limit = self._libraries.limit(limits=1, user_api="blas")
        with limit, ThreadPoolExecutor(self._count, "join") as pool:
            while True:
                while len(running) < 2 * self._count and (block := next(waiting, None)):
                    running[pool.submit(work, vectors, languages, block)] = block
                if not running:
                    return
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(done), done.result()

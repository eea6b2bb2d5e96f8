"""A store of joins in memory, and a compute that records its blocks."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sqlalchemy import select

from internal_linker.model.arrays import Ints, JoinTask, Nearest, Vectors
from internal_linker.store.engine import open_database
from internal_linker.store.neighbours import JOINS, StoredJoins


class MemoryStore(StoredJoins):
    """A store of joins that fails after a given number of blocks, as a killed run does."""

    def __init__(self) -> None:
        self._database = open_database("sqlite://?check_same_thread=false", Path())
        super().__init__(self._database)
        self.blocks_until_it_fails = -1

    @property
    def names(self) -> set[str]:
        """The names of the complete joins that it has."""
        with self._database.connect() as connection:
            return {*connection.scalars(select(JOINS.c.name))}

    def put_block(self, join: str, block: str, nearest: Nearest) -> None:
        if self.blocks_until_it_fails == 0:
            raise KeyboardInterrupt
        self.blocks_until_it_fails -= 1
        super().put_block(join, block, nearest)


class Counting:
    """A `Compute` that runs the blocks one after another and records them."""

    def __init__(self) -> None:
        self.done: list[JoinTask] = []

    def run(
        self,
        work: Callable[[Vectors, Ints, JoinTask], Nearest],
        vectors: Vectors,
        languages: Ints,
        blocks: Sequence[JoinTask],
    ) -> Iterator[tuple[JoinTask, Nearest]]:
        for block in blocks:
            self.done.append(block)
            yield block, work(vectors, languages, block)

    @property
    def pairs(self) -> int:
        return sum(len(block.rows) * len(block.columns) for block in self.done)

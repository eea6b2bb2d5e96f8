"""A store of joins in memory, and a compute that records its blocks."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from internal_linker.model.arrays import Ints, JoinTask, Nearest, Neighbourhood, Vectors


class MemoryStore:
    """A `JoinStore` that fails after a given number of blocks, as a killed run does."""

    def __init__(self) -> None:
        self.whole: dict[str, Neighbourhood] = {}
        self.parts: dict[str, dict[str, Nearest]] = {}
        self.blocks_until_it_fails = -1

    def get(self, join: str) -> Neighbourhood | None:
        return self.whole.get(join)

    def put(self, join: str, neighbourhood: Neighbourhood) -> None:
        self.whole[join] = neighbourhood
        self.parts.pop(join, None)

    def blocks(self, join: str) -> Mapping[str, Nearest]:
        return self.parts.get(join, {})

    def put_block(self, join: str, block: str, nearest: Nearest) -> None:
        if self.blocks_until_it_fails == 0:
            raise KeyboardInterrupt
        self.blocks_until_it_fails -= 1
        self.parts.setdefault(join, {})[block] = nearest


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

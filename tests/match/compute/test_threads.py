"""Blocks of a join on this computer's cores."""

import numpy as np
import pytest

from internal_linker.match.compute.local import Threads
from internal_linker.match.neighbours.exact import join_block
from internal_linker.model.arrays import Ints, JoinTask, Nearest, Vectors
from tests.support.vector_sites import one_language, random_vectors


@pytest.mark.parametrize("count", [1, 3])
def test_every_block_is_done_once(count: int) -> None:
    vectors, languages = random_vectors(300, 8), one_language(300)
    blocks = [JoinTask(str(at), np.arange(at, at + 30), np.arange(300), 5) for at in range(0, 300, 30)]

    found = {
        block.name: nearest for block, nearest in Threads(count).run(join_block, vectors, languages, blocks)
    }

    assert len(found) == len(blocks)
    for block in blocks:
        np.testing.assert_array_equal(found[block.name].rows, join_block(vectors, languages, block).rows)


def test_a_block_that_fails_ends_the_join() -> None:
    def failing(vectors: Vectors, languages: Ints, block: JoinTask) -> Nearest:
        raise MemoryError(block.name)

    block = JoinTask("first", np.arange(2), np.arange(2), 1)
    with pytest.raises(MemoryError, match="first"):
        list(Threads(2).run(failing, random_vectors(2, 4), one_language(2), [block]))

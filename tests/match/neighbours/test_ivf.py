"""IVF cells: each text belongs to one cell, and as many cells are probed as the recall requires."""

import numpy as np
import pytest

from internal_linker.match.neighbours.exact import nearest
from internal_linker.match.neighbours.ivf import cells_of, partition, probes_for, share
from tests.support.vector_sites import one_language, random_vectors


def test_cells_are_the_same_every_time_and_topics_share_one() -> None:
    vectors = random_vectors(900, 16, topics=30)
    one, other = cells_of(vectors, 30), cells_of(vectors, 30)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.order[:, 0], np.arange(30))
    cells = cells_of(random_vectors(9, 4), 3)
    assert probes_for(cells, np.arange(2), np.full((2, 3), -1), 0.99) == 1
    topic = np.repeat(np.arange(20), 40)
    centres = random_vectors(20, 64).astype(np.float32)
    vectors = centres[topic] + 0.03 * random_vectors(800, 64, 1).astype(np.float32)
    labels = cells_of(vectors, 20).labels
    same_cell = labels[:, None] == labels[None, :]
    same_topic = topic[:, None] == topic[None, :]
    assert same_topic[same_cell].mean() > 0.5
    assert same_cell[same_topic].mean() > 0.9


@pytest.mark.parametrize("probes", [1, 4, 30])
def test_every_text_is_in_one_task_with_the_targets_of_near_cells(probes: int) -> None:
    vectors = random_vectors(900, 16, topics=30)
    cells = cells_of(vectors, 30)
    targets = np.arange(900) % 3 > 0
    tasks = list(partition(cells, targets, probes))
    rows = np.concatenate([rows for rows, _ in tasks])
    assert sorted(rows.tolist()) == list(range(900))
    assert all(targets[columns].all() and len(set(columns.tolist())) == len(columns) for _, columns in tasks)
    pairs = sum(len(rows) * len(columns) for rows, columns in tasks)
    assert pairs / (900 * targets.sum()) == pytest.approx(share(cells, targets, probes))
    assert (probes < 30) or pairs == 900 * targets.sum()


@pytest.mark.parametrize("topics", [0, 30])
@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99, 1.0])
def test_the_probes_find_what_was_asked(topics: int, recall: float) -> None:
    vectors = random_vectors(900, 16, topics=topics)
    cells, everything, all_targets = cells_of(vectors, 30), np.arange(900), np.ones(900, bool)
    truth = nearest(vectors, one_language(900), everything, everything, 5).rows
    probes = probes_for(cells, everything, truth, recall)

    def found(count: int) -> float:
        among = np.zeros((900, 900), bool)
        for rows, columns in partition(cells, all_targets, count):
            among[np.ix_(rows, columns)] = True
        return float(np.take_along_axis(among, truth.astype(np.int64), axis=1).mean())

    assert found(probes) >= recall
    assert probes == 1 or found(probes - 1) < recall

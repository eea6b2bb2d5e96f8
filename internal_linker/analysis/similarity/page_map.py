"""Points of pages -> places on a flat map, on which similar pages lie near each other."""

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from internal_linker.core.arrays import Ints, Vectors

# More dots hide each other, and a browser takes seconds to draw them.
MOST_DRAWN = 2_000
# Enough for neighbours to stay neighbours, and a third of the time of all directions.
_DIMENSIONS = 50
_FEW = 500
# Rounds, neighbours and exactness: as is usual, and for more pages, where that takes five to nine times as long. Larger
# steps from the start take a third of the rounds, and the next phase comes when hardly anything moves any more. Of the
# ten pages nearest to each as many are nearest on the quicker map: 0.40 by the titles and 0.45 by the contents of both
# development sites (as is usual 0.39 and 0.44), 0.26 of 2,000 made-up points in 20 groups (0.26).
_USUAL = {"max_iter": 500, "perplexity": 30.0, "angle": 0.5}
_QUICK = {
    **{"max_iter": 350, "perplexity": 15.0, "angle": 1.0, "min_grad_norm": 2e-2},
    **{"learning_rate": 200.0, "early_exaggeration": 4.0},
}


def drawn(labels: Ints, hubs: Ints, most: int = MOST_DRAWN) -> Ints:
    """Rows of the pages that a map shows, ascending: all that are in a cluster, or of too many the hubs and a share.

    Args:
        labels: (n,) clusters from 0; -1: in none.
        hubs: (k,) rows that are always shown.
        most: that many at the most, or all hubs if they are more.
    """
    rows = np.flatnonzero(labels >= 0)
    if len(rows) <= most:
        return rows
    others = np.setdiff1d(rows, hubs)
    # Every so-manieth of the pages in the clusters' order has of each cluster its share.
    others = others[np.argsort(labels[others], kind="stable")]
    wanted = max(0, most - len(hubs))
    kept = others[np.linspace(0, len(others) - 1, wanted).round().astype(np.int64)]
    return np.sort(np.concatenate([hubs, kept]))


def places(points: Vectors) -> Vectors:
    """(m, 2) float64 from -1 to 1, the same ones every time.

    Args:
        points: (m, d) unit rows.
    """
    m = len(points)
    if m < 3 or not (points != points[0]).any():
        return np.column_stack([np.linspace(-1, 1, m), np.zeros(m)]) if m > 1 else np.zeros((m, 2))
    kept = min(_DIMENSIONS, *points.shape)
    given: dict[str, Any] = _USUAL if m <= _FEW else _QUICK
    # With fewer neighbours than these the method has nothing to go by.
    given = given | {"perplexity": min(given["perplexity"], (m - 1) / 3)}
    with threadpool_limits(1), np.errstate(invalid="ignore"):  # equal pages have no variance
        flat = PCA(kept, svd_solver="randomized", random_state=0).fit_transform(points)
        map_ = TSNE(2, init="pca", random_state=0, n_jobs=1, **given)
        found = map_.fit_transform(flat).astype(np.float64)
    found -= (found.max(axis=0) + found.min(axis=0)) / 2
    most = np.abs(found).max(axis=0)
    spread: Vectors = found / np.where(most > 1e-9, most, 1)
    return spread

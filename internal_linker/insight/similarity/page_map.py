"""A flat map of pages, on which similar pages are near each other."""

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from internal_linker.model.arrays import Ints, Vectors

# More dots hide each other, and a browser takes seconds to draw them.
MOST_DRAWN = 2_000
# Enough for neighbours to stay neighbours, in a third of the time that all dimensions take.
_DIMENSIONS = 50
_FEW = 500
# Iterations, neighbours and precision: scikit-learn's usual values, and quicker ones for more pages, for which the
# usual ones take five to nine times as long. Larger steps from the start need a third of the iterations, and a phase
# ends when hardly anything moves. The quicker map keeps as many of each page's ten nearest pages: 0.40 by titles and
# 0.45 by contents of both development sites (usual: 0.39 and 0.44), 0.26 of 2,000 synthetic points in 20 groups (0.26).
_USUAL = {"max_iter": 500, "perplexity": 30.0, "angle": 0.5}
_QUICK = {
    **{"max_iter": 350, "perplexity": 15.0, "angle": 1.0, "min_grad_norm": 2e-2},
    **{"learning_rate": 200.0, "early_exaggeration": 4.0},
}


def select_shown_pages(labels: Ints, hubs: Ints, most: int = MOST_DRAWN) -> Ints:
    """Return the rows of the pages that a map shows, ascending: all pages in clusters, or the hubs and a sample.

    A label is -1 for a page in no cluster. At most `most` pages are shown, except hubs.
    """
    rows = np.flatnonzero(labels >= 0)
    if len(rows) <= most:
        return rows
    others = np.setdiff1d(rows, hubs)
    # Evenly spaced picks in the clusters' order take a proportional share of each cluster.
    others = others[np.argsort(labels[others], kind="stable")]
    wanted = max(0, most - len(hubs))
    kept = others[np.linspace(0, len(others) - 1, wanted).round().astype(np.int64)]
    return np.sort(np.concatenate([hubs, kept]))


def places(points: Vectors) -> Vectors:
    """Return (m, 2) float64 coordinates, -1 to 1, of (m, d) unit rows; deterministic."""
    m = len(points)
    if m < 3 or not (points != points[0]).any():
        return np.column_stack([np.linspace(-1, 1, m), np.zeros(m)]) if m > 1 else np.zeros((m, 2))
    kept = min(_DIMENSIONS, *points.shape)
    given: dict[str, Any] = _USUAL if m <= _FEW else _QUICK
    # The perplexity must stay below the number of neighbours.
    given = given | {"perplexity": min(given["perplexity"], (m - 1) / 3)}
    with threadpool_limits(1), np.errstate(invalid="ignore"):  # equal pages have no variance
        flat = PCA(kept, svd_solver="randomized", random_state=0).fit_transform(points)
        map_ = TSNE(2, init="pca", random_state=0, n_jobs=1, **given)
        found = map_.fit_transform(flat).astype(np.float64)
    found -= (found.max(axis=0) + found.min(axis=0)) / 2
    most = np.abs(found).max(axis=0)
    spread: Vectors = found / np.where(most > 1e-9, most, 1)
    return spread

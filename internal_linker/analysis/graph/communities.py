"""A site's links -> communities of pages, by networkit's parallel Louvain method (the extra `graph`)."""

from types import ModuleType

import numpy as np

from internal_linker.analysis.graph.site_graph import SiteGraph
from internal_linker.core.arrays import Ints
from internal_linker.core.errors import ConfigurationError


class LouvainCommunities:
    """Groups pages that are linked more with each other than with others.

    Raises:
        ConfigurationError: networkit is not installed.
    """

    def __init__(self) -> None:
        self._networkit = _networkit()

    def __call__(self, graph: SiteGraph, n: int) -> Ints:
        """(n,) the community of each page, the same ones every time."""
        networkit = self._networkit
        networkit.setSeed(1, False)
        # Several threads race, and give other communities each time.
        networkit.setNumberOfThreads(1)
        ends = graph.sources.astype(np.uint64), graph.targets.astype(np.uint64)
        links = networkit.GraphFromCoo((graph.weights, ends), n, weighted=True, directed=False)
        found = networkit.community.PLM(links, refine=True).run().getPartition()
        return np.array(found.getVector(), np.int64)


def _networkit() -> ModuleType:
    try:
        import networkit
    except ImportError:
        raise ConfigurationError(
            "networkit is not installed. Install it by pip install internal-linker[graph]."
        ) from None
    module: ModuleType = networkit
    return module


def louvain() -> LouvainCommunities:
    """What finds communities of pages in a graph.

    Raises:
        ConfigurationError: the extra `graph` is not installed.
    """
    return LouvainCommunities()

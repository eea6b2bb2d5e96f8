"""A scheduler's address, or none -> where the heavy work is done: on its workers, or on this computer."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from internal_linker.adapters.compute.dask_join import DaskCompute
from internal_linker.adapters.compute.processes import Processes
from internal_linker.adapters.compute.threads import Threads
from internal_linker.analysis.graph.communities import LouvainCommunities
from internal_linker.core.ports import Compute, Encoder, Workers
from internal_linker.embeddings.encoders.dask import DaskEncoder
from internal_linker.embeddings.encoders.minilm import LocalEncoder

# Each takes 100 MB and more, and part of a run is not shared.
MOST_WORKERS = 4


def compute_at(scheduler: str) -> Compute:
    """What does the blocks of joins; nothing is contacted yet.

    Args:
        scheduler: tcp://host:port or tls://host:port; "": this computer, all its cores.

    Raises:
        ConfigurationError: the package that speaks to a scheduler is not installed.
    """
    return DaskCompute(scheduler) if scheduler else Threads(os.cpu_count() or 1)


def louvain() -> LouvainCommunities:
    """What finds communities of pages in a graph.

    Raises:
        ConfigurationError: the extra `graph` is not installed.
    """
    return LouvainCommunities()


def workers(file: Path, warn: Callable[[str], None]) -> AbstractContextManager[Workers | None]:
    """What shares the comparing of candidates, where this computer has several cores; see `Processes`."""
    count = min(os.cpu_count() or 1, MOST_WORKERS)
    return Processes(count, file, warn) if count > 1 else nullcontext()


def local_encoder_at(scheduler: str) -> Encoder:
    """The local encoder; its name, recipe and vectors are the same wherever it runs.

    Raises:
        ConfigurationError: the model, or the package that speaks to a scheduler, is not installed.
    """
    return DaskEncoder(scheduler, LocalEncoder) if scheduler else LocalEncoder()

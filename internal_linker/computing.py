"""A scheduler's address, or none -> where the heavy work is done: on its workers, or on this computer."""

import os

from internal_linker.ports import Compute, Encoder
from internal_linker.services.dask_cluster.compute import DaskCompute
from internal_linker.services.dask_cluster.encoder import DaskEncoder
from internal_linker.services.local_embeddings.minilm import LocalEncoder
from internal_linker.services.threads import Threads


def compute_at(scheduler: str) -> Compute:
    """What does the blocks of joins; nothing is contacted yet.

    Args:
        scheduler: tcp://host:port or tls://host:port; "": this computer, all its cores.

    Raises:
        ConfigurationError: the package that speaks to a scheduler is not installed.
    """
    return DaskCompute(scheduler) if scheduler else Threads(os.cpu_count() or 1)


def local_encoder_at(scheduler: str) -> Encoder:
    """The local encoder; its name, recipe and vectors are the same wherever it runs.

    Raises:
        ConfigurationError: the model, or the package that speaks to a scheduler, is not installed.
    """
    return DaskEncoder(scheduler, LocalEncoder) if scheduler else LocalEncoder()

"""Work for a test cluster's workers; it imports little, because each new worker imports it."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from uuid import uuid4

from internal_linker.match.encoders.minilm import LocalEncoder
from internal_linker.model.arrays import Ints, JoinTask, Nearest, Vectors
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Encoder
from internal_linker.model.records import EncodedBatch, Text

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # ends a process as abruptly on Windows


def watched_block(
    work: Callable[[Vectors, Ints, JoinTask], Nearest],
    folder: Path,
    seconds: float,
    deadly: str,
    vectors: Vectors,
    languages: Ints,
    block: JoinTask,
) -> Nearest:
    """Leave a file named by the block and this process, wait, exit if the block is the deadly one, else do the work."""
    (folder / f"{block.name}.{os.getpid()}.{uuid4().hex}").touch()
    time.sleep(seconds)
    if block.name.endswith(deadly):
        os.kill(os.getpid(), KILL)
    return work(vectors, languages, block)


class LeavesAFile(LocalEncoder):
    """An encoder that leaves a file for each task in the folder that its first text names, and waits a little."""

    def encode(self, texts: Sequence[Text]) -> Generator[EncodedBatch, None, None]:
        (Path(texts[0].title) / uuid4().hex).touch()
        time.sleep(0.2)
        yield from super().encode(texts)


def unfit_encoder(threads: int) -> Encoder:
    """Return the local encoder, but raise an error on a worker."""
    if multiprocessing.parent_process():
        raise ConfigurationError("the local embedding model can't be read.")
    return LocalEncoder(threads)

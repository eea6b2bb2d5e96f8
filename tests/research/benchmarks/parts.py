"""Parts of a benchmark: each runs in a process of its own and gives seconds, memory and the machine's sgemm peak."""

import os
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

# Prepared work to be timed; after the clock has stopped, its result gives further figures, such as recall.
Work = Callable[[], Callable[[], Mapping[str, float]]]
PEAK_SIZE = 2048  # float32: 16 MB a matrix, far larger than any processor cache
PEAK_TRIES = 3


@dataclass(frozen=True, slots=True)
class Part:
    """The measurements of one part.

    Attributes:
        seconds: of the work alone, without its preparation.
        peak: GFLOP/s of a plain float32 product on this machine, the mean of before and after.
        memory: MB of the process at its largest while it worked; 0 where that is unknown (it is known on Linux).
        extra: MB of it that the work took beside what was prepared.
        figures: the work's own figures.
    """

    seconds: float
    peak: float
    memory: float
    extra: float
    figures: Mapping[str, float]

    def share(self, flops: float) -> float:
        """Return this many floating-point operations in these seconds as a share of the peak."""
        return flops / self.seconds / 1e9 / self.peak


def measured(prepare: Callable[..., Work], *given: Any) -> Part:
    """Prepare and do the work once in a fresh process; `prepare` is a function of a module."""
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        return fresh.submit(_measure, prepare, given).result()


def use_threads(count: int) -> None:
    """Set the number of threads that processes started later use for products."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(count)


def sgemm_peak() -> float:
    """Return the GFLOP/s of the best of some float32 products."""
    left = np.random.default_rng(1).random((PEAK_SIZE, PEAK_SIZE), np.float32)
    right, out = left.T.copy(), np.empty_like(left)
    best = min(_seconds(lambda: np.matmul(left, right, out=out)) for _ in range(PEAK_TRIES))
    return float(2 * PEAK_SIZE**3 / best / 1e9)


def _measure(prepare: Callable[..., Work], given: tuple[Any, ...]) -> Part:
    before = sgemm_peak()
    work = prepare(*given)
    _forget_largest()
    base = _memory("VmRSS")
    began = time.perf_counter()
    told = work()
    seconds = time.perf_counter() - began
    memory = _memory("VmHWM")
    return Part(seconds, (before + sgemm_peak()) / 2, memory, memory - base, told())


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _memory(which: str) -> float:
    """Return this process's MB: VmRSS now, VmHWM since `_forget_largest`; 0 where that is unknown."""
    status = Path("/proc/self/status")
    found = re.search(rf"{which}:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) / 1e3 if found else 0.0


def _forget_largest() -> None:
    # Memory that the preparation used and freed would hide what the work takes.
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")

"""RESULTS.md: a table per section; a run replaces its own sections and keeps the others."""

import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

import numpy as np

RESULTS = Path(__file__).with_name("RESULTS.md")
HEAD = """\
# Speed and memory, as measured

Written by `python -m tests.research.benchmarks`. Every ratio compares two times of one run, taken one after the
other; every figure is the median of the number of runs that the section names. "Peak" is the speed of a plain float32
product on the same machine, measured with each figure. Compare ratios, not seconds, between two machines or days.
"""
COLUMNS = ("What", "Seconds", "Ratio", "Target", "Share of the peak", "Memory", "Note")
PACKAGES = ("numpy", "scipy", "scikit-learn", "onnxruntime", "faiss-cpu")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table; columns that don't apply are empty."""

    what: str
    seconds: str = ""
    ratio: str = ""
    target: str = ""
    share: str = ""
    memory: str = ""
    note: str = ""


def middle(values: Iterable[float]) -> float:
    """Return the median."""
    return float(median(values))


def machine(peaks: Sequence[float], runs: int, now: datetime | None = None) -> str:
    """Return one paragraph with day, machine and versions."""
    day = (now or datetime.now(UTC)).strftime("%Y-%m-%d")
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    peak = f"sgemm peak {middle(peaks):.0f} GFLOP/s ({min(peaks):.0f} to {max(peaks):.0f})" if peaks else ""
    parts = [
        f"{day}, median of {runs}",
        f"{os.cpu_count()} cores ({platform.system()} {platform.machine()}), {threads} threads",
        peak,
        f"Python {platform.python_version()}",
        *(f"{name} {_version(name)}" for name in PACKAGES),
        _blas(),
    ]
    return "; ".join(filter(None, parts)) + "."


def section(name: str, about: str, rows: Sequence[Row]) -> str:
    """Return a section in Markdown: heading, description, table."""
    kept = [at for at in range(len(COLUMNS)) if at == 0 or any(astuple(row)[at] for row in rows)]
    lines = [[COLUMNS[at] for at in kept], ["---"] * len(kept)]
    lines += [[astuple(row)[at] for at in kept] for row in rows]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"## {name}\n\n{about}\n\n{table}\n"


def merge(old: str, new: Mapping[str, str], order: Sequence[str]) -> str:
    """Return the file's text with these sections replacing those of the same names.

    Args:
        old: the file's present text, or "".
        new: sections by name.
        order: the names of all sections; others are dropped.
    """
    found = {
        name: f"## {name}{body}"
        for name, body in re.findall(r"^## ([^\n]+)(.*?)(?=^## |\Z)", old, re.M | re.S)
    }
    both = found | dict(new)
    return "\n".join([HEAD, *(both[name].rstrip() + "\n" for name in order if name in both)])


def write(path: Path, new: Mapping[str, str], order: Sequence[str]) -> None:
    """Write the sections into the file."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(merge(old, new, order), encoding="utf-8")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _blas() -> str:
    told: Mapping[str, Mapping[str, Mapping[str, str]]] = np.show_config(mode="dicts")  # type: ignore[assignment]
    blas = told["Build Dependencies"]["blas"]
    return f"{blas['name']} {blas['version']}"

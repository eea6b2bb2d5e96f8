"""The guide "From laptop to cluster" is held to its formulas."""

import re

import pytest

from internal_linker.embeddings.encoders.openai import KNOWN_MODELS
from internal_linker.matching.candidates import SERVED
from internal_linker.matching.neighbours.knn_join import EXACT_ROWS, EXACT_SECONDS
from tests.support.clusters import GUIDE
from tests.support.small_project import REPOSITORY

CORE = 75e9  # operations a second; half of it by cells
PROBES = 16
SITES = [(pages, size) for pages in (100_000, 1_000_000, 10_000_000) for size in (384, 1536)]
TOKENS = 667
TEXT_BYTES = 3000
PAGE_SECONDS = 0.23


def hours(operations: float, cores: int) -> str:
    """As a person says it."""
    seconds = operations / CORE / cores
    unit, length = next(
        (u, one)
        for u, one in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))
        if seconds >= one or one == 1
    )
    return f"{seconds / length:.2g} {unit}" if seconds / length < 10 else f"{seconds / length:.0f} {unit}"


def gigabytes(size: float) -> str:
    return f"{size / 1e9:.2g} GB" if size < 10e9 else f"{size / 1e9:.0f} GB"


def comparing() -> str:
    lines = [
        "| pages | d | vectors | all with all: tasks | 2 cores | 64 cores | by cells: cells | 2 cores | 64 cores |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for pages, size in SITES:
        exact, cells = 2.0 * pages**2 * size, 2 * 2.0 * pages * PROBES * pages**0.5 * size
        lines.append(
            f"| {pages:,} | {size} | {gigabytes(2.0 * pages * size)} | {-(-pages // EXACT_ROWS):,} "
            f"| {hours(exact, 2)} | {hours(exact, 64)} "
            f"| {round(pages**0.5):,} | {hours(cells, 2)} | {hours(cells, 64)} |"
        )
    return "\n".join(lines)


def embedding() -> str:
    lines = [
        "| pages | texts | local model, 2 cores | 64 cores | OpenAI small | OpenAI large | neighbours in the store |",
        "|---|---|---|---|---|---|---|",
    ]
    for pages in sorted({pages for pages, _ in SITES}):
        work = pages * PAGE_SECONDS * CORE
        small, large = (
            pages * TOKENS / 1e6 * KNOWN_MODELS[f"text-embedding-3-{name}"][1] for name in ("small", "large")
        )
        lines.append(
            f"| {pages:,} | {gigabytes(pages * TEXT_BYTES)} | {hours(work, 2)} | {hours(work, 64)} "
            f"| {small:,.0f} dollars | {large:,.0f} dollars | {gigabytes(16.0 * SERVED * pages)} |"
        )
    return "\n".join(lines)


@pytest.mark.parametrize("table", [comparing, embedding])
def test_tables_of_the_guide_follow_from_its_formulas(table: object) -> None:
    """Each number is what the formula beside it gives; paste the table in when one changes."""
    assert callable(table) and table() in GUIDE


def test_the_package_is_the_same_everywhere() -> None:
    """Guide, error and project ask for the same versions of it."""
    texts = {
        name: (REPOSITORY / name).read_text(encoding="utf-8")
        for name in ("pyproject.toml", "internal_linker/adapters/compute/dask.py")
    }
    asked = set(re.findall(r'"(distributed[<>=].*?)"', "".join(texts.values())))
    assert len(asked) == 1 and f'pip install "{asked.pop()}"' in GUIDE


def test_constants_of_the_guide_are_the_codes() -> None:
    """Rows of a block, candidates and the seconds from which cells are used stand there as in the code."""
    assert f"n/{EXACT_ROWS} tasks" in GUIDE and f"(K = {SERVED})" in GUIDE
    assert f"(from an estimated {EXACT_SECONDS:.0f} seconds on)" in GUIDE

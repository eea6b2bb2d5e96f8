"""An audit -> its pages and links, row by row, as every file for another graph program holds them."""

from collections.abc import Iterator
from itertools import repeat
from typing import Literal

from internal_linker.analysis.audit.records import Audit, SiteGraph

Cell = str | int | float | None
ColumnType = Literal["string", "int", "double"]

NODE_COLUMNS: tuple[tuple[str, ColumnType], ...] = (
    ("url", "string"),
    ("title", "string"),
    ("section", "string"),
    ("topic", "string"),
    ("in_links", "int"),
    ("out_links", "int"),
    ("depth", "int"),
    ("pagerank", "double"),
)
"""What is told of a page; the figures are those of today's links."""


def node_rows(audit: Audit) -> Iterator[tuple[Cell, ...]]:
    """The pages in their order, as `NODE_COLUMNS`; the depth is None where no link path leads from the home page."""
    today = audit.before
    return zip(
        audit.urls,
        map(one_line, audit.titles),
        map(one_line, audit.sections),
        map(one_line, audit.topics),
        today.inlinks.tolist(),
        today.outlinks.tolist(),
        (None if depth < 0 else depth for depth in today.depth.tolist()),
        today.pagerank.tolist(),
        strict=True,
    )


def edge_rows(audit: Audit) -> Iterator[tuple[int, int, str, float]]:
    """Row of the source, row of the target, "existing" or "proposed", and the weight; existing links first."""
    yield from _links(audit.existing, "existing")
    yield from _links(audit.proposed, "proposed")


def one_line(text: str) -> str:
    """Line ends and runs of white space as one space: a cell of many lines breaks simple readers."""
    return " ".join(text.split())


def _links(graph: SiteGraph, state: str) -> Iterator[tuple[int, int, str, float]]:
    ends = graph.sources.tolist(), graph.targets.tolist()
    return zip(*ends, repeat(state, len(graph.sources)), graph.weights.tolist(), strict=True)

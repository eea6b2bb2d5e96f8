"""The tables of the ranker's model card, from the packaged ranker."""

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from internal_linker.rank.ranker import PACKAGED


def ranker_figures() -> str:
    """Return NDCG@5 of each site by setting, without vectors."""
    return "\n".join(_figures("without vectors"))


def ranker_figures_with_vectors() -> str:
    """Return NDCG@5 by setting with vectors: the means of the sites."""
    *head, last = _figures("with vectors")
    return "\n".join([*head[:2], last])


def ranker_sites() -> str:
    """Return the sites that the ranker learned from."""
    rows = (
        _row(site["name"], site["source"], ", ".join(date for date in site["dates"] if date[0].isdigit()))
        for site in _packaged()["sites"]
    )
    return "\n".join([*_head("site", "repositories and commits", "earlier dates"), *rows])


def _figures(lists: str) -> Iterator[str]:
    figures = [row for row in _packaged()["figures"] if row["lists"] == lists]
    settings = list(dict.fromkeys(row["setting"] for row in figures))
    yield from _head("NDCG@5", *settings)
    cells = {(row["site"], row["setting"]): _cell(row) for row in figures}
    # Some sites have no arrivals, and the mean comes last.
    sites = [*(site["name"] for site in _packaged()["sites"]), figures[-1]["site"]]
    for site in sites:
        yield _row(site, *(cells.get((site, setting), "") for setting in settings))


def _cell(row: Any) -> str:
    return f"{row['ndcg@5']:.3f} [{row['low']:.2f}, {row['high']:.2f}], {row['baseline']:.3f}"


def _packaged() -> Any:
    return json.loads(resources.files("internal_linker.rank").joinpath(PACKAGED).read_text("utf-8"))


def _head(*titles: str) -> list[str]:
    return [_row(*titles), "|" + "---|" * len(titles)]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"

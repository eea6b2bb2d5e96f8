"""The tables of the ranker's model card, from the packaged ranker."""

import json
from importlib import resources
from typing import Any

from internal_linker.rank.ranker import PACKAGED


def ranker_figures() -> str:
    """Return the sites' mean NDCG@5 by setting, without and with vectors."""
    figures = [row for row in _packaged()["figures"] if row["site"] == "mean of the sites"]
    settings = list(dict.fromkeys(row["setting"] for row in figures))
    cells = {(row["lists"], row["setting"]): _cell(row) for row in figures}
    rows = (
        _row(lists, *(cells[lists, setting] for setting in settings))
        for lists in dict.fromkeys(row["lists"] for row in figures)
    )
    return "\n".join([*_head("NDCG@5", *settings), *rows])


def ranker_sites() -> str:
    """Return the sites that the ranker learned from."""
    rows = (
        _row(site["name"], site["source"], ", ".join(date for date in site["dates"] if date[0].isdigit()))
        for site in _packaged()["sites"]
    )
    return "\n".join([*_head("site", "repositories and commits", "earlier dates"), *rows])


def _cell(row: Any) -> str:
    return f"{row['ndcg@5']:.3f} [{row['low']:.2f}, {row['high']:.2f}], {row['baseline']:.3f}"


def _packaged() -> Any:
    return json.loads(resources.files("internal_linker.rank").joinpath(PACKAGED).read_text("utf-8"))


def _head(*titles: str) -> list[str]:
    return [_row(*titles), "|" + "---|" * len(titles)]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"

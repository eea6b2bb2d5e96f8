"""Proposed links as review rows, the tab Review on the stand-in, and editors who work in it."""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from internal_linker.model.edges import TIER_NAMES, ReviewRow, Verdict, score_of
from internal_linker.model.sections import section_of
from internal_linker.review.google_tab import ReviewTab
from internal_linker.review.merge import COLUMNS, row_key
from tests.standins import GoogleStandIn

APPEND = "^POST /v4/spreadsheets/[^/]*:batchUpdate"


def row(name: str, **changes: Any) -> ReviewRow:
    """Return a link with id, texts and figures derived from this name."""
    made = ReviewRow(
        id=f"{name:0>16}",
        status="proposed",
        anchor=f"{name} anchor",
        sentence=f"Here stands the {name} anchor.",
        source=f"https://shop.com/{name}",
        target=f"https://shop.com/to-{name}",
        score=0.75,
        tier="sidebar",
        why=f"{name} fits",
    )
    return replace(made, **changes)


def cells(of: ReviewRow) -> list[str]:
    """Return the row as a new tab shows it."""
    score = "" if math.isnan(of.score) else str(score_of(of.score))
    titles = [of.source_title, of.target_title, section_of(of.source)]
    texts = [of.status, of.anchor, of.sentence, *titles, score, TIER_NAMES[of.tier], of.why, of.notes]
    hidden = [of.id, of.anchor, of.status, row_key(of.source, of.target)]
    return [*texts, of.source, of.target, *hidden]


def verdict(of: ReviewRow, by: str = "Review tab", **changes: Any) -> Verdict:
    """Return the verdict that is read from an untouched row."""
    return replace(Verdict(of.id, of.status, of.anchor, of.notes, by, of.anchor, of.status), **changes)


def review_tab(google: GoogleStandIn) -> ReviewTab:
    return ReviewTab(json.dumps(google.service_account), google.spreadsheet_id, api_url=google.url)


def shown(google: GoogleStandIn, title: str = "Review") -> list[list[str]]:
    """Return the tab's rows, each padded to the number of columns."""
    grid = google.grid(title)
    width = max(len(COLUMNS), *map(len, grid))
    return [line + [""] * (width - len(line)) for line in grid]


def put(google: GoogleStandIn, link: ReviewRow, column: str, text: str, title: str = "Review") -> None:
    """Type into the row of a link as an editor."""
    grid = google.grid(title)
    at = next(at for at, line in enumerate(grid) if link.id in line)
    tab, place = google.tab(title), grid[0].index(column)
    tab.put(at, place, tab.at(at, place)._replace(value=text))


def rearrange(
    google: GoogleStandIn, change: Callable[[list[list[Any]]], list[list[Any]]], title: str = "Review"
) -> Callable[[], None]:
    """Return an action that changes the whole tab as an editor would; the score stays a number."""

    def act() -> None:
        grid: list[list[Any]] = [list(line) for line in shown(google, title)]
        place = grid[0].index("Score")
        for line in grid[1:]:
            line[place] = float(line[place]) if re.fullmatch(r"[\d.]+", line[place]) else line[place]
        google.set_grid(title, change(grid))

    return act


def ids(grid: Sequence[Sequence[str]]) -> list[str]:
    """Return the links' ids in their order."""
    place = grid[0].index("Link ID")
    return [line[place] for line in grid[1:]]

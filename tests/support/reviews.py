"""Proposed links as review rows, the tab Review on the stand-in, and editors who work in it."""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from internal_linker.model.columns import ENGLISH, REVIEW, Language, LinkView, proposed_anchor
from internal_linker.model.edges import TIER_NAMES, Anchor, Edge, Verdict, score_of
from internal_linker.model.records import Page
from internal_linker.model.sections import section_of
from internal_linker.model.wordings import full_reason
from internal_linker.review.google_tab import ReviewTab
from internal_linker.review.merge import row_key
from tests.standins import GoogleStandIn

HEADERS = [column.header for column in REVIEW]
APPEND = "^POST /v4/spreadsheets/[^/]*:batchUpdate"


class Row(LinkView):
    """A link that tests write into a review place, with short names for what it shows."""

    @property
    def id(self) -> str:
        return self.edge.id

    @property
    def anchor(self) -> str:
        return self.edge.chosen.text

    @property
    def sentence(self) -> str:
        return self.edge.chosen.sentence

    @property
    def source(self) -> str:
        return self.edge.source_url

    @property
    def target(self) -> str:
        return self.edge.target_url

    @property
    def why(self) -> str:
        return full_reason(self.edge)


def row(name: str, *, proposed: str | None = None, titles: Sequence[str] = ("", ""), **changes: Any) -> Row:
    """Return a link with URLs, texts and figures derived from this name.

    Args:
        proposed: the program's anchor, if `anchor` is an editor's.
        titles: those of its pages; "": nobody looked the page up.
        changes: `anchor`, `sentence`, `source`, `score` (0 to 1), `found_by` (a query), and attributes of the edge.
    """
    source = changes.pop("source", f"https://shop.com/{name}")
    target = changes.pop("target", f"https://shop.com/to-{name}")
    pages = [
        Page(url, url, title) if title else None for url, title in zip((source, target), titles, strict=True)
    ]
    anchor = changes.pop("anchor", f"{name} anchor")
    sentence = changes.pop("sentence", f"Here stands the {name} anchor.")
    facts = {"strength": changes.pop("score", 0.75), "tier": "sidebar", "rank": 1}
    if query := changes.pop("found_by", ""):
        facts |= {"query": query, "serp_rank": 1}
    if proposed is not None:
        facts["anchor"] = anchor
    anchors = (Anchor(anchor if proposed is None else proposed, sentence),)
    return Row(Edge(source, target, source, target, **{**facts, "anchors": anchors, **changes}), *pages)


def cells(of: LinkView) -> list[str]:
    """Return the row as a new tab shows it."""
    edge = of.edge
    score = "" if math.isnan(edge.strength) else str(score_of(edge.strength))
    titles = [of.source_title, of.target_title, section_of(edge.source_url)]
    texts = [edge.status, edge.chosen.text, edge.chosen.sentence, *titles, score, TIER_NAMES[edge.tier]]
    hidden = [edge.id, proposed_anchor(edge), edge.status, row_key(edge.source_url, edge.target_url)]
    return [*texts, full_reason(edge), edge.notes, edge.source_url, edge.target_url, *hidden]


def verdict(of: LinkView, by: str = "Review tab", **changes: Any) -> Verdict:
    """Return the verdict that is read from an untouched row."""
    edge, anchor = of.edge, of.edge.chosen.text
    return replace(Verdict(edge.id, edge.status, anchor, edge.notes, by, anchor, edge.status), **changes)


def review_tab(google: GoogleStandIn, language: Language = ENGLISH) -> ReviewTab:
    return ReviewTab(json.dumps(google.service_account), google.spreadsheet_id, language, api_url=google.url)


def shown(google: GoogleStandIn, title: str = "Review") -> list[list[str]]:
    """Return the tab's rows, each padded to the number of columns."""
    grid = google.grid(title)
    width = max(len(REVIEW), *map(len, grid))
    return [line + [""] * (width - len(line)) for line in grid]


def put(google: GoogleStandIn, link: LinkView, column: str, text: str, title: str = "Review") -> None:
    """Type into the row of a link as an editor."""
    grid = google.grid(title)
    at = next(at for at, line in enumerate(grid) if link.edge.id in line)
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

"""Lists of stored links: rows, which of them a filter takes, in which order; as a file to download, too."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from internal_linker.model.applied_links import LinkState
from internal_linker.model.columns import LINK_LIST
from internal_linker.model.edges import TIER_NAMES, Edge, Status, Tier, score_of
from internal_linker.model.records import Origin
from internal_linker.model.results import table_of
from internal_linker.model.sections import SectionFilter, Sections, section_of
from internal_linker.model.wordings import shown_wording
from internal_linker.project.site_texts import SiteTexts
from internal_linker.sources.tables.csv_writer import write_csv
from internal_linker.sources.tables.xlsx_writer import write_xlsx

Order = Literal["page", "score", "source", "target", "status", "tier", "section", "anchor", "on_site"]
# "missing": accepted, but not in the site's texts.
OnSite = Literal["", "missing", LinkState]


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A stored link in a list.

    Attributes:
        id: its id.
        source, target: keys; `source` is the query if there is no page.
        source_url, target_url: as the user writes them.
        source_title, target_title: "" for a page without one, or that is not listed.
        section: the first folder of the source.
        score: 0 to 100; None: unknown.
        tier, status, origin: as in links.csv.
        rank: its place among the page's links; 0: it waits for approval.
        late: whether the source is very short, full of links or deprecated, so that its links come last.
        anchor: the text to link.
        wording: the suggested wording, with the words that it adds in square brackets; "" for none.
        decided: the editor's last decision, "" without one.
        by, at: who set the status, and when.
        notes: the editor's notes.
        on_site: whether an accepted link is on the site: "missing", "undone" (taken back), "applied" or "live"; "" for
            other links.
    """

    id: str
    source: str
    source_url: str
    source_title: str
    target: str
    target_url: str
    target_title: str
    section: str
    score: int | None
    tier: Tier
    status: Status
    origin: Origin
    rank: int
    late: bool
    anchor: str
    wording: str
    decided: str
    by: str
    at: str
    notes: str
    on_site: OnSite = ""


class LinkFilter(BaseModel):
    """Which links are listed, and in which order; an empty value leaves none out."""

    model_config = ConfigDict(frozen=True)

    include: Annotated[
        tuple[str, ...], Field(strict=False, max_length=50, description="Only pages below these paths.")
    ] = ()
    exclude: Annotated[
        tuple[str, ...], Field(strict=False, max_length=50, description="No pages below these paths.")
    ] = ()
    section: Annotated[str, Field(max_length=500)] = ""
    tier: Literal["", "inline", "sidebar", "review"] = ""
    origin: Literal["", "serp", "semantic", "rule"] = ""
    status: Annotated[str, Field(max_length=20, description="A status, `waiting` or `decided`.")] = ""
    # "missing" takes those that were undone, too.
    on_site: Annotated[OnSite, Field(description="Whether accepted links are on the site.")] = ""
    text: Annotated[str, Field(max_length=500, description="Words of URLs, titles, anchor or notes.")] = ""
    source: Annotated[str, Field(max_length=4_000, description="The key of a page, or a query.")] = ""
    # The column to sort by; "page": as in the review, links in the text first.
    order: Order = "page"
    descending: bool = False

    @field_validator("include", "exclude")
    @classmethod
    def _without_blanks(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(filter(str.strip, paths))


def link_row(edge: Edge, texts: SiteTexts, state: LinkState | None = None) -> LinkRow:
    """Return the row of a link; `state`: what became of it, if it was ever applied."""
    return LinkRow(
        edge.id,
        edge.source,
        edge.source_url,
        texts.title(edge.source),
        edge.target,
        edge.target_url,
        texts.title(edge.target),
        section_of(edge.source),
        score_of(edge.strength),
        edge.tier,
        edge.status,
        edge.origin,
        edge.rank,
        edge.evidence.comes_late,
        edge.chosen.text,
        shown_wording(edge),
        edge.verdict,
        edge.by,
        edge.at,
        edge.notes,
        on_site(edge.status, state),
    )


def on_site(status: Status, state: LinkState | None) -> OnSite:
    """Return whether a link is on the site, by its status and by what became of it when it was applied."""
    if status == "live":
        return "live"
    if state == "applied":
        # Whatever was decided since: it is in the text until somebody takes it back.
        return "applied"
    if status in ("accepted", "edited"):
        return state or "missing"
    return ""


def predicate(wanted: LinkFilter) -> Callable[[LinkRow], bool]:
    """Return whether a filter takes a row; only the conditions that are set are looked at."""
    tests: list[Callable[[LinkRow], bool]] = []
    for name in ("section", "tier", "origin"):
        if value := getattr(wanted, name):
            tests.append(lambda row, name=name, value=value: getattr(row, name) == value)  # type: ignore[misc]
    if wanted.status == "waiting":
        tests.append(lambda row: row.status == "proposed")
    elif wanted.status == "decided":
        tests.append(lambda row: bool(row.decided))
    elif wanted.status:
        tests.append(lambda row: row.status == wanted.status)
    if wanted.on_site == "missing":
        tests.append(lambda row: row.on_site in ("missing", "undone"))
    elif wanted.on_site:
        tests.append(lambda row: row.on_site == wanted.on_site)
    if paths := SectionFilter(Sections(wanted.include), Sections(wanted.exclude)):
        held = cache(paths.hold)
        tests.append(lambda row: held(row.source))
    if words := wanted.text.casefold().split():
        tests.append(lambda row: all(word in _told(row) for word in words))
    return lambda row: all(test(row) for test in tests)


def _told(row: LinkRow) -> str:
    """Return all words of a row that people search for."""
    texts = (row.source_url, row.source_title, row.target_url, row.target_title, row.anchor, row.notes)
    return "\n".join(texts).casefold()


_KEYS: Mapping[str, Callable[[LinkRow], Any]] = {
    "score": lambda row: -1 if row.score is None else row.score,
    "source": lambda row: row.source_url,
    "target": lambda row: row.target_url,
    "status": lambda row: row.status,
    "on_site": lambda row: row.on_site,
    "tier": lambda row: [*TIER_NAMES].index(row.tier),
    "section": lambda row: row.section,
    "anchor": lambda row: row.anchor.casefold(),
}


def ordered(rows: list[LinkRow], wanted: LinkFilter) -> list[LinkRow]:
    """Return rows in the order of a filter."""
    if wanted.order == "page":
        return _by_page(rows)
    # Rows of the same value keep one order, so that pages of the list don't overlap.
    rows.sort(key=lambda row: row.id)
    return sorted(rows, key=_KEYS[wanted.order], reverse=wanted.descending)


def _by_page(rows: list[LinkRow]) -> list[LinkRow]:
    """Return rows in the order of the review; see `review.rows.by_page`."""
    best: defaultdict[tuple[str, bool], int] = defaultdict(lambda: -1)
    for row in rows:
        if row.status == "proposed" and row.score is not None:
            part = row.source, row.tier == "inline"
            best[part] = max(best[part], row.score)

    def place(row: LinkRow) -> tuple[Any, ...]:
        score, beside = -1 if row.score is None else row.score, row.tier != "inline"
        first = -best[row.source, not beside]
        return (beside, row.late, first, row.source_url, row.status != "proposed", -score, row.rank, row.id)

    return sorted(rows, key=place)


def best_first(rows: Iterable[LinkRow]) -> list[LinkRow]:
    """Return rows without withdrawn ones, the best first."""
    known = (row for row in rows if row.status != "withdrawn")
    return sorted(known, key=lambda row: (row.rank == 0, -(row.score or 0), row.rank, row.id))


Format = Literal["xlsx", "csv"]


def write_links(rows: Sequence[LinkRow], file: Path, kind: Format) -> None:
    """Write links into a file.

    Raises:
        OutputError: the file can't be written.
    """
    table = table_of("Links", LINK_LIST, ([column.read(row) for column in LINK_LIST] for row in rows))
    if kind == "csv":
        write_csv(file, table)
    else:
        write_xlsx(file, [table])

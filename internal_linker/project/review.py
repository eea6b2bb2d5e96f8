"""Review proposed links: list those that wait, take decisions on them, or ask a person one by one."""

import getpass
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Literal, get_args

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.count_breakdown import count_waiting
from internal_linker.model.edges import TIER_NAMES, Edge, Status, Tier, Verdict, is_link, score_of
from internal_linker.model.errors import InputError, OutputError
from internal_linker.model.ports import Progress
from internal_linker.model.records import fold_query
from internal_linker.model.results import Columns, Result
from internal_linker.model.sections import Sections
from internal_linker.model.urls import normal_form
from internal_linker.model.wordings import full_reason, shown_wording, warning
from internal_linker.project.capabilities import capability
from internal_linker.project.options.decisions import ReviewOptions
from internal_linker.project.project import Project
from internal_linker.project.site_texts import site_of
from internal_linker.review import session
from internal_linker.review.session import EdgeQueue, ReviewFilter, answered
from internal_linker.sources.tables.columns import text_of
from internal_linker.store.files.plain_text import shortened
from internal_linker.store.files.text_spool import TextSpool

if TYPE_CHECKING:
    from pandas import DataFrame


# What `review` returns if there was no link to show.
NOTHING_WAITS = session.ReviewCounts()


@dataclass(frozen=True, repr=False)
class ReviewResult(Result):
    """Proposed links that wait for a decision."""

    # The links as an editor sees them: first those that need approval, then the strongest.
    links: tuple[Edge, ...]

    def tables(self) -> dict[str, Columns]:
        """Return `links`, `score` being 0 to 100 or NaN; `decide` takes this table with its statuses filled in.

        `warning` is "" if the anchor stands in the page's text, outside links and headings.
        """
        edges = self.links
        scores = [score_of(edge.strength) for edge in edges]
        return {
            "links": {
                "link_id": [edge.id for edge in edges],
                "source": [edge.source_url for edge in edges],
                "target": [edge.target_url for edge in edges],
                "anchor": [edge.chosen.text for edge in edges],
                "sentence": [edge.chosen.sentence for edge in edges],
                "wording": [shown_wording(edge) for edge in edges],
                "score": [nan if score is None else float(score) for score in scores],
                "tier": [edge.tier for edge in edges],
                "status": [edge.status for edge in edges],
                "why": [full_reason(edge) for edge in edges],
                "notes": [edge.notes for edge in edges],
                "warning": [warning(edge) for edge in edges],
            }
        }


@dataclass(frozen=True, slots=True)
class LinkDecision:
    """What an editor says of a link."""

    # The link's id.
    link_id: str
    # "accepted", "rejected", "edited"; "live" counts as accepted, "withdrawn" as rejected; "" takes an earlier
    # decision back; "proposed" decides nothing; None: the status stays.
    status: str | None = None
    # The text for the link; one that was changed makes an accepted link an edited one; "" takes the editor's own
    # back; None: the anchor stays.
    anchor: str | None = None
    # The editor's notes; None: they stay.
    notes: str | None = None
    # The suggested wording that is accepted with the link, as it was shown; any other text, such as "": none; None: as
    # it is.
    wording: str | None = None


@capability()
def waiting_links(project: Project) -> ReviewResult:
    """Return the links that wait for an editor's decision; `decide` takes the decisions.

    Returns:
        `.links` and the DataFrame `.to_frame()`.

    Raises:
        InternalLinkerError: the settings or the link graph can't be read.
    """
    with project.graph() as (edges, _):
        return ReviewResult(tuple(link.edge for link in EdgeQueue(edges).pending()))


def decide(
    project: Project,
    decisions: "Sequence[LinkDecision] | DataFrame",
    *,
    by: str = "",
    only_waiting: bool = False,
) -> session.ReviewCounts:
    """Keep what an editor says of links; the next run follows it.

    The rules are those of the review's workbook. Of several decisions on a link the last one counts. A link that was
    decided after it was listed keeps that decision if its own status here is still "proposed". `decisions` are records,
    or a table with the column link_id and any of status, anchor, notes and wording; an empty (NaN) cell leaves the
    link's own as it is, and other columns don't count. `by` "" is the name of the login; `only_waiting` refuses links
    that don't wait for a decision, so that nobody is overruled.

    Raises:
        InputError: a link or a status is unknown, a link doesn't wait, or the column link_id is missing; then nothing
            is kept.
    """
    given = decisions if isinstance(decisions, Sequence) else _read(decisions)
    with project.graph(read_only=False) as (edges, _):
        before = {
            key: edge for key, edge in edges.by_id(one.link_id for one in given).items() if is_link(edge)
        }
        after, counts, by = dict(before), Counter[str](), by or login()
        for number, decision in enumerate(given, 1):
            _require_known(number, decision, before)
            edge = after[decision.link_id]
            if only_waiting and (known := before[edge.id]).status != "proposed":
                raise InputError(
                    f"Link {edge.id} waits for no decision: it is {known.status}{known.by and f' ({known.by})'}. "
                    "Change that in the review."
                )
            after[edge.id] = now = decided(edge, decision, by)
            counts[change_of(edge, now)] += 1
        edges.put([edge for key, edge in after.items() if edge != before[key]])
        return session.ReviewCounts(**counts, left=edges.counts().get("proposed", 0))


def review(
    project: Project, options: ReviewOptions, face: session.ReviewFace, progress: Progress
) -> session.ReviewCounts:
    """Ask a person about each link that waits; each answer is kept at once."""
    hosts = project.settings.hosts
    only = ReviewFilter(
        Sections(options.sections), _source(options.source, hosts), tier_named(options.tier), hosts
    )
    with project.graph(read_only=False) as (edges, _), _texts(project, progress) as texts:
        if counts := edges.counts():
            chosen = (
                " Shown are those that match." if options.sections or options.source or options.tier else ""
            )
            face.say(f"Links that wait for a decision: {count_waiting(counts)}.{chosen}")
        queue = EdgeQueue(edges, texts, only)
        return session.review(queue, face, options.by or login())


def _source(text: str, hosts: CanonicalHosts) -> str:
    """Return the end of links that a URL or a query names."""
    try:
        return hosts.identity(normal_form(text))
    except ValueError:
        return fold_query(text)


def tier_named(text: str) -> Tier | Literal[""]:
    """Return the tier of this name, as in `TIER_NAMES` or in links.csv; "" if there is none."""
    return next((tier for tier, name in TIER_NAMES.items() if text in (tier, name)), "")


@contextmanager
def _texts(project: Project, progress: Progress) -> Iterator[Anchoring | None]:
    """Read the site's pages; without a table of pages that can be used, links are reviewed without them."""
    spool = TextSpool(project.root / "files")
    try:
        yield _anchoring(project, spool, progress)
    finally:
        spool.close()


def _anchoring(project: Project, spool: TextSpool, progress: Progress) -> Anchoring | None:
    pages = project.table("urls_rawdata.csv", [])
    if pages is None:
        return None
    progress.start("Input", 0, "rows")
    try:
        site = site_of(project, pages, spool, progress)
    except (InputError, OutputError) as error:
        progress.warn(f"Links are shown without titles, and anchors are not looked for in the pages: {error}")
        return None
    progress.finish(f"{len(site.pages)} pages")
    return Anchoring(CountedSite(site))


def _read(table: "DataFrame") -> list[LinkDecision]:
    if "link_id" not in table.columns:
        raise InputError(
            "The table of decisions has no column link_id. Use the table from waiting_links, or rename the column."
        )
    names = [name for name in ("link_id", "status", "anchor", "notes", "wording") if name in table.columns]
    columns = []
    for name in names:
        cells, empty = table[name].tolist(), table[name].isna().tolist()
        columns.append([None if no else text_of(cell) for cell, no in zip(cells, empty, strict=True)])
    rows = [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return [LinkDecision(**{**row, "link_id": row["link_id"] or ""}) for row in rows]


def _require_known(number: int, decision: LinkDecision, known: Mapping[str, Edge]) -> None:
    if decision.link_id not in known:
        raise InputError(
            f"Decision {number}: link '{shortened(decision.link_id)}' not found. "
            "Copy the id from waiting_links or files/links.csv."
        )
    if _status(decision) not in (None, "", *get_args(Status)):
        raise InputError(
            f"Decision {number} (link {decision.link_id}): '{shortened(str(decision.status))}' is not a status. "
            "Write accepted, rejected or edited."
        )


def _status(decision: LinkDecision) -> str | None:
    return None if decision.status is None else decision.status.strip().casefold()


def decided(edge: Edge, decision: LinkDecision, by: str) -> Edge:
    """Return the edge with a decision, by the rules of the review's workbook."""
    status = next((each for each in get_args(Status) if each == _status(decision)), None)
    if status == "proposed" and edge.status != "proposed":
        return edge
    said = Verdict(
        edge.id,
        "" if _status(decision) == "" else status or edge.status,
        edge.chosen.text if decision.anchor is None else decision.anchor,
        edge.notes if decision.notes is None else decision.notes,
        by,
        wording=shown_wording(edge) if decision.wording is None else decision.wording,
    )
    return answered(edge, said)


def change_of(before: Edge, after: Edge) -> str:
    """Return which of the `ReviewCounts` a decision adds to."""
    if (before.verdict, before.anchor) == (after.verdict, after.anchor):
        return "skipped"
    return after.verdict or "taken_back"


def login() -> str:
    """Return the name that stands for the person who uses this computer."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "terminal"

"""The API of main queries: those that search data propose, and filling the empty ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from internal_linker.faces.web.context import (
    Folder,
    OpenedProject,
    Rows,
    SharedState,
    answer_rows,
    describe_rows,
    describe_rows_answer,
    given,
)
from internal_linker.faces.web.tasks import TaskState
from internal_linker.insight.main_queries import BRAND_QUERIES, PROPOSED_QUERIES, SHARED_QUERIES
from internal_linker.project.options.evaluation import QueriesOptions
from internal_linker.project.queries import KEPT, FilledQueries, queries

router = APIRouter(prefix="/projects/{key}/queries", tags=["Queries"])
# Cannibalised queries and queries for the site's name that are shown.
_MOST = 200


@dataclass(frozen=True, slots=True)
class QueriesOverview:
    """The main queries that search data propose; see `FilledQueries`.

    Attributes:
        place: what they fill: files/main_queries.csv or the Sheet.
        written: whether they were written.
        filled, kept, absent: counts of pages: with an empty main query, with a written one, without a row.
        unfilled: pages whose main query is still empty, as `problems` say.
        cannibalised, all_cannibalised: pages that earn from one query, the first of them, and how many there are.
        brands, all_brands: queries for the site's name, the first of them, and how many there are; they are left out.
        topics: names that the site is about: queries with such a name and other words count.
        without: counts of pages without a main query, by the reason.
        unknown_urls, unknown_clicks: URLs of the search data that are no pages, and the clicks on them.
        unknown_examples: the most clicked of them.
        problems: what could not be written.
        copies: copies of files that changed.
    """

    source: str
    first: date
    last: date
    place: str
    written: bool
    filled: int
    kept: int
    unfilled: int
    absent: int
    cannibalised: Annotated[Rows, describe_rows(SHARED_QUERIES)]
    all_cannibalised: int
    brands: Annotated[Rows, describe_rows(BRAND_QUERIES)]
    all_brands: int
    topics: Sequence[str]
    without: Mapping[str, int]
    unknown_urls: int
    unknown_clicks: int
    unknown_examples: Sequence[str]
    problems: Sequence[str]
    copies: Sequence[str]


@router.post("", status_code=202)
def start_choosing(
    options: Annotated[QueriesOptions, given(QueriesOptions)], project: OpenedProject, state: SharedState
) -> TaskState:
    """Start to choose main queries and, with `write`, to fill empty ones; the task `queries` shows how far it is."""
    return state.tasks.start(project.root, "queries", lambda progress, _: queries(project, options, progress))


@router.get("")
def show_queries(folder: Folder, state: SharedState) -> QueriesOverview | None:
    """Show what was chosen last since the app's start; null: nothing yet."""
    done = _done(folder, state)
    if done is None:
        return None
    return QueriesOverview(
        done.source,
        done.first,
        done.last,
        done.place,
        done.written,
        len(done.filled),
        len(done.kept),
        len(done.unfilled),
        len(done.absent),
        done.chosen.shared.head(_MOST).to_dict("records"),
        len(done.chosen.shared),
        done.chosen.brands.head(_MOST).to_dict("records"),
        len(done.chosen.brands),
        done.chosen.topics,
        dict(Counter(done.chosen.without.values())),
        done.unknown_urls,
        done.unknown_clicks,
        done.unknown_examples,
        done.problems,
        done.copies,
    )


@router.get("/pages", response_model=describe_rows_answer(PROPOSED_QUERIES))
def list_pages(
    folder: Folder,
    state: SharedState,
    first: Annotated[int, Query(alias="from", ge=0, le=100_000_000)] = 0,
    rows: Annotated[int, Query(ge=1, le=1_000)] = 100,
    kept: Annotated[
        bool | None, Query(description="Only pages whose main query was written already, or only the others.")
    ] = None,
) -> dict[str, Any]:
    """List the pages with the queries that were chosen for them."""
    done = _done(folder, state)
    if done is None:
        raise HTTPException(409, "No main queries have been chosen yet")
    found = done.chosen.queries
    if kept is not None:
        found = found[(found["fate"] == KEPT) == kept]
    keys = [column.key for column in PROPOSED_QUERIES]
    return answer_rows(len(found), found[keys][first : first + rows])


def _done(folder: Folder, state: SharedState) -> FilledQueries | None:
    found: FilledQueries | None = state.tasks.result(folder, "queries")
    return found

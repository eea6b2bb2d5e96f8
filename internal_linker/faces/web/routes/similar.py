"""The API of similar pages: compare once, then move the cut-off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import FileResponse

from internal_linker.faces.web.context import (
    WORKBOOK,
    OpenedProject,
    Rows,
    SharedState,
    describe_rows,
    download,
    given,
)
from internal_linker.faces.web.tasks import TaskState
from internal_linker.insight.similarity.cut_off import LOWEST, OFF_TOPIC, STEPS, SimilarityView, step_of
from internal_linker.insight.similarity.pairs import PAIR
from internal_linker.model.results import to_json_rows
from internal_linker.project.options.similarity import CompareOptions
from internal_linker.project.pairs import find_similar, similar_file, similar_pages, write_similar

router = APIRouter(prefix="/projects/{key}/similar", tags=["Similar pages"])
# Rows of an answer: more than anybody looks through at a cut-off.
_MOST_ROWS = 500
_CutOff = Annotated[float, Query(ge=LOWEST, le=1, description="The lowest similarity of a pair.")]
_From = Annotated[int, Query(ge=0, le=10_000_000)]
_Count = Annotated[int, Query(ge=1, le=_MOST_ROWS)]


@dataclass(frozen=True, slots=True)
class Overview:
    """What was compared, with the histogram of all similarities.

    Attributes:
        made: when, as ISO 8601.
        by: the fields that the pages were compared by.
        encoder: the encoder that was asked for; "": the one in the settings.
        pages: how many pages.
        within, across: counts of pairs in bars of equal width from 0 to 1: within sections, and across.
        left_out: how many pages were not compared, by the reason.
        lowest: the lowest cut-off.
    """

    made: str
    by: Sequence[str]
    encoder: str
    pages: int
    within: Sequence[int]
    across: Sequence[int]
    left_out: Mapping[str, int]
    lowest: float


@dataclass(frozen=True, slots=True)
class CutOffAnswer:
    """What a cut-off means.

    Attributes:
        pairs: how many pairs are similar enough.
        listed: how many of them can be listed: those among the best matches of one of their pages; without the linked
            ones, if only unlinked ones were asked for.
        off_topic: how many pages have no match.
        shown: some of the listed pairs, the most similar first.
        alone: some of the pages without a match, the most isolated first.
    """

    cut_off: float
    pairs: int
    listed: int
    off_topic: int
    shown: Annotated[Rows, describe_rows(PAIR)]
    alone: Annotated[Rows, describe_rows(OFF_TOPIC)]


@router.post("", status_code=202)
def start_comparison(
    options: Annotated[CompareOptions, given(CompareOptions)], project: OpenedProject, state: SharedState
) -> TaskState:
    """Start to compare all pages; the task `similar` shows how far it is."""
    return state.tasks.start(
        project.root, "similar", lambda progress, stop: find_similar(project, options, progress, stop)
    )


@router.get("")
def show_overview(project: OpenedProject, state: SharedState) -> Overview | None:
    """Show what was compared last; null: nothing yet."""
    view = _view(project, state)
    if view is None:
        return None
    within, across = view.histogram.tolist()
    assert len(within) == STEPS, "the histogram has a bar for each step"
    pages = len(view.urls)
    return Overview(view.made, view.by, view.encoder, pages, within, across, view.left_out, LOWEST)


@router.get("/cut-off")
def show_cut_off(
    project: OpenedProject,
    state: SharedState,
    value: _CutOff,
    *,
    unlinked: Annotated[bool, Query(description="Only pairs without a link between them.")] = False,
    pairs_from: _From = 0,
    alone_from: _From = 0,
    rows: _Count = 100,
) -> CutOffAnswer:
    """Show the pairs and the off-topic pages of a cut-off."""
    view = _required(project, state)
    pairs, alone = view.at(value, unlinked=unlinked)
    return CutOffAnswer(
        step_of(value) / STEPS,
        view.similar_enough(value),
        len(pairs),
        len(alone),
        to_json_rows(view.pair_values(pairs[pairs_from : pairs_from + rows])),
        to_json_rows(view.off_topic_values(alone[alone_from : alone_from + rows])),
    )


@router.get("/workbook", response_class=FileResponse, responses=WORKBOOK)
def download_pairs(
    project: OpenedProject, state: SharedState, value: _CutOff, *, unlinked: bool = False
) -> FileResponse:
    """Download the pairs and the off-topic pages of a cut-off as .xlsx."""
    view = _required(project, state)
    return download("similar-pages.xlsx", lambda path: write_similar(view, path, value, unlinked=unlinked))


def _view(project: OpenedProject, state: SharedState) -> SimilarityView | None:
    return state.views.get(similar_file(project), lambda: similar_pages(project))


def _required(project: OpenedProject, state: SharedState) -> SimilarityView:
    if (view := _view(project, state)) is None:
        raise HTTPException(409, "The pages have not been compared yet")
    return view

"""The API of the review: decide on links, on a filter, and take decisions back."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter
from pydantic import ConfigDict, Field

from internal_linker.faces.web.context import Body, DecisionsOfProject, Folder, Shared, SharedState
from internal_linker.faces.web.routes.links import MOST_CHARACTERS, filter_of
from internal_linker.model.errors import InputError
from internal_linker.project.link_decisions import Decision, DecisionResult, RequestedDecision
from internal_linker.project.link_lists import LinkFilter
from internal_linker.project.review import login

router = APIRouter(prefix="/projects/{key}", tags=["Review"])
Name = Annotated[str, Field(max_length=100, description="Who decides.")]
Notes = Annotated[str | None, Field(max_length=5_000, description="Notes; null: they stay.")]


class SeenBeside(Body):
    """What was shown beside a link, as the list of links has it."""

    decided: str
    anchor: str
    notes: str


class OneDecision(Body):
    """What a person says of a link."""

    id: Annotated[str, Field(pattern="^[0-9a-f]{20}$")]
    status: Annotated[Decision | None, Field(description='"" takes a decision back; null: it stays.')] = None
    anchor: Annotated[str | None, Field(max_length=500, description="The text to link; null: it stays.")] = (
        None
    )
    notes: Notes = None
    seen: Annotated[
        SeenBeside | None,
        Field(description="A link that is not as it was shown stays as it is; null: as it may be."),
    ] = None
    near: Annotated[
        int, Field(ge=0, le=MOST_CHARACTERS, description="Where in the text the anchor was chosen.")
    ] = 0
    instead: Annotated[
        str,
        Field(
            max_length=4_000,
            description="Another page for the words, by URL: that link is accepted with them, this one rejected.",
        ),
    ] = ""
    wording: Annotated[
        str | None,
        Field(
            max_length=2_000,
            description='The suggested wording to accept with the link, as the list has it; "": none; null: as it is.',
        ),
    ] = None

    def said(self) -> RequestedDecision:
        """Return the decision as the use case takes it."""
        given = self.model_dump(exclude={"id", "seen"})
        seen = (self.seen.decided, self.seen.anchor, self.seen.notes) if self.seen else None
        return RequestedDecision(self.id, seen=seen, **given)


class DecisionsGiven(Body):
    """Decisions on links."""

    decisions: Annotated[list[OneDecision], Field(min_length=1, max_length=1_000)]
    by: Name = ""


class FilterInBody(LinkFilter):
    """A filter of which every value has its own type, unlike in an address."""

    model_config = ConfigDict(extra="forbid", strict=True)


class FilterDecision(Body):
    """One decision on all links that a filter takes and that nobody has decided."""

    filter: FilterInBody
    status: Annotated[Decision, Field(description='"" takes back the decisions on them.')]
    notes: Notes = None
    by: Name = ""


class Undo(Body):
    """The name of decisions to take back."""

    undo: Annotated[str, Field(min_length=1, max_length=100)]


@dataclass(frozen=True, slots=True)
class Reviewer:
    """The name that is offered to a reviewer."""

    name: str


def required_name(given: str, state: Shared) -> str:
    """Return who decides, as given; where several people use the app, a name is required.

    Raises:
        InputError: it is missing.
    """
    if not given.strip() and not state.access.local:
        raise InputError(
            "Nobody would know who decided: enter your name beside “Your name”, then decide again."
        )
    return given.strip()


@router.get("/reviewer")
def show_reviewer(state: SharedState, folder: Folder) -> Reviewer:
    """Return the name of the login; "" where several people use the app."""
    return Reviewer(login() if state.access.local else "")


@router.post("/decisions")
def decide(given: DecisionsGiven, decisions: DecisionsOfProject, state: SharedState) -> DecisionResult:
    """Keep decisions; they are stored when the answer comes. Where several people use the app, `by` is required."""
    return decisions.decide([each.said() for each in given.decisions], required_name(given.by, state))


@router.post("/decisions/filter")
def decide_all(given: FilterDecision, decisions: DecisionsOfProject, state: SharedState) -> DecisionResult:
    """Keep one decision on all links that a filter takes and that nobody has decided."""
    by = required_name(given.by, state)
    return decisions.decide_all(filter_of(given.filter), given.status, notes=given.notes, by=by)


@router.post("/decisions/undo")
def undo(given: Undo, decisions: DecisionsOfProject) -> DecisionResult:
    """Take decisions back."""
    return decisions.undo(given.undo)

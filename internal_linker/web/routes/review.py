"""The API of the review: decide on links, on a filter, and take decisions back."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter
from pydantic import ConfigDict, Field

from internal_linker.usecases.link_decisions import Decision, Outcome, Said
from internal_linker.usecases.review import login
from internal_linker.web.context import Body, DecisionsOfProject, Folder, SharedState
from internal_linker.web.routes.links import FilterGiven

router = APIRouter(prefix="/projects/{key}", tags=["Review"])
Name = Annotated[str, Field(max_length=100, description="Who decides.")]
Notes = Annotated[str | None, Field(max_length=5_000, description="Notes; null: they stay.")]


class OneDecision(Body):
    """What a person says of a link."""

    id: Annotated[str, Field(pattern="^[0-9a-f]{20}$")]
    status: Annotated[Decision | None, Field(description='"" takes a decision back; null: it stays.')] = None
    anchor: Annotated[str | None, Field(max_length=500, description="The text to link; null: it stays.")] = (
        None
    )
    notes: Notes = None
    seen: Annotated[str | None, Field(max_length=20, description="The decision that was shown.")] = None


class DecisionsGiven(Body):
    """Decisions on links."""

    decisions: Annotated[list[OneDecision], Field(min_length=1, max_length=1_000)]
    by: Name = ""


class FilterInBody(FilterGiven):
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


@router.get("/reviewer")
def show_reviewer(state: SharedState, folder: Folder) -> Reviewer:
    """Return the name of the login; "" where several people use the app."""
    return Reviewer(login() if state.access.local else "")


@router.post("/decisions")
def decide(given: DecisionsGiven, decisions: DecisionsOfProject) -> Outcome:
    """Keep decisions; they are stored when the answer comes."""
    said = [Said(each.id, each.status, each.anchor, each.notes, each.seen) for each in given.decisions]
    return decisions.decide(said, given.by.strip())


@router.post("/decisions/filter")
def decide_all(given: FilterDecision, decisions: DecisionsOfProject) -> Outcome:
    """Keep one decision on all links that a filter takes and that nobody has decided."""
    return decisions.decide_all(given.filter.wanted(), given.status, notes=given.notes, by=given.by.strip())


@router.post("/decisions/undo")
def undo(given: Undo, decisions: DecisionsOfProject) -> Outcome:
    """Take decisions back."""
    return decisions.undo(given.undo)

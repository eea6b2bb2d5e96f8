"""The API of a session: open one with the password, end it."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from internal_linker.faces.web.context import Body, SharedState
from internal_linker.faces.web.guard import session_of, set_session
from internal_linker.faces.web.problems import problem

router = APIRouter(tags=["Session"])


class Login(Body):
    """The password of a server that others may reach."""

    password: Annotated[str, Field(max_length=1_000)]


@dataclass(frozen=True, slots=True)
class Done:
    """What was asked for is done."""

    done: bool = True


@router.post("/login")
def login(given: Login, request: Request, response: Response, state: SharedState) -> Done:
    """Open a session with the password; the answer sets its cookie."""
    if state.access.local or not state.access.knows_password(given.password):
        return problem("The password is wrong.", 401)  # type: ignore[return-value]
    set_session(response, state.access, secure=request.url.scheme == "https")
    return Done()


@router.post("/logout")
def logout(request: Request, response: Response, state: SharedState) -> Done:
    """End the session."""
    state.access.close_session(session_of(request.headers, state.access))
    response.delete_cookie(state.access.cookie)
    return Done()

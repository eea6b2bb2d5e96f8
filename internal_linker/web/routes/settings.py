"""The API of a project's settings, keys and exclusions, and of `check`."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field

from internal_linker.usecases.check import Fact, check
from internal_linker.usecases.edit_settings import (
    KeyRow,
    SettingsResult,
    change_exclusions,
    change_settings,
    list_settings,
    set_key,
)
from internal_linker.web.context import Folder, require_own_computer

router = APIRouter(prefix="/projects/{key}", tags=["Settings"])
# A colleague with the password could otherwise send the keys to an address of their own.
_OWN_COMPUTER = [Depends(require_own_computer)]


class Changes(BaseModel):
    """New values of settings."""

    model_config = ConfigDict(extra="forbid", strict=True)

    changes: Annotated[dict[str, Any], Field(description="Values by name; null: the default.")]
    version: Annotated[
        str, Field(max_length=100, description="The version that they start from; empty: any.")
    ] = ""


class KeyText(BaseModel):
    """A key or password, which no answer contains."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: Annotated[str, Field(min_length=1, max_length=60_000)]


class Exclusions(BaseModel):
    """The text of config/excluded_urls.txt."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: Annotated[str, Field(max_length=900_000)]


@router.get("/settings")
def show_settings(folder: Folder) -> SettingsResult:
    """List all settings with their values, and which keys are set."""
    return list_settings(folder)


@router.patch("/settings", dependencies=_OWN_COMPUTER)
def save_settings(given: Changes, folder: Folder) -> SettingsResult:
    """Change settings; nothing changes if a value is wrong."""
    return change_settings(folder, given.changes, given.version)


@router.put("/exclusions", dependencies=_OWN_COMPUTER)
def save_exclusions(given: Exclusions, folder: Folder) -> SettingsResult:
    """Replace the patterns of URLs that no link leads to."""
    return change_exclusions(folder, given.text)


@router.put("/keys/{name}", dependencies=_OWN_COMPUTER)
def save_key(name: str, given: KeyText, folder: Folder) -> KeyRow:
    """Store a key or password."""
    return set_key(folder, name, given.text)


@router.delete("/keys/{name}", dependencies=_OWN_COMPUTER)
def remove_key(name: str, folder: Folder) -> KeyRow:
    """Remove a key or password."""
    return set_key(folder, name, "")


@router.post("/check")
def run_check(folder: Folder) -> Sequence[Fact]:
    """Check settings, input and services; nothing is spent."""
    return check(folder).facts

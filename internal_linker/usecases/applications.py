"""Applications of links: which pages are meant, and what a killed one has written."""

from collections.abc import Callable, Collection
from contextlib import suppress

from internal_linker.adapters.database.applied_links import AppliedLinks
from internal_linker.core.sequences import counted
from internal_linker.core.urls import keys_meant, normal_form
from internal_linker.usecases.homes import Home, TextState


def pages_meant(
    address: str, known: Collection[str], key_of: Callable[[str], str] = normal_form
) -> list[str]:
    """Return the keys of known pages that an address stands for: a URL, one without https://, or a path."""
    with suppress(ValueError):
        return [key for key in keys_meant(address, known, key_of) if key in known]
    return []


def settle(applied: AppliedLinks, home: Home) -> list[str]:
    """Find out what a killed application has written; return what a person should know.

    Args:
        applied: the writes of the site.
        home: where the texts are; writes elsewhere stay as they are.
    """
    begun = [write for write in applied.writes() if write.status == "begun" and write.home == home.address]
    if not begun:
        return []
    now = {write.number: home.state(write) for write in begun}
    never = [write for write in begun if now[write.number] is TextState.BEFORE]
    unknown = [write for write in begun if now[write.number] is TextState.UNKNOWN]
    # The former text of a text that somebody changed since is kept, whether or not it was written.
    written = [write for write in begun if write not in never and write not in unknown]
    applied.forget(never)
    applied.mark(written, "applied")
    found = sum(now[write.number] is TextState.AFTER for write in written)
    changed = len(written) - found
    open_ = f" {changed} changed since: look at them." if changed else ""
    open_ += f" {len(unknown)} can't be read now." if unknown else ""
    names = ", ".join(sorted({write.application for write in begun}))
    texts = counted(len(begun), home.noun)
    return [f"Application {names} was interrupted: it wrote {found} of {texts} that it had begun.{open_}"]

"""Applications of links to source files: which are meant, and what became of a text since it was written."""

from collections.abc import Callable, Collection
from contextlib import suppress
from enum import Enum
from pathlib import Path

from internal_linker.adapters.database.applied_links import AppliedLinks
from internal_linker.core.applied_links import PageWrite, content_hash
from internal_linker.core.urls import keys_meant, normal_form


class Text(Enum):
    """How a text is now, compared with a write of it."""

    BEFORE = "as it was before the write"
    AFTER = "as the write left it"
    OTHER = "changed since"
    GONE = "gone"


def text_now(path: Path, write: PageWrite) -> Text:
    """Return how a file is now, compared with a write of it."""
    try:
        # A link may have taken the file's place, and what it leads to was not written by us.
        now = b"" if path.is_symlink() else path.read_bytes()
    except OSError:
        return Text.GONE
    if path.is_symlink():
        return Text.OTHER
    found = content_hash(now)
    if found == write.hash_after:
        return Text.AFTER
    return Text.BEFORE if found == write.hash_before else Text.OTHER


def pages_meant(
    address: str, known: Collection[str], key_of: Callable[[str], str] = normal_form
) -> list[str]:
    """Return the keys of known pages that an address stands for: a URL, one without https://, or a path."""
    with suppress(ValueError):
        return [key for key in keys_meant(address, known, key_of) if key in known]
    return []


def settle(applied: AppliedLinks, folder: Path) -> list[str]:
    """Find out what a killed application has written in a folder; return what a person should know.

    Args:
        applied: the writes of the site.
        folder: the folder; writes elsewhere stay as they are.
    """
    begun = [write for write in applied.writes() if write.status == "begun" and write.home == str(folder)]
    now = {write.number: text_now(folder / write.place, write) for write in begun}
    never = [write for write in begun if now[write.number] is Text.BEFORE]
    # The former text of a file that somebody changed since is kept, whether or not it was written.
    written = [write for write in begun if now[write.number] is not Text.BEFORE]
    applied.forget(never)
    applied.mark(written, "applied")
    if not begun:
        return []
    found = sum(now[write.number] is Text.AFTER for write in written)
    changed = len(written) - found
    open_ = f" {changed} changed since: look at them." if changed else ""
    names = ", ".join(sorted({write.application for write in begun}))
    return [
        f"Application {names} was interrupted: it wrote {found} of {len(begun)} files that it had begun.{open_}"
    ]

"""The Role of a page, as its row has it -> whether links may lead to it, and whether links are wanted for it."""

from internal_linker.core.records import Page

SOURCE, TARGET = "source", "target"
# What `Page.not_target` says of a page that is a source alone: it is a good page all the same.
SOURCE_ONLY = "its Role is source"
_BOTH = frozenset({"", "both", "source and target", "source, target"})


def role_of(cell: str) -> str:
    """What a page is alone, "source" or "target"; "" for one that is both.

    Raises:
        ValueError: the cell says something else; the message says what it may say.
    """
    role = " ".join(cell.casefold().split())
    if role in (SOURCE, TARGET):
        return role
    if role not in _BOTH:
        raise ValueError("its Role is none of source, target and both: it counts as both")
    return ""


def takes_links(page: Page) -> bool:
    """Whether links may be set in the page's text: it is no error or copy, and no target alone."""
    return page.not_target in ("", SOURCE_ONLY) and not page.target_only

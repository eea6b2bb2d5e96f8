"""Texts that people read beside a link: its suggested wording, the reason for it, and a warning about its anchor."""

import re

from internal_linker.model.edges import Anchor, Edge, why

# A word, or a character of a script without spaces.
_TOKEN = re.compile("[^\\W\u3040-\u30ff\u3400-\u9fff]+|.", re.DOTALL)


def addition(sentence: str, wording: str) -> tuple[int, int] | None:
    """Return start and end of the only words that a wording adds to a sentence; None if it changes more, or nothing."""
    old, new = _TOKEN.findall(sentence), _TOKEN.findall(wording)
    first = 0
    while first < len(old) and first < len(new) and old[first] == new[first]:
        first += 1
    rest = len(old) - first
    if len(new) <= len(old) or (rest and new[-rest:] != old[first:]):
        return None
    return len("".join(new[:first])), len(wording) - len("".join(old[first:]))


def bracketed(sentence: str, wording: str) -> str:
    """Return a wording with what it adds to a sentence in square brackets; "" if it is no addition."""
    span = addition(sentence, wording)
    return f"{wording[: span[0]]}[{wording[slice(*span)]}]{wording[span[1] :]}" if span else ""


def shown_wording(edge: Edge) -> str:
    """Return the suggested wording of a link with the words to add in square brackets; "" for none.

    Of a decided link it is the one that the editor accepted, if it is still suggested.
    """
    chosen = edge.chosen
    is_open = edge.status == "proposed" or edge.wording == chosen.wording
    return bracketed(chosen.sentence, chosen.wording) if chosen.wording and is_open else ""


# Warnings about a link's anchor.
NOT_IN_TEXT = "anchor not in the text"
ONLY_LINKED = "anchor only in a link or heading"
# What a reason begins with where the anchor is the target's title, for a related box, and where a wording is suggested.
NEW_TEXT = "New text. "
NEW_WORDS = "New text: words would be added to the sentence. "


def full_reason(edge: Edge) -> str:
    """Return the reason for a link, which first says whether it needs new text."""
    return (NEW_WORDS if shown_wording(edge) else NEW_TEXT if _is_new_text(edge) else "") + why(edge)


def with_warning(warning: str, why: str) -> str:
    """Return the reason for a link after the warning about its anchor, if there is one, as a sentence."""
    return f"{warning[0].upper()}{warning[1:]}. {why}".rstrip() if warning else why


def warning(edge: Edge) -> str:
    """Return why the link's anchor can't be linked where it stands; "" if it can, or nobody has looked yet.

    A title that is offered as new text needs no warning.
    """
    chosen = edge.chosen
    if _is_new_text(edge):
        return ""
    if edge.placed.text == chosen.text:
        return warning_of(edge.placed)
    return NOT_IN_TEXT if chosen.text and not chosen.verbatim else ""


def warning_of(placed: Anchor) -> str:
    """Return why an anchor that was looked for in the page's text (`Anchors.placed`) can't be linked there."""
    if not placed.text or placed.verbatim:
        return ""
    return ONLY_LINKED if placed.sentence else NOT_IN_TEXT


def _is_new_text(edge: Edge) -> bool:
    """Return whether the link's anchor is the target's title, offered because no words of the page's text fit."""
    chosen = edge.chosen
    return not edge.anchor and bool(chosen.text) and not chosen.verbatim and chosen.quality == 0

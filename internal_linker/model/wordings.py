"""Suggested wordings: what they add to a sentence, and how people see it."""

import re

from internal_linker.model.edges import Edge

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

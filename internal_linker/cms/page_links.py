"""The links of one page put into its text, one after the other, up to a limit."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from internal_linker.cms.insertion import insert
from internal_linker.cms.placement import Inserted, Placement, Refusal, TextFormat


class Held(StrEnum):
    """Why a link that could be put into a text waits; the value is the sentence that people read."""

    FULL = "the page has as many new links as --max-per-page allows"


@dataclass(frozen=True, slots=True)
class PlacedLink:
    """What became of a link."""

    id: str
    refusal: Refusal | Held | None  # why it was not put into the text; None: it was
    line: int = 0  # the line of the new text on which it begins, from 1; 0 if it was not put into it
    in_sentence: bool = False  # whether it stands in the sentence in which its anchor was accepted


@dataclass(frozen=True)
class PlacedLinks:
    """A text with its new links, and what became of each."""

    text: str
    links: Sequence[PlacedLink]


def place_links(
    text: str,
    text_format: TextFormat,
    wanted: Sequence[tuple[str, Placement]],
    *,
    most: int,
    applied: Collection[str] = (),
) -> PlacedLinks:
    """Put links into a text.

    Args:
        text: the text.
        text_format: its markup.
        wanted: the links by their ids, the most wanted first.
        most: how many new links the text may have.
        applied: ids of links that were put into the text earlier and are not live yet: those that still stand in it
            count, too.
    """
    found: dict[str, PlacedLink] = {}
    new, places = 0, list[tuple[str, int, bool]]()
    for link, placement in sorted(wanted, key=lambda one: one[0] not in applied):
        answer = insert(text, text_format, placement)
        if not isinstance(answer, Inserted):
            new += answer.reason is Refusal.LINKED and link in applied
            found[link] = PlacedLink(link, answer.reason)
        elif new >= most:
            found[link] = PlacedLink(link, Held.FULL)
        else:
            new += 1
            grown = len(answer.text) - len(text)
            places = [(one, at + grown * (at >= answer.start), inside) for one, at, inside in places]
            places.append((link, answer.start, answer.in_sentence))
            text = answer.text
    for link, start, in_sentence in places:
        found[link] = PlacedLink(link, None, text.count("\n", 0, start) + 1, in_sentence)
    return PlacedLinks(text, [found[link] for link, _ in wanted])

"""The evidence for a link, and the one or two sentences that tell an editor why it is proposed."""

from collections.abc import Iterator, Sequence
from itertools import islice
from math import isnan
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from internal_linker.model.arrays import Ints, Vectors

# Levels of topical similarity, from 1; 0: unknown.
TOPICS = ("", "Loosely related topic", "Related topic", "Similar topic", "Very similar topic")
# Why a link is one of last resort; 0: it is none. What the source is like holds for all of its links.
RESERVATIONS = (
    "",
    "the target is very short, full of links or deprecated",
    "the source is very short, full of links or deprecated",
    "both pages follow one template",
)
_SOURCE = 2
# The blend of words and embedding, in standard deviations above the source's average target, from which the second
# and further levels hold. Of the links that editors set themselves, on the two development sites, a quarter
# has 4.3 or more (the mean of both sites), half 2.1 or more, three quarters 0.8 or more.
_LEVELS = (1.0, 2.0, 4.0)
# A score adds what links and dates say to the same blend: on both development sites, proposed links have one
# standard deviation more by it.
_SCORE_ABOVE = 1.0
_ORDINALS = "First Second Third Fourth Fifth Sixth Seventh Eighth Ninth Tenth".split()
# In-links that a page in need has few of.
_FEW_INLINKS = 5
# Characters of a query or anchor in a sentence.
_MOST_CHARACTERS = 60


class Evidence(NamedTuple):
    """What speaks for a link besides its figures; by default, nothing is known.

    A run makes hundreds of thousands of them, each in a quarter of the time that a dataclass takes. Stores keep the
    fields by position: existing ones keep their places.
    """

    topic: int = 0  # level of similarity of the two texts, 1 to 4 as in `TOPICS`; 0: unknown
    # how many pages similar to the source were looked at for links; 0: no links are known
    neighbours: int = 0
    voters: int = 0  # how many of these link to the target
    inlinks: int = -1  # how many pages link to the target; -1: unknown
    # how many of them are in the source's section; -1: it is in no section worth naming
    section_inlinks: int = -1
    back: int = 0  # 1 if the target links to the source, else 0
    cocited: int = 0  # how many pages link to both
    # words that both titles have in common, as the target writes them; "" if there are none worth naming
    title_words: str = ""
    last_resort: int = 0  # 0, or why the link comes after all others: the place in `RESERVATIONS`
    needed: int = 0  # how much the target needs links, 1 to 4, if the link is there because of that; else 0
    # impressions, position, age: of a needed link, what `needs.PageNeeds` says about the target
    impressions: int = 0
    position: int = 0
    age: int = -1

    @classmethod
    def of_counts(
        cls, counts: Sequence[int], title_words: str, need: tuple[int, int, int, int] = (0, 0, 0, -1)
    ) -> "Evidence":
        """Return the evidence with these `counts` and this `need`."""
        topic, neighbours, voters, inlinks, section_inlinks, back, cocited, last = counts
        return cls(
            topic, neighbours, voters, inlinks, section_inlinks, back, cocited, title_words, last, *need
        )

    @property
    def comes_late(self) -> bool:
        """Whether the source is a page of last resort, whose links come last in the review."""
        return self.last_resort == _SOURCE

    @property
    def counts(self) -> tuple[int, ...]:
        """The values that `of_counts` takes: up to `last_resort`, without `title_words`."""
        counts: tuple[int, ...] = _COUNTS(self)
        return counts

    @property
    def need(self) -> tuple[int, int, int, int]:
        """The values of need; `NO_NEED` if the link is not there because of it."""
        return self.needed, self.impressions, self.position, self.age

    def pack(self) -> tuple[int | str, ...]:
        """Return all values, which `unpack` takes; those of need only where there is one."""
        return tuple(self) if self.needed else self[: -len(NO_NEED)]

    @classmethod
    def unpack(cls, values: Sequence[Any]) -> "Evidence":
        """Restore evidence from the result of `pack`, which another version may have with more or fewer values.

        Raises:
            TypeError: a value has another type.
        """
        if not all(map(isinstance, values, _TYPES)):
            raise TypeError("a value of another type")
        return cls(*islice(values, len(_TYPES)))


NO_NEED = (0, 0, 0, -1)
_COUNTS = attrgetter(*(name for name in Evidence._fields[: -len(NO_NEED)] if name != "title_words"))
_TYPES = [str if name == "title_words" else int for name in Evidence._fields]
NO_EVIDENCE = Evidence()


def topics(matches: Vectors) -> Ints:
    """Return (n,) the levels of similarity, 1 to 4; 0 for NaN.

    `matches` are blends of words and embedding, in standard deviations above the source's average target.
    """
    return np.where(np.isnan(matches), 0, 1 + np.searchsorted(_LEVELS, matches, side="right"))


def topic_by_score(score: float) -> int:
    """Return about the level of similarity of a link of which only the score is known, 1 to 4; 0 for NaN."""
    return int(topics(np.array([score - _SCORE_ABOVE]))[0])


def sentences(
    evidence: Evidence,
    *,
    serp_rank: int = 0,
    query: str = "",
    score: float = float("nan"),
    state: str = "",
    mentions: str = "",
    mentions_query: bool = False,
    is_query: bool = False,
) -> str:
    """Return why a link is proposed: one or two sentences, the most telling first.

    Args:
        serp_rank: rank of the target in the search results for `query`, from 1; 0 if it is not among them.
        query: the source's main query; "" if it has none.
        score: the link's score, which stands in for unknown evidence; NaN if unknown.
        state: what an editor did or should do, as the beginning of a sentence: "Accepted by an editor".
        mentions: words of the source's text that may be the link.
        mentions_query: whether they are a search query by which people find the target.
        is_query: whether the source is a query without a page.
    """
    topic = evidence.topic
    if evidence == NO_EVIDENCE and not isnan(score):
        topic = topic_by_score(score)
    told = TOPICS[topic]
    if evidence.title_words:
        who = "its title says" if is_query else "both titles say"
        told = f"{told or 'Similar page'}: {who} “{_short(evidence.title_words)}”"
    first = [part for part in (state, _search(serp_rank, query), told) if part]
    if evidence.needed:
        # It says how many in-links the target has.
        facts = [_need(evidence), *_facts(evidence._replace(inlinks=-1), mentions, mentions_query)]
    else:
        facts = [*_facts(evidence, mentions, mentions_query)]
    facts = [*facts[:1], RESERVATIONS[evidence.last_resort]] if evidence.last_resort else facts[:2]
    return " ".join(map(_sentence, filter(None, (first[:2] or ["Similar page"], facts))))


def _sentence(parts: list[str]) -> str:
    others = [part[0].lower() + part[1:] for part in parts[1:]]
    return "; ".join([parts[0][0].upper() + parts[0][1:], *others]) + "."


def _search(rank: int, query: str) -> str:
    if not rank:
        return ""
    ending = "th" if 10 < rank % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    ordinal = _ORDINALS[rank - 1] if rank <= len(_ORDINALS) else f"{rank}{ending}"
    return f"{ordinal} search result" + (f" for “{_short(query)}”" if query else "")


def _facts(evidence: Evidence, mentions: str, mentions_query: bool) -> Iterator[str]:
    inlinks, section = evidence.inlinks, evidence.section_inlinks
    if mentions and mentions_query:
        yield f"the text says “{_short(mentions)}”, a search query of the target"
    if evidence.voters:
        yield _voters(evidence)
    if not inlinks:
        yield "no page links there yet"
    elif inlinks > 0 and not section:
        yield f"no page of this section {'does' if evidence.voters else 'links there'} yet"
    if evidence.back:
        yield "the target links back"
    if mentions and not mentions_query:
        yield f"the text mentions “{_short(mentions)}”"
    if section > 0 and not evidence.voters:
        yield f"{_pages(section)} of this section {_link(section)} there"
    if evidence.cocited:
        yield f"{_pages(evidence.cocited)} {_link(evidence.cocited)} to both"
    if 0 < inlinks <= evidence.voters:
        yield "no other page does"
    elif inlinks > 0 and (section < 1 or evidence.voters):
        yield f"{'only ' if inlinks == 1 else ''}{_pages(inlinks)} {_link(inlinks)} there in all"


def _need(evidence: Evidence) -> str:
    facts, inlinks = list[str](), evidence.inlinks
    if seen := evidence.impressions:
        times = f"{seen:,} impression{'' if seen == 1 else 's'}"
        facts.append(f"earns {times} in 28 days at position {evidence.position}")
    # Many in-links speak against a need.
    if 0 <= inlinks < _FEW_INLINKS:
        facts.append(f"has {inlinks or 'no'} in-link{'' if inlinks == 1 else 's'}")
    if evidence.age >= 0:
        facts.append("is new")
    listed = " and ".join(filter(None, [", ".join(facts[:-1]), *facts[-1:]]))
    return f"chosen by priority: the target {listed or 'needs links more than others'}"


def _voters(evidence: Evidence) -> str:
    voters, all_ = evidence.voters, evidence.neighbours
    if all_ == 1:
        return "its nearest page links there"
    if voters == all_:
        return f"all of its {all_} nearest pages link there"
    return f"{'one' if voters == 1 else voters} of its {all_} nearest pages {_link(voters)} there"


def _pages(count: int) -> str:
    return "one page" if count == 1 else f"{count:,} pages"


def _link(count: int) -> str:
    return "links" if count == 1 else "link"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1].rstrip() + "…"

"""The records of a run's links as they are kept: what a version holds, and how two of them differ."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isnan, nan
from typing import Any, Literal

from internal_linker.core.reasons import Cause, Reason
from internal_linker.core.records import Candidate, Duplicate, Link, Recommendation, Source

Change = Literal["new", "gone", "moved"]

_TOLD = [one.name for one in fields(Candidate)]
_PAIR = [one.name for one in fields(Duplicate)]


@dataclass(frozen=True, slots=True)
class Version:
    """A run that left links.

    Attributes:
        run: its id.
        at: when it ended, ISO 8601, UTC.
        what: "all rows", "all rows but" those of some sections, "some rows", or "rollback to ...".
        encoder: provider, model and recipe.
        rows: how many rows of Output.csv it wrote.
        links: how many links they hold.
        published: whether the links went to all their places; False after drift or a failure.
        facts: what drift is told by, as `RunFacts`; none where a service failed.
    """

    run: str
    at: str
    what: str
    encoder: str
    rows: int
    links: int
    published: bool = True
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VersionRow:
    """The links of one row: its recommendation without the page, and what its page's text was."""

    recommendation: Recommendation
    text_hash: str = ""

    @property
    def end(self) -> str:
        """Where the links start."""
        return self.recommendation.source.end


@dataclass(frozen=True, slots=True)
class Difference:
    """A link that two versions do not both have at the same place: URLs as the user writes them, and why."""

    source: str
    target: str
    change: Change
    before: int
    after: int
    why: Reason[Cause]


def overlaid(before: Iterable[VersionRow], rows: Iterable[VersionRow]) -> Iterator[VersionRow]:
    """Earlier rows in their order, newer ones in their place, and those that are new at the end."""
    newer = {row.recommendation.source.identity: row for row in rows}
    for row in before:
        yield newer.pop(row.recommendation.source.identity, row)
    yield from newer.values()


def packed(row: VersionRow) -> list[Any]:
    """A row as JSON can hold it; `unpacked` gives it back."""
    source, item = row.recommendation.source, row.recommendation
    return [
        *(source.key, source.url, source.query, source.in_sheet, item.note, row.text_hash),
        [[link.origin, *(_number(getattr(link.target, name)) for name in _TOLD)] for link in item.links],
    ]


def unpacked(row: Sequence[Any]) -> VersionRow:
    """Return the row that was packed; all of its note is the remark."""
    key, url, query, in_sheet, note, text_hash, links = row
    found = tuple(Link(_candidate(told), rank, origin) for rank, (origin, *told) in enumerate(links, 1))
    source = Source(key, url, query, None, in_sheet=in_sheet)
    return VersionRow(Recommendation(source, found, note), text_hash)


def packed_duplicate(pair: Duplicate) -> list[Any]:
    """A pair of near-duplicates as JSON can hold it; `unpacked_duplicate` gives it back."""
    return [_number(getattr(pair, name)) for name in _PAIR]


def unpacked_duplicate(pair: Sequence[Any]) -> Duplicate:
    """Return the pair that was packed."""
    page, canonical, *figures = pair
    return Duplicate(page, canonical, *(nan if value is None else float(value) for value in figures))


def _candidate(told: Sequence[Any]) -> Candidate:
    values: list[Any] = [nan if value is None else value for value in told]
    return Candidate(*values)


def _number(value: Any) -> Any:
    """JSON knows no NaN."""
    return None if isinstance(value, float) and isnan(value) else value

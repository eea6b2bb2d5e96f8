"""The records of kept runs: their links, and the differences between two of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from math import isnan, nan
from typing import Any, Literal

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.evidence import NO_EVIDENCE, Evidence
from internal_linker.model.reasons import Cause, Reason
from internal_linker.model.records import Candidate, Duplicate, Link, Recommendation, Source

Change = Literal["new", "gone", "moved"]

_TOLD = [one.name for one in fields(Candidate)]
_KEY, _SERP_RANK = map(_TOLD.index, ("key", "serp_rank"))
_PAIR = [one.name for one in fields(Duplicate)]


@dataclass(frozen=True, slots=True)
class Version:
    """A run whose links are kept."""

    run: str  # its id
    at: str  # when it ended, ISO 8601, UTC
    what: str  # "all rows", "all rows but" or "rows of" some sections, "some rows", or "rollback to ..."
    encoder: str  # provider, model and recipe
    rows: int  # the number of rows of Output.csv that it wrote
    links: int  # the number of links in these rows
    published: bool = True  # whether the links reached all their places; False after drift or a failure
    # the figures that drift is measured by, as `RunFacts`; empty if a service failed
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VersionRow:
    """The links of one row: its recommendation without the page, and facts of the page at that time."""

    recommendation: Recommendation  # the row
    text_hash: str = ""  # the hash of the page's text
    outlinks: int = -1  # how many links the page's text had; -1: unknown
    # digests of what the row's list depended on; "": unknown, so that the next run chooses the list from scratch
    basis: str = ""

    @property
    def end(self) -> str:
        """Where the links start."""
        return self.recommendation.source.end


@dataclass(frozen=True, slots=True)
class StoredList:
    """What the next run compares its own list of a row with; it is read in a third of the time of a `VersionRow`."""

    source: Source  # the row's page or query
    # the key of each target with its rank in the search results, 0 if the search did not find it
    links: Sequence[tuple[str, int]]
    held: Sequence[tuple[str, int]]  # the same of the links that wait for an editor
    basis: str  # as in `VersionRow`


@dataclass(frozen=True, slots=True)
class Difference:
    """A link that two versions do not both have at the same place, with URLs as the user writes them."""

    # source, target: the link's ends
    source: str
    target: str
    change: Change  # whether it is new, gone or moved
    # before, after: its places; 0 in a version without it
    before: int
    after: int
    why: Reason[Cause]  # the reason
    # the link that displaced it. For a link that is gone, the page's new link in its place; for a new one, the page's
    # link that is gone, or "SOURCE -> TARGET" where another page's link to the target is gone; for a moved one, the
    # page's link that came before it or left. "" if there is none.
    other: str = ""


def overlaid(before: Iterable[VersionRow], rows: Iterable[VersionRow]) -> Iterator[VersionRow]:
    """Yield the earlier rows in order, replaced by newer ones where there are any, then the new rows."""
    newer = {row.recommendation.source.identity: row for row in rows}
    for row in before:
        yield newer.pop(row.recommendation.source.identity, row)
    yield from newer.values()


def rows_with(hosts: CanonicalHosts, rows: Iterable[VersionRow]) -> Iterator[VersionRow]:
    """Yield the rows of an earlier run, each source once, with the keys in the site's form of each host."""
    seen = set[int]()
    for earlier in rows:
        row, item = earlier, earlier.recommendation
        key = hosts.restored(item.source.key)
        targets = [hosts.restored(link.target.key) for link in item.links]
        row_url = hosts.written(item.source.row_url)
        if (key, row_url) != (item.source.key, item.source.row_url) or targets != [
            link.target.key for link in item.links
        ]:
            source = replace(item.source, key=key, url=hosts.written(item.source.url), row_url=row_url)
            item = replace(
                item, source=source, links=tuple(_moved(hosts, source, item.links, targets)), held=()
            )
            row = replace(row, recommendation=item)
        if (mark := hash(item.source.identity)) not in seen:
            seen.add(mark)
            yield row


def lists_with(hosts: CanonicalHosts, lists: Iterable[StoredList]) -> Iterator[StoredList]:
    """Yield the lists of an earlier run as `rows_with` yields its rows."""
    seen, restored = set[int](), cache(hosts.restored)
    for earlier in lists:
        one, source = earlier, earlier.source
        key, row_url = restored(source.key), hosts.written(source.row_url)
        links = [(restored(target), rank) for target, rank in one.links]
        if (key, row_url) != (source.key, source.row_url) or links != one.links:
            source = replace(source, key=key, row_url=row_url)
            fresh = dict[str, int]()
            for target, rank in links:
                fresh.setdefault(target, rank)
            fresh.pop(key, None)
            one = StoredList(source, [*fresh.items()], (), one.basis)
        if (mark := hash(source.identity)) not in seen:
            seen.add(mark)
            yield one


def _moved(
    hosts: CanonicalHosts, source: Source, links: Sequence[Link], targets: Sequence[str]
) -> Iterator[Link]:
    """Yield the links to their targets of today, each once and none to the source, without gaps in the ranks."""
    seen, rank = {source.key}, 0
    for link, key in zip(links, targets, strict=True):
        if key not in seen:
            seen.add(key)
            rank += 1
            target = replace(link.target, key=key, url=hosts.written(link.target.url))
            yield replace(link, target=target, rank=rank)


def pack_row(row: VersionRow) -> list[Any]:
    """Convert a row to what JSON can represent."""
    source, item = row.recommendation.source, row.recommendation
    return [
        *(source.key, source.url, source.query, source.in_sheet, item.note, row.text_hash),
        [*map(_packed_link, item.links)],
        *_further(row),
    ]


def _further(row: VersionRow) -> list[Any]:
    """Return what few rows have, or none of an earlier version of the program."""
    source, held = row.recommendation.source, row.recommendation.held
    if row.basis:
        return [
            source.row_url,
            source.unlisted,
            row.outlinks,
            row.basis,
            *([[*map(_packed_link, held)]] if held else []),
        ]
    if row.outlinks < 0 and not (source.is_redirected or source.unlisted):
        return []
    return [source.row_url, source.unlisted, *([row.outlinks] if row.outlinks >= 0 else [])]


def unpack_row(row: Sequence[Any]) -> VersionRow:
    """Restore a row from the result of `pack_row`; all of its note is the remark."""
    key, url, query, in_sheet, note, text_hash, links, *more = row
    found = tuple(_link(link, rank) for rank, link in enumerate(links, 1))
    held = tuple(_link(link, 0) for link in (more[4] if len(more) > 4 else ()))
    source = Source(key, url, query, None, in_sheet, *more[:2])
    return VersionRow(Recommendation(source, found, note, held), text_hash, *more[2:4])


def unpack_list(row: Sequence[Any]) -> StoredList:
    """Restore the list of a row from the result of `pack_row`; without a basis, it has no links."""
    key, url, query, in_sheet, _, _, links, *more = row
    source = Source(key, url, query, None, in_sheet, *more[:2])
    if len(more) < 4:
        return StoredList(source, [], [], "")
    return StoredList(source, _ends(links), _ends(more[4] if len(more) > 4 else ()), more[3])


def _ends(links: Sequence[Sequence[Any]]) -> list[tuple[str, int]]:
    return [(link[1 + _KEY], link[1 + _SERP_RANK]) for link in links]


def pack_duplicate(pair: Duplicate) -> list[Any]:
    """Convert a pair of near-duplicates to what JSON can represent."""
    return [_number(getattr(pair, name)) for name in _PAIR]


def unpack_duplicate(pair: Sequence[Any]) -> Duplicate:
    """Restore a pair from the result of `pack_duplicate`."""
    page, canonical, *figures = pair
    return Duplicate(page, canonical, *(nan if value is None else float(value) for value in figures))


def _packed_link(link: Link) -> list[Any]:
    """Return origin, target and, as a list of its own, the evidence, which earlier versions don't have."""
    target = [_number(getattr(link.target, name)) for name in _TOLD]
    return [link.origin, *target, *([link.evidence.pack()] if link.evidence != NO_EVIDENCE else [])]


def _link(told: Sequence[Any], rank: int) -> Link:
    origin, *target = told
    evidence = Evidence.unpack(target.pop()) if target and isinstance(target[-1], list) else NO_EVIDENCE
    values: list[Any] = [nan if value is None else value for value in target]
    return Link(Candidate(*values), rank, origin, evidence)


def _number(value: Any) -> Any:
    """Replace NaN, which JSON doesn't have, by None."""
    return None if isinstance(value, float) and isnan(value) else value

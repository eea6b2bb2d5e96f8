"""Differences between two versions of a site's links: links that came, went or changed rank, and why."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from internal_linker.model.edges import Status
from internal_linker.model.reasons import Cause, Reason
from internal_linker.model.records import Link
from internal_linker.model.runs import Difference, Version, VersionRow

Rows = Mapping[tuple[str, str], VersionRow]
# An editor's decision, or a link that now exists on the site, is enough to explain why a link came or went.
_CAME: Mapping[Status | None, Cause] = {"accepted": Cause.ACCEPTED, "edited": Cause.ACCEPTED}
_WENT: Mapping[Status | None, Cause] = {"rejected": Cause.REJECTED, "live": Cause.LINKED_NOW}


@dataclass(frozen=True, slots=True)
class _Two:
    """Both versions, the earlier first, with their rows and the hash of each page's text."""

    versions: tuple[Version, Version]
    rows: tuple[Rows, Rows]
    hashes: tuple[Mapping[str, str], Mapping[str, str]]
    status: Callable[[str, str], Status | None]
    lost: Mapping[str, str]
    """A page whose link to a target is gone, by the target's key: the limits of in-links may need another link."""


def differences(
    before: Version,
    after: Version,
    rows_before: Iterable[VersionRow],
    rows_after: Iterable[VersionRow],
    status: Callable[[str, str], Status | None],
) -> Iterator[Difference]:
    """Yield links that are new, gone or moved, row by row in the order of the earlier version; new rows come last.

    Args:
        status: a function that returns the status of a link by its ends (see `Source.end`), None where it is unknown.
    """
    rows = _by_identity(rows_before), _by_identity(rows_after)
    hashes = _hashes(rows[0]), _hashes(rows[1])
    two = _Two((before, after), rows, hashes, status, _lost(rows))
    for identity in {**rows[0], **rows[1]}:
        yield from _row(two, identity)


def _row(two: _Two, identity: tuple[str, str]) -> Iterator[Difference]:
    rows = [each.get(identity) for each in two.rows]
    links = [{one.target.key: one for one in row.recommendation.links} if row else {} for row in rows]
    source = next(row.recommendation.source for row in reversed(rows) if row)
    gone = [old for target, old in links[0].items() if target not in links[1]]
    came = [new for target, new in links[1].items() if target not in links[0]]
    replaced = dict(zip((link.target.key for link in came), gone, strict=False))
    displaced = dict(zip((link.target.key for link in gone), came, strict=False))
    for target in {**links[0], **links[1]}:
        old, new = links[0].get(target), links[1].get(target)
        if old and new and old.rank == new.rank:
            continue
        link = new or old
        assert link is not None
        why, other = _why(two, identity, source.end, old, new), ""
        if old and new:
            other = _passed(target, links[0], links[1]).target.url
        elif partner := (replaced if new else displaced).get(target):
            other = partner.target.url
            left = _why(two, identity, source.end, partner, None) if new else why
            if why.kind is left.kind is Cause.OTHER_RANKING and new and target in two.lost:
                why, other = Reason(Cause.IN_LINKS), f"{two.lost[target]} -> {link.target.url}"
        yield Difference(
            source.name,
            link.target.url,
            "moved" if old and new else "new" if new else "gone",
            before=old.rank if old else 0,
            after=new.rank if new else 0,
            why=why,
            other=other,
        )


def _passed(target: str, before: Mapping[str, Link], after: Mapping[str, Link]) -> Link:
    """Return the first link on the page that came before a moved one, or no longer stands before it."""
    above = [
        {key: link for key, link in links.items() if link.rank < links[target].rank}
        for links in (before, after)
    ]
    fewer, more = sorted(above, key=len)
    return next(link for key, link in more.items() if key not in fewer)


def _lost(rows: tuple[Rows, Rows]) -> Mapping[str, str]:
    """Return a page whose link to a target is gone, by the target's key."""
    found: dict[str, str] = {}
    for identity, row in rows[0].items():
        after = rows[1].get(identity)
        kept = {link.target.key for link in after.recommendation.links} if after else set()
        for link in row.recommendation.links:
            if link.target.key not in kept:
                found.setdefault(link.target.key, row.recommendation.source.name)
    return found


def _why(two: _Two, identity: tuple[str, str], end: str, old: Link | None, new: Link | None) -> Reason[Cause]:
    """Return the first reason that applies; an editor's decision comes before other changes."""
    link = new or old
    assert link is not None
    target = link.target.key
    if identity not in two.rows[0]:
        return Reason(Cause.NEW_ROW)
    if identity not in two.rows[1]:
        return Reason(Cause.ROW_GONE)
    if decided := (_CAME if new else _WENT).get(two.status(end, target)):
        return Reason(decided)
    known = [target in each for each in two.hashes]
    if known != [True, True] and any(known):
        return Reason(Cause.NEW_TARGET if known[1] else Cause.TARGET_GONE)
    if two.versions[0].encoder != two.versions[1].encoder:
        return Reason(Cause.MODEL_CHANGED, two.versions[1].encoder)
    if two.hashes[0].get(end) != two.hashes[1].get(end):
        return Reason(Cause.TEXT_CHANGED)
    if two.hashes[0].get(target) != two.hashes[1].get(target):
        return Reason(Cause.TARGET_CHANGED)
    if (old.target.serp_rank if old else 0) != (new.target.serp_rank if new else 0):
        return Reason(Cause.SEARCH_CHANGED)
    return Reason(Cause.OTHER_RANKING)


def _by_identity(rows: Iterable[VersionRow]) -> Rows:
    return {row.recommendation.source.identity: row for row in rows}


def _hashes(rows: Rows) -> dict[str, str]:
    return {row.end: row.text_hash for row in rows.values()}

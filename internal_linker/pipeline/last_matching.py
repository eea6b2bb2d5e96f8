"""The whole result of matching, kept with the run: a run on the same input takes it from there."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any

from internal_linker.core.arrays import Nearest, Vectors
from internal_linker.core.edges import Decided
from internal_linker.core.errors import InputError
from internal_linker.core.needs import PageNeeds
from internal_linker.core.ports import RunStore
from internal_linker.core.reasons import FewLinks, Reason
from internal_linker.core.records import (
    Collected,
    Duplicate,
    Orphan,
    Recommendation,
    Searched,
    Shortage,
    Source,
    Targets,
    Text,
)
from internal_linker.core.runs import Version, VersionRow
from internal_linker.core.sequences import Later
from internal_linker.embeddings.embed import text_hash
from internal_linker.pipeline.deliver import compact
from internal_linker.pipeline.last_lists import Bases
from internal_linker.pipeline.rows import Rows
from internal_linker.pipeline.unchanged import Unchanged
from internal_linker.ranking.adaptation import Adaptation
from internal_linker.ranking.fusion_choice import FusionEvidence
from internal_linker.ranking.metrics import Estimate
from internal_linker.ranking.rules import LinkRules
from internal_linker.ranking.site_lists import Listed

# Facts that are digested together: a call for each would take longer.
_AT_ONCE = 1000


@dataclass(frozen=True)
class Matched:
    """What the step "Matching" finds.

    Attributes:
        recommendations: the links of all rows.
        listed: the lists about the whole site; None after a run over some rows.
        adaptation: what the ranker gains from the site's own links; None where they are too few.
        below_floor: count of the search results below `serp_floor`.
        last: how many pages come last as sources and targets, by the reason.
        one_way: how many links come last because the link in the other direction is better.
        evidence: how good the search results are; None if they don't come first.
        bases: what the list of each row depends on; None where no links are stored.
        reused: whether all this was taken from the last run.
        unchanged: the last run, if this one would publish the same; None: it might not.
    """

    recommendations: Sequence[Recommendation]
    listed: Listed | None
    adaptation: Adaptation | None
    below_floor: int
    last: Mapping[str, int]
    one_way: int
    evidence: FusionEvidence | None
    bases: Bases | None
    reused: bool = False
    unchanged: Unchanged | None = None


@dataclass(frozen=True)
class MatchingInput:
    """All that matching depends on.

    Attributes:
        program: identifies the code and its libraries.
        collected, rows, targets, searched: the input and the search results.
        texts: the whole text of every page, then of every source without a page.
        hashes: their hashes; "" for one that has no vector.
        vectors: their vectors.
        nearest: their nearest texts; None: each text is compared when a source needs it.
        compared: the search results of pages with known links.
        decided: editors' decisions.
        approval: the sections whose links an editor must accept first, as text.
        rules: how links are chosen.
        encoder: provider, model and recipe of the vectors.
        needs: how much the pages need links; None: all of them equally.
    """

    program: str
    collected: Collected
    rows: Rows
    targets: Targets
    searched: Searched
    texts: Sequence[Text]
    hashes: Sequence[str]
    vectors: Vectors
    nearest: Nearest | None
    compared: Searched
    decided: Decided
    approval: str
    rules: LinkRules
    encoder: str
    needs: PageNeeds | None = None

    def digest(self) -> str:
        """Return 32 hex digits, which are equal only if matching finds the same."""
        found = blake2b(digest_size=16)

        def add(*parts: object) -> None:
            found.update(repr(parts).encode("utf-8", "surrogatepass"))

        add(self.program, self.rules, self.encoder, self.approval)
        for facts in (self._pages(), self._rows(), self._targets(), self._decided()):
            some: list[object] = []
            for one in facts:
                some.append(one)
                if len(some) == _AT_ONCE:
                    add(*some)
                    some.clear()
            add(*some, "end")
        add(self.searched.targets, self.searched.notes, self.compared.targets)
        near, needs = self.nearest, self.needs
        arrays = [self.vectors, *((near.rows, near.scores, near.floors) if near else ())]
        if needs:
            add("needs", self.rules.need_bonus)
            arrays += [needs.values, needs.impressions, needs.positions, needs.ages]
        for array in arrays:
            add(array.shape, str(array.dtype))
            found.update(memoryview(array.copy(order="C")).cast("B") if array.size else b"")
        return found.hexdigest()

    def _pages(self) -> Iterator[object]:
        for page in self.collected.pages:
            yield (page.key, page.url, page.title, page.h1, page.lang, page.target_only)
            yield (str(page.issue), page.headings, page.closed)
        for at, known in enumerate(self.hashes):
            yield known or text_hash(self.texts[at])
        for link in self.collected.links:
            yield (link.source, link.target, link.anchor, link.start, link.followed)
        yield (self.collected.aliases, self.collected.inner_links, self.collected.hosts)

    def _rows(self) -> Iterator[object]:
        for sources in (self.collected.sources, self.rows.sources):
            yield len(sources)
            for source in sources:
                page = source.page.key if source.page else None
                yield (source.key, source.url, source.query, page, source.in_sheet)
                yield (source.row_url, source.unlisted)
        for place, item in self.rows.without:
            yield (place, item.source.identity, item.note)

    def _targets(self) -> Iterator[object]:
        targets = self.targets
        yield (targets.any_on_site, str(targets.sections), targets.aliases, targets.hosts)
        yield from targets.known.items()
        yield from ((key, str(reason)) for key, reason in targets.barred.items())
        for lists in (targets.linked, targets.rejected):
            yield from ((key, sorted(ends)) for key, ends in lists.items())

    def _decided(self) -> Iterator[object]:
        """Yield the decisions without what each run writes into an edge: its id and its time."""
        for end, edges in self.decided.accepted.items():
            for edge in edges:
                yield (end, edge.target, edge.rank, edge.origin, edge.score, edge.similarity, edge.lexical)
                yield (edge.serp_rank, edge.probability, edge.chosen.text)


def packed(matched: Matched, digest: str) -> dict[str, Any]:
    """Return as a JSON object what the rows of a stored run don't have of the result.

    Args:
        matched: the result.
        digest: that of its input.
    """
    notes: dict[str, Any] = {}
    for at, item in enumerate(matched.recommendations):
        if item.remark or item.shortage:
            short = item.shortage
            reason = [short.links, short.wanted, short.reason.kind.name, short.reason.detail] if short else []
            notes[str(at)] = [item.remark, *reason]
    listed, better = matched.listed, matched.adaptation
    return {
        "digest": digest,
        "notes": notes,
        "duplicates": [list(pair) for pair in listed.duplicates] if listed else [],
        "orphans": _packed_orphans(listed.orphans if listed else None),
        "adaptation": asdict(better) if better else None,
        "below_floor": matched.below_floor,
        "last": dict(matched.last),
        "one_way": matched.one_way,
        "fusion": matched.evidence.packed() if matched.evidence else None,
    }


def last_whole(runs: RunStore) -> tuple[Version, Mapping[str, Any], Sequence[Duplicate]] | None:
    """Return the last run whose links were complete and published, what it keeps besides, and its near-duplicates."""
    whole = [version for version in runs.versions() if version.published and version.facts]
    stored = runs.matched(whole[-1].run) if whole else None
    return (whole[-1], *stored) if stored else None


def last_matched(
    runs: RunStore, digest: str, rows: Rows, still: Callable[[Mapping[str, Any]], bool] = lambda _: False
) -> Matched | None:
    """Return the result of the last run whose links were complete and published, if its input was the same.

    Args:
        runs: the earlier runs.
        digest: that of this run's input.
        rows: the rows of this run.
        still: whether this run is the same as one that keeps this about itself, see `unchanged.packed`.
    """
    last = last_whole(runs)
    if last is None or last[1].get("digest") != digest:
        return None
    version, rest, pairs = last
    sources = [item.source for item in rows.merged(Recommendation(source, ()) for source in rows.sources)]
    kept, found = rest.get("unchanged"), list[VersionRow]()
    same = kept and len(sources) == version.rows and still(kept) and runs.is_whole(version)
    if not same:
        found = [*runs.rows(version.run)]
        # Parts that are damaged are missing.
        if [_named(row.recommendation.source) for row in found] != [*map(_named, sources)]:
            return None
    notes, better, fusion = rest["notes"], rest["adaptation"], rest["fusion"]

    def load() -> Sequence[Recommendation]:
        rows = found or [*runs.rows(version.run)]
        if len(rows) != len(sources):
            raise InputError(f"The links of the run {version.run} are no longer in the cache: run again.")
        return compact(_restored(notes, sources, rows))

    return Matched(
        Later(version.rows, load) if same else load(),
        Listed(dict(zip(map(tuple, rest["duplicates"]), pairs, strict=True)), _orphans(rest["orphans"])),
        _adaptation(better) if better else None,
        rest["below_floor"],
        rest["last"],
        rest["one_way"],
        FusionEvidence.unpacked(fusion) if fusion else None,
        _bases(found) if found else None,
        reused=True,
        unchanged=Unchanged(version, kept, rest) if kept and same else None,
    )


def _restored(
    notes: Mapping[str, Any], sources: Sequence[Source], rows: Iterable[VersionRow]
) -> Iterator[Recommendation]:
    for at, (source, row) in enumerate(zip(sources, rows, strict=True)):
        remark, *shortage = notes.get(str(at), ("",))
        short = _shortage(*shortage) if shortage else None
        yield replace(row.recommendation, source=source, remark=remark, shortage=short)


def _named(source: Source) -> tuple[str, str, str]:
    return source.key, source.row_url, source.query


def _shortage(links: int, wanted: int, kind: str, detail: str) -> Shortage:
    return Shortage(links, wanted, Reason(FewLinks[kind], detail))


def _packed_orphans(orphans: Sequence[Orphan] | None) -> dict[str, Any] | None:
    """Return the orphans with each URL once; None if nobody knows which pages are orphans."""
    if orphans is None:
        return None
    urls: dict[str, int] = {}
    of = [[urls.setdefault(url, len(urls)) for url in (each.page, *each.sources)] for each in orphans]
    return {"urls": [*urls], "of": of}


def _orphans(packed: Mapping[str, Any] | None) -> list[Orphan] | None:
    if packed is None:
        return None
    urls = packed["urls"]
    return [Orphan(urls[page], tuple(urls[at] for at in sources)) for page, *sources in packed["of"]]


def _adaptation(packed: Mapping[str, Any]) -> Adaptation:
    estimates = {name: Estimate(**packed[name]) for name in ("packaged", "adapted", "gain")}
    return Adaptation(**{**packed, **estimates})


def _bases(rows: Sequence[VersionRow]) -> Bases:
    """Restore what the lists depend on, as far as the rows of a run need it."""
    states, own, rules = dict[str, str](), dict[tuple[str, str], str](), ""
    for row in rows:
        if row.basis:
            source = row.recommendation.source
            rules, states[source.key], own[source.identity] = row.basis.split(" ")
    return Bases(rules, states, own)

"""What the last run left: its lists, which stay where nothing changed, and whether a run would only repeat it.

A run after which nothing changed ends at once: one digest of all that it depends on and of all that it left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

import numpy as np

from internal_linker.match.embed import Embedded
from internal_linker.model.arrays import pairs_of
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.edges import Decided
from internal_linker.model.needs import PageNeeds
from internal_linker.model.records import Collected, Orphan, Recommendation, Searched, Source, Usage
from internal_linker.model.runs import lists_with
from internal_linker.model.sequences import Later
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.report import Report
from internal_linker.project.pipeline.site_index import SiteIndex
from internal_linker.rank.rank import Ranking
from internal_linker.rank.rules import LinkRules
from internal_linker.rank.site_lists import SiteLists
from internal_linker.rank.stability import RECIPE, Earlier
from internal_linker.review.link_memory import Memory
from internal_linker.store.runs import RunStore

Identity = tuple[str, str]
# Once a month a run does all its work: it marks what it needs in the store, from which other sites' runs remove what
# no run needed for half a year.
LASTING = timedelta(days=30)


@dataclass(frozen=True)
class Bases:
    """Digests of what the list of each row depends on."""

    rules: str  # the digest of what all lists depend on: the settings and the model
    # the digest of each page by its key: its text and language, the queries by which people find it, links from and to
    # it, decisions on its links, and whether it may be a target
    pages: Mapping[str, str]
    # the digest of each row by its identity: of its page or query, and of its search results
    rows: Mapping[Identity, str]
    # the need of each page that has one, by its key, from 1
    levels: Mapping[str, int] = field(default_factory=dict)

    def basis(self, source: Source) -> str:
        """Return a row's basis as it is stored; "" for a row that got no links in this run."""
        own, level = self.rows.get(source.identity), self.levels.get(source.key, 0)
        need = f".{level}" if level else ""
        return f"{self.rules} {self.pages.get(source.key, '')}{need} {own}" if own else ""


def bases(
    ranking: Ranking,
    hashes: Sequence[str],
    searched: Searched,
    *,
    decided: Decided,
    rules: LinkRules,
    encoder: str,
    page_queries: Mapping[str, Sequence[str]],
    needs: PageNeeds | None = None,
) -> Bases:
    """Compute the digests of a run.

    Args:
        hashes: the hash of each text of `ranking.site`.
        encoder: provider, model and recipe of the vectors.
        page_queries: the queries by which people find each page, by its key.
        needs: how much the pages need links; None: all of them equally.
    """
    targets, pages = ranking.targets, ranking.site.pages
    inlinks = ranking.graph.inlinks.tolist()

    def state(end: str, *facts: object) -> str:
        accepted = (edge.target for edge in decided.accepted.get(end, ()))
        lists = targets.linked.get(end, ()), targets.rejected.get(end, ()), accepted
        return _digest(*facts, *("\n".join(sorted(each)) for each in lists))

    states = {
        page.key: state(
            page.key,
            hashes[row],
            page.lang,
            page.key in targets.known,
            inlinks[row],
            *page_queries.get(page.key, ()),
        )
        for row, page in enumerate(pages)
    }
    rows: dict[Identity, str] = {}
    for position, source in enumerate(ranking.sources):
        own = states.get(source.key) or state(source.end, hashes[ranking.source_rows[position]])
        found = "\n".join(hit.key for hit in searched.targets.get(position, ()))
        rows.setdefault(source.identity, _digest(own, found))
    levels = needs.levels.tolist() if needs else []
    return Bases(
        _digest(RECIPE, rules, encoder, *([rules.need_bonus] if needs else ())),
        states,
        rows,
        {page.key: level for page, level in zip(pages, levels, strict=False) if level},
    )


def earlier_lists(runs: RunStore, hosts: CanonicalHosts, ranking: Ranking, now: Bases) -> Earlier | None:
    """Return the lists of the last run whose results were complete and published; None if there is none.

    Rows that were chosen by other rules are left out.
    """
    whole = [version for version in runs.versions() if version.published and version.facts]
    if not whole:
        return None
    positions = {source.identity: at for at, source in reversed([*enumerate(ranking.sources)])}
    lists: list[Sequence[int]] = [()] * len(ranking.sources)
    unsettled = np.ones(len(ranking.sources), np.bool_)
    changed = np.ones(len(ranking.site.pages), np.bool_)
    levels = np.array([now.levels.get(page.key, 0) for page in ranking.site.pages], np.int64)
    rose = levels > 0
    for stored in lists_with(hosts, runs.lists(whole[-1].run)):
        rules, state, own = stored.basis.split(" ") if stored.basis else ("", "", "")
        if rules != now.rules:
            continue
        key, identity = stored.source.key, stored.source.identity
        if (page := ranking.rows.get(key)) is not None:
            before, _, level = state.partition(".")
            changed[page] = before != now.pages[key] or int(level or 0) != levels[page]
            rose[page] = levels[page] > int(level or 0)
        if (at := positions.get(identity)) is not None:
            links = (*stored.links, *stored.held)
            lists[at] = [ranking.rows[target] for target, _ in links if target in ranking.rows]
            gone = any(target not in ranking.rows and not rank for target, rank in links)
            unsettled[at] = gone or own != now.rows[identity]
    return Earlier(pairs_of(lists), changed, unsettled, rose)


def find_unchanged(context: RunContext, rules: Rules, index: SiteIndex) -> Mapping[str, Any] | None:
    """Return what the last run kept if all that it left is there today; ask before anything is stored."""
    digest = _state(context, rules, index, context.desk.state() if context.desk else "none")
    kept = index.read_run(digest) if digest else None
    if kept is None:
        return None
    # A run in the future had a wrong clock.
    began, until = map(datetime.fromisoformat, (kept["at"], kept["until"]))
    return kept if began <= datetime.now(UTC) < until else None


def keep_run(context: RunContext, rules: Rules, index: SiteIndex, report: Report, memory: Memory) -> None:
    """Keep what this run left, unless the next one might differ, or has to report something again."""
    desk, state = context.desk, "none"
    if report.gaps or report.failure or report.no_links or (desk and desk.remarks()):
        return
    if desk:
        written = desk.written()
        # What editors wrote while the run was going on is read by the next one.
        if written is None or not memory.knows(written[1]):
            return
        state = written[0]
    if digest := _state(context, rules, index, state):
        now = datetime.now(UTC)
        until = now + LASTING
        if context.serp:
            until = min(until, context.serp_cache.fresh_until())
        times = {"at": now.isoformat(), "until": until.isoformat()}
        # An alert that could not be sent about an orphan is sent by the next run.
        orphans = report.listed.orphans if report.listed else None
        known = None if orphans is None else [orphan.page for orphan in orphans]
        index.write_run(digest, {"run": report.run_id, "outcome": report.outcome, "orphans": known} | times)


def report_unchanged(
    context: RunContext, rules: Rules, kept: Mapping[str, Any], site: Collected, memory: Memory | None
) -> Report:
    """Return the report of a run that repeats the last one; the links are read when somebody needs them."""
    run, orphans, runs = kept["run"], kept["orphans"], context.runs
    nothing = Embedded(np.zeros((0, 1), np.float32), 0, 0, 0, Usage(), ())
    versions = runs.versions() if runs else ()
    count = next((version.rows for version in versions if version.run == run), 0)

    def links() -> list[Recommendation]:
        rows = runs.rows(run) if runs else ()
        found = [row.recommendation for row in rows if rules.renewed.hold(row.end)]
        if memory:
            memory.restore(found)
        return found

    return Report(
        run,
        site,
        Searched(),
        nothing,
        links() if rules.renewed else Later(count, links),
        SiteLists({}, None if orphans is None else [Orphan(page, ()) for page in orphans]),
        memory=memory,
        outcome=kept["outcome"],
        unchanged=True,
    )


def _state(context: RunContext, rules: Rules, index: SiteIndex, desk: str) -> str:
    """Return the digest of all that a run depends on and of all that it left.

    It is "" if nobody knows a part of it, such as the state of the place where editors decide.
    """
    scope, encoder = rules.scope, context.encoder
    edges = context.edges.state() if context.edges else ""
    # Somebody may have written anything into the Sheet.
    if context.sheet or not (index.inputs and edges and desk):
        return ""
    parts = (
        *(index.inputs, edges, desk, context.results()),
        *map(str, (rules.renewed, scope.sources, scope.default_sources, scope.targets)),
        *(context.serp.market if context.serp else "", context.needs is not None, context.figures),
        *(encoder.name, encoder.model, encoder.recipe, encoder.dimensions),
    )
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _digest(*facts: object) -> str:
    """Return 16 hex digits for some facts."""
    text = "\n\n".join(map(str, facts))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

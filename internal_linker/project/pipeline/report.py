"""The report of a run, and the summaries of it that faces print."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from internal_linker.anchors.llm import Rephrased
from internal_linker.match.embed import Embedded
from internal_linker.match.neighbours.knn_join import Joined
from internal_linker.model.count_breakdown import CountBreakdown
from internal_linker.model.edges import TIER_NAMES, Edge
from internal_linker.model.errors import OutputError, ServiceError
from internal_linker.model.reasons import FewLinks, NoTarget, Reason
from internal_linker.model.records import Collected, Link, Recommendation, Searched, Source
from internal_linker.model.sequences import counted
from internal_linker.project.pipeline.no_links import NoLinks
from internal_linker.rank.adaptation import TOO_FEW, Adaptation
from internal_linker.rank.fusion_choice import FusionEvidence
from internal_linker.rank.site_lists import SiteLists
from internal_linker.review.acceptance import Acceptance
from internal_linker.review.link_memory import Memory

# Tiers, origins and sections in the summary: those with most decisions.
MOST_GROUPS = 12
_NONE = "none"


@dataclass(frozen=True, slots=True)
class Totals:
    """Numbers of a run's links."""

    links: int  # those of pages; `origins` counts them by where they come from
    origins: Counter[str]
    suggested: int  # those of queries without a page
    held: int  # those that wait for an editor's approval
    reasons: Counter[Reason[FewLinks]]  # why rows have fewer links than wanted

    @classmethod
    def count_links(cls, items: Iterable[Recommendation]) -> "Totals":
        """Count the links of recommendations."""
        origins, reasons, suggested, held = Counter[str](), Counter[Reason[FewLinks]](), 0, 0
        for each in items:
            if each.source.is_page:
                origins.update(link.origin for link in each.links)
                held += len(each.held)
            else:
                suggested += len(each.links)
            if each.shortage:
                reasons[each.shortage.reason] += 1
        return cls(origins.total(), origins, suggested, held, reasons)


@dataclass
class Report:
    """What a run did; the face prints it."""

    run_id: str
    collected: Collected
    searched: Searched
    embedded: Embedded
    recommendations: Sequence[Recommendation] = ()
    listed: SiteLists | None = None
    """The lists about the whole site; None after a run over some rows."""
    below_floor: int = 0
    """The count of search results below `serp_floor`."""
    dropped: int = 0
    """The count of those search results that were dropped."""
    fusion: FusionEvidence | None = None
    """How good the search results are; None if they don't come first, or after a run over some rows."""
    adaptation: Adaptation | None = None
    """What the ranker gains from the site's own links; None where they are too few."""
    joined: Joined | None = None
    """How all pages were compared at once; None where each was compared when a source needed it."""
    gaps: list[str] = field(default_factory=list)
    failure: ServiceError | OutputError | None = None
    excluded: Counter[Reason[NoTarget]] = field(default_factory=Counter)
    """Targets left out, by reason."""
    accepted: Sequence[Acceptance] = ()
    """The editors' decisions on proposed links."""
    rephrased: Rephrased | None = None
    """The anchors that a language model chose; None where it is off."""
    no_links: NoLinks | None = None
    """Why there are no links; None if there are some."""
    last: Mapping[str, int] = field(default_factory=dict)
    """How many pages come last as sources and targets, by the reason."""
    one_way: int = 0
    """How many links come last because the link in the other direction is better."""
    memory: Memory | None = None
    """The stored links of this and earlier runs with their statuses; None where no links are stored."""
    basis: Callable[[Source], str] = lambda _: ""
    """Returns what a row's list depends on, as it is stored; "" for a row without links, or where none are stored."""
    outcome: str = ""
    """What the step "Matching" found, in one line."""
    drift: Sequence[str] = ()
    """What changed so much that Sheet and review wait, then what to do; `gaps` has these sentences, too."""
    unchanged: bool = False
    """Whether nothing changed since the last run, which this is the report of."""

    @cached_property
    def numbers(self) -> Totals:
        """The numbers of the run's links."""
        return Totals.count_links(self.recommendations)

    @property
    def spent(self) -> Sequence[str]:
        """The services for which nothing was left to spend, one sentence each; `gaps` has them, too."""
        steps = [(each.problem, each.spent) for each in (self.searched, self.embedded)]
        steps += [(self.rephrased.gap, self.rephrased.spent)] if self.rephrased else []
        return [told for told, spent in steps if spent]

    def edge_of(self, source: Source, link: Link) -> Edge:
        """Return what is remembered of one of the run's links, with its anchors if the run looked for them."""
        if self.memory:
            return self.memory.edge_of(source, link)
        return Edge(source.end, link.target.key, source.name, link.target.url, rank=link.rank)


def matched(items: Iterable[Recommendation]) -> str:
    """Return how many links pages got, and how many suggestions queries without a page got, in one line."""
    pages, queries, links = set[str](), 0, Counter[bool]()
    for item in items:
        links[item.source.is_page] += len(item.links)
        if not item.source.is_page:
            queries += 1
        elif not (item.shortage and item.shortage.reason.kind is FewLinks.NO_SOURCE):
            pages.add(item.source.key)
    found = f"{counted(links[True], 'link')} for {counted(len(pages), 'page')}"
    if not queries:
        return found
    return f"{found}, {links[False]} suggestions for {counted(queries, 'query', 'queries')} without a page"


def summary_rows(report: Report, seconds: Mapping[str, float], wanted: int) -> list[tuple[str, str]]:
    """Return the lines of a run's whole summary, as logfile.txt has it: names and values."""
    if report.unchanged:
        return _unchanged(report, seconds)
    collected, searched, embedded = report.collected, report.searched, report.embedded
    totals = report.numbers
    origins, suggested = totals.origins, totals.suggested
    rows = [
        ("Run", report.run_id),
        ("Pages", str(len(collected.pages))),
        ("Main queries", str(sum(bool(source.query) for source in collected.sources))),
        ("Rows to find links for", str(len(report.recommendations))),
        ("Rows rejected / merged", f"{len(collected.rejects)} / {collected.merged_rows}"),
        ("Existing links / rows left out", _existing(collected)),
        ("SERP calls / credits", f"{searched.calls} / {searched.credits}"),
        ("SERP pages from the cache", str(searched.cached_pages)),
        ("SERP pages saved after short ones", str(searched.saved_pages)),
        ("Search results below serp_floor / dropped", f"{report.below_floor} / {report.dropped}"),
        *(
            [("Search results first", advice)]
            if (advice := report.fusion.sentence if report.fusion else "")
            else []
        ),
        ("Texts embedded / from the cache", f"{embedded.encoded} / {embedded.cached}"),
        ("Tokens / cost", f"{embedded.usage.tokens} / ${embedded.usage.cost_usd:.4f}"),
        ("Links by search / by similarity", f"{origins['serp']} / {origins['semantic']}"),
        *([("Links by rules of the house", str(origins["rule"]))] if origins["rule"] else []),
        *([("Suggestions for queries without a page", str(suggested))] if suggested else []),
        ("Links", _written(totals.links, suggested)),
        *_graph_rows(report, totals),
        ("Pages compared", str(report.joined or "one at a time")),
        *_few_links(totals, wanted),
    ]
    rows.append(("Excluded targets", _by_reason(report.excluded)))
    rows.append(
        (
            "Pages of last resort",
            ", ".join(f"{count} {kind}" for kind, count in report.last.items()) or "none",
        )
    )
    rows.append(("Weaker directions of pairs put last", str(report.one_way)))
    if report.listed:
        rows += _listed_rows(report.listed)
    rows.append(("Ranker", str(report.adaptation or TOO_FEW)))
    timing = ", ".join(f"{step} {value:.1f}" for step, value in seconds.items())
    return [*rows, ("Seconds", timing)]


def highlights(report: Report, seconds: Mapping[str, float], wanted: int) -> list[tuple[str, str]]:
    """Return what a person reads after each run: the links, what needs attention, and what was spent."""
    if report.unchanged:
        return _unchanged(report, seconds)
    totals = report.numbers
    rows, memory = [("Found", report.outcome)], report.memory
    if memory:
        rows.append(("Links by tier", _by_tier(memory, totals)))
        rows += [("Links in the review", str(memory.reviewed))] if memory.reviewed else []
        rows += _accepted(report, 1)
    if rejected := len(report.collected.rejects):
        rows.append(("Rows rejected", f"{rejected} (files/rejected_rows.csv)"))
    if advice := report.fusion.sentence if report.fusion else "":
        rows.append(("Search results first", advice))
    rows += _few_links(totals, wanted) if totals.reasons else []
    if report.listed:
        rows += [row for row in _listed_rows(report.listed) if row[1] != _NONE]
    usage, searched, chat = report.embedded.usage, report.searched, report.rephrased
    spent = [counted(searched.credits, "SERP credit")] if searched.credits else []
    spent += [f"${usage.cost_usd:.4f} for embeddings"] if usage.cost_usd else []
    spent += [f"{chat.tokens:,} tokens for anchors"] if chat and chat.tokens else []
    rows += [("Spent", ", ".join(spent))] if spent else []
    return [
        *rows,
        ("Seconds", f"{sum(seconds.values()):.1f}"),
        ("Details", f"logfile.txt, run {report.run_id}"),
    ]


def _unchanged(report: Report, seconds: Mapping[str, float]) -> list[tuple[str, str]]:
    return [
        ("Unchanged since run", report.run_id),
        ("Found", report.outcome),
        ("Seconds", f"{sum(seconds.values()):.1f}"),
    ]


def _few_links(totals: Totals, wanted: int) -> list[tuple[str, str]]:
    """Return how many rows have fewer links than wanted, and how many for each reason."""
    rows = [(f"Rows with fewer than {wanted} links", str(totals.reasons.total()))]
    return rows + [(f"  {reason}", str(count)) for reason, count in sorted(totals.reasons.items())]


def _listed_rows(listed: SiteLists) -> list[tuple[str, str]]:
    unknown = "unknown without existing links"
    orphans = unknown if listed.orphans is None else _listed(len(listed.orphans), "page", "orphans.csv")
    return [
        ("Near-duplicates", _listed(len(listed.duplicates), "pair", "duplicates.csv")),
        ("Orphans", orphans),
    ]


def _existing(collected: Collected) -> str:
    """Return the number of links between the site's pages, and of the rows that are no links in a text."""
    others = len(collected.links) - collected.inner_links
    counted = CountBreakdown(
        [(len(collected.links), "links in the pages' texts"), (-others, "to or from other pages")]
    )
    told = f"{collected.inner_links} / {collected.skipped_links}"
    return f"{told} ({counted})" if others else told


def _written(links: int, suggested: int) -> str:
    """Return the number of links of pages, which files/links.csv lists, out of those in files/Output.csv."""
    parts = [
        (links + suggested, "in files/Output.csv"),
        (-suggested, "suggestions for queries without a page"),
    ]
    return f"{CountBreakdown(parts)}, one per row of files/links.csv"


def _by_tier(memory: Memory, totals: Totals) -> str:
    """Return the number of links of each tier, and how their sum follows from the number of links."""
    told = ", ".join(f"{memory.tiers[tier]} {name}" for tier, name in TIER_NAMES.items())
    links, held = totals.links, totals.held
    shared = links + held - memory.tiers.total()
    if not held and not shared:
        return told
    parts = [
        (links, "links"),
        (-shared, "that several rows of a page have in common"),
        (held, "waiting for approval"),
    ]
    return f"{told} ({CountBreakdown(parts)})"


def _graph_rows(report: Report, totals: Totals) -> list[tuple[str, str]]:
    """Return the lines on the link graph and editors' decisions."""
    if report.memory is None:
        return []
    memory = report.memory
    rows = [("Links by tier", _by_tier(memory, totals)), *_rephrased(report)]
    if statuses := memory.statuses:
        counted = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
        rows.append(("Links in the graph", f"{counted} (of all runs, each page and target once)"))
    if memory.reviewed:
        rows.append(("Links in the review", str(memory.reviewed)))
    return rows + _accepted(report, MOST_GROUPS)


def _accepted(report: Report, most: int) -> list[tuple[str, str]]:
    """Return the share of decided links that editors accepted: of all, then of up to `most` - 1 groups."""
    rows = []
    for each in report.accepted[:most]:
        name = {"all": "Accepted by editors"}.get(each.by, f"  of {each.by} {_named(each) or 'of queries'}")
        if each.decided:
            rows.append((name, f"{each.rate:.0%} ({each.accepted} of {each.decided} decided)"))
    return rows


def _named(group: Acceptance) -> str:
    """Return the name of a group of links that people read."""
    names = {str(tier): name for tier, name in TIER_NAMES.items()}
    return {**names, "serp": "search", "semantic": "similarity"}.get(group.name, group.name)


def _rephrased(report: Report) -> list[tuple[str, str]]:
    if not (chat := report.rephrased):
        return []
    return [("Anchors by the model / tokens", f"{chat.chosen} of {chat.asked} requested / {chat.tokens}")]


def _by_reason(excluded: Mapping[Reason[NoTarget], int]) -> str:
    """Return the counts in one line, the largest first."""
    ranked = sorted(excluded.items(), key=lambda item: (-item[1], item[0]))
    pairs = {NoTarget.ALREADY_LINKED: " pairs of pages"}
    counts = ", ".join(f"{count} {reason}{pairs.get(reason.kind, '')}" for reason, count in ranked)
    return f"{counts} (files/excluded_targets.csv)" if counts else "none"


def _listed(count: int, thing: str, file: str) -> str:
    return f"{count} {thing}{'s' if count > 1 else ''} (files/{file})" if count else _NONE

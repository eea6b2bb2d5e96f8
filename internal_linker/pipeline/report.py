"""The report of a run, and the plan of what a run would do: the records that faces print."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from internal_linker.anchors.llm import Rephrased
from internal_linker.core.errors import OutputError, ServiceError
from internal_linker.core.reasons import FewLinks, NoTarget, Reason
from internal_linker.core.records import Collected, Recommendation, Searched, Usage
from internal_linker.core.results import Columns, Result
from internal_linker.embeddings.embed import Embedded
from internal_linker.matching.neighbours.knn_join import Joined
from internal_linker.ranking.site_lists import Listed
from internal_linker.ranking.training import TOO_FEW, Lesson
from internal_linker.review.acceptance import Acceptance
from internal_linker.review.link_memory import Memory

# Tiers, origins and sections in the summary: those with most decisions.
MOST_GROUPS = 12


@dataclass
class Report:
    """What a run did; the face prints it."""

    run_id: str
    collected: Collected
    searched: Searched
    embedded: Embedded
    recommendations: Sequence[Recommendation]
    listed: Listed | None
    """The lists about the whole site; None after a run over some rows."""
    below_floor: int = 0
    """The count of search results below `serp_floor`."""
    dropped: int = 0
    """The count of those search results that were dropped."""
    lesson: Lesson | None = None
    """What the ranker learned from existing links; None where they are too few."""
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
    memory: Memory | None = None
    """The stored links of this and earlier runs with their statuses; None where no links are stored."""


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """What a run would do: texts to embed with their cost, and the minimum and maximum of credits."""

    collected: Collected
    sources: int
    searches: int
    least_credits: int
    most_credits: int
    texts: int
    cached_texts: int
    usage: Usage
    sheet_rows: int

    @property
    def summary(self) -> Sequence[tuple[str, str]]:
        """Names and values for people."""
        return [
            ("Pages", str(len(self.collected.pages))),
            ("Rows to find links for", str(self.sources)),
            ("Rows rejected / merged", f"{len(self.collected.rejects)} / {self.collected.merged_rows}"),
            ("Searches", str(self.searches)),
            ("SERP credits", f"{self.least_credits} to {self.most_credits}"),
            ("Texts to embed / in the cache", f"{self.texts} / {self.cached_texts}"),
            ("Tokens / cost", f"{self.usage.tokens} / ${self.usage.cost_usd:.4f}"),
            ("Rows of the Sheet to write", str(self.sheet_rows)),
            ("Rows of files/Output.csv to write", str(self.sources)),
        ]

    def tables(self) -> dict[str, Columns]:
        """Return `plan`: the names and values of the summary."""
        return {
            "plan": {
                "name": [name for name, _ in self.summary],
                "value": [value for _, value in self.summary],
            }
        }


def summary_rows(report: Report, seconds: Mapping[str, float], wanted: int) -> list[tuple[str, str]]:
    """Return the lines of a run's summary: names and values."""
    collected, searched, embedded = report.collected, report.searched, report.embedded
    origins: Counter[str] = Counter()
    reasons: Counter[Reason[FewLinks]] = Counter()
    for each in report.recommendations:
        origins.update(link.origin for link in each.links)
        if each.shortage:
            reasons[each.shortage.reason] += 1
    rows = [
        ("Run", report.run_id),
        ("Pages", str(len(collected.pages))),
        ("Main queries", str(sum(bool(source.query) for source in collected.sources))),
        ("Rows to find links for", str(len(report.recommendations))),
        ("Rows rejected / merged", f"{len(collected.rejects)} / {collected.merged_rows}"),
        ("Existing links / rows left out", f"{collected.inner_links} / {collected.skipped_links}"),
        ("SERP calls / credits", f"{searched.calls} / {searched.credits}"),
        ("SERP pages from the cache", str(searched.cached_pages)),
        ("Search results below serp_floor / dropped", f"{report.below_floor} / {report.dropped}"),
        ("Texts embedded / from the cache", f"{embedded.encoded} / {embedded.cached}"),
        ("Tokens / cost", f"{embedded.usage.tokens} / ${embedded.usage.cost_usd:.4f}"),
        ("Links by search / by similarity", f"{origins['serp']} / {origins['semantic']}"),
        *_graph_rows(report),
        ("Pages compared", str(report.joined or "one at a time")),
        (f"Rows with fewer than {wanted} links", str(reasons.total())),
    ]
    rows += [(f"  {reason}", str(count)) for reason, count in sorted(reasons.items())]
    rows.append(("Excluded targets", _by_reason(report.excluded)))
    if report.listed:
        pairs, orphans = report.listed.duplicates, report.listed.orphans
        rows.append(("Near-duplicates", _listed(len(pairs), "pair", "duplicates.csv")))
        unknown = "unknown without existing links"
        rows.append(("Orphans", unknown if orphans is None else _listed(len(orphans), "page", "orphans.csv")))
    rows.append(("Ranker", str(report.lesson or TOO_FEW)))
    timing = ", ".join(f"{step} {value:.1f}" for step, value in seconds.items())
    return [*rows, ("Seconds", timing)]


def _graph_rows(report: Report) -> list[tuple[str, str]]:
    """Return the lines on the link graph and editors' decisions."""
    if report.memory is None:
        return []
    counts = ((name, report.memory.tiers[name]) for name in ("inline", "sidebar", "review"))
    rows = [
        ("Links by tier", ", ".join(f"{count} {name}" for name, count in counts)),
        *_rephrased(report),
        (
            "Links in the graph",
            ", ".join(f"{n} {name}" for name, n in sorted(report.memory.statuses.items())),
        ),
    ]
    for each in report.accepted[:MOST_GROUPS]:
        name = {"all": "Accepted by editors"}.get(each.by, f"  of {each.by} {each.name or 'of queries'}")
        if each.decided:
            rows.append((name, f"{each.rate:.0%} ({each.accepted} of {each.decided} decided)"))
    return rows


def _rephrased(report: Report) -> list[tuple[str, str]]:
    if not (chat := report.rephrased):
        return []
    return [("Anchors by the model / tokens", f"{chat.chosen} of {chat.asked} requested / {chat.tokens}")]


def _by_reason(excluded: Mapping[Reason[NoTarget], int]) -> str:
    """Return the counts in one line, the largest first."""
    ranked = sorted(excluded.items(), key=lambda item: (-item[1], item[0]))
    counts = ", ".join(f"{count} {reason}" for reason, count in ranked)
    return f"{counts} (files/excluded_targets.csv)" if counts else "none"


def _listed(count: int, thing: str, file: str) -> str:
    return f"{count} {thing}{'s' if count > 1 else ''} (files/{file})" if count else "none"

"""Delivery of recommendations and lists to their sinks; if one sink fails, the others still get theirs."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from internal_linker.model.arrays import floats
from internal_linker.model.errors import OutputError, ServiceError
from internal_linker.model.evidence import NO_EVIDENCE, NO_NEED, Evidence
from internal_linker.model.ports import LinkSink, ListSink, Progress, ViewOf
from internal_linker.model.records import Candidate, Link, Origin, Recommendation, Shortage, Source
from internal_linker.model.sequences import FEW, Lazy

# Values of the evidence for a link, besides its words and its target's need.
_COUNTS = len(NO_EVIDENCE.counts)


@dataclass
class Delivered:
    """The result of the delivery."""

    gaps: list[str] = field(default_factory=list)  # what a sink could not take, one sentence each
    # the error of the first sink that failed; it decides how the run ends
    failure: ServiceError | OutputError | None = None


def compact(recommendations: Iterable[Recommendation], few: int = FEW) -> Sequence[Recommendation]:
    """Return the same recommendations: up to `few` as a list, more in columns, in a third of the memory.

    Columns build a recommendation whenever it is read.
    """
    rest = iter(recommendations)
    first = [*islice(rest, few + 1)]
    return _columns(chain(first, rest)) if len(first) > few else first


def _columns(recommendations: Iterable[Recommendation]) -> Sequence[Recommendation]:
    sources, ends = list[Source](), array("Q", [0])
    remarks, shortages = list[str](), list[Shortage | None]()
    keys, urls, origins = list[str](), list[str](), list[Origin]()
    scores, similarities, lexicals, probabilities = array("d"), array("d"), array("d"), array("d")
    ranks, serp_ranks, evidence, shared = array("I"), array("I"), array("i"), list[str]()
    needs = dict[int, tuple[int, int, int, int]]()
    for item in recommendations:
        sources.append(item.source)
        remarks.append(item.remark)
        shortages.append(item.shortage)
        for link in (*item.links, *item.held):
            target = link.target
            keys.append(target.key)
            urls.append(target.url)
            origins.append(link.origin)
            ranks.append(link.rank)
            scores.append(target.score)
            similarities.append(target.similarity)
            lexicals.append(target.lexical)
            serp_ranks.append(target.serp_rank)
            probabilities.append(target.probability)
            evidence.extend(link.evidence.counts)
            shared.append(link.evidence.title_words)
            if link.evidence.needed:
                needs[len(keys) - 1] = link.evidence.need
        ends.append(len(keys))

    def made(row: int) -> Recommendation:
        some = slice(ends[row], ends[row + 1])
        signals = [floats(column[some]) for column in (scores, similarities, lexicals)]
        probable = floats(probabilities[some])
        targets = map(Candidate, keys[some], urls[some], *signals, serp_ranks[some], probable)
        reasons = (
            Evidence.of_counts(
                evidence[at * _COUNTS : (at + 1) * _COUNTS], shared[at], needs.get(at, NO_NEED)
            )
            for at in range(some.start, some.stop)
        )
        links = tuple(map(Link, targets, ranks[some], origins[some], reasons))
        # Held links have no rank.
        split = len(links) - ranks[some].count(0)
        return Recommendation(sources[row], links[:split], remarks[row], links[split:], shortages[row])

    return Lazy(len(sources), made)


def deliver(
    recommendations: Sequence[Recommendation],
    sinks: Sequence[LinkSink],
    lists: Sequence[tuple[ListSink[Any], Iterable[Any]]],
    run_id: str,
    progress: Progress,
    *,
    view_of: ViewOf | None = None,
) -> Delivered:
    """Write the links to all sinks, and the lists; without a sink for links, write nothing at all.

    Args:
        lists: the sinks for lists, each with its items.
        view_of: a function that returns what is stored of a link; None: nothing is.
    """
    done, written, failed = Delivered(), list[str](), list[str]()
    progress.start("Delivery", len(sinks), "places")
    for sink in sinks:
        try:
            done.gaps += sink.deliver(recommendations, run_id, view_of)
            written.append(sink.name)
        except (ServiceError, OutputError) as error:
            _failed(done, error, progress)
            failed.append(sink.name)
        progress.advance()
    lists = lists if sinks else ()
    for sink_of_list, items in lists:
        try:
            for remark in sink_of_list.write(items):
                progress.warn(remark)
            written.append(sink_of_list.name)
        except (ServiceError, OutputError) as error:
            _failed(done, error, progress)
            failed.append(sink_of_list.name)
    outcome = [", ".join(written)] if written else []
    outcome += [f"not written: {', '.join(failed)}"] if failed else []
    progress.finish("; ".join(outcome) or "nothing to write")
    return done


def _failed(done: Delivered, error: ServiceError | OutputError, progress: Progress) -> None:
    done.failure = done.failure or error
    progress.warn(str(error))

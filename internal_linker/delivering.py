"""Recommendations and excluded targets -> the places that keep them; one that fails keeps no other from its part."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from internal_linker.errors import OutputError, ServiceError
from internal_linker.ports import ExclusionSink, LinkSink, Progress
from internal_linker.records import ExcludedTarget, Recommendation


@dataclass
class Delivered:
    """What came of the delivery.

    Attributes:
        gaps: what a place could not take, one sentence each.
        failure: the first place's that took nothing; it decides how the run ends.
        excluded: targets left out, by reason.
    """

    gaps: list[str] = field(default_factory=list)
    failure: ServiceError | OutputError | None = None
    excluded: Counter[str] = field(default_factory=Counter)


def deliver(
    recommendations: Sequence[Recommendation],
    excluded: Iterable[ExcludedTarget],
    sinks: Sequence[LinkSink],
    exclusions: ExclusionSink,
    run_id: str,
    progress: Progress,
) -> Delivered:
    """Write everything everywhere; without a place for links, nothing is written at all."""
    done = Delivered()
    progress.start("Delivery", len(sinks), "places")
    for sink in sinks:
        try:
            done.gaps += sink.deliver(recommendations, run_id)
        except (ServiceError, OutputError) as error:
            _failed(done, error, progress)
        progress.advance()
    if sinks:
        try:
            for remark in exclusions.write(_counted(excluded, done.excluded)):
                progress.warn(remark)
        except OutputError as error:
            _failed(done, error, progress)
    names = [sink.name for sink in sinks] + [exclusions.name] * bool(sinks)
    progress.finish(", ".join(names) or "nothing to write")
    return done


def _failed(done: Delivered, error: ServiceError | OutputError, progress: Progress) -> None:
    done.failure = done.failure or error
    progress.warn(str(error))


def _counted(excluded: Iterable[ExcludedTarget], counts: Counter[str]) -> Iterator[ExcludedTarget]:
    for target in excluded:
        counts[target.reason] += 1
        yield target

"""The links of earlier runs and what editors decided on them, as a run finds them."""

from collections.abc import Sequence
from dataclasses import dataclass

from internal_linker.core.ports import Progress
from internal_linker.core.records import Collected
from internal_linker.pipeline.context import Rules, RunContext
from internal_linker.pipeline.last_matching import last_whole
from internal_linker.pipeline.prepared import Prepared
from internal_linker.pipeline.unchanged import is_untouched
from internal_linker.review.link_memory import Memory


@dataclass(frozen=True)
class Recalled:
    """What is known of earlier runs.

    Attributes:
        memory: the stored links; None where no links are stored.
        gaps: what could not be read, one sentence each.
        untouched: whether the stored links and the editors' cells are those that the last run left.
    """

    memory: Memory | None = None
    gaps: Sequence[str] = ()
    untouched: bool = False


def recall(
    context: RunContext,
    rules: Rules,
    run_id: str,
    collected: Collected,
    prepared: Prepared,
    progress: Progress,
) -> Recalled:
    """Read the stored links; read editors' decisions first if this run writes."""
    if context.edges is None:
        return Recalled()
    encoder = f"{context.encoder.name}, recipe {context.encoder.recipe}"
    memory = Memory(context.edges, rules.edges, run_id, encoder, hosts=collected.hosts)
    # A rehearsal keeps nothing, and knows nothing of stored links.
    if context.sinks and context.runs:
        memory.expect(prepared.steady_pages(memory.by))
    desk = context.desk if context.sinks else None
    last = last_whole(context.past) if context.sinks and context.past else None
    untouched = last is not None and is_untouched(last[1].get("heard"), context, memory)
    gaps = memory.recall(None if untouched else desk, progress)
    if context.sinks:
        memory.recalled = memory.recalled or memory.store.state()
    memory.text_links = collected.text_links
    return Recalled(memory, gaps, untouched)

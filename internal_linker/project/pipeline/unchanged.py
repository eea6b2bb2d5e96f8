"""A run after which nothing changed ends at once: one digest of all that it depends on and of all that it left."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

import numpy as np

from internal_linker.match.embed import Embedded
from internal_linker.model.records import Collected, Orphan, Recommendation, Searched, Usage
from internal_linker.model.sequences import Later
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.prepared import Prepared
from internal_linker.project.pipeline.report import Report
from internal_linker.rank.site_lists import SiteLists
from internal_linker.review.link_memory import Memory
from internal_linker.store.edges import EdgeStore
from internal_linker.store.runs import RunStore

# Once a month a run does all its work: it marks what it needs in the store, from which other sites' runs remove what
# no run needed for half a year.
LASTING = timedelta(days=30)


@dataclass(frozen=True)
class Repetition:
    """Says whether a run would only repeat the last one, and keeps what the next one needs in order to say so."""

    context: RunContext
    rules: Rules
    prepared: Prepared
    edges: EdgeStore
    runs: RunStore

    def last(self) -> Mapping[str, Any] | None:
        """Return what the last run kept if all that it left is there today; ask before anything is stored."""
        digest = self._digest(self.context.desk.state() if self.context.desk else "none")
        kept = self.prepared.kept_run(digest) if digest else None
        if kept is None:
            return None
        # A run in the future had a wrong clock.
        began, until = map(datetime.fromisoformat, (kept["at"], kept["until"]))
        return kept if began <= datetime.now(UTC) < until else None

    def keep(self, report: Report, memory: Memory) -> None:
        """Keep what this run left, unless the next one might differ, or has to report something again."""
        desk, state = self.context.desk, "none"
        if report.gaps or report.failure or report.no_links or (desk and desk.remarks()):
            return
        if desk:
            written = desk.written()
            # What editors wrote while the run was going on is read by the next one.
            if written is None or not memory.knows(written[1]):
                return
            state = written[0]
        if digest := self._digest(state):
            now = datetime.now(UTC)
            until = now + LASTING
            if self.context.serp:
                until = min(until, self.context.serp_cache.fresh_until())
            times = {"at": now.isoformat(), "until": until.isoformat()}
            # An alert that could not be sent about an orphan is sent by the next run.
            orphans = report.listed.orphans if report.listed else None
            known = None if orphans is None else [orphan.page for orphan in orphans]
            said = {"run": report.run_id, "outcome": report.outcome, "orphans": known}
            self.prepared.keep_run(digest, said | times)

    def report(self, kept: Mapping[str, Any], site: Collected, memory: Memory | None) -> Report:
        """Return the report of a run that repeats the last one; the links are read when somebody needs them."""
        run, orphans = kept["run"], kept["orphans"]
        nothing = Embedded(np.zeros((0, 1), np.float32), 0, 0, 0, Usage(), ())
        count = next((version.rows for version in self.runs.versions() if version.run == run), 0)

        def links() -> list[Recommendation]:
            rows = self.runs.rows(run)
            found = [row.recommendation for row in rows if self.rules.renewed.hold(row.end)]
            if memory:
                memory.restore(found)
            return found

        links_of_run = Later(count, links) if not self.rules.renewed else links()
        return Report(
            run,
            site,
            Searched(),
            nothing,
            links_of_run,
            SiteLists({}, None if orphans is None else [Orphan(page, ()) for page in orphans]),
            memory=memory,
            outcome=kept["outcome"],
            unchanged=True,
        )

    def _digest(self, desk: str) -> str:
        """Return the digest; "" if nobody knows a part of it, such as the state of the place where editors decide."""
        context, scope = self.context, self.rules.scope
        inputs, edges, encoder = self.prepared.inputs, self.edges.state(), context.encoder
        # Somebody may have written anything into the Sheet.
        if context.sheet or not (inputs and edges and desk):
            return ""
        parts = (
            *(inputs, edges, desk, context.results()),
            *map(str, (self.rules.renewed, scope.sources, scope.default_sources, scope.targets)),
            *(context.serp.market if context.serp else "", context.needs is not None, context.figures),
            *(encoder.name, encoder.model, encoder.recipe, encoder.dimensions),
        )
        return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

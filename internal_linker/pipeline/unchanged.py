"""What a run tells the next one: if nothing changes in between, its links, files and review are those of the next."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from internal_linker.core.balance import Balance
from internal_linker.core.edges import Cells
from internal_linker.core.reasons import FewLinks, NoTarget, Reason
from internal_linker.core.runs import Version
from internal_linker.pipeline.context import Rules, RunContext
from internal_linker.pipeline.report import Report, Totals
from internal_linker.review.acceptance import Acceptance
from internal_linker.review.link_memory import Memory

# The file whose rows name the run.
LINKS = "links.csv"


@dataclass(frozen=True)
class Unchanged:
    """A run that would be the same again, and what it published.

    Attributes:
        version: the run as it is stored.
        packed: see `packed`.
        matched: what a run on the same input needs besides, see `last_matching`.
    """

    version: Version
    packed: Mapping[str, Any]
    matched: Mapping[str, Any]

    @property
    def outcome(self) -> str:
        """What the step "Matching" found, in one line."""
        outcome: str = self.packed["outcome"]
        return outcome

    def restore(self, report: Report) -> None:
        """Let a report say what that of the run said; its links are read when somebody needs them."""
        kept, memory = self.packed, report.memory
        assert memory, "a run without stored links is not kept"
        counts = kept["totals"]
        origins, reasons = Counter(counts["origins"]), _counts(counts["reasons"], FewLinks)
        report.totals = Totals(counts["links"], origins, counts["suggested"], counts["held"], reasons)
        report.excluded = _counts(kept["excluded"], NoTarget)
        report.accepted = [Acceptance(*group) for group in kept["accepted"]]
        memory.tiers, memory.statuses = Counter(kept["tiers"]), Counter(kept["statuses"])
        memory.unlinkable = kept["unlinkable"]
        reviewed = [(count, name) for count, name in kept["reviewed"]]
        memory.reviewed = Balance(reviewed) if reviewed else None
        memory.settled = True
        memory.repeat(report.recommendations)

    def stale(self, context: RunContext, run: str) -> set[str]:
        """Bring the files of that run up to date for this one; return those that have to be written.

        Args:
            context: this run's.
            run: its name.
        """
        files, stale = context.files, set[str]()
        lists = context.excluded.name, context.duplicates.name, context.orphans.name
        for name in (*(sink.name for sink in context.sinks), *lists):
            digest = self.packed["files"].get(name, "")
            if name == LINKS:
                pair = self.version.run, run
                known = files and files.renames(name, digest, pair, self.packed["totals"]["links"])
            else:
                known = files and files.keeps(name, digest)
            if not known:
                stale.add(name)
        return stale


def packed(report: Report, context: RunContext, rules: Rules, inputs: str) -> dict[str, Any] | None:
    """Return as a JSON object what the next run needs to be the same; None if it might differ.

    Args:
        report: all that the run did; its links are delivered, and their edges stored.
        context: the run's context.
        rules: its rules.
        inputs: a digest of its tables, settings and program.
    """
    memory, files = report.memory, context.files
    told = report.gaps or report.failure or report.no_links or report.searched.notes
    # Somebody may have written anything in a Sheet, and a language model is asked again about some anchors.
    asked = context.sheet or report.rephrased
    if told or asked or not (inputs and memory and files and memory.settled):
        return None
    totals = report.numbers
    balance = memory.reviewed
    return {
        "inputs": inputs,
        "scope": scope_of(rules),
        "outcome": report.outcome,
        "files": dict(files.digests),
        "totals": {
            "links": totals.links,
            "origins": dict(totals.origins),
            "suggested": totals.suggested,
            "held": totals.held,
            "reasons": _listed(totals.reasons),
        },
        "excluded": _listed(report.excluded),
        "accepted": [[one.by, one.name, one.accepted, one.rejected, one.waiting] for one in report.accepted],
        "tiers": dict(memory.tiers),
        "statuses": dict(memory.statuses),
        "unlinkable": memory.unlinkable,
        "reviewed": [list(part) for part in balance.parts] if balance else [],
    }


def scope_of(rules: Rules) -> str:
    """Return which pages get links and where links may lead, by settings and options."""
    scope = rules.scope
    return "; ".join(map(str, (rules.renewed, scope.sources, scope.default_sources, scope.targets)))


def heard(context: RunContext, memory: Memory, *, read: bool) -> dict[str, Any]:
    """Return what the stored links and the editors' cells are like; {} if nobody knows,
    or if editors wrote what can't be read.

    `read` says whether all cells have been read and stored as they are now. Otherwise, they are those that the run
    wrote: "cells" has those that differ from the stored ones, if it is known that they say nothing new.
    """
    edges = memory.store.state()
    desk = context.desk.state() if context.desk else "none"
    # Each run reports an invalid status again until somebody corrects it.
    if not (edges and desk) or (context.desk and context.desk.remarks()):
        return {}
    found = {"edges": edges, "desk": desk, "hosts": str(memory.hosts), "read": read}
    written = context.desk.written() if context.desk and not read else None
    if written and written[0] == desk and (cells := memory.written_cells(written[1])) is not None:
        found["cells"] = {key: [one.status, one.anchor, one.notes] for key, one in cells.items()}
    return found


def is_untouched(before: Mapping[str, Any] | None, context: RunContext, memory: Memory) -> bool:
    """Return whether links and editors' cells are as the last run left them; cells that it wrote are noted as read.

    Args:
        before: what `heard` returned at its end.
        context: this run's context.
        memory: the stored links.
    """
    now = heard(context, memory, read=True)
    if not before or not now or any(before.get(name) != now[name] for name in ("edges", "desk", "hosts")):
        return False
    if before["read"]:
        # Nothing is stored now, so nobody has to look again.
        memory.recalled = now["edges"]
        return True
    cells = before.get("cells")
    foreseen = None if cells is None else {key: Cells(*three) for key, three in cells.items()}
    return memory.note_cells(context.desk, foreseen)


def _listed(counts: Mapping[Reason[Any], int]) -> list[list[Any]]:
    return [[reason.kind.name, reason.detail, count] for reason, count in counts.items()]


def _counts(listed: list[list[Any]], kinds: Any) -> Counter[Reason[Any]]:
    return Counter({Reason(kinds[kind], detail): count for kind, detail, count in listed})

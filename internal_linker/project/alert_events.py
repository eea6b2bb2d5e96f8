"""What a run has to report to people who were not there: one small function an event, and what was reported before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TypeVar

from internal_linker.insight.impact.records import Conclusion
from internal_linker.model.applied_links import PageWrite
from internal_linker.model.edges import COPIES, Edge
from internal_linker.model.errors import ExitCode, InternalLinkerError
from internal_linker.model.progress import Tracker
from internal_linker.model.reasons import NoTarget
from internal_linker.model.search_data import SearchTable
from internal_linker.model.sequences import counted
from internal_linker.project.options.evaluation import ImpactOptions
from internal_linker.project.pipeline.report import Report
from internal_linker.project.project import Project

T = TypeVar("T")
# Bytes of a mark: among a million links, no two have the same one by chance.
_MARK_BYTES = 8


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a person should know."""

    subject: str  # what happened, for the subject of the message: "2 new orphans"
    sentence: str
    examples: Sequence[str] = ()  # all cases, each in a line; the message shows the first few
    advice: str = ""  # what to do next
    failed: bool = False


@dataclass
class Told:
    """What earlier messages reported, so that each thing is reported once."""

    # marks by kind of thing, as the last message left them
    before: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # the same after this run: what is no longer so can be new again
    now: dict[str, frozenset[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.now = dict(self.before)

    def new(self, kind: str, things: Mapping[str, T]) -> list[T]:
        """Return those of the present things of a kind that no message has reported."""
        marks = {_mark(name): thing for name, thing in things.items()}
        self.now[kind] = frozenset(marks)
        known = self.before.get(kind, frozenset())
        return [thing for mark, thing in marks.items() if mark not in known]

    def first(self, kind: str) -> bool:
        """Return whether no message has reported on this kind of thing."""
        return kind not in self.before


@dataclass(frozen=True)
class Ended:
    """A run over the whole site that has ended."""

    project: Project | None  # whose run; None: its settings are wrong
    report: Report | None  # what it did; None: it failed
    error: Exception | None
    told: Told  # what earlier messages reported


def failed(ended: Ended) -> Event | None:
    """Report a run that ended with an error, or whose links did not reach all their places."""
    error: Exception | None = ended.error or (ended.report.failure if ended.report else None)
    if error is None:
        return None
    if not isinstance(error, InternalLinkerError):
        sentence = f"Unexpected error ({type(error).__name__}). Please report it with the end of logfile.txt."
        return Event("run failed", sentence, advice="logfile.txt has the details.", failed=True)
    code = ExitCode(error.exit_code)
    subject = "links not written everywhere" if ended.report else "run failed"
    return Event(
        subject,
        f"{error} (exit code {code})",
        advice="Do what the message says, then run again.",
        failed=True,
    )


def budget_used(ended: Ended) -> Event | None:
    """Report that a limit of the settings or the credits of an account were used up."""
    if not (ended.report and ended.report.spent):
        return None
    return Event(
        "budget used",
        "Nothing was left to spend, so results are missing:",
        ended.report.spent,
        "Raise the limit in config/settings.toml, or add credits. The next run pays only for what is missing.",
    )


def drifted(ended: Ended) -> Event | None:
    """Report that the links changed so much that Sheet and review wait."""
    if not (ended.report and ended.report.drift):
        return None
    *changes, advice = ended.report.drift
    return Event(
        "links changed too much", "The links differ far from those of the last run:", changes, advice
    )


def incomplete(ended: Ended) -> Event | None:
    """Report what else is missing: a service that was down, damaged rows, no links."""
    if not ended.report:
        return None
    report = ended.report
    known = {*report.drift, *report.spent, str(report.failure or "")}
    if gaps := [gap for gap in report.gaps if gap not in known]:
        return Event(
            "finished with gaps", "Results are missing:", gaps, "Do what the message says, then run again."
        )
    return None


def new_orphans(ended: Ended) -> Event | None:
    """Report pages that no other page links to, and that no message has reported."""
    if not (ended.report and ended.report.listed) or ended.report.listed.orphans is None:
        return None
    first = ended.told.first("orphans")
    found = ended.told.new("orphans", {each.page: each.page for each in ended.report.listed.orphans})
    if not found:
        return None
    return Event(
        _fresh(len(found), "orphan", first=first),
        f"No other page links to {'this page' if len(found) == 1 else 'these pages'}:",
        found,
        "Add links to them: files/orphans.csv names the best sources.",
    )


def links_to_errors(ended: Ended) -> Event | None:
    """Report links in the pages' texts to pages with an error status, each once."""
    if not ended.report:
        return None
    site = ended.report.collected
    dead = {
        page.key: page
        for page in site.pages
        if page.issue is not None and page.issue.kind is NoTarget.ERROR_STATUS
    }
    links = dict.fromkeys(
        (link.source, link.target) for link in site.links if link.target in dead and link.source not in dead
    )
    shown = {
        f"{source}\n{target}": f"{page.url if (page := site.find(source)) else source} -> {dead[target].url} "
        f"({dead[target].issue})"
        for source, target in links
    }
    first = ended.told.first("links to errors")
    if not (found := ended.told.new("links to errors", shown)):
        return None
    return Event(
        _fresh(len(found), "link to an error", "links to errors", first=first),
        "Visitors get an error where they follow:",
        found,
        "Correct or remove these links; `audit` lists all of them.",
    )


def accepted_not_live(ended: Ended) -> Event | None:
    """Report links that editors accepted long ago and that are not on their pages, each once."""
    project, report = ended.project, ended.report
    # Without any known link, nobody knows which are live.
    if not (project and report and report.collected.inner_links and project.settings.notify_not_live_days):
        return None
    site, days = report.collected, project.settings.notify_not_live_days
    until = datetime.now(UTC) - timedelta(days=days)
    with project.applications() as (edges, applied):
        accepted = [edge for edge in edges.each("accepted", "edited") if edge.kind not in COPIES]
        writes = applied.writes()
    last = {link: write for write in writes if write.status != "begun" for link in write.links}
    shown = dict[str, str]()
    for edge in accepted:
        write = last.get(edge.id)
        since = write.at if write else _moment(edge.at)
        there = all(site.find(site.hosts.restored(key)) for key in (edge.source, edge.target))
        if there and since and since <= until and not (write and write.status == "undone"):
            shown[edge.id] = _waiting(edge, write, since)
    if not (found := ended.told.new("not live", shown)):
        return None
    return Event(
        f"{counted(len(found), 'accepted link')} not live",
        f"Accepted more than {days} days ago, but not on the page in the newest crawl:",
        found,
        "Put them into the pages (`apply`, or by hand), or reject them. If they are there, import a newer crawl.",
    )


def impact_changed(ended: Ended) -> Event | None:
    """Report that another thing can be said of the links' effect than in the last message.

    It is measured once for each week of search data, since clicks are compared by week. As long as there have never
    been enough data, nothing is reported.
    """
    project, report = ended.project, ended.report
    if not (project and report and report.collected.pages):
        return None
    with project.graph() as (edges, _):
        if not any(edges.each("live")):
            return None
    with project.search_data() as store:
        newest = max(store.days(SearchTable.PAGES), default=None)
    if not newest or not ended.told.new("impact measured", {f"{newest:%G-%V}": newest}):
        return None
    # With all that it imports, it would take a tenth of a second of every command's start.
    from internal_linker.project.impact import impact

    found = impact(project, ImpactOptions(report=False), Tracker(), report.collected)
    first = ended.told.first("impact")
    if first and found.verdict is Conclusion.THIN:
        return None
    if not ended.told.new("impact", {found.verdict: found}):
        return None
    return Event(
        f"impact of links: {found.verdict}",
        found.sentence,
        advice="`impact` writes files/impact.html, which has the weeks before and after and each page.",
    )


# In the order of the message. Each takes a run and returns what it has to report of one kind.
EVENTS: Sequence[Callable[[Ended], Event | None]] = (
    failed,
    drifted,
    budget_used,
    incomplete,
    new_orphans,
    links_to_errors,
    accepted_not_live,
    impact_changed,
)


def _waiting(edge: Edge, write: PageWrite | None, since: datetime) -> str:
    what = "written into the source on" if write else "accepted on"
    return f"{edge.source_url or edge.source} -> {edge.target_url} ({what} {since:%Y-%m-%d})"


def _fresh(count: int, one: str, many: str = "", *, first: bool) -> str:
    """Return "3 new orphans", or "3 orphans" in a first report, when nobody knows which are new."""
    name = one if count == 1 else many or f"{one}s"
    return f"{count:,} {name}" if first else f"{count:,} new {name}"


def _moment(text: str) -> datetime | None:
    """Return the time of a decision; None if it can't be read."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _mark(name: str) -> str:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_MARK_BYTES).hexdigest()

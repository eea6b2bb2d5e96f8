"""Check what a run needs: a fact for each thing, with what to do if it fails; nothing is spent."""

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from internal_linker.insight.page_keys import host_of
from internal_linker.match.embed import embedding_seconds
from internal_linker.match.encoders.minilm import FastEncoder, LocalEncoder
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.cli_commands import project_command
from internal_linker.model.errors import ConfigurationError, InputError, InternalLinkerError
from internal_linker.model.ports import StreamSource
from internal_linker.model.records import Collected, Text, Usage
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.model.search_data import SearchTable
from internal_linker.model.sections import verify
from internal_linker.model.sequences import counted
from internal_linker.project.alerts import check_addresses, send_test
from internal_linker.project.capabilities import capability
from internal_linker.project.options.stores import CheckOptions
from internal_linker.project.pipeline.plan import duration
from internal_linker.project.project import Project, open_project
from internal_linker.project.providers import facts_of, search_services
from internal_linker.project.schedule import next_run, timetable
from internal_linker.project.sections import named_sections, scope_of
from internal_linker.project.settings.accounts import notify_addresses, site_accesses, wordpress_account
from internal_linker.project.settings.link_rules import LINK_RULES_FILE, LINK_TARGETS_FILE
from internal_linker.project.settings.settings import KEY_FILES, PLACEHOLDER_SITE
from internal_linker.project.wordpress import account_facts
from internal_linker.rank.fusion_choice import FUSION, FusionEvidence
from internal_linker.sources.collect import collect, other_forms, without_queries
from internal_linker.sources.existing_links import add_links, doubt
from internal_linker.sources.serp.search import require_site
from internal_linker.sources.staging import host_hint
from internal_linker.sources.tables.columns import Kind, find_column


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about a project: `ok` is True, False (to fix), or None (not used by these settings)."""

    name: str
    ok: bool | None
    text: str


@dataclass(frozen=True, repr=False)
class CheckResult(Result):
    """The result of a check."""

    facts: tuple[Fact, ...]  # each piece that was looked at

    @property
    def failed(self) -> list[Fact]:
        """The facts that a person must fix before a run."""
        return [fact for fact in self.facts if fact.ok is False]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failed

    def tables(self) -> dict[str, Columns]:
        """Return `facts`: each piece, its `ok` (None: not used by these settings), and what there is to say."""
        return {"facts": columns_of(self.facts, "name", "ok", "text")}


@capability()
def check(root: Path, options: CheckOptions | None = None) -> CheckResult:
    """Verify keys, Sheet, files and model, as the command `check` does; nothing is spent.

    Returns:
        `.ok`, `.facts` and the DataFrame `.to_frame()`. An error of a piece is a fact that failed, and hides no other.
    """
    return CheckResult(tuple(check_project(root, options)))


def check_project(root: Path, options: CheckOptions | None = None) -> Iterator[Fact]:
    """Check each piece by itself, so that one failure hides no other; yield each fact as it is found."""
    try:
        project = open_project(root)
    except InternalLinkerError as error:
        yield Fact("Settings", False, str(error))
        return
    yield _tried("Settings", lambda: _settings(project))
    yield Fact(
        "Exclusions", True, f"{counted(len(project.exclusions), 'pattern')} in config/excluded_urls.txt"
    )
    if any((project.root / table).exists() for table in (LINK_RULES_FILE, LINK_TARGETS_FILE)):
        yield _tried("Rules of the house", lambda: _rules(project))
    pages = yield from _input(project)
    yield _search(project)
    yield from _poor_results(project)
    yield from _embeddings(project, pages)
    if project.settings.anchor_model:
        yield _tried("Anchor model", lambda: _chat(project))
    cache = _tried("Cache", lambda: _cache(project))
    yield cache
    if cache.ok and (said := project.databases.page_vectors()) is not None:
        yield Fact(
            "Page vectors", None if said else True, said or "other programs can query the table page_vectors"
        )
    yield from _wordpress(project)
    if cache.ok:
        yield from _search_console(project)
    yield _tried("Schedule", lambda: _schedule(project))
    yield from _alerts(project, test=bool(options and options.notify))


def _settings(project: Project) -> str:
    site_accesses(project.settings.site_access.get_secret_value())
    wordpress_account(project.settings.wordpress.get_secret_value())
    read = "config/settings.toml, environment and key files are valid"
    return ". ".join([read, *project.exposed()])


def _input(project: Project) -> Generator[Fact, None, int]:
    """Yield facts about the tables; return the count of pages."""
    queries, sheet = _queries(project)
    yield sheet
    pages = project.table("urls_rawdata.csv", [])
    if queries is None and pages is None and sheet.ok is not False:
        text = (
            "neither files/urls_rawdata.csv (URL, Title, Main Content) nor files/main_queries.csv "
            "(URL, Main Query) found: create at least one of them."
        )
        yield Fact("Input", False, text)
        return 0
    of_pages, known = _table("Pages", pages, project.settings.hosts, is_pages=True)
    of_queries, queried = _table("Main queries", queries, known.hosts, is_pages=False)
    if sheet.ok is False:
        of_queries = Fact(of_queries.name, None, "not checked, because the Google Sheet can't be read")
    elif not queried.sources and _has_queries(project):
        of_queries = replace(
            of_queries,
            text=f"none; `{project_command('queries', project.root)}` chooses them from the search data",
        )
    yield of_queries
    yield of_pages
    yield from _hosts(queried, known)
    yield _existing_links(project.existing_links(), queried, known)
    keys = {source.key for source in (*queried.sources, *known.sources) if source.key}
    yield _tried("Search template", lambda: _template(project, keys))
    if keys:
        yield _tried("Sections", lambda: _sections(project, keys))
    return len(known.pages)


def _has_queries(project: Project) -> bool:
    """Return whether search data by query are stored; a cache that can't be read is another fact."""
    try:
        with project.search_data() as store:
            return bool(store.sources(SearchTable.QUERIES))
    except InternalLinkerError:
        return False


def _queries(project: Project) -> tuple[StreamSource | None, Fact]:
    """Return the source of main queries, and a fact about the Sheet."""
    name, notices = "Google Sheet", list[str]()
    try:
        sheet = project.clients.sheet(notices)
        if sheet is None:
            unused = "; ".join(notices) or "not used: main queries come from files/main_queries.csv"
            return project.table("main_queries.csv", []), Fact(name, None, unused)
        return sheet, Fact(name, True, "; ".join(sheet.check()))
    except InternalLinkerError as error:
        return None, Fact(name, False, str(error))


def _hosts(queries: Collected, pages: Collected) -> Iterator[Fact]:
    """Yield a fact if pages or queries have another host than the site, or URLs in another form."""
    both = replace(
        pages, sources=queries.sources, variants=pages.variants + queries.variants, hosts=queries.hosts
    )
    if told := host_hint(both):
        yield Fact("Hosts", False, told)
    elif told := other_forms(both):
        yield Fact("Hosts", True, told)


def _table(
    name: str, table: StreamSource | None, hosts: CanonicalHosts, *, is_pages: bool
) -> tuple[Fact, Collected]:
    """Return a fact about a table, and what it has; `hosts` are mapped, or known from another table."""
    found = Collected((), (), (), 0, hosts=hosts)
    if table is None:
        return Fact(name, None, "none: the run continues without them"), found

    def count() -> str:
        nonlocal found
        rows = table.stream()
        doubt = "" if is_pages else without_queries(rows)
        found = collect(
            None if is_pages else rows,
            rows if is_pages else None,
            queries_in_sheet=False,
            keep=_mark,
            hosts=hosts,
        )
        told = f"{table.name}: {counted(len(found.sources), 'row')}" + _rejected(len(found.rejects))
        return f"{told}. {doubt}" if doubt else told

    return _tried(name, count), found


def _mark(content: str) -> str:
    """Return a mark of a content: a check only needs to know whether two contents are equal."""
    return str(hash(content)) if content else ""


def _existing_links(links: StreamSource | None, queries: Collected, pages: Collected) -> Fact:
    name = "Existing links"
    both = replace(pages, sources=(*queries.sources, *pages.sources), rejects=())
    if links is None:
        html = add_links(both, None).inner_links
        found = f"{html} in the pages' HTML" if html else "none known"
        more = "the columns Source, Destination, Anchor"
        return Fact(name, True if html else None, f"{found}; add more in files/existing_links.csv ({more})")

    def count() -> str:
        found = add_links(both, links.stream())
        if both.sources and (sentence := doubt(found, links.name)):
            raise InputError(sentence)
        return f"{found.inner_links} between your pages" + _rejected(len(found.rejects))

    return _tried(name, count)


def _rejected(rows: int) -> str:
    return (
        f", {counted(rows, 'row')} can't be used (after a run, see files/rejected_rows.csv)" if rows else ""
    )


def _template(project: Project, keys: set[str]) -> str | None:
    site = project.settings.site
    if not _searches(project):
        return None
    if site.partition("/")[0] == PLACEHOLDER_SITE:
        raise ConfigurationError(
            f"search_query_template still contains {PLACEHOLDER_SITE}. "
            "Replace it with your own host, in config/settings.toml."
        )
    return f"{require_site(keys, site)} of {len(keys)} URLs are in site:{site}"


def _sections(project: Project, keys: set[str]) -> str:
    """Return which pages get links and where links may lead, with what is odd about the settings."""
    scope, remarks = scope_of(project.settings), list[str]()
    verify(named_sections(project.settings), keys, remarks.append)
    gives = sum(scope.gives(key) for key in keys)
    takes = sum(map(scope.targets.hold, keys))
    return " ".join([f"{gives} of {len(keys)} URLs get links, {takes} may be linked to.", *remarks]).rstrip(
        "."
    )


def _searches(project: Project) -> bool:
    settings = project.settings
    return settings.serp_provider != "none" and bool(settings.search_key(settings.search_provider))


def _search(project: Project) -> Fact:
    wanted, provider = project.settings.serp_provider, project.settings.search_provider
    name = search_services()[provider].name
    if _searches(project):
        return _tried(name, lambda: _account(project))
    key_file = KEY_FILES[f"{provider}_api_key"][0].as_posix()
    why = 'serp_provider = "none"' if wanted == "none" else f"no key in {key_file}"
    remedy = ': put one there, or set serp_provider = "auto"' if wanted == provider else ""
    return Fact(name, False if remedy else None, f"{why}{remedy or ': the search step is skipped'}")


def _poor_results(project: Project) -> Iterator[Fact]:
    """Yield a fact if the search results of the last run that searched were poor."""
    if not _searches(project) or project.settings.fusion != "fill":
        return
    kept = list[Mapping[str, Any]]()
    # The fact about the cache has the error.
    with suppress(InternalLinkerError), project.graph() as (_, runs):
        kept = [one.facts[FUSION] for one in runs.versions() if FUSION in one.facts]
    if kept and (advice := FusionEvidence.unpack(kept[-1]).sentence):
        yield Fact("Search results first", True, f"were poor in the last run: {advice}")


def _account(project: Project) -> str:
    client = project.clients.search_client()
    try:
        return client.check()
    finally:
        client.close()


def _embeddings(project: Project, pages: int) -> Iterator[Fact]:
    if project.clients.uses_openai:
        yield _tried("Embeddings", lambda: _server(project))
        return
    notices, hints = list[str](), list[str]()

    def local() -> str:
        encoder = project.encoder(notices, hints=hints)
        if isinstance(encoder, LocalEncoder):
            encoder.load()
        # Remarks on a file of vectors are fine; a notice about the packaged model is a failure.
        remarks = notices[:] if encoder.pages is not None else []
        del notices[: len(remarks)]
        whole = [_whole_pages(project, pages)] if pages and isinstance(encoder, FastEncoder) else []
        return ". ".join([facts_of(encoder), *whole, *(remark.rstrip(".") for remark in (*remarks, *hints))])

    fact = _tried("Embeddings", local)
    yield Fact("Embeddings", False, " ".join(notices)) if notices else fact


# Pages from all over the table, by whose length the time for all pages is estimated.
_SAMPLED = 40
_TAG = re.compile(r"<[^>]*>")


def _whole_pages(project: Project, pages: int) -> str:
    """Return how long the model takes for all pages if it reads more of each; a few are encoded to find out."""
    table = project.table("urls_rawdata.csv", [])
    if table is None:
        return ""
    stream, texts, step = table.stream(), list[Text](), max(1, pages // _SAMPLED)
    title, content = (find_column(stream.header, kind) for kind in (Kind.TITLE, Kind.CONTENT))
    for at, (_, row) in enumerate(stream.rows):
        if at % step == 0:
            cells = ["" if each is None or each >= len(row) else row[each] for each in (title, content)]
            texts.append(Text(cells[0].strip(), _TAG.sub(" ", cells[1]).strip()))
    seconds = embedding_seconds(texts, LocalEncoder(), Usage()) * pages / max(1, len(texts))
    return (
        f'embedding_provider = "local" reads more of each page: about {duration(seconds)} for '
        f"{counted(pages, 'page')} on this computer, once"
    )


def _server(project: Project) -> str:
    client = project.clients.openai()
    try:
        return client.check()
    finally:
        client.close()


def _chat(project: Project) -> str | None:
    client = project.clients.chat()
    if client is None:
        return None
    try:
        return client.check()
    finally:
        client.close()


def _cache(project: Project) -> str:
    with project.databases.opened(read_only=True) as engine:
        if engine.dialect.name == "sqlite":
            return project.settings.store_url
        return f"{engine.url.set(query={}).render_as_string(hide_password=True)} can be opened"


def _wordpress(project: Project) -> Iterator[Fact]:
    account = None
    # The fact about the settings has the error.
    with suppress(ConfigurationError):
        account = wordpress_account(project.settings.wordpress.get_secret_value())
    if account:
        signs_in = partial(account_facts, project, account)
        yield _tried("WordPress", signs_in)


def _search_console(project: Project) -> Iterator[Fact]:
    """Yield a fact on each Search Console property whose data are stored: whether the account may still read it."""
    if not project.settings.service_account.get_secret_value():
        return  # stored data may come from exports
    with project.search_data() as store:
        properties = [source for source in store.sources(SearchTable.TOTALS) if host_of(source)]
    for property_ in properties:
        yield _tried("Search Console", partial(_property, project, property_))


def _property(project: Project, property_: str) -> str:
    with project.search_data(property_) as store:
        days = [day for day, one in store.days(SearchTable.TOTALS).items() if one.rows]
    with closing(project.clients.search_console()) as client:
        client.require(property_)
    stored = f"{counted(len(days), 'day')} until {days[-1]}" if days else "no day stored yet"
    return f"{property_}: {stored}, and new ones can be fetched"


def _alerts(project: Project, *, test: bool) -> Iterator[Fact]:
    """Yield whether the addresses in config/notify.txt can be read and, with `test`, whether they take a message."""
    name, file = "Alerts", KEY_FILES["notify"][0].as_posix()
    if not any(notify_addresses(project.settings.notify.get_secret_value())):
        if test:
            yield Fact(name, False, f"{file} has no address: write one per line, as docs/alerts.md shows")
        return
    try:
        found, problems = send_test(project) if test else check_addresses(project.root)
    except InternalLinkerError as error:
        yield Fact(name, False, str(error))
        return
    if found:
        told = "took the test message" if test else "can be read; `check --notify` sends a test message"
        yield Fact(name, True, f"{', '.join(found)} {told}")
    yield from (Fact(name, False, problem) for problem in problems)


def _schedule(project: Project) -> str:
    settings = project.settings
    following = next_run(timetable(settings.schedule_cron, settings.schedule_timezone))
    return f"the command schedule would start the next run on {following:%A %Y-%m-%d %H:%M %Z}"


def _rules(project: Project) -> str:
    rules = project.rules().linking
    return f"{counted(len(rules.house), 'rule')} for links and {counted(len(rules.goals), 'goal')} of pages in config/"


def _tried(name: str, probe: Callable[[], str | None]) -> Fact:
    """Turn the probe's answer into a fact; None means that this piece is not used."""
    try:
        found = probe()
    except InternalLinkerError as error:
        return Fact(name, False, str(error))
    return Fact(name, True, found) if found else Fact(name, None, "not used: the search step is skipped")

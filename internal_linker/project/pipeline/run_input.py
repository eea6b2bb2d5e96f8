"""The input of a run: the site's pages and links, the rows that get links, and where links may lead."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from typing import TypeVar

from internal_linker.match.embed import all_texts
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.house_rules import LinkRule, TargetGoal
from internal_linker.model.ports import Progress
from internal_linker.model.reasons import FewLinks, NoSource, Reason
from internal_linker.model.records import (
    Address,
    Collected,
    Page,
    Recommendation,
    RowSelection,
    Shortage,
    Source,
    Targets,
    Text,
    fold_query,
)
from internal_linker.model.sections import NamedSections, Scope, Sections, verify
from internal_linker.model.sequences import counted
from internal_linker.model.urls import keys_meant
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.site_index import SiteIndex
from internal_linker.rank.selection import link_targets
from internal_linker.review.link_memory import Memory
from internal_linker.sources.collect import read_tables, require_rows
from internal_linker.sources.serp.search import require_site

HouseRule = TypeVar("HouseRule", bound=LinkRule | TargetGoal)
# Pages to name where an address is unknown.
_NEAR = 3
# How alike two paths are, 0 to 1, of which one is taken for a typo of the other; and how many pairs are compared, which
# takes about 2 seconds.
_CLOSE, _COMPARED = 0.9, 300_000


@dataclass(frozen=True)
class RunInput:
    """The input of a run."""

    collected: Collected  # the site's pages, queries and existing links
    sources: Sequence[Source]  # the rows that get links, in the input's order
    # the rows that get none, each with the number of rows in `sources` before it
    without: Sequence[tuple[int, Recommendation]]
    targets: Targets  # where links may lead

    def merged(self, found: Iterable[Recommendation]) -> Iterator[Recommendation]:
        """Yield the recommendations of `sources`, and the rows without links at their places."""
        waiting = list(reversed(self.without))
        for place, item in enumerate(found):
            while waiting and waiting[-1][0] <= place:
                yield _remarked(waiting.pop()[1])
            yield _remarked(item)
        yield from (_remarked(item) for _, item in reversed(waiting))

    def texts(self) -> Sequence[Text]:
        """Return the whole text of every page, then of every source without a page."""
        queries = [source.query for source in self.sources if source.page is None]
        return all_texts(self.collected.pages, self.collected.queries, queries)

    def without_rejected(self, memory: Memory | None) -> "RunInput":
        """Return the input without the links that editors rejected as targets."""
        if memory is None:
            return self
        rejected = memory.decided.rejected_at_ends(self.collected.aliases)
        return replace(self, targets=replace(self.targets, rejected=rejected))


def read_input(
    context: RunContext,
    rules: Rules,
    choice: RowSelection,
    progress: Progress,
    *,
    index: SiteIndex,
) -> RunInput:
    """Read the input, from the index if that has it; a run that delivers writes the rejected rows to their list.

    Raises:
        InputError: the input can't be used.
        OutputError: the list can't be written.
        ConfigurationError: an option names a section without a page.
        ServiceError: the input can't be read from its service.
    """
    progress.start("Input", 0, "rows")
    collected = read_site(context, index)
    if context.delivers and "rejects" in context.lists and (context.queries or context.pages):
        for remark in context.lists["rejects"].write(collected.rejects):
            progress.warn(remark)
    require_rows(collected, context.queries, context.pages)
    require_scope(collected, rules, searching=context.serp is not None, warn=progress.warn)
    targets = index.targets(lambda: site_targets(collected, rules, collected.addresses, collected.linked))
    sources, without = _rows(collected, choice, rules)
    queried = sum(map(bool, collected.source_queries))
    progress.finish(
        f"{counted(len(collected.pages), 'page')}, {counted(queried, 'query', 'queries')}, "
        f"{counted(len(targets.known), 'possible target')}, "
        f"{counted(collected.inner_links, 'existing link')}, "
        f"{counted(len(collected.rejects), 'row')} rejected, {collected.merged_rows} merged"
    )
    # A lookup tells of its own URL only.
    misspelt = misspelled(sources, collected.pages) if context.delivers else ""
    for notice in filter(None, [*context.notices, misspelt]):
        progress.warn(notice)
    if (count := len(without)) and not choice.only:
        many = f"{count} rows of the main queries get" if count > 1 else "1 row of the main queries gets"
        progress.warn(f"{many} no links: Note in Output.csv says why.")
    return RunInput(collected, sources, without, targets)


def read_site(context: RunContext, index: SiteIndex) -> Collected:
    """Return what the input tables say of the site, from the index if that has it; see `require_rows`."""
    return index.collected(
        lambda progress: read_tables(
            context.queries,
            context.pages,
            context.links,
            queries_in_sheet=context.queries_in_sheet,
            progress=progress,
            keep=context.keep,
            hosts=context.hosts,
        )
    )


def site_targets(
    site: Collected,
    rules: Rules,
    listed: Iterable[Address],
    linked: Mapping[str, Collection[str]],
) -> Targets:
    """Return which of these pages of the site links may lead to."""
    return link_targets(
        listed,
        rules.search.excluded,
        any_on_site=rules.any_on_site,
        linked=linked,
        aliases=site.aliases,
        hosts=site.hosts,
        sections=rules.scope.targets,
    )


def _rows(
    collected: Collected, choice: RowSelection, rules: Rules
) -> tuple[list[Source], list[tuple[int, Recommendation]]]:
    """Return the rows that get links, and the others; see `RunInput`.

    A page that can't carry links is only a row if it is in the main queries or was chosen by its URL.

    Raises:
        InputError: a chosen URL is in no list.
    """
    renewed, scope, wanted = rules.renewed, rules.scope, rules.linking.links_per_page
    sources, without = list[Source](), list[tuple[int, Recommendation]]()
    for source in choose(collected, choice):
        if choice.limit and len(sources) + len(without) == choice.limit:
            break
        asked = bool(source.row_url or source.query or choice.only)
        if not (renewed.hold(source.end) and (asked or scope.default_sources.hold(source.end))):
            continue
        if not (obstacle := source.obstacle or _outside(source, scope)):
            sources.append(source)
        elif asked:
            shortage = Shortage(0, wanted, Reason(FewLinks.NO_SOURCE, obstacle))
            without.append((len(sources), Recommendation(source, (), shortage=shortage)))
    return sources, without


def _outside(source: Source, scope: Scope) -> str:
    """Return why the page's section gets no links, "" if it gets some; a query without a URL is in no section."""
    outside = source.key and not scope.sources.hold(source.key)
    return NoSource.OTHER_SECTION.message if outside else ""


def require_scope(
    collected: Collected, rules: Rules, *, searching: bool, warn: Callable[[str], None]
) -> None:
    """Check before anything is spent that the named sections and the searched site have pages.

    Raises:
        ConfigurationError: an option names a section without a page, no link would be left, or all searches would be of
            another site.
    """
    named = [one for one in rules.named if one.sections]
    if not (named or rules.renewed.include or searching):
        return
    keys = dict.fromkeys(chain(collected.rows, filter(None, collected.source_keys)))
    verify(named, keys, warn)
    if keys and rules.renewed.include and not any(map(rules.renewed.hold, keys)):
        raise ConfigurationError(f"--section: no page is in {rules.renewed}.")
    if searching:
        require_site(keys, rules.search.site)


def choose(collected: Collected, choice: RowSelection) -> list[Source]:
    """Return the sources chosen by URL or query, else all, in the input's order.

    Raises:
        InputError: a chosen URL is in no list.
    """
    sources = collected.sources
    if choice.query:
        if key := named(collected, choice.query):
            return _of_keys(collected, {key})
        known = collected.by_query.get(fold_query(choice.query))
        return [Source("", "", choice.query, None, in_sheet=False) if known is None else sources[known]]
    if choice.only:
        return _of_keys(collected, {known_key(collected, url) for url in choice.only})
    return list(sources)


def _of_keys(collected: Collected, keys: Collection[str]) -> list[Source]:
    return [collected.sources[at] for at, key in enumerate(collected.source_keys) if key in keys]


def named(collected: Collected, text: str) -> str:
    """Return the key of the page that a text without https:// or a first slash names; "" for any other query."""
    if len(text.split()) > 1 or not any(sign in text for sign in "./"):
        return ""
    for address in (f"https://{text}", f"/{text}"):
        with suppress(InputError):
            return known_key(collected, address)
    return ""


def known_key(collected: Collected, url: str) -> str:
    """Return the key of the page that a URL, one without https://, or a path shows, or redirects to.

    Raises:
        InputError: there is no such page, or a path stands for several.
    """
    known = collected.keys
    try:
        meant = keys_meant(url, chain(known, collected.aliases), collected.hosts.key)
    except ValueError as error:
        raise InputError(f"{url}: {error}.") from None
    ends = dict.fromkeys(end if (end := collected.aliases.get(key, key)) in known else key for key in meant)
    found = [key for key in ends if key in known]
    if len(found) > 1:
        names = " or ".join(sorted(found)[:3])
        raise InputError(f"{url} stands for several pages: use the whole URL, {names}.")
    if not found:
        raise InputError(
            f"{url} is neither in the main queries nor in files/urls_rawdata.csv: "
            f"check its spelling.{_near(url, known)}"
        )
    return found[0]


def known_rules(
    rules: Iterable[HouseRule], table: str, collected: Collected, warn: Callable[[str], None]
) -> tuple[HouseRule, ...]:
    """Return the rules of a table with the keys of their pages.

    `warn` gets a sentence on each whose page is unknown, or whose section has no page.
    """
    found = list[HouseRule]()
    for rule in rules:
        try:
            found.append(replace(rule, target=rule.target and known_key(collected, rule.target)))
        except InputError as error:
            warn(f"{table}, row {rule.row} is left out: {error}")
    named = (
        NamedSections(f"{table}, row {rule.row}", Sections([rule.section]), "none")
        for rule in found
        if isinstance(rule, LinkRule) and rule.section
    )
    verify(named, collected.rows, warn)
    return tuple(found)


def misspelled(sources: Iterable[Source], pages: Iterable[Page]) -> str:
    """Return a sentence on URLs of the main queries that name no page but resemble one; "" if there is none."""
    unknown = {source.key: source.row_url for source in sources if source.unlisted}
    if not unknown:
        return ""
    paths = {path: page for page in pages if (path := _path(page.key))}
    # A typo in the host leaves the path as it is.
    meant = {key: page.url for key in unknown if (page := paths.get(_path(key)))}
    for key in [key for key in unknown if key not in meant][: _COMPARED // max(len(paths), 1)]:
        if near := get_close_matches(_path(key), paths, n=1, cutoff=_CLOSE):
            meant[key] = paths[near[0]].url
    if not meant:
        return ""
    told = [f"{unknown[key]} (did you mean {url}?)" for key, url in meant.items()][:_NEAR]
    more = f", and {len(meant) - len(told)} more" if len(meant) > len(told) else ""
    subject = "URLs of the main queries are" if len(meant) > 1 else "URL of the main queries is"
    return f"{len(meant)} {subject} not in files/urls_rawdata.csv: {', '.join(told)}{more}."


def _near(url: str, known: Iterable[str]) -> str:
    """Return a sentence with the known pages whose addresses resemble an unknown one; "" if none does."""
    paths: dict[str, str] = {}
    for key in known:
        paths.setdefault(_path(key), key)
    near = get_close_matches(_path(url), [one for one in paths if one], n=_NEAR)
    return f" Did you mean {' or '.join(paths[one] for one in near)}?" if near else ""


def _path(url: str) -> str:
    """Return what to compare of a URL or path: the host is the same on most pages, so without it, differences count."""
    path = url.partition("://")[2] or url.strip("/")
    path = path if url.startswith("/") else path.partition("/")[2]
    return path.strip("/").casefold()


def _remarked(item: Recommendation) -> Recommendation:
    """Return the item with what is special about its row."""
    source, remarks = item.source, [item.remark]
    if source.is_redirected:
        remarks.insert(0, f"the links are for {source.url}, where this URL leads")
    if source.unlisted:
        remarks.insert(0, "only suggestions: this URL is not in files/urls_rawdata.csv")
    return replace(item, remark="; ".join(filter(None, remarks))) if len(remarks) > 1 else item

"""The rows of a run: those that get links, and those that only get the reason why they get none."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain

from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.reasons import FewLinks, NoSource, Reason
from internal_linker.core.records import (
    Choice,
    Collected,
    Page,
    Recommendation,
    Shortage,
    Source,
    fold_query,
)
from internal_linker.core.sections import Scope, SectionFilter, verify
from internal_linker.core.urls import keys_meant
from internal_linker.pipeline.context import Rules
from internal_linker.serp.search import require_site

# Pages to name where an address is unknown.
_NEAR = 3
# How alike two paths are, 0 to 1, of which one is taken for a typo of the other; and how many pairs are compared, which
# takes about 2 seconds.
_CLOSE, _COMPARED = 0.9, 300_000


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a run.

    Attributes:
        sources: the rows that get links, in the input's order.
        without: the rows that get none, each with the number of rows in `sources` before it.
    """

    sources: Sequence[Source]
    without: Sequence[tuple[int, Recommendation]] = ()

    def merged(self, found: Iterable[Recommendation]) -> Iterator[Recommendation]:
        """Yield the recommendations of `sources`, and the rows without links at their places."""
        waiting = list(reversed(self.without))
        for place, item in enumerate(found):
            while waiting and waiting[-1][0] <= place:
                yield _remarked(waiting.pop()[1])
            yield _remarked(item)
        yield from (_remarked(item) for _, item in reversed(waiting))


def rows_of(
    collected: Collected, choice: Choice, *, renewed: SectionFilter, scope: Scope, wanted: int
) -> Rows:
    """Return the rows of a run.

    A page that can't carry links is only a row if it is in the main queries or was chosen by its URL.

    Args:
        collected: the input.
        choice: which rows to take.
        renewed: the pages that get new links.
        scope: which pages get links.
        wanted: links per row.

    Raises:
        InputError: a chosen URL is in no list.
    """
    sources: list[Source] = []
    without: list[tuple[int, Recommendation]] = []
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
    return Rows(sources, without)


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


def choose(collected: Collected, choice: Choice) -> list[Source]:
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


def misspelled(sources: Iterable[Source], pages: Iterable[Page]) -> str:
    """Return a sentence on URLs of the main queries that name no page but resemble one; "" if there is none.

    Args:
        sources: the rows.
        pages: all pages.
    """
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

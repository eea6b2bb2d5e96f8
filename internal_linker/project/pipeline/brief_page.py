"""The site with a planned page added to its pages."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urljoin

from internal_linker.model.briefs import Brief
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.errors import InputError
from internal_linker.model.records import Collected, ExistingLink, Page, Source
from internal_linker.text.language import detect, detect_among

# The key of a page whose URL is not known; no URL has it.
NOWHERE = "brief:"
# The new page's position among the sources.
NEW = 0


@dataclass(frozen=True)
class PlannedPage:
    """The site with the new page."""

    # the site's pages and links, with the new page: instead of the one that it replaces, else at the end
    collected: Collected
    page: Page  # the new page
    source: Source  # the new page as a source
    links: Sequence[ExistingLink]  # the links in the draft
    notes: Sequence[str]  # what is unusual, one sentence each
    # whether the new page replaces one of the site, which keeps its place among the links
    exists: bool = False

    @property
    def row(self) -> int:
        """The row of the new page in `collected`."""
        return self.collected.rows[self.page.key]


def plan_page(collected: Collected, brief: Brief) -> PlannedPage:
    """Return the site with the new page, which replaces any page at its URL.

    Raises:
        InputError: the new page's URL is not a URL.
    """
    key, notes = _key(brief.url, collected.hosts), list(brief.remarks)
    exists = key in collected.rows
    if exists:
        notes.append(f"{brief.url} already exists: the draft replaces it in this brief.")
    others = {page.lang for page in collected.pages if page.key != key} if exists else collected.languages
    lang, doubt = _language(brief, others)
    page = Page(
        key,
        collected.hosts.written(brief.url) or key,
        brief.title,
        content=brief.text,
        lang=lang,
        headings=brief.headings,
        closed=brief.closed,
    )
    source = Source(key, page.url, brief.query or collected.queries.get(key, ""), page, in_sheet=False)
    base = brief.url or collected.pages[0].url
    aliases = {start: end for start, end in collected.aliases.items() if start != key}
    own = [*_links(key, base, brief.links, aliases, collected.hosts)]
    site = _added(collected, page, source, own, aliases)
    return PlannedPage(site, page, source, own, notes + doubt, exists=exists)


def _added(
    site: Collected, page: Page, source: Source, own: Sequence[ExistingLink], aliases: Mapping[str, str]
) -> Collected:
    """Return the site with a page instead of the one that has its key, or after all others, and with its links."""
    key = page.key
    pages = [page if one.key == key else one for one in site.pages]
    return replace(
        site,
        pages=pages if key in site.rows else [*pages, page],
        sources=[source, *(one for one in site.sources if one.key != key)],
        links=[*(link for link in site.links if link.source != key), *own],
        aliases=aliases,
    )


def _key(url: str, hosts: CanonicalHosts) -> str:
    try:
        return hosts.key(url) if url else NOWHERE
    except ValueError as error:
        raise InputError(f"{url}: {error}.") from None


def _language(brief: Brief, languages: Collection[str]) -> tuple[str, list[str]]:
    """Return the language's code, "" where it is uncertain, and a sentence if no page is in that language.

    Raises:
        InputError: the given language is none of the pages'.
    """
    given = brief.lang.lower().replace("_", "-").partition("-")[0]
    known, text = {*languages} - {""}, f"{brief.title}\n{brief.text}"
    lang = given or detect(text) or (detect_among(text, known) if len(known) > 1 else "")
    if not lang or not known or lang in known:
        return lang, []
    if given:
        codes = ", ".join(sorted(known))
        raise InputError(
            f"--lang {brief.lang}: no page is in this language. Use one of the pages' codes: {codes}."
        )
    return "", [
        f"The text seems to be in {lang}, but no page is: it is compared with all pages. If that is wrong, set --lang."
    ]


def _links(
    key: str,
    base: str,
    links: Iterable[tuple[str, str]],
    aliases: dict[str, str],
    hosts: CanonicalHosts,
) -> Iterator[ExistingLink]:
    """Yield the links in the draft; relative addresses belong to the site."""
    for address, anchor in links:
        try:
            target = hosts.key(urljoin(base, address.strip()))
        except ValueError:
            continue
        yield ExistingLink(key, aliases.get(target, target), anchor)

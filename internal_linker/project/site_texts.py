"""The pages of a project as editors see them beside links: titles, paragraphs and first lines; kept in memory."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.anchors.link_places import link_places
from internal_linker.model.edges import Anchor
from internal_linker.model.errors import InputError, OutputError
from internal_linker.model.ports import Progress, StreamSource
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.model.sequences import counted
from internal_linker.project.index_inputs import inputs_status
from internal_linker.project.pipeline.run_input import known_key
from internal_linker.project.project import Project
from internal_linker.sources.collect import gather
from internal_linker.store.files.text_spool import TextSpool
from internal_linker.text.blocks import Block, blocks
from internal_linker.text.sentences import around, paragraphs
from internal_linker.text.spans import place, spans

# Enough to see what a page is about.
_FIRST = 300
# Characters of a page's text that are shown: some 50,000 words, which a browser lays out at once.
MOST_SHOWN = 300_000


@dataclass(frozen=True, slots=True)
class SentenceInContext:
    """A sentence in its paragraph, cut into parts that follow each other.

    Attributes:
        before, after: the paragraph around the sentence.
        lead, anchor, rest: the sentence; `anchor` is "" if the words are not in it.
    """

    before: str = ""
    lead: str = ""
    anchor: str = ""
    rest: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line of a page's text; `start` is its first character's place in the text, from 0."""

    start: int
    text: str
    is_heading: bool


@dataclass(frozen=True)
class SiteTexts:
    """The pages of a site at one time."""

    # The pages and their existing links; None: there is no table of pages that can be used
    site: Collected | None = None
    problem: str = ""  # why there are no pages; "" if there are
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def _anchoring(self) -> Anchoring | None:
        return Anchoring(CountedSite(self.site)) if self.site else None

    def page(self, key: str) -> Page | None:
        """Return the page with this key; None if it is not listed."""
        return self.site.find(self.site.hosts.restored(key)) if self.site else None

    def title(self, key: str) -> str:
        """Return a page's title, else its H1; "" for an unknown page."""
        page = self.page(key)
        return page.name if page else ""

    def placed(self, source: str, text: str, near: int = 0) -> Anchor | None:
        """Return a text as an anchor where it stands in a page, as `Anchoring.placed`; None without pages."""
        # It keeps what it read of pages, so that one thread at a time may use it.
        with self._lock:
            return self._anchoring.placed(source, text, near) if self._anchoring else None

    def target(self, source: str, address: str) -> Page:
        """Return the page that an editor names by its URL or path as the target of a link.

        Raises:
            InputError: it is not listed, or no link of the source may lead there.
        """
        if self.site is None:
            raise InputError(self.problem)
        key = known_key(self.site, address.strip())
        page = self.site.page(key)
        if page.issue:
            raise InputError(f"{page.url} can't be a target ({page.issue}): choose another page.")
        if key == self.site.hosts.restored(source):
            raise InputError(f"{page.url} is the page itself: choose another target.")
        if any(link.source == source and link.target == key for link in self.site.live_links):
            raise InputError(f"The page has a link to {page.url} already: choose another target.")
        return page

    def linked(self, key: str) -> Mapping[tuple[int, int], ExistingLink]:
        """Return the spans (start, end) of a page's shown text that may be links of the page, with these links."""
        page = self.page(key)
        if page is None or self.site is None:
            return {}
        content = str(page.content)[:MOST_SHOWN]
        links = reversed(self.site.links_from.get(page.key, ()))
        return {span: link for link in links for span in link_places(content, link)}

    def paragraphs(self, key: str, links: Iterable[tuple[int, int]]) -> Iterator[Paragraph]:
        """Yield the lines of a page's text that have words, up to `MOST_SHOWN` characters; none for an unknown page.

        `links` are the spans of `linked`.
        """
        page = self.page(key)
        content = str(page.content) if page else ""
        closed = blocks(content, page.headings, closed=page.closed, links=links) if page else ()
        headings, start = {at for kind, at, _ in closed if kind is Block.HEADING}, 0
        for line in content[:MOST_SHOWN].split("\n"):
            if line.strip():
                yield Paragraph(start, line, start in headings)
            start += len(line) + 1

    def span(self, source: str, anchor: Anchor) -> tuple[int, int]:
        """Return start and end of an anchor in its page's text.

        Of an anchor that the text doesn't contain, both are the place of the sentence in which it fits; -1: nobody
        knows one.
        """
        page = self.page(source)
        content = str(page.content) if page else ""
        if anchor.text and anchor.verbatim:
            words = anchor.text
            if found := place(content, words, anchor.start) or next(iter(spans(content, words)), None):
                return found
        at = self._sentence(content, anchor)
        return at, at

    @staticmethod
    def _sentence(content: str, anchor: Anchor) -> int:
        """Return where the sentence of an anchor stands in a text; -1: nowhere."""
        if not anchor.sentence:
            return -1
        # It may stand in the page twice: the one at the anchor counts.
        at = content.find(anchor.sentence, content.rfind("\n", 0, anchor.start) + 1)
        return content.find(anchor.sentence) if at < 0 else at

    def first_lines(self, key: str) -> str:
        """Return the first words of a page's content; "" for an unknown page."""
        page = self.page(key)
        text = " ".join(str(page.content)[: 3 * _FIRST].split()) if page else ""
        return text if len(text) <= _FIRST else f"{text[:_FIRST].rpartition(' ')[0] or text[:_FIRST]} …"

    def passage(self, source: str, anchor: Anchor) -> SentenceInContext:
        """Return the sentence of an anchor in its paragraph, or the paragraph in which it fits if the text lacks it."""
        sentence, words = anchor.sentence, anchor.text if anchor.verbatim else ""
        if not sentence:
            return SentenceInContext()
        page = self.page(source)
        content = str(page.content) if page else ""
        at = self._sentence(content, anchor)
        whole = sentence if at < 0 else around(content, paragraphs(content), at, at + len(sentence))
        before, found, after = whole.partition(sentence)
        if not found:
            before, after = "", ""
        place = next(iter(spans(sentence, words)), None) if words else None
        if place is None:
            return SentenceInContext(before, sentence, "", "", after)
        return SentenceInContext(
            before, sentence[: place[0]], sentence[slice(*place)], sentence[place[1] :], after
        )

    @cached_property
    def inbound(self) -> Counter[str]:
        """How many existing links lead to each page, by its key."""
        return Counter(link.target for link in self.site.live_links) if self.site else Counter()


class TextReader:
    """Reads the pages of a project, and again whenever their files change; several threads may use it."""

    def __init__(self, root: Path) -> None:
        self._root, self._lock = root, threading.Lock()
        self._status: object = None
        self._texts, self._spool = SiteTexts(), TextSpool(root / "files")

    def read(self, project: Project, progress: Progress) -> SiteTexts:
        """Return the pages as they are now."""
        with self._lock:
            # Looked at before the files are read, so that a change in the meantime is another change.
            status = inputs_status(self._root, project.settings)
            if status != self._status:
                # The former spool is closed when nobody has its texts any more.
                self._spool = TextSpool(self._root / "files")
                self._texts, self._status = _read(project, self._spool, progress), status
            return self._texts


def site_of(project: Project, pages: StreamSource, spool: TextSpool, progress: Progress) -> Collected:
    """Return the pages of a project's table and its existing links, without its queries.

    Raises:
        InputError: a table can't be used.
        OutputError: the spool can't be written.
    """
    return gather(
        None,
        pages,
        project.existing_links(),
        queries_in_sheet=False,
        progress=progress,
        keep=spool.keep,
        hosts=project.settings.hosts,
    )


def imported_site(project: Project, spool: TextSpool, progress: Progress) -> Collected:
    """Return the pages that were imported and their links, as `site_of` does, and show the step.

    Raises:
        InputError: no pages were imported, or a table can't be used.
        OutputError: the spool can't be written.
    """
    pages = project.table("urls_rawdata.csv", [])
    if pages is None:
        raise InputError(
            "files/urls_rawdata.csv not found: it says which pages the site has. Import a crawl first."
        )
    progress.start("Input", 0, "rows")
    site = site_of(project, pages, spool, progress)
    progress.finish(counted(len(site.pages), "page"))
    return site


def _read(project: Project, spool: TextSpool, progress: Progress) -> SiteTexts:
    pages = project.table("urls_rawdata.csv", [])
    if pages is None:
        return SiteTexts(
            problem="files/urls_rawdata.csv not found: links are shown without titles and texts."
        )
    try:
        return SiteTexts(site_of(project, pages, spool, progress))
    except (InputError, OutputError) as error:
        return SiteTexts(problem=f"Links are shown without titles and texts: {error}")

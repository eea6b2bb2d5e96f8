"""Accepted links put into the texts of their pages, in memory."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from internal_linker.cms.page_links import PlacedLink, place_links
from internal_linker.cms.placement import Placement, Refusal
from internal_linker.core.edges import Edge
from internal_linker.core.ports import Progress
from internal_linker.core.records import Collected
from internal_linker.core.sequences import counted
from internal_linker.core.source_files import SourceText
from internal_linker.usecases.apply_results import AppliedLink, Left, Outcome
from internal_linker.usecases.homes import PageTexts


@dataclass(frozen=True)
class PageChange:
    """The text of a page with its new version, and the links that are new in it."""

    page: str
    page_url: str
    text: SourceText
    new: str
    links: Sequence[AppliedLink]


@dataclass(frozen=True)
class Planner:
    """Puts accepted links into texts.

    Attributes:
        site: the pages.
        texts: their texts.
        most: how many new links a page may have.
        waiting: ids of links that were applied earlier and are not live yet.
    """

    site: Collected
    texts: PageTexts
    most: int
    waiting: Collection[str]

    def plan(self, links: Sequence[Edge], progress: Progress) -> tuple[list[PageChange], list[AppliedLink]]:
        """Return the changes of texts, and the links that change none, with what became of them."""
        changes, others, by_page = list[PageChange](), list[AppliedLink](), defaultdict[str, list[Edge]](list)
        for edge in links:
            by_page[edge.source].append(edge)
        progress.start("Placing", len(by_page), "pages")
        for source, edges in by_page.items():
            change, rest = self._page(source, edges)
            changes += [change] if change else []
            others += rest
            progress.advance()
        placed = sum(len(one.links) for one in changes)
        progress.finish(f"{placed} of {counted(len(links), 'link')}")
        return changes, others

    def url(self, key: str, written: str) -> str:
        """Return a page's URL as the table of pages has it; `written` if the table has no such page."""
        page = self.site.find(self.site.hosts.restored(key))
        return page.url if page else written

    def _page(self, source: str, edges: Sequence[Edge]) -> tuple[PageChange | None, list[AppliedLink]]:
        url = self.url(source, edges[0].source_url)
        inside = [edge for edge in edges if not is_for_box(edge)]
        text = self.texts.find(url) if inside else Left.NO_FILE
        named = {
            edge.id: self._named(edge, url, "" if isinstance(text, Left) else text.path) for edge in edges
        }
        others = [replace(named[edge.id], outcome=Outcome.FOR_BOX) for edge in edges if is_for_box(edge)]
        if isinstance(text, Left):
            return None, [*others, *(replace(named[edge.id], reason=text) for edge in inside)]
        wanted = [(edge.id, self._placement(edge, text)) for edge in inside]
        placed = place_links(text.text, text.text_format, wanted, most=self.most, applied=self.waiting)
        found = [_with_answer(named[one.id], one, self.waiting) for one in placed.links]
        new = [link for link in found if link.outcome is Outcome.PLANNED]
        others += [link for link in found if link.outcome is not Outcome.PLANNED]
        if new and (why := self.texts.held(text, placed.text)):
            return None, [*others, *refused(new, why)]
        return (PageChange(source, url, text, placed.text, new) if new else None), others

    def _named(self, edge: Edge, url: str, path: str) -> AppliedLink:
        return AppliedLink(
            link_id=edge.id,
            page=url,
            target=self.url(edge.target, edge.target_url),
            anchor=edge.chosen.text,
            tier=edge.tier,
            file=path,
        )

    def _placement(self, edge: Edge, text: SourceText) -> Placement:
        chosen, target = edge.chosen, self.url(edge.target, edge.target_url)
        return Placement(
            target,
            self.texts.href(text, target),
            chosen.text if chosen.verbatim else "",
            chosen.sentence,
            self._leads_to(text, target),
        )

    def _leads_to(self, text: SourceText, target: str) -> Callable[[str], bool]:
        key = self.texts.leads_to(text, target)
        return lambda href: self.texts.leads_to(text, href) == key


def refused(links: Sequence[AppliedLink], why: Left) -> list[AppliedLink]:
    """Return links that were to be put into a text, as ones that are not."""
    return [replace(link, outcome=Outcome.REFUSED, line=0, reason=why) for link in links]


def is_for_box(edge: Edge) -> bool:
    """Return whether a link belongs in a related box: its tier says so, and its anchor is not in the text."""
    in_text = edge.anchor or (edge.chosen.text and edge.chosen.verbatim)
    return edge.tier == "sidebar" and not in_text


def _with_answer(link: AppliedLink, placed: PlacedLink, waiting: Collection[str]) -> AppliedLink:
    if placed.refusal is None:
        return replace(link, outcome=Outcome.PLANNED, line=placed.line)
    if placed.refusal is Refusal.LINKED and link.link_id in waiting:
        return replace(link, outcome=Outcome.IN_PLACE)
    return replace(link, reason=placed.refusal)

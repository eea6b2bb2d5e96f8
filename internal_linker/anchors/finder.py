"""Anchors for proposed links: where in the source's text, and with which words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile

import numpy as np

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.judge import WORDINGS, JudgedPlaces, LinkPlaces, packaged_judge
from internal_linker.anchors.name_table import NameTable
from internal_linker.anchors.places import find_places, portions, read_source, taken_spans, with_room
from internal_linker.anchors.source_page import SourcePage, UsedWordings
from internal_linker.anchors.suggested_wording import suggest_wording
from internal_linker.anchors.target_names import TargetNames
from internal_linker.anchors.variety import ProposeEach, Variety
from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.edges import Anchor
from internal_linker.model.house_rules import LinkRule
from internal_linker.model.records import ExistingLink, Page, fold_query
from internal_linker.rank.promising_targets import PAIR_COLUMNS
from internal_linker.rank.rules import BALANCED, MOST_SAME
from internal_linker.text.sentences import around, sentences
from internal_linker.text.spans import occurrences, says, spans

# Anchors to propose per link.
ANCHORS = 3


class Anchoring:
    """Finds anchors for links between the pages of a site; can be pickled.

    Attributes:
        most_same: how many links to one page may have the same words before others come first.
        least_words: shorter texts get no anchors but those of the rules.
    """

    def __init__(self, site: CountedSite) -> None:
        self.site = site
        self.house: Sequence[LinkRule] = ()
        self.most_same = MOST_SAME
        self.least_words = 0

    def propose(
        self,
        source: str,
        targets: Sequence[str],
        said: Sequence[Anchor] = (),
        known: JudgedPlaces | None = None,
        least: float = BALANCED,
    ) -> list[tuple[Anchor, ...]]:
        """Return up to three anchors for each target of a page, best first; pages are named by their keys.

        A link to an unknown page has no anchor. If no phrase of the text is good enough, its only anchor is not
        `verbatim`: the target's title, and the paragraph that fits best. No wording comes twice, and none is in `said`,
        the anchors of the page's other links.

        Args:
            known: judged places for some of the targets; those for the others are judged by their words alone.
            least: the quality from which a place is good enough, 0 to 1.
        """
        text = self._read(source)
        used = UsedWordings()
        for one in said:
            used.add(one, text)
        good = partial(takewhile, lambda anchor: anchor.quality >= least)
        found = [*map(good, self._phrases(text, targets, known))]
        # The first anchors of all links come before any second one, so that each link gets a sentence of its own.
        best = [used.take(anchors, 1, text) for anchors in found]
        more = [
            used.take(anchors, ANCHORS - 1, text) if first else []
            for anchors, first in zip(found, best, strict=True)
        ]
        titled = iter(
            self._titled(text, [each for each, first in zip(targets, best, strict=True) if not first], used)
        )
        return [
            self._with_queries(target, (*first, *others)) if first else next(titled)
            for target, first, others in zip(targets, best, more, strict=True)
        ]

    def _with_queries(self, target: str, anchors: tuple[Anchor, ...]) -> tuple[Anchor, ...]:
        if not (queries := self.site.target(target).queries):
            return anchors
        language = self.site.collected.page(target).lang
        return tuple(
            replace(each, is_query=self.site.reader.stem_set(each.text, language) in queries)
            for each in anchors
        )

    def propose_unlinked(self, source: str, target: str) -> tuple[Anchor, ...]:
        """Return anchors for an existing link as if it did not exist: its own text is not a known anchor."""
        used = UsedWordings()
        others = [link for link in self.site.links.get(source, ()) if link.target != target]
        text, names = self._read(source, others), self.site.names(target, source)
        found = [iter(())] if target not in self.site.collected.rows else self._judged(text, {target: names})
        return tuple(used.take(found[0], ANCHORS, text)) or next(self._titled(text, [target], used))

    def quality(self, source: str, target: str, anchor: Anchor) -> float:
        """Return how likely an anchor in a page's text can be published unread, 0 to 1; 0 if a rule forbids it."""
        text = self._read(source)
        for one in self._judged(text, {target: self.site.target(target)}, most=len(text.text.text))[0]:
            if fold_query(one.text) == fold_query(anchor.text):
                return one.quality
        return 0.0

    def variety(self, each: ProposeEach) -> Variety:
        """Return a `Variety` that starts with the anchors of the existing links; `each` is `propose` for many pages."""
        owners = {fold_query(rule.phrase): rule.target for rule in self.house if rule.mode == "always"}
        return Variety(
            each,
            self.placed,
            self.title,
            self.quality,
            self.site.known_anchors,
            self.obeys,
            self.most_same,
            owners=owners,
        )

    def obeys(self, source: str, target: str, anchors: Sequence[Anchor]) -> bool:
        """Return whether a link with these anchors, best first, may keep them.

        They follow the rules of the house, and none is in the text only if no query of the target is.
        """
        for rule in self.house:
            if not rule.binds(source, target):
                continue
            if rule.mode == "never" and any(says(each.text, rule.phrase) for each in anchors):
                return False
            other = rule.mode != "never" and not (anchors and says(anchors[0].text, rule.phrase))
            if other and occurrences(str(self.site.collected.page(source).content), rule.phrase):
                return False
        queries, page = self.site.page_queries.get(target, ()), self.site.collected.find(source)
        if not queries or not page or (anchors and anchors[0].verbatim):
            return True
        content = str(page.content)
        return not any(occurrences(content, query) for query in queries)

    def always(self, source: str) -> Iterator[tuple[LinkRule, tuple[int, int] | None]]:
        """Yield the rules whose phrase a page must link, if it has it, and where: (start, end) in its body text.

        None as the place: the phrase is only in links, headings and the like.
        """
        content, taken = str(self.site.collected.page(source).content), list[tuple[int, int]]()
        for rule in self.house:
            if rule.mode != "always" or not rule.binds(source, rule.target):
                continue
            if found := occurrences(content, rule.phrase):
                taken = taken or self.taken(source)
                free = [one for one in found if all(one[1] <= start or end <= one[0] for start, end in taken)]
                taken += free[:1]
                yield rule, free[0] if free else None

    def taken(self, source: str) -> list[tuple[int, int]]:
        """Return the spans (start, end) of a page's plain main content that anchors avoid: links, headings, code..."""
        page = self.site.collected.page(source)
        return taken_spans(self.site, page, str(page.content), self.site.links.get(source, ()))

    def page(self, key: str) -> Page | None:
        """Return the page with this key; None if it is not listed."""
        return self.site.collected.find(self.site.collected.hosts.restored(key))

    def title(self, key: str) -> str:
        """Return a page's title or H1; "" for an unknown page."""
        page = self.page(key)
        return page.name if page else ""

    def placed(self, source: str, text: str, near: int = 0) -> Anchor:
        """Return a text as an anchor where it stands in a page, outside links and headings if possible.

        Of several places, the one nearest to the character `near` counts. It is not `verbatim` if it is only in a link
        or a heading, or nowhere; in the latter case its sentence is "". Nobody knows of a page without a text: there it
        counts as `verbatim`.
        """
        page = self.page(source)
        content = str(page.content) if page else ""
        if page is None or not content:
            return Anchor(text)
        words, folded = text.split(), content.casefold()
        # Compiling a pattern takes longer than most searches.
        found = spans(content, " ".join(words)) if all(word.casefold() in folded for word in words) else []
        taken = self.taken(page.key) if found else []
        free = [one for one in found if all(one[1] <= start or end <= one[0] for start, end in taken)]
        if not found:
            return Anchor(text, verbatim=False)
        start, end = min(free or found, key=lambda span: abs(span[0] - near))
        return Anchor(text, around(content, sentences(content), start, end), start, verbatim=bool(free))

    def _phrases(
        self, source: SourcePage, targets: Sequence[str], known: JudgedPlaces | None = None
    ) -> list[Iterator[Anchor]]:
        rows, judged = self.site.collected.rows, {*known.asked.tolist()} if known else set[int]()
        new = [target for target in targets if target in rows and rows[target] not in judged]
        found = dict(zip(new, self._judged(source, {key: self.site.target(key) for key in new}), strict=True))
        if known:
            found |= {key: _of_row(source, known, rows[key]) for key in targets if rows.get(key) in judged}
        return [found.get(target, iter(())) for target in targets]

    def _judged(
        self, source: SourcePage, targets: Mapping[str, TargetNames], most: int = WORDINGS
    ) -> list[Iterator[Anchor]]:
        unknown = np.full((len(targets), len(PAIR_COLUMNS)), np.nan, np.float32)
        places = self._places(source, targets, unknown, most)
        quality = places.with_preferred(packaged_judge().quality(places.columns))
        order = np.argsort(-quality, kind="stable")
        return [
            (
                source.anchor(int(places.starts[at]), int(places.ends[at]), float(quality[at]))
                for at in order[places.of[order] == number].tolist()
            )
            for number in range(len(targets))
        ]

    def judged(
        self, pages: Sequence[tuple[str, Ints, Vectors]], least: float = BALANCED
    ) -> list[JudgedPlaces]:
        """Return where the texts of some pages may link to their targets, a few links in a sentence at most.

        A target that would stand in a full sentence, or have the words of a better one, takes its next best place. In a
        paragraph that has a better link, a place is worth a little less, but none that is good enough is lost.

        Args:
            pages: the key of each, the rows of its t targets, and (t, len(PAIR_COLUMNS)) what is known of the page and
                each target, NaN where unknown.
            least: the quality from which a place is good enough, 0 to 1.
        """
        every, texts = self.site.collected.pages, list[SourcePage]()
        found = list[LinkPlaces]()
        for source, rows, pairs in pages:
            texts.append(self._read(source))
            names = {every[row].key: self.site.target(every[row].key) for row in rows.tolist()}
            found.append(self._places(texts[-1], names, pairs))
        # Trees take as long for one page as for many.
        quality = packaged_judge().quality(np.concatenate([each.columns for each in found]))
        ends = np.cumsum([len(each.of) for each in found])[:-1]
        return [
            with_room(text, places, places.with_preferred(each), rows, least)
            for text, places, each, (_, rows, _) in zip(
                texts, found, np.split(quality, ends), pages, strict=True
            )
        ]

    def _titled(
        self, source: SourcePage, targets: Sequence[str], used: UsedWordings
    ) -> Iterator[tuple[Anchor, ...]]:
        site, collected = self.site, self.site.collected
        known = [target for target in targets if target in collected.rows]
        fitting = dict(zip(known, self._paragraphs(source, known), strict=True))
        for target in targets:
            page = collected.find(target)
            names = *(site.titles(page) if page else ()), collected.queries.get(target, "")
            title = " ".join(next(filter(None, names), "").split())
            never = any(
                rule.mode == "never" and rule.target in ("", target) and says(title, rule.phrase)
                for rule, _ in source.rules
            )
            if not title or never or fold_query(title) in used.texts:
                yield ()
                continue
            used.texts.add(fold_query(title))
            if (
                page
                and page.lang == source.language
                and (
                    found := suggest_wording(source, site.target(target), title, words=site.words, used=used)
                )
            ):
                yield (found,)
                continue
            begin = fitting.get(target, 0)
            paragraph = around(source.text.text, source.paragraphs.begins, begin, begin + 1)
            yield (Anchor(title, paragraph, begin, verbatim=False, quality=0.0),)

    def _paragraphs(self, source: SourcePage, targets: Sequence[str]) -> Iterator[int]:
        for some in portions(source, targets):
            best = source.paragraphs.best(NameTable([self.site.target(target) for target in some]))
            yield from (source.paragraphs.begins[at] for at in best)

    def _read(self, source: str, links: Sequence[ExistingLink] | None = None) -> SourcePage:
        known = self.site.links.get(source, ()) if links is None else links
        return read_source(self.site, self.site.collected.page(source), known, self.house)

    def _places(
        self, source: SourcePage, targets: Mapping[str, TargetNames], pairs: Vectors, most: int = WORDINGS
    ) -> LinkPlaces:
        long = len(source.text.closed) >= self.least_words
        return find_places(self.site, source, targets if long else {}, pairs, most)


def _of_row(source: SourcePage, known: JudgedPlaces, row: int) -> Iterator[Anchor]:
    for at in np.flatnonzero(known.rows == row).tolist():
        yield source.anchor(int(known.starts[at]), int(known.ends[at]), float(known.quality[at]))

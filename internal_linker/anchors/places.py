"""The places of a text that may link to each of some targets: its most promising phrases, as the rules allow them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np

from internal_linker.anchors.comparison import Candidates, Comparison, SourceFeatures
from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.judge import (
    NO_PLACES,
    WORDINGS,
    JudgedPlaces,
    LinkPlaces,
    highest,
    promise_of,
    promising,
)
from internal_linker.anchors.link_places import covered, linked_places
from internal_linker.anchors.rules import allowed, complete_names, natural
from internal_linker.anchors.site_names import NameCounts, Owners
from internal_linker.anchors.source_page import SourcePage, UsedWordings
from internal_linker.anchors.source_text import SourceText
from internal_linker.anchors.target_names import TargetNames
from internal_linker.model.arrays import Ints, Vectors, joined
from internal_linker.model.house_rules import LinkRule
from internal_linker.model.records import ExistingLink, Page
from internal_linker.text.blocks import closed_spans
from internal_linker.text.spans import occurrences

# What is counted in a language that the sample lacks.
_NO_COUNTS = NameCounts.from_texts((), (), ())
_NO_OWNERS = Owners.from_names((), (), ())
# Qualities that differ by no more say nothing of two places.
_NEARLY = 0.02
# Words of a text times the targets that it is compared with at once: 20 MB.
MOST_COMPARED = 50_000


def read_source(
    site: CountedSite, page: Page, links: Iterable[ExistingLink], house: Sequence[LinkRule] = ()
) -> SourcePage:
    """Return a page's text as a source of links."""
    content = str(page.content)
    phrases = site.read(page)
    closed = covered(phrases, taken_spans(site, page, content, links))
    title = site.reader.read(page.title, page.lang)
    text = SourceText(content, phrases, closed, title)
    rules = [(rule, occurrences(content, rule.phrase)) for rule in house if rule.binds(page.key, rule.target)]
    owners = site.owners.get(page.lang, _NO_OWNERS)
    return SourcePage(
        text, page.lang, lambda text: SourceFeatures(text, site.words, site.habits), owners, rules
    )


def taken_spans(
    site: CountedSite, page: Page, content: str, links: Iterable[ExistingLink]
) -> list[tuple[int, int]]:
    """Return the spans (start, end) of a page's content that anchors avoid: links, headings, code..."""
    linked = list(linked_places(content, links))
    blocks = closed_spans(content, page.headings, closed=page.closed, links=linked, templates=site.templates)
    return [*linked, *blocks, *zip(page.taken[::2], page.taken[1::2], strict=True)]


def find_places(
    site: CountedSite,
    source: SourcePage,
    targets: Mapping[str, TargetNames],
    pairs: Vectors,
    most: int = WORDINGS,
) -> LinkPlaces:
    """Return where a text may link to each of some targets, at most `most` wordings of each.

    `pairs` is (len(targets), len(PAIR_COLUMNS)) what is known of the page and each target, NaN where unknown.
    """
    number, by_language = {key: at for at, key in enumerate(targets)}, defaultdict[str, list[str]](list)
    for key in targets:
        by_language[site.collected.page(key).lang].append(key)
    parts = [
        _in_text(
            site, source, {key: targets[key] for key in some}, np.array([number[key] for key in some]), most
        )
        for keys in by_language.values()
        for some in portions(source, keys)
    ]
    return joined([NO_PLACES, *parts]).known(pairs)


def portions(source: SourcePage, targets: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the targets in portions, so that a comparison with a long text takes little memory."""
    most = max(1, MOST_COMPARED // max(1, len(source.text.closed)))
    return (targets[at : at + most] for at in range(0, len(targets), most))


def _in_text(
    site: CountedSite, source: SourcePage, targets: Mapping[str, TargetNames], numbers: Ints, most: int
) -> LinkPlaces:
    text, keys = source.text, list(targets)
    language, pages = site.collected.page(keys[0]).lang, np.array([site.collected.rows[key] for key in keys])
    owners = site.owners.get(language, _NO_OWNERS)
    compared = Comparison(source.features, list(targets.values()))
    found = _allowed(site, compared, pages, owners)
    starts, ends = text.phrases.starts[found.first], text.phrases.ends[found.last]
    never, preferred = np.zeros((2, len(starts)), np.bool_)
    for at, key in enumerate(keys if source.rules else ()):
        here = found.of == at
        never[here] = source.ruled("never", key, starts[here], ends[here])
        preferred[here] = source.ruled("prefer", key, starts[here], ends[here])
    found, preferred = found.at(~never), preferred[~never]
    names = compared.shares(found)
    promise = promise_of(names)
    of_target = [highest(each, found.of, len(keys)) for each in (names[:, 0], promise)]
    rank = np.where(preferred, np.inf, promise)
    kept, wording = promising(found.of, found.sets, found.first, rank, most)
    is_natural = natural(
        compared,
        found.at(kept),
        pages=pages,
        owners=owners,
        spans=source.named_spans,
        counts=site.name_counts.get(language, _NO_COUNTS),
    )
    # Of each wording the first natural mention that is no label and not in the opening sentence, if there is one.
    first = found.first[kept]
    opens = text.in_short_line[first] | (text.phrases.starts[first] < source.opening)
    order = np.lexsort((opens, ~is_natural, ~preferred[kept], wording))
    first = np.sort(order[np.flatnonzero(np.diff(wording[order], prepend=-1))])
    kept, is_natural = kept[first], is_natural[first]
    found = found.at(kept)
    columns = [
        *compared.around(found),
        *source.features.compute_phrase_features(found.first, found.last),
        is_natural,
        promise[kept],
        *(each[found.of] for each in of_target),
    ]
    return LinkPlaces(
        numbers[found.of],
        text.phrases.starts[found.first],
        text.phrases.ends[found.last],
        is_natural,
        preferred[kept],
        np.column_stack([names[kept], *columns]).astype(np.float32),
    )


def _allowed(site: CountedSite, compared: Comparison, pages: Ints, owners: Owners) -> Candidates:
    text, found = compared.source.text, compared.phrases
    is_allowed = allowed(
        text,
        compared.names,
        found,
        pages=pages,
        owners=owners,
        sole=site.sole_owners,
        site_name=site.site_name,
        brands=site.brand_stems,
    )
    found = found.at(is_allowed)
    first, last = complete_names(text, compared.names, found)
    return replace(found, first=first, last=last).at(last >= 0)


def with_room(
    source: SourcePage, places: LinkPlaces, quality: Vectors, rows: Ints, least: float
) -> JudgedPlaces:
    """Return a page's places without those that better ones leave no room for; `rows` has the row of each target."""
    content, used, served, kept = source.text.text, UsedWordings(), set[int](), dict[int, float]()
    paragraph = np.searchsorted(source.paragraphs.begins, places.starts, side="right").tolist()
    less = np.where(
        places.preferred, quality, np.minimum(quality, np.maximum(quality - _NEARLY, least))
    ).tolist()
    of, starts, ends = places.of.tolist(), places.starts.tolist(), places.ends.tolist()
    waiting, crowded = [(-each, at) for at, each in enumerate(quality.tolist())], set[int]()
    heapify(waiting)
    while waiting:
        worth, at = heappop(waiting)
        if of[at] in served:
            kept[at] = -worth
        elif paragraph[at] in crowded and -worth > less[at]:
            heappush(waiting, (-less[at], at))
        elif used.take_words(content[starts[at] : ends[at]], starts[at], source.sentence(starts[at])):
            served.add(of[at])
            crowded.add(paragraph[at])
            kept[at] = -worth
    found = [*kept]
    return JudgedPlaces(
        rows.astype(np.int32),
        rows[places.of[found]].astype(np.int32),
        places.starts[found].astype(np.int32),
        places.ends[found].astype(np.int32),
        np.array([*kept.values()], np.float32),
    )

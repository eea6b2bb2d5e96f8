"""Drafts to learn places from: pages with the words of their links in place, whose links nobody knows."""

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.judge import LinkPlaces
from internal_linker.anchors.places import find_places, read_source
from internal_linker.insight.evaluation.holdout import Hidden
from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.rank.list_scales import scale_values
from internal_linker.rank.metrics import fold
from internal_linker.rank.promising_targets import Promising
from internal_linker.rank.ranker import LearnedRanker, packaged_ranker
from tests.research.quality.corpora import dates
from tests.research.quality.weights import DEFAULT
from tests.support.corpora import CORPORA, DEVELOPMENT, no_vectors, ranking, whole_site

# Links of a page that count: as many as a run proposes.
MOST = 5
# From this token F1 with an editor's anchor on, a place is the right one.
RIGHT = 0.5


@dataclass(frozen=True)
class Draft:
    """A page and where its text could link to.

    Attributes:
        key: the page.
        places: the places, of the rows of their targets in `targets`.
        targets: (t,) rows of the targets.
        right: (n,) 2 where a place has an editor's words for its target, 1 where it has others for it, else 0.
        wanted: how many targets the editors linked.
    """

    key: str
    places: LinkPlaces
    targets: Ints
    right: Ints
    wanted: int


@dataclass(frozen=True)
class _Trial:
    pages: tuple[Page, ...]
    known: tuple[ExistingLink, ...]  # the links of the other pages
    truth: Mapping[str, Mapping[str, Sequence[str]]]  # the anchors of the links in the drafts' texts, by keys


def drafts(name: str, ranker: LearnedRanker | None = None) -> dict[str, list[Draft]]:
    """Return the drafts of a site: "new" pages, and "old" ones in two trials, each half of them unlinked.

    The development sites are known at one date, so all of their pages are old.

    Args:
        ranker: chooses the promising targets; None: the packaged one.
    """
    found: dict[str, list[Draft]] = {"new": [], "old": []}
    base = None
    for kind, trial in _trials(name):
        hidden = Hidden(trial.pages, trial.known, {}, 0, {})
        if base is None:
            base = ranking(hidden, no_vectors(trial.pages), DEFAULT).with_ranker(ranker or packaged_ranker())
        knowing = base.with_links(trial.known, base.sources)
        counted = CountedSite(Collected(trial.pages, base.sources, (), 0, links=trial.known))
        rows = {page.key: row for row, page in enumerate(trial.pages)}
        positions = [rows[url] for url in sorted(trial.truth)]
        first = 0
        for (chosen,), (features,) in knowing.features(positions, [knowing]):
            of = chosen.matches.of
            score = knowing.ranker.score(features, of)
            promising = Promising.among(of, chosen.matches.rows, score, features, scale_values(features, of))
            for at in range(len(chosen.texts)):
                here = promising.of == at
                found[kind].append(
                    _draft(
                        trial, positions[first + at], promising.rows[here], promising.columns[here], counted
                    )
                )
            first += len(chosen.texts)
    return found


def _draft(trial: _Trial, row: int, targets: Ints, columns: Vectors, site: CountedSite) -> Draft:
    page, text = trial.pages[row], str(trial.pages[row].content)
    names = {(key := trial.pages[at].key): site.target(key) for at in targets}
    source = read_source(site, page, site.links.get(page.key, ()))
    places = find_places(site, source, names, columns.astype(np.float32))
    truth = trial.truth[page.key]
    right = np.zeros(len(places.of), np.int64)
    for at, (of, start, end) in enumerate(zip(places.of, places.starts, places.ends, strict=True)):
        anchors = truth.get(trial.pages[targets[of]].key, ())
        if anchors:
            right[at] = 1 + (max(f1(text[start:end], each) for each in anchors) >= RIGHT)
    return Draft(page.key, places, targets, right, len(truth))


def f1(one: str, other: str) -> float:
    """Return the token F1 of two texts, 0 to 1."""
    ours, theirs = re.findall(r"\w+", one.lower()), re.findall(r"\w+", other.lower())
    return 2 * (Counter(ours) & Counter(theirs)).total() / max(1, len(ours) + len(theirs))


def _trials(name: str) -> Iterator[tuple[str, _Trial]]:
    if name in DEVELOPMENT:
        site = whole_site(name)
        links = [(link.source, link.target, link.anchor, True) for link in site.links]
        for half in (0, 1):
            unlinked = {page.key for page in site.pages if fold(page.key, 2) == half}
            yield "old", _trial(site.pages, links, unlinked, set())
        return
    before, now = (
        json.loads(gzip.decompress((CORPORA / "history" / name / f"{date}.json.gz").read_bytes()))
        for date in dates(name)[-2:]
    )
    pages = tuple(Page(_url(name, key), _url(name, key), *page[:4]) for key, page in now["pages"].items())
    new = {_url(name, key) for key in now["pages"] if key not in before["pages"]}
    links = [
        (_url(name, source), _url(name, target), anchor, kind == "body")
        for source, target, anchor, _, _, kind in now["links"]
    ]
    yield "new", _trial(pages, links, new, new)
    for half in (0, 1):
        old = {page.key for page in pages if fold(page.key, 2) == half} - new
        yield "old", _trial(pages, links, old, new)


def _trial(
    pages: Sequence[Page], links: Sequence[tuple[str, str, str, bool]], unlinked: set[str], new: set[str]
) -> _Trial:
    """Return a trial in which the links of some pages are unknown; those of new pages don't count as known, either.

    Args:
        links: the source, the target and the anchor of each, and whether it is in the running text.
    """
    truth = defaultdict[str, dict[str, list[str]]](dict)
    known = list[ExistingLink]()
    there = {page.key for page in pages}
    for source, target, anchor, in_text in links:
        if source == target or not there.issuperset((source, target)):
            continue
        if source not in unlinked | new:
            known.append(ExistingLink(source, target, " ".join(anchor.split())))
        elif source in unlinked and in_text:
            truth[source].setdefault(target, []).append(anchor)
    return _Trial(tuple(pages), tuple(known), truth)


def _url(name: str, key: str) -> str:
    return f"https://{name}.example/" + re.sub(r"\.[a-z.]+$", "", key.strip("/")).replace(" ", "%20")


def chosen(draft: Draft, values: Vectors, most: int = MOST) -> list[int]:
    """Return the best places by these values, best first: one of each target, none over another."""
    found, targets = list[int](), set[int]()
    for at in np.argsort(-values, kind="stable").tolist():
        start, end = draft.places.starts[at], draft.places.ends[at]
        free = all(end <= draft.places.starts[other] or draft.places.ends[other] <= start for other in found)
        if free and draft.places.of[at] not in targets and np.isfinite(values[at]):
            found.append(at)
            targets.add(int(draft.places.of[at]))
        if len(found) == most:
            break
    return found


def reached(some: Sequence[Draft], values: Sequence[Vectors]) -> tuple[float, float, float]:
    """Return the shares of the editors' links (at most five a page) that were found, and found with their words.

    The third figure is how many links a page gets.
    """
    best = [(draft, chosen(draft, each)) for draft, each in zip(some, values, strict=True)]
    wanted = max(1, sum(min(MOST, draft.wanted) for draft in some))
    found = sum(int((draft.right[at] > 0).sum()) for draft, at in best)
    right = sum(int((draft.right[at] == 2).sum()) for draft, at in best)
    return found / wanted, right / wanted, sum(len(at) for _, at in best) / max(1, len(some))

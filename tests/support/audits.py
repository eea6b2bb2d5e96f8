"""Audits of synthetic sites of any size, with realistic links and a few odd titles."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from internal_linker.insight.audit.actions import ProposedLinks, actions
from internal_linker.insight.audit.audit import AuditInput, inspect
from internal_linker.insight.audit.links import Proposals
from internal_linker.insight.audit.records import Adoption, Audit, Limits
from internal_linker.model.arrays import Ints
from internal_linker.model.edges import Anchor, Edge, strength, tier_of
from internal_linker.model.records import (
    Candidate,
    Collected,
    ExistingLink,
    Link,
    Page,
    Recommendation,
    Source,
)
from internal_linker.model.runs import VersionRow
from internal_linker.model.urls import normal_form

SITE = "www.slowkettle.example"
# Each section's topics; the first is the most common one.
SECTIONS = {
    "brewing": ("pour over filter bloom", "espresso crema shot", "water kettle scale", "aeropress inverted"),
    "beans": ("roast origin washed", "ethiopia kenya floral"),
    "gear": ("grinder burr hopper", "machine boiler portafilter", "descaling cleaning brush"),
    "recipes": ("iced coldbrew summer", "milk latte foam"),
    "قهوه": ("قهوه دم آسیاب", "کافه تهران شیراز"),
    "journal": ("interview café barista", "harvest farm trip"),
    "news": ("company opening team",),
    "help": ("order delivery refund",),
}
ODD_TITLES = (
    "قهوه‌ی دمی با V60: راهنمای کامل",
    "طريقة تحضير القهوة (فرنسية)",
    "手冲咖啡的水温与研磨",
    "Why “slow” is <em>better</em> & cheaper",
)


@cache
def audit(pages: int = 60, *, links: int = 4, proposed: int = 5, seed: int = 7) -> Audit:
    """Return an audit of a synthetic site with about this many existing and proposed links per page."""
    random = np.random.default_rng(seed)
    names = list(SECTIONS)
    of = np.minimum(random.zipf(1.5, pages), len(names)) - 1
    topics = [random.choice(SECTIONS[names[each]]) for each in of]
    titles = [f"{topic.capitalize()} no. {row}" for row, topic in enumerate(topics)]
    titles[1 : len(ODD_TITLES) + 1] = ODD_TITLES[: max(pages - 1, 0)]
    urls = [
        f"https://{SITE}/{names[each]}/{'-'.join(topic.split())}-{row}/"
        for row, (each, topic) in enumerate(zip(of, topics, strict=True))
    ]
    urls[0] = f"https://{SITE}/"
    first = [(0, int(row)) for row in np.unique(of, return_index=True)[1] if row]
    existing = [*first, *_ends(random, links * pages, of, skew=5.0)]
    offered = _ends(random, proposed * pages, of, skew=1.2)
    return audited(urls, titles, existing, zip(offered, random.normal(3.6, 1.3, len(offered)), strict=True))


def audited(
    urls: Sequence[str],
    titles: Sequence[str],
    existing: Iterable[tuple[int, int]] = (),
    proposed: Iterable[tuple[tuple[int, int], float]] = (),
    adoption: Adoption = "all",
) -> Audit:
    """Return the audit of these pages, links (row to row) and proposed links with their scores."""
    keys, proposed = [normal_form(url) for url in urls], list(proposed)
    links = [ExistingLink(keys[source], keys[target]) for source, target in dict.fromkeys(existing)]
    pages = [Page(key, url, title=title) for key, url, title in zip(keys, urls, titles, strict=True)]
    found = inspect(
        AuditInput(
            Collected(tuple(pages), (), (), 0, links=tuple(links)),
            Proposals("2026-11-20 0930", _proposed(keys, proposed), adoption=adoption),
            None,
            lambda *_: "",
            SITE,
            "",
            Limits(),
            lambda _: None,
        )
    )
    return detailed(found, [_edge(keys, titles, ends, score) for ends, score in proposed])


def detailed(found: Audit, edges: Iterable[Edge]) -> Audit:
    """Return an audit with the proposed links as these edges describe them, and with its actions."""
    shown = ProposedLinks(found, {}, {normal_form(url): row for row, url in enumerate(found.urls)})
    deque(shown.passing(edges), maxlen=0)
    found = replace(found, links=shown.links())
    return replace(found, actions=actions(found, found.links))


def _edge(keys: Sequence[str], titles: Sequence[str], ends: tuple[int, int], score: float) -> Edge:
    """Return an edge whose anchor is the target's title, in a sentence unless the link is weak."""
    source, target = (keys[end] for end in ends)
    strong, title = strength(score), titles[ends[1]]
    tier = tier_of(strong, 0.8, 0.65)
    sentence = "" if tier == "review" else f"Read more about {title}, which goes well with it."
    return Edge(
        source, target, source, target, strength=strong, tier=tier, anchors=(Anchor(title, sentence),)
    )


def _proposed(keys: Sequence[str], links: Iterable[tuple[tuple[int, int], float]]) -> Iterator[VersionRow]:
    for (source, target), score in links:
        link = Link(Candidate(keys[target], keys[target], score), 1, "semantic")
        yield VersionRow(Recommendation(Source(keys[source], keys[source], "", None, False), (link,)))


def _ends(random: np.random.Generator, count: int, section: Ints, skew: float) -> list[tuple[int, int]]:
    """Draw links that prefer early pages (the more, the greater `skew`) and, three times in four, the own section."""
    n = len(section)
    sources = random.integers(0, n, count)
    targets = (n * random.random(count) ** skew).astype(np.int64)
    kept = (section[sources] == section[targets]) | (random.random(count) < 0.25)
    ends = np.unique(np.stack([sources, targets], axis=1)[kept & (sources != targets)], axis=0)
    return [(source, target) for source, target in ends.tolist()]

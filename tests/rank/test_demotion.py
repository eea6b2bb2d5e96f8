"""Pages of last resort: short, dense, deprecated and templated pages are linked after all others."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from internal_linker.model.edges import MIDDLE, SCALE, strengths
from internal_linker.model.link_density import LinkDensity
from internal_linker.model.records import Page, Recommendation, Searched
from internal_linker.rank.demotion import DemotionRules, Demotions, find_demotions
from internal_linker.rank.recommend import recommend
from internal_linker.rank.reverse_candidates import sources_near
from internal_linker.rank.rules import LinkRules
from tests.support.link_sites import ranked_site

LONG = " ".join(f"word{number}" for number in range(120))
ANIMALS = [f"animal{number}" for number in range(12)]


def page(number: int, title: str = "", text: str = LONG, url: str = "") -> Page:
    url = url or f"https://a.example/{number}"
    return Page(url, url, title=title or f"Page {number}", content=text, lang="en")


def found(pages: Sequence[Page], rules: DemotionRules, links: Sequence[int] | None = None) -> Demotions:
    return find_demotions(pages, np.array(links or [0] * len(pages)), rules)


def test_short_pages_are_found_where_they_are_the_exception_and_dense_ones_as_in_the_audit() -> None:
    short = [page(1, text="few words"), page(2, text=" ".join(["word"] * 99))]
    pages = [*short, page(3), page(4), page(5)]
    assert found(pages, DemotionRules(words=100)).pages.tolist() == [True, True, False, False, False]
    assert found(pages, DemotionRules(words=100)).counts == {"short": 2}
    assert not found([*short, page(3)], DemotionRules(words=100)).counts
    assert not found([page(number, text="") for number in range(3)], DemotionRules(words=100)).pages.any()
    assert not found(pages, DemotionRules()).pages.any()
    dense = DemotionRules(density=LinkDensity(100, 5.0))
    assert found(pages[2:], dense, [6, 7, 0]).pages.tolist() == [False, True, False]


def test_a_strong_link_does_not_come_last_for_the_mere_length_of_its_target() -> None:
    """A link of strength 0.9 to a short page counts as any other, but not to a deprecated one, or between siblings."""
    pages = [
        page(1, text="few words"),
        page(2, title="[Deprecated] API", text="few words"),
        *map(page, range(3, 9)),
    ]
    ours = found(pages, DemotionRules(words=100, deprecated=True))
    strong = MIDDLE + SCALE * np.log(0.9 / 0.1)
    sources, targets = np.full(6, 4), np.array([0, 0, 0, 1, 2, 9])
    scores = np.array([strong + 0.01, strong - 0.01, np.nan, strong + 9, strong - 9, np.nan])
    assert ours.links(sources, targets, scores).tolist() == [False, True, True, True, False, False]
    templated = replace(ours, template=np.zeros(len(pages), np.int64))
    assert templated.links(sources[:1], targets[:1], scores[:1]).all()


@pytest.mark.parametrize(
    ("title", "text", "path"),
    [
        ("[Deprecated] The old API", "", ""),
        ("Rewards (archived)", "", ""),
        ("The old API | Legacy", "", ""),
        ("Veraltet: Die alte API", "", ""),
        ("API (منسوخ)", "", ""),
        ("", "Note: this library is no longer maintained. Use the other one.", ""),
        ("", "This page has been archived and is kept for reference.", ""),
        ("", "Cette bibliothèque n'est plus maintenue depuis 2019.", ""),
        ("", "本项目已不再维护。", ""),
        ("", "", "/docs/deprecated/page/"),
    ],
)
def test_deprecated_pages_say_so(title: str, text: str, path: str) -> None:
    old = page(1, title, f"{text} {LONG}", f"https://a.example{path or '/1'}")
    about = [
        page(2, "Modernizing legacy systems", "Many agencies have legacy systems that are obsolete."),
        page(3, "How we archived a website", "We moved the archived pages to a folder."),
        page(4, "Legacy admissions explained", f"{LONG} This page is deprecated."),
    ]
    assert found([old, *about], DemotionRules(deprecated=True)).pages.tolist() == [True, *[False] * 3]


def test_a_pattern_finds_further_deprecated_pages() -> None:
    pages = [page(1, "Guide (V1)"), page(2, url="https://a.example/archive/2"), page(3), page(4)]
    rules = DemotionRules(pattern=r"/archive/|\(v1\)")
    assert found(pages, rules).pages.tolist() == [True, True, False, False]
    assert found(pages, rules).counts == {"deprecated": 2}


def filled(number: int, animal: str) -> Page:
    text = (
        f"The {animal} has a deep meaning in many cultures. If you see a {animal}, take a moment to think of what it "
        f"may tell you. People have always told stories of the {animal}, which stands for change and for luck."
    )
    return page(number, f"The Spiritual Meaning of {animal} | Dreams", f"{text} {LONG}")


def others(start: int, count: int = 12) -> list[Page]:
    """Return pages with a title of one pattern, but with texts of their own."""
    return [
        page(
            number,
            f"Our guide to topic{number} | Dreams",
            " ".join(f"t{number}w{word}" for word in range(120)),
        )
        for number in range(start, start + count)
    ]


def test_pages_made_from_one_template_are_siblings() -> None:
    pages = [filled(number, animal) for number, animal in enumerate(ANIMALS)] + others(12)
    last = found(pages, DemotionRules(templates=True))
    assert (last.template[:12] >= 0).all() and len({*last.template[:12].tolist()}) == 1
    assert (last.template[12:] < 0).all()
    assert last.counts == {"made from one template": 12} and not last.pages.any()
    # A series of a few articles is none.
    assert not found(pages[:9] + others(12), DemotionRules(templates=True)).counts


def site(topics: int = 4, count: int = 8) -> list[Page]:
    rng = np.random.default_rng(0)
    texts = [
        " ".join(f"t{number % topics}w{word}" for word in rng.integers(0, 60, 110))
        for number in range(topics * count)
    ]
    return [page(number, f"T{number}", text) for number, text in enumerate(texts)]


def links(pages: Sequence[Page], rules: LinkRules) -> list[Recommendation]:
    return list(recommend(ranked_site(pages, rules=rules), Searched(), rules))


RULES = LinkRules(3, "fill", 1.0, min_inlinks=2, max_inlinks=10.0)


def test_a_page_of_last_resort_follows_all_others_is_forced_on_nobody_and_fills_the_last_place() -> None:
    pages = site()
    pages[0] = replace(pages[0], content=str(pages[0].content)[:200])
    assert any(link.target.key == pages[0].key for one in links(pages, RULES) for link in one.links)
    rules = replace(RULES, last=DemotionRules(words=100))
    ours = links(pages, rules)
    assert not any(link.target.key == pages[0].key for one in ours for link in one.links)
    assert all(len(one.links) == 3 for one in ours)
    pages = site(1, 4)
    pages[1] = replace(pages[1], title="Deprecated: T1")
    rules = replace(RULES, last=DemotionRules(deprecated=True))
    lists = [[link.target.key for link in one.links] for one in links(pages, rules)]
    assert all(len(each) == 3 for each in lists)
    assert [each[-1] == pages[1].key for each in lists] == [True, False, True, True]


def test_sources_of_last_resort_are_named_after_all_others() -> None:
    pages = site(1, 6)
    best = next(sources_near(ranked_site(pages, rules=RULES), np.array([0]), 5))[0]
    pages[best] = replace(pages[best], title=f"Deprecated: {pages[best].title}")
    rules = replace(RULES, last=DemotionRules(deprecated=True))
    assert next(sources_near(ranked_site(pages, rules=rules), np.array([0]), 5))[-1] == best


def test_siblings_are_linked_after_others_even_in_a_large_template() -> None:
    many = [filled(number, f"animal{number}") for number in range(60)]
    rules = replace(RULES, last=DemotionRules(templates=True))
    for one in links([*many, *others(60)], rules)[:60]:
        assert len(one.links) == 3 and not any(
            link.target.key in {each.key for each in many} for link in one.links
        )
    assert all(len(one.links) == 3 for one in links(many, rules))


def test_both_directions_of_a_pair_need_two_clearly_good_links() -> None:
    pages = site()

    def pairs(one_way: float) -> tuple[list[tuple[float, float]], int]:
        rules = replace(RULES, last=DemotionRules(one_way=one_way))
        ranked = ranked_site(pages, rules=rules)
        scores = {
            (one.source.key, link.target.key): link.target.score
            for one in recommend(ranked, Searched(), rules)
            for link in one.links
        }
        both = [(score, scores[ends[::-1]]) for ends, score in scores.items() if ends[::-1] in scores]
        return both, ranked.one_way

    free, none = pairs(0.0)
    assert free and not none
    bound = float(strengths(np.array(np.median([min(each) for each in free]))))
    limited, count = pairs(bound)
    assert count and all(float(strengths(np.array(min(each)))) >= bound for each in limited)

"""Arrivals: what a run knew at a date, which links were added since, and how well they are ranked."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from internal_linker.insight.evaluation.holdout import by_similarity, hide
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.rank.metrics import measure
from tests.research.quality import arrivals as command
from tests.research.quality.arrivals import (
    AGES,
    ARRIVALS,
    EVERY,
    INLINKS,
    RECALL,
    SETTINGS,
    Trial,
    arrivals,
    comparison,
    differences,
    first_links,
    macro,
    measured,
    reached,
    tables,
    trials,
)
from tests.research.quality.corpora import HISTORY, dates, drawn, without_link_texts
from tests.research.quality.weights import DEFAULT
from tests.support.builders import collected, page, url
from tests.support.corpora import ABSENT, no_vectors, present, ranking

HERE = Path(__file__).parent
TOPICS = ("bread", "wine", "tyres", "bicycles", "roses", "violins")


def site(contents: Mapping[str, str], links: Sequence[tuple[str, str, str]]) -> Collected:
    """Return pages with these contents, titled like their names, and links with these anchors at their first place."""
    pages = tuple(page(name, content, title=name) for name, content in contents.items())
    found = tuple(
        ExistingLink(page(source).key, page(target).key, anchor, contents[source].find(anchor))
        for source, target, anchor in links
    )
    return collected(pages, found)


def of(trial: Trial | None) -> Trial:
    assert trial
    return trial


BEFORE = site(
    {"a": "about bread and wine", "b": "about bread", "c": "about wine", "gone": "about tyres"},
    [("a", "b", "bread"), ("a", "gone", "wine"), ("b", "c", "bread")],
)
AFTER = site(
    {"a": "about bread, bread and wine", "b": "about bread and wine", "c": "about wine", "new": "about wine and bread"},
    [("a", "b", "bread"), ("a", "c", "wine"), ("a", "new", "and"), ("new", "a", "wine"), ("new", "b", "bread"),
     ("new", "new", "about")],
)  # fmt: skip


def test_only_what_was_linked_before_is_known() -> None:
    """Known are the earlier links between pages that still exist; to be found are the added ones, also of new pages."""
    trial = of(arrivals(BEFORE, AFTER))
    assert {(link.source, link.target) for link in trial.hidden.visible} == {
        (page("a").key, page("b").key),
        (page("b").key, page("c").key),
    }
    assert trial.hidden.truth == {url("a"): {url("c"), url("new")}, url("new"): {url("a"), url("b")}}
    assert trial.hidden.pairs == 4
    assert [one.url for one in trial.hidden.pages] == [*map(url, ("a", "b", "c", "new"))]


def test_no_anchor_is_left_at_its_place() -> None:
    """The anchors of known and of added links are cut from the later text; other mentions stay."""
    texts = [str(one.content).split() for one in of(arrivals(BEFORE, AFTER)).hidden.pages]
    assert texts == [["about", ",", "bread"], ["about", "bread", "and", "wine"], ["about", "wine"], ["and"]]


def test_an_anchor_whose_place_is_unknown_is_cut_everywhere() -> None:
    """Without its place, an anchor must not stay anywhere."""
    known = site({"a": "bread with bread", "b": ""}, [("a", "b", "nowhere")])
    moved = collected(known.pages, (ExistingLink(page("a").key, page("b").key, "bread"),))
    assert [str(one.content).split() for one in without_link_texts(moved)] == [["with"], []]


def test_links_are_classed_by_age_and_known_inlinks() -> None:
    """Each added link is in one class by the age of its ends, and in one by the target's known in-links."""
    trial = of(arrivals(BEFORE, AFTER))
    assert trial.truths == {
        ARRIVALS: trial.hidden.truth,
        "old source, old target": {url("a"): {url("c")}},
        "old source, new target": {url("a"): {url("new")}},
        "new source, old target": {url("new"): {url("a"), url("b")}},
        "no known in-link": {url("a"): {url("new")}, url("new"): {url("a")}},
        "1 or 2 known in-links": {url("a"): {url("c")}, url("new"): {url("b")}},
    }
    assert {*trial.truths} <= {ARRIVALS, *AGES, *INLINKS}


@pytest.mark.parametrize(
    ("count", "name"), [(1, INLINKS[1]), (2, INLINKS[1]), (3, INLINKS[2]), (4, INLINKS[2])]
)
def test_inlinks_are_counted_by_page(count: int, name: str) -> None:
    """Two links from one page are one in-link."""
    names = ["t", "new", *map(str, range(count))]
    contents = dict.fromkeys(names, "text")
    links = [(source, "t", "text") for source in names[2:]]
    trial = of(arrivals(site(contents, links * 2), site(contents, [*links, ("new", "t", "text")])))
    assert {*trial.truths} == {ARRIVALS, AGES[0], name}


def test_a_moved_page_is_not_new() -> None:
    """A page with another address, the same title and most of its words keeps its links; a rewritten one is new."""
    words = "one two three four five six"
    before = site({"a": words, "b": words, "c": "c"}, [("a", "b", "one"), ("a", "c", "two")])
    pages = (page("x", words, title="a"), page("y", "now seven eight", title="b"), page("c", "c", title="c"))
    links = tuple(ExistingLink(page("x").key, page(name).key) for name in ("y", "c"))
    trial = of(arrivals(before, collected(pages, links)))
    assert [(link.source, link.target) for link in trial.hidden.visible] == [(page("x").key, page("c").key)]
    assert trial.truths.keys() == {ARRIVALS, "old source, new target", "no known in-link"}


def test_a_title_of_several_pages_says_nothing() -> None:
    """Two vanished pages of one title can't be told apart, so neither moved."""
    before = collected([page("a", "text", title="t"), page("b", "text", title="t")])
    after = collected([page("x", "text", title="t")])
    assert command.same_pages(before, after) == {}


def test_a_rewritten_site_and_one_without_new_links_are_left_out() -> None:
    """A site none of whose pages remained says nothing about arrivals; neither does one without a new link."""
    other = site({"x": "roses", "y": "violins"}, [("x", "y", "roses")])
    assert arrivals(BEFORE, other) is None
    assert arrivals(AFTER, AFTER) is None


def test_links_of_another_class_are_neither_hits_nor_misses() -> None:
    """A class is measured as if the added links of other classes weren't in the list."""
    every = {"s": {"a", "b"}}
    orders = {"s": ["a", "x", "b"]}
    assert list(reached(every, every, orders)["s"]) == pytest.approx(
        [(1 + 0.5) / (1 + 0.6309), 1.0], abs=1e-3
    )
    assert list(reached({"s": {"b"}}, every, orders)["s"]) == pytest.approx([0.6309, 1.0], abs=1e-3)
    far = {"s": [*map(str, range(RECALL)), "b"]}
    assert reached({"s": {"b"}}, every, far)["s"] == (0.0, 0.0)


def garden(count: int) -> tuple[Collected, Collected]:
    """Return a site of six topics at two dates; at the later one, each topic has a new page, which old ones link to."""
    names = [f"{topic}{number}" for topic in TOPICS for number in range(count)]
    contents = {name: f"{name} is about {name[:-1]} and how {name[:-1]} grows. see here" for name in names}
    old = {name: text for name, text in contents.items() if not name.endswith(str(count - 1))}
    # Not every page of a topic links to every other one, so that no order of a topic's pages is perfect.
    pairs = [(one, other) for one in names for other in names if one < other and one[:-1] == other[:-1]]
    return (
        site(old, [(one, other, "here") for one, other in pairs if {one, other} <= {*old}]),
        site(contents, [(one, other, "here") for one, other in pairs]),
    )


def test_what_is_measured_is_what_the_product_ranks() -> None:
    """The values are those of the product's own lists, by a ranking that knows exactly the earlier links."""
    trial = of(arrivals(*garden(4)))
    lists = by_similarity(ranking(trial.hidden, no_vectors(trial.hidden.pages), DEFAULT))
    theirs = measure(trial.hidden.truth, lists)
    found = measured([trial], no_vectors)[ARRIVALS]
    assert sorted(found) == [*theirs.sources]
    assert [found[one][0] for one in theirs.sources] == theirs.each[:, 2].tolist()
    assert 0.5 < float(np.mean([ndcg for ndcg, _ in found.values()])) < 1


def test_a_page_counts_once() -> None:
    """A page's value is the mean over its trials, and trials on the same pages share their index, with equal values."""
    _, after = garden(4)
    draws = [hide(after, drawn("half", number), cut_anchors=False) for number in range(2)]
    some = [Trial(draw, {"half": draw.truth}) for draw in draws]
    assert draws[0].pages is draws[1].pages
    calls = []

    def vectors(pages: Sequence[Page]) -> np.ndarray:
        calls.append(len(pages))
        return no_vectors(pages)

    together = measured(some, vectors)["half"]
    apart = [measured([one], no_vectors)["half"] for one in some]
    assert calls == [len(after.pages)]
    for name, values in together.items():
        each = [one[name] for one in apart if name in one]
        assert list(values) == pytest.approx(np.mean(each, axis=0).tolist())


def test_lists_are_long_enough_for_classes() -> None:
    """A list has as many targets as are measured once the links of other classes are left out."""
    trial = of(arrivals(*garden(4)))
    ranked = ranking(trial.hidden, no_vectors(trial.hidden.pages), DEFAULT)
    orders = first_links(ranked, [url("bread0")], ["x", "y"])
    assert {name: len(each) for name, each in orders.items()} == {url("bread0"): RECALL + 2}


def test_all_sites_count_alike() -> None:
    """The mean is that of the sites' means; its interval is wide if the sites differ, and narrow if all are equal."""
    apart = macro([np.zeros(100), np.ones(2)])
    assert (apart.mean, apart.low, apart.high) == (0.5, 0.0, 1.0)
    alike = macro([np.full(5, 0.3), np.full(50, 0.3)])
    assert [alike.low, alike.high] == pytest.approx([0.3, 0.3])


def made(value: float, count: int = 30) -> dict[str, dict[str, dict[str, tuple[float, float]]]]:
    return {
        setting: {name: {str(number): (value, 1.0) for number in range(count)} for name in ("one", "two")}
        for setting in (*SETTINGS, *AGES, *INLINKS)
    }


def test_a_star_marks_a_sure_difference() -> None:
    """A difference is paired page by page; the star says that its interval excludes 0."""
    ours, theirs = made(0.5), made(0.4)
    ours["none"] = made(0.4)["none"]
    lines = list(comparison(ours, theirs))
    assert lines[-1].startswith(
        "| mean of the sites | +0.1000 [+0.100, +0.100] * | +0.0000 [+0.000, +0.000] |"
    )
    assert len(lines) == 5


def test_only_the_same_pages_are_compared() -> None:
    """A comparison of other pages would not be paired."""
    with pytest.raises(ValueError, match="one was measured on other pages"):
        differences(made(0.5)["none"], made(0.5, 29)["none"])


def test_tables_have_every_site_setting_and_class() -> None:
    """The tables have a row for each site and class, and a column for each setting."""
    lines = list(tables(made(0.5)))
    assert "| NDCG@5 | arrivals | none | half | new pages |" in lines
    assert "| one | 0.500 (30) | 0.500 (30) | 0.500 (30) | 0.500 (30) |" in lines
    assert all(
        any(line.startswith(f"| {name} | 2 | 60 | 0.5000") for line in lines) for name in (*AGES, *INLINKS)
    )


def test_the_command_saves_what_another_one_compares_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What --save keeps, --against compares with, page by page."""
    kept = tmp_path / "kept.json"
    monkeypatch.setattr(command, "present", lambda _: True)
    monkeypatch.setattr(command, "trials", lambda _: [of(arrivals(*garden(4)))])
    monkeypatch.setattr(sys, "argv", ["arrivals", "--sites", "wsl", "--save", str(kept)])
    command.main()
    pages = len(json.loads(kept.read_text(encoding="utf-8"))[ARRIVALS]["wsl"])
    assert f"({pages})" in capsys.readouterr().out
    monkeypatch.setattr(
        sys, "argv", ["arrivals", "--sites", "wsl", "--encoder", "LSA", "--against", str(kept)]
    )
    command.main()
    out = capsys.readouterr().out
    assert f"({pages})" in out
    assert "| NDCG@5, difference | arrivals | old source, new target | no known in-link |" in out


def test_every_site_is_in_the_written_tables() -> None:
    """ARRIVALS.md has a row for each site and each class of arrivals, and a column for each setting."""
    text = (HERE / "ARRIVALS.md").read_text(encoding="utf-8")
    assert f"| NDCG@5 | {' | '.join(SETTINGS)} |" in text
    assert all(text.count(f"\n| {name} | ") >= 2 for name in EVERY)
    assert all(f"\n| {name} | " in text for name in (*AGES, *INLINKS))


@pytest.mark.parametrize("name", ["wsl"])
def test_no_anchor_of_a_real_site_is_left(name: str) -> None:
    """On a real site, each date has its trial, and every text is shorter by all anchors in it."""
    if not present(name):
        pytest.skip(ABSENT)
    assert name in HISTORY
    settings = [setting for trial in trials(name) for setting in trial.truths if setting in SETTINGS]
    assert settings.count(ARRIVALS) == len(dates(name)) - 1
    assert {*settings} == {*SETTINGS}

"""A whole run compares all pages at once and the next one only the changes, with the links of a first run."""

from collections.abc import Sequence
from dataclasses import replace

from internal_linker.match.neighbours.knn_join import Joined
from internal_linker.model.records import Recommendation, RowSelection
from internal_linker.project.pipeline.context import RunContext
from internal_linker.project.pipeline.run import Run
from tests.project.pipeline.test_run import context, rules
from tests.support.builders import Given, Letters, Told, pages_table, url
from tests.support.join_stores import Counting, MemoryStore

WORDS = "green black white tea iron steel clay pot pan cup kettle spoon leaf water tin".split()


def texts(count: int) -> list[str]:
    return [f"{WORDS[at % 15]} {WORDS[(3 * at) % 13]} {'xyz'[at % 3] * (1 + at)} page" for at in range(count)]


def site(contents: Sequence[str]) -> RunContext:
    rows = [[url(at), content] for at, content in enumerate(contents)]
    return replace(context(), queries=None, pages=Given(pages_table(*rows), "pages.csv"))


def run(made: RunContext, choice: RowSelection | None = None) -> tuple[Joined | None, list[Recommendation]]:
    report = Run(made, rules(), choice or RowSelection(), Told()).execute("run")
    return report.joined, list(report.recommendations)


def links(recommendations: Sequence[Recommendation]) -> list[tuple[str, list[tuple[str, float]]]]:
    return [
        (each.source.url, [(link.target.url, round(link.target.score, 5)) for link in each.links])
        for each in recommendations
    ]


def test_all_at_once_gives_the_links_of_one_at_a_time() -> None:
    made, compute = site(texts(40)), Counting()
    joined, together = run(replace(made, compute=compute))
    nothing, apart = run(made)
    assert joined and (joined.way, compute.pairs) == ("exact", 40 * 40)
    assert nothing is None
    assert links(together) == links(apart)


def test_a_second_run_compares_what_has_changed() -> None:
    before, store = texts(60), MemoryStore()
    run(replace(site(before), compute=Counting(), joins=store))
    after = [*before[:20], "another oolong text", *before[21:-1], "a new page of glass", "and one more"]
    compute = Counting()
    joined, second = run(replace(site(after), compute=compute, joins=store))
    assert joined and (joined.way, joined.changed) == ("incremental", 3)
    assert 0 < compute.pairs < 61 * 61 / 4
    _, fresh = run(replace(site(after), compute=Counting()))
    assert links(second) == links(fresh)
    assert str(joined) == "3 new or changed, 2 gone, 0 rebuilt"
    again, _ = run(replace(site(after), compute=(idle := Counting()), joins=store))
    assert again and (again.changed, idle.pairs) == (0, 0)


def test_another_model_compares_all_again_and_part_of_the_rows_or_lsa_keep_nothing() -> None:
    store = MemoryStore()
    run(replace(site(texts(40)), compute=Counting(), joins=store))
    other = Letters()
    other.recipe = "v2"
    joined, _ = run(replace(site(texts(40)), encoder=other, compute=Counting(), joins=store))
    assert joined and joined.way == "exact"
    assert len(store.names) == 2
    # Neighbours by LSA aren't stored, because its vectors differ in each run.
    store = MemoryStore()
    encoder = Letters(corpus_bound=True)
    joined, _ = run(replace(site(texts(40)), encoder=encoder, compute=Counting(), joins=store))
    assert joined and joined.way == "exact"
    assert not store.names
    store, compute = MemoryStore(), Counting()
    made = replace(site(texts(40)), compute=compute, joins=store)
    joined, found = run(made, RowSelection(limit=3))
    assert joined is None and compute.pairs == 0 and not store.names
    assert len(found) == 3 and all(each.links for each in found)

"""One run from the input to the links, with fakes for everything external."""

import gc
from dataclasses import replace
from weakref import WeakSet

import pytest

from internal_linker.match.site_index import Site
from internal_linker.model.errors import InputError, Interrupted, OutOfCredits, OutputError, ServiceError
from internal_linker.model.records import Recommendation, RowSelection
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.run import Run
from internal_linker.rank.rules import LinkRules
from internal_linker.sources.serp.search import SearchRules
from tests.support.builders import (
    SITE,
    TEMPLATE,
    Engine,
    Given,
    Kept,
    Letters,
    MemorySerp,
    MemoryVectors,
    Told,
    nothing_excluded,
    pages_table,
    queries_table,
    url,
)

PAGES = pages_table(
    [url("green"), "green tea leaves"],
    [url("black"), "black tea leaves"],
    [url("pots"), "pots of clay for tea"],
    [url("water"), "soft water"],
    ["no url", "text"],
)
QUERIES = queries_table([url("green"), "green tea"], ["", "tea kettle"], [url("new"), "oolong"])
GREEN = (f"site:{SITE} green tea", 1)


def rules(links: int = 2, max_pages: int = 2) -> Rules:
    search = SearchRules(TEMPLATE, SITE, max_pages, links, 2, nothing_excluded)
    return Rules(search, LinkRules(links, "fill", 0.5), any_on_site=False)


def context(
    *sinks: Kept, serp: Engine | None = None, encoder: Letters | None = None, rejects: Kept | None = None
) -> RunContext:
    return RunContext(
        queries=Given(QUERIES, "My Sheet"),
        pages=Given(PAGES, "pages.csv"),
        queries_in_sheet=True,
        serp=serp,
        serp_cache=MemorySerp(),
        encoder=encoder or Letters(),
        vector_cache=MemoryVectors(),
        delivers=bool(sinks),
        sinks=sinks,
        lists={"rejects": rejects} if rejects else {},
    )


def names(recommendation: Recommendation) -> list[str]:
    return [link.target.key.rsplit("/", 1)[1] for link in recommendation.links]


def run(
    of: RunContext, choice: RowSelection | None = None, told: Told | None = None
) -> dict[str, Recommendation]:
    report = Run(of, rules(), choice or RowSelection(), told or Told()).execute("r1")
    return {each.source.url or each.source.query: each for each in report.recommendations}


def test_every_page_and_every_query_gets_its_links() -> None:
    sink, rejects = Kept(), Kept()
    found = run(context(sink, rejects=rejects))
    assert list(found) == [url("green"), "tea kettle", url("new"), url("black"), url("pots"), url("water")]
    assert sink.links == list(found.values())
    assert [reject.row for reject in rejects.items] == [6]
    assert "black" in names(found[url("green")])
    assert all(len(each.links) == 2 for each in found.values())
    notes = {name: each.note for name, each in found.items() if each.note}
    assert notes == {url("new"): "only suggestions: this URL is not in files/urls_rawdata.csv"}
    assert all(each.source.key not in [link.target.key for link in each.links] for each in found.values())


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("https://www.e.exmaple/tea/green-tea/", "https://www.e.example/tea/green-tea"),
        ("https://www.e.example/tea/gren-tea/", "https://www.e.example/tea/green-tea"),
        ("https://www.e.example/", ""),
    ],
)
def test_a_misspelled_url_of_a_query_gets_the_near_page(written: str, meant: str) -> None:
    """A query's URL that names no page but is near one, by a typo in its host or path, is a note with both."""
    pages = pages_table(
        ["https://www.e.example/tea/green-tea", "green tea leaves"],
        ["https://www.e.example/tea/clay-pots", "pots of clay for tea"],
        ["https://www.e.example/tea/soft-water", "soft water"],
    )
    queries = queries_table([written, "green tea"], [url("pots"), "pots"])
    told, of = Told(), context(Kept())
    run(replace(of, pages=Given(pages, "pages.csv"), queries=Given(queries, "My Sheet")), told=told)
    said = [note for note in told.warnings if "did you mean" in note]
    near = f"1 URL of the main queries is not in files/urls_rawdata.csv: {written} (did you mean {meant}?)."
    assert said == [near] * bool(meant)


def test_of_many_misspelled_urls_the_first_are_named() -> None:
    pages = [url(f"about-tea-{name}") for name in ("green", "black", "white", "red", "blue")]
    queries = [[page.replace(SITE, "other.example"), "tea"] for page in pages]
    told, of = Told(), context(Kept())
    given = Given(pages_table(*([page, "tea leaves"] for page in pages)), "pages.csv")
    run(replace(of, pages=given, queries=Given(queries_table(*queries), "My Sheet")), told=told)
    (said,) = (note for note in told.warnings if "did you mean" in note)
    assert said.startswith("5 URLs of the main queries are not in") and said.endswith(", and 2 more.")
    assert said.count("did you mean") == 3


def test_search_results_come_before_similar_pages() -> None:
    """Similar pages fill the remaining ranks. A query's URL without known content is proposed only if it is found."""
    found = run(context(serp=Engine({GREEN: [url("water"), url("green"), "https://o.example/"]})))
    assert names(found[url("green")]) == ["water", "black"]
    assert [link.origin for link in found[url("green")].links] == ["serp", "semantic"]
    found = run(context(serp=Engine({GREEN: [url("new")]})))
    assert names(found[url("green")]) == ["new", "black"]
    assert all("new" not in names(each) for name, each in found.items() if name != url("green"))


@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        (RowSelection(limit=2), [url("green"), "tea kettle"]),
        (
            RowSelection(limit=99),
            [url("green"), "tea kettle", url("new"), url("black"), url("pots"), url("water")],
        ),
        (
            RowSelection(only=(url("pots") + "/?utm_source=x", url("green"), url("pots"))),
            [url("green"), url("pots")],
        ),
        (RowSelection(query="TEA  kettle"), ["tea kettle"]),
        (RowSelection(query="Green tea"), [url("green")]),
        (RowSelection(query="something new"), ["something new"]),
    ],
)
def test_a_part_of_the_rows_can_be_chosen(choice: RowSelection, chosen: list[str]) -> None:
    whole, engine, rejects = run(context()), Engine(), Kept()
    found = run(context(serp=engine, rejects=rejects), choice)
    assert list(found) == chosen
    assert not choice.query or rejects.writes == 0, "a lookup writes nothing"
    assert len({text for text, _ in engine.asked}) == sum(bool(each.source.query) for each in found.values())
    for name in set(found) & set(whole):
        assert names(found[name]) == names(whole[name])
    assert choice.partial
    assert not RowSelection().partial


@pytest.mark.parametrize("asked", [url("unknown"), "pots", "mailto:a@e.example"])
def test_an_unknown_url_is_an_input_error(asked: str) -> None:
    """An unlisted URL ends the run with an error that names it, before any cost."""
    engine, encoder = Engine(), Letters()
    with pytest.raises(InputError, match=asked):
        run(context(serp=engine, encoder=encoder), RowSelection(only=(url("pots"), asked)))
    assert (engine.asked, encoder.asked) == ([], [])


def test_a_second_run_asks_nothing_and_says_the_same() -> None:
    engine, encoder = Engine({GREEN: [url("water")]}), Letters()
    of = context(serp=engine, encoder=encoder)
    first, calls, texts = run(of), len(engine.asked), len(encoder.asked)
    # Compared by repr, because NaN isn't equal to itself.
    assert repr(run(of)) == repr(first)
    assert (len(engine.asked), len(encoder.asked)) == (calls, texts)


@pytest.mark.parametrize("steps", [0, 3, 5])
def test_a_stop_is_heeded_between_two_steps(steps: int) -> None:
    """A stopped run ends before its next step: nothing more is spent, and no partial result is delivered."""
    sink, rejects, engine, encoder = Kept(), Kept(), Engine(), Letters()
    answers = iter([False] * steps + [True] * 9)
    of = context(sink, serp=engine, encoder=encoder, rejects=rejects)
    with pytest.raises(Interrupted):
        Run(of, rules(), RowSelection(), Told(), lambda: next(answers)).execute("r1")
    assert rejects.writes == (steps > 0)
    assert bool(engine.asked) == (steps > 2)
    assert bool(encoder.asked) == (steps > 3)
    assert sink.writes == 0


@pytest.mark.parametrize(
    "error", [OutputError("Output.csv is open."), ServiceError("Google Sheets", "down.")]
)
def test_a_place_that_fails_keeps_no_other_from_its_links(error: Exception) -> None:
    before, after, told = Kept(), Kept(gaps=["2 rows are gone."]), Told()
    broken = [Kept(error=error), Kept(error=OutputError("later"))]
    report = Run(context(before, broken[0], after, broken[1]), rules(), RowSelection(), told).execute("r1")
    assert len(before.links) == len(after.links) == 6
    assert report.failure is error
    assert report.gaps == ["2 rows are gone."]
    assert {str(error), "later", "2 rows are gone."} <= set(told.warnings)


def test_a_service_that_fails_leaves_links_by_content_and_gaps() -> None:
    """The run continues without credits, a search or vectors; the report and each affected row give the reason."""
    told, sink = Told(), Kept()
    of = context(sink, serp=Engine({GREEN: OutOfCredits("Serper", "empty.")}))
    of = replace(of, queries=Given(queries_table([url("green"), "green tea"])))
    report = Run(of, rules(), RowSelection(), told).execute("r1")
    assert report.gaps == ["Serper: empty."] == told.warnings
    assert [each.note for each in sink.links] == ["no search: Serper: empty.", "", "", ""]
    assert all(len(each.links) == 2 for each in sink.links)
    of = context(serp=Engine({GREEN: ServiceError("Serper", "broken.")}))
    assert Run(of, rules(), RowSelection(), Told()).execute("r1").gaps == ["1 query could not be searched."]
    sink = Kept()
    report = Run(context(sink, encoder=Letters(fails_after=0)), rules(), RowSelection(), Told()).execute("r1")
    assert "Letters: the service is down." in report.gaps
    assert names(sink.links[0])[0] == "black"
    assert len({link.target.similarity for each in sink.links for link in each.links} & {0.0, 1.0}) == 0


def test_languages_that_the_encoder_does_not_know_are_matched_by_words() -> None:
    """Pages in an unsupported language aren't encoded, and a notice says so; links never join two languages."""
    told, encoder, sink = Told(), Letters(languages=frozenset({"en"})), Kept()
    rows = [
        ["a", "green tea", "en"],
        ["b", "black tea", "en"],
        ["c", "قهوه دمی", "fa"],
        ["d", "قهوه ترک", "fa"],
    ]
    table = pages_table(
        *([url(name), text, lang] for name, text, lang in rows), header=("URL", "Text", "Lang")
    )
    of = replace(context(sink, encoder=encoder), queries=None, pages=Given(table))
    Run(of, rules(), RowSelection(), told).execute("r1")
    assert [text.body for text in encoder.asked] == ["green tea", "black tea"]
    assert told.warnings == [
        "2 pages are in a language that letters does not support: they are matched by their words alone."
    ]
    assert [names(each) for each in sink.links] == [["b"], ["a"], ["d"], ["c"]]


def test_rejects_are_kept_even_where_no_row_is_left() -> None:
    rejects = Kept()
    of = replace(
        context(Kept(), rejects=rejects), queries=None, pages=Given(pages_table(["x", "y"]), "pages.csv")
    )
    with pytest.raises(InputError, match=r"pages\.csv"):
        run(of)
    assert [reject.row for reject in rejects.items] == [2]


def test_pages_that_are_gone_take_no_place() -> None:
    gone = [[url(f"gone{number}"), "green tea leaves", "404"] for number in range(20)]
    rows = [
        [url("green"), "green tea leaves", "200"],
        *gone,
        [url("a"), "soft water", ""],
        [url("b"), "clay", ""],
    ]
    of = replace(context(), queries=None, pages=Given(pages_table(*rows, header=("URL", "Text", "Status"))))
    assert sorted(names(run(of)[url("green")])) == ["a", "b"]


@pytest.mark.long
def test_publication_has_the_memory_of_matching() -> None:
    # Other tests may leave sites that are released meanwhile.
    told, before = Told(), WeakSet(sites_in_memory())
    seen = list[tuple[int, list[str]]]()

    def trim() -> None:
        seen.append((sum(site not in before for site in sites_in_memory()), [*told.outcomes]))

    of = replace(context(Kept()), trim=trim)
    run(of, told=told)
    sites, outcomes = seen[-1]
    assert (sites, outcomes[-1]) == (0, told.outcomes[told.steps.index("Matching")])
    assert any(sites for sites, _ in seen)


def sites_in_memory() -> list[Site]:
    """Return the sites, with their words and vectors, that something still refers to; a run collects no cycles."""
    # Asked by their type: isinstance reads __class__, at which some objects of libraries warn.
    return [one for one in gc.get_objects() if type(one) is Site]


def test_what_a_person_should_know_is_said_once() -> None:
    """The notices of the wiring come first; without a search service no row has a note about it."""
    told = Told()
    found = run(replace(context(), notices=["LSA is used.", "The search step is skipped."]), told=told)
    assert told.warnings == ["LSA is used.", "The search step is skipped."]
    assert not any(each.note for each in found.values() if not each.source.unlisted)

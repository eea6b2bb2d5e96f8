"""Where no words of a page fit a link, the sentence that fits best gets a clause, or there is none."""

from dataclasses import replace

import pytest

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.anchors.suggested_wording import PER_PAGE
from internal_linker.model.edges import Anchor
from internal_linker.model.records import ExistingLink, Page
from internal_linker.model.wordings import bracketed
from tests.support.builders import collected, page, url
from tests.support.wordings import FITS, LIMESCALE, OTHERS, site


def suggested(
    pages: list[Page], *targets: str, links: list[ExistingLink] | None = None, said: tuple[Anchor, ...] = ()
) -> list[str]:
    """Return the suggested wordings for links of the first page; no words of its text are good enough."""
    found = Anchoring(CountedSite(collected(pages, links or []))).propose(
        url("a"), [*map(url, targets)], said, least=2
    )
    return [bracketed(each.sentence, each.wording) for (each,) in found]


def test_the_sentence_that_fits_best_gets_a_clause() -> None:
    assert suggested(site(OTHERS[0], FITS, OTHERS[1]), "b") == [f"{FITS[:-1]}[ (see Limescale in boilers)]."]


@pytest.mark.parametrize(
    "line",
    [
        f"# {FITS}",
        f"> {FITS}",
        FITS.replace("boiler", "`boiler`"),
        FITS.replace("soft spring", "soft {{ spring }}"),
        FITS.replace("Water", "Water at 90 * 2"),
        f"{FITS}\n\n{FITS}",
        FITS.replace("months.", "months:"),
        "Citric acid removes limescale from boilers.",
        f"“{FITS}",
        FITS.replace("soft spring", "soft (spring"),
    ],
    ids="heading quote code template markup twice colon short open_quote open_parenthesis".split(),
)
def test_only_running_text_gets_one(line: str) -> None:
    assert suggested(site(OTHERS[0], line, OTHERS[1]), "b") == [""]


def test_no_sentence_with_a_link_gets_one() -> None:
    pages = site(OTHERS[0], FITS, OTHERS[1])
    linked = [ExistingLink(url("a"), url(5), "soft spring")]
    assert suggested(pages, "b", links=linked) == [""]
    start = str(pages[0].content).find("soft spring")
    assert suggested(pages, "b", said=(Anchor("soft spring", FITS, start),)) == [""]


@pytest.mark.parametrize(
    "line",
    [
        OTHERS[1],
        "The boiler of the house keeps all rooms warm in the long winter months.",
        "The boiler of the house has as much limescale as it has had for years.",
        "Descale with citric acid, and it goes away, as soft water means less of it in the machine.",
    ],
    ids=["nothing", "one word", "the title alone", "nothing of the title"],
)
def test_no_nonsense_is_suggested(line: str) -> None:
    """A sentence says much of what the target is about, its title included."""
    assert suggested(site(OTHERS[0], line), "b") == [""]


def test_a_title_of_function_words_is_no_name() -> None:
    pages = site(OTHERS[0], FITS, OTHERS[1])
    pages[1] = page("b", LIMESCALE, title="The", lang="en")
    assert suggested(pages, "b") == [""]


def test_targets_in_other_languages_get_none() -> None:
    pages = site(OTHERS[0], FITS, OTHERS[1])
    pages[1] = page("b", LIMESCALE, title="Limescale in boilers", lang="de")
    assert suggested(pages, "b") == [""]


def test_what_is_not_translated_gets_no_clause() -> None:
    german = "Citric acid hält alle Boilers unserer Maschinen viele Monate lang frei von Limescale."
    translated, partly = (
        [replace(each, lang="de") for each in site(*some)] for some in ([FITS, german], [FITS])
    )
    assert suggested(translated, "b") == [f"{german[:-1]}[ (siehe Limescale in boilers)]."]
    assert suggested(partly, "b") == [""]


def test_a_page_gets_two_at_most_in_sentences_of_their_own() -> None:
    lines = [FITS.replace("months", f"{number} months") for number in ("ten", "six", "two", "three")]
    found = suggested(site(*lines), "b", "c", "d")
    assert (
        sum(map(bool, found)) == PER_PAGE
        and len({each.partition("[")[0] for each in found if each}) == PER_PAGE
    )
    assert suggested(site(FITS), "b", "c")[1] == "", "the sentence has one already"

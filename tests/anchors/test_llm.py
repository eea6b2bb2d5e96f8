"""From a language model's answer, only words in the sentence become anchors."""

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.anchors.llm import PATIENCE, PROMPT, TASK, WORDING_TASK, Rephrased, choices
from internal_linker.model.edges import Anchor
from internal_linker.model.errors import BudgetReached, CredentialsRefused, ServiceError
from internal_linker.model.house_rules import LinkRule
from internal_linker.model.ports import Anchors
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.model.wordings import bracketed
from internal_linker.project.pipeline.site_places import SitePlaces
from internal_linker.rank.rules import BALANCED
from tests.support.builders import collected, page, url
from tests.support.chats import Model
from tests.support.wordings import FITS, OTHERS
from tests.support.wordings import site as worded_site

POTS = "Clay pots keep the water hot while black tea leaves draw for long. A lid helps, too."
TEA = "We drink green tea from small cups at home. Stoneware cups keep green tea leaves warm, said Ann Lee."
SITE = (
    page("home", f"{TEA}\n\n{POTS}", title="Home", lang="en"),
    page("green", "Green tea is steamed.", title="Green tea", lang="en"),
    page("black", "Black tea leaves are oxidised.", title="Black tea", lang="en"),
    *(page(f"other{number}", f"{number} nothing of the kind", lang="en") for number in range(12)),
)
TARGETS = [url("green"), url("black")]


def rephrased(
    says: Callable[[str], str],
    pages: Sequence[Page] = SITE,
    links: Sequence[ExistingLink] = (),
    cache: dict[str, str] | None = None,
) -> tuple[Rephrased, Model]:
    """Return the anchors of a site, rephrased by a model."""
    whole, model = collected(pages, links), Model(says)
    places = SitePlaces(whole, Anchoring(CountedSite(whole)), lambda *_: nullcontext(), print, BALANCED)
    return rephrasing(places.variety(), whole, model, cache), model


def rephrasing(
    anchors: Anchors, site: Collected, model: Model, cache: dict[str, str] | None = None
) -> Rephrased:
    answers = {} if cache is None else cache
    return Rephrased(
        anchors,
        site,
        model=model.name,
        complete=model.complete,
        recall=answers.get,
        keep=answers.__setitem__,
    )


def answering(**words: str) -> Callable[[str], str]:
    """Return a model that chooses these words by the link's title."""
    return lambda data: json.dumps(
        {str(link["link"]): words.get(link["title"].split()[0], "") for link in json.loads(data)}
    )


def proposed(anchors: Anchors, targets: Sequence[str] = TARGETS) -> Sequence[tuple[Anchor, ...]]:
    """Return the anchors of the home page's links."""
    (found,) = anchors.propose_each([(url("home"), targets, ())])
    return found


def first(says: Callable[[str], str], links: Sequence[ExistingLink] = ()) -> list[Anchor]:
    """Return the best anchor of each of the home page's links."""
    return [found[0] for found in proposed(rephrased(says, links=links)[0])]


PLAIN = first(lambda data: "")


def test_words_of_the_sentence_come_first_and_the_old_ones_stay_behind() -> None:
    asked, _ = rephrased(answering(Black="black tea leaves"))
    green, black = proposed(asked)
    content = str(SITE[0].content)
    assert replace(black[0], quality=nan) == Anchor(
        "black tea leaves",
        PLAIN[1].sentence,
        content.index("black tea"),
        asked=True,
        model=f"openai/model, prompt {PROMPT}",
    )
    assert black[0].quality >= BALANCED
    assert PLAIN[1].text in [one.text for one in black[1:]]
    assert green[0] == PLAIN[0]
    assert (asked.asked, asked.chosen, asked.tokens, asked.gap) == (2, 1, 7, "")


@pytest.mark.parametrize(
    "words",
    [
        *("the finest black tea", "Black tea leaves", "black tea lea", "lack tea leaves", "leaves", ""),
        *("keep the water hot while black tea leaves draw", "the water hot", "long. A lid", "green tea"),
        "black tea  leaves",
    ],
)
def test_other_words_leave_the_old_anchor(words: str) -> None:
    """An answer is used only if the sentence contains it letter for letter and it keeps all rules."""
    assert first(answering(Black=words))[1] == PLAIN[1]


@pytest.mark.parametrize("answer", ["black tea leaves, green", "leaves, green ones"])
def test_words_on_both_sides_of_a_comma_are_no_anchor(answer: str) -> None:
    home = page("home", "Draw black tea leaves, green ones and white buds.", title="Home", lang="en")
    plain, _ = rephrased(lambda data: "", [home, *SITE[1:]])
    asked, _ = rephrased(answering(Black=answer), [home, *SITE[1:]])
    assert proposed(asked) == proposed(plain)
    # Words on one side of it are used.
    other, _ = rephrased(answering(Black="black tea leaves"), [home, *SITE[1:]])
    assert proposed(other)[1][0].text == "black tea leaves"


def test_no_words_are_another_targets_or_those_of_a_link_that_is_there() -> None:
    one = page("home", "Black tea leaves and green tea leaves taste of tea leaves.", title="Home", lang="en")
    asked, _ = rephrased(lambda data: '{"1": "tea leaves", "2": "tea leaves"}', (one, *SITE[1:]))
    assert len({found[0].text.casefold() for found in proposed(asked)}) == 2
    there = ExistingLink(url("home"), url("shop"), "leaves draw")
    assert first(answering(Black="black tea leaves"), [there])[1].text == PLAIN[1].text
    assert first(answering(Black="black tea leaves"))[1].text == "black tea leaves" != PLAIN[1].text


@given(
    st.one_of(
        st.text(), st.text(alphabet='{}[]":, 12blackteawar.'), st.from_regex(r'\{"[12]": "[ a-zA-Z.]*"\}')
    )
)
def test_whatever_it_answers_anchors_stand_in_the_text(answer: str) -> None:
    content = str(SITE[0].content)
    for best, plain in zip(first(lambda data: answer), PLAIN, strict=True):
        assert best.sentence == plain.sentence
        assert content.startswith(best.text, best.start)
        assert best.text in best.sentence and 2 <= len(best.text.split()) <= 8


def reworded(answer: object, rules: Sequence[LinkRule] = ()) -> tuple[Anchor, Model]:
    """Return the best anchor of a link for which a wording is suggested, and the model that answers."""
    whole, model = (
        collected(worded_site(OTHERS[0], FITS, OTHERS[1])),
        Model(lambda data: json.dumps({"1": answer})),
    )
    anchoring = Anchoring(CountedSite(whole))
    anchoring.house = rules
    places = SitePlaces(whole, anchoring, lambda *_: nullcontext(), print, BALANCED)
    (found,) = rephrasing(places.variety(), whole, model).propose_each([(url("a"), [url("b")], ())])
    ((best,),) = found
    return best, model


CLAUSE = f"{FITS[:-1]}[ (see Limescale in boilers)]."


def test_a_wording_of_the_model_replaces_the_clause() -> None:
    """It is the sentence with a few words at one place and the anchor in them; only sentence and title are sent."""
    best, model = reworded(FITS.replace("the boiler", "[[limescale out of the boiler]] and the boiler"))
    assert bracketed(best.sentence, best.wording) == FITS.replace(
        "the boiler", "[limescale out of the boiler and ]the boiler"
    )
    assert (best.text, best.asked, best.verbatim, best.quality) == (
        "limescale out of the boiler",
        True,
        False,
        0,
    )
    ((task, data),) = model.heard
    assert task == WORDING_TASK
    assert json.loads(data) == [{"link": 1, "title": "Limescale in boilers", "sentence": FITS}]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        FITS,
        "Take [[boilers]].",
        FITS.replace("Water from", "Water for [[boilers]]"),
        FITS.replace("Water", "[[Boiler]] water"),
        FITS.replace("the boiler", "the [[boiler]]"),
        FITS.replace("the boiler", "the tall [[boiler]]"),
        FITS.replace("the boiler", "the [[tall]] boiler"),
        FITS.replace("the boiler", "the [[ boiler]] and the boiler"),
        FITS.replace("the boiler", "one of the many good and tall [[boilers]], the boiler"),
        FITS.replace("soft", "very soft").replace("any", "[[boilers]] of any"),
        FITS.replace("the boiler", "[[boilers]], [[limescale]] and the boiler"),
        f"{FITS} See [[Limescale in boilers]].",
    ],
    ids=[
        *(
            "nothing",
            "no link",
            "other text",
            "a word less",
            "a word changed",
            "no new word",
            "the anchor is old",
        ),
        *(
            "no word of the title",
            "a space in the anchor",
            "many words",
            "two places",
            "two anchors",
            "a new sentence",
        ),
    ],
)
def test_other_wordings_leave_the_clause(answer: str) -> None:
    best, _ = reworded(answer)
    assert bracketed(best.sentence, best.wording) == CLAUSE and best.asked


def test_a_wording_is_asked_for_once() -> None:
    """A model that was set later is asked about the clauses that there are; its answer stays, whatever it was."""
    best, model = reworded("")
    whole = collected(worded_site(OTHERS[0], FITS, OTHERS[1]))
    asked = rephrasing(Anchoring(CountedSite(whole)).variety(lambda _: iter(())), whole, model)
    assert asked.settled(url("a"), url("b"), (best,))
    assert not asked.settled(url("a"), url("b"), (replace(best, asked=False),))


def test_a_wording_obeys_the_rules_of_the_house() -> None:
    answer = FITS.replace("the boiler", "[[boilers]] and the boiler")
    assert reworded(answer)[0].text == "boilers"
    assert reworded(answer, [LinkRule(2, "boilers", "", "never")])[0].text == "Limescale in boilers"


@pytest.mark.parametrize("sure", [0.8, 1, 0, 1.2, -1, "0.8", None])
def test_a_wording_has_its_model_prompt_and_confidence(sure: object) -> None:
    """What is no share of 1 is no confidence; a clause has none of the three."""
    said = FITS.replace("the boiler", "[[boilers]] and the boiler")
    best, _ = reworded([said, sure] if sure is not None else said)
    assert (best.text, best.model) == ("boilers", f"openai/model, prompt {PROMPT}")
    assert best.confidence == (sure if sure in (0.8, 1, 0) else None)
    assert reworded("")[0].model == ""


def test_changed_prompts_have_another_version() -> None:
    told = blake2b(f"{TASK}{WORDING_TASK}".encode(), digest_size=4).hexdigest()
    assert (PROMPT, told) == ("v1", "a0d2dd31"), (
        "Raise PROMPT, which links keep, and write the new digest here."
    )


@given(st.text())
def test_words_around_the_json_do_no_harm(around: str) -> None:
    before = around.replace("{", "").replace("}", "")
    assert choices(f'{before}```json\n{{"1": "black tea"}}\n```') == {"1": ("black tea", None)}


def test_only_sentences_anchors_and_titles_are_sent() -> None:
    asked, model = rephrased(lambda data: "")
    proposed(asked)
    ((task, data),) = model.heard
    assert task == TASK
    told = [(link["title"], link["sentence"], link["words"]) for link in json.loads(data)]
    assert told == [(to.title, one.sentence, one.text) for to, one in zip(SITE[1:3], PLAIN, strict=True)]
    assert "A lid helps" not in data and "https" not in data


def test_a_question_is_asked_once() -> None:
    cache = dict[str, str]()
    for tokens in (7, 0):
        asked, _ = rephrased(answering(Black="black tea leaves draw"), cache=cache)
        assert proposed(asked)[1][0].text == "black tea leaves draw"
        assert asked.tokens == tokens


def test_links_that_were_not_asked_about_are_open() -> None:
    def fails(data: str) -> str:
        raise BudgetReached("Anchors", "the cap is reached.")

    asked, _ = rephrased(fails)
    settled = partial(asked.settled, url("home"), TARGETS[0])
    assert not any(map(settled, proposed(asked)))
    assert settled(()) and settled((Anchor("Green tea", "A paragraph.", verbatim=False, quality=0.0),))
    answered, _ = rephrased(lambda data: "I'd rather not.")
    settled = partial(answered.settled, url("home"), TARGETS[0])
    assert all(map(settled, proposed(answered)))


@pytest.mark.parametrize(
    ("kind", "tries"), [(CredentialsRefused, 1), (BudgetReached, 1), (ServiceError, PATIENCE)]
)
def test_a_dead_service_is_left_alone(kind: type[ServiceError], tries: int) -> None:
    def fails(data: str) -> str:
        raise kind("Anchors", "it is gone.")

    asked, model = rephrased(fails)
    for _ in range(10):
        found = proposed(asked)
        assert [(each[0].text, each[0].asked) for each in found] == [(one.text, False) for one in PLAIN]
    assert len(model.heard) == tries
    assert asked.gap == "Anchors: it is gone. 10 pages keep the anchors that were found without openai/model."


def test_one_failure_stops_nothing() -> None:
    answers = iter([ServiceError("Anchors", "it refused."), None])

    def fails_once(data: str) -> str:
        if trouble := next(answers):
            raise trouble
        return answering(Black="black tea leaves draw")(data)

    asked, _ = rephrased(fails_once)
    assert [proposed(asked)[1][0].text for _ in range(2)] == [PLAIN[1].text, "black tea leaves draw"]
    assert "1 page keeps" in asked.gap

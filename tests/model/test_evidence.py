"""The sentences that tell an editor why a link is proposed."""

from math import nan

import numpy as np
import pytest

from internal_linker.model.evidence import NO_EVIDENCE, TOPICS, Evidence, sentences, topic_by_score, topics

VERY, SIMILAR, RELATED, LOOSE = 4, 3, 2, 1


@pytest.mark.parametrize(
    ("evidence", "told"),
    [
        (
            Evidence(VERY, 15, 12, 30, 0),
            "Very similar topic. 12 of its 15 nearest pages link there; no page of this section does yet.",
        ),
        (
            Evidence(SIMILAR, 15, 1, 1, -1),
            "Similar topic. One of its 15 nearest pages links there; no other page does.",
        ),
        (
            Evidence(SIMILAR, 15, 3, 9, 2),
            "Similar topic. 3 of its 15 nearest pages link there; 9 pages link there in all.",
        ),
        (
            Evidence(SIMILAR, 3, 3, 9, 2),
            "Similar topic. All of its 3 nearest pages link there; 9 pages link there in all.",
        ),
        (
            Evidence(SIMILAR, 1, 1, 4),
            "Similar topic. Its nearest page links there; 4 pages link there in all.",
        ),
        (Evidence(VERY, 15, 0, 0, 0), "Very similar topic. No page links there yet."),
        (
            Evidence(RELATED, 15, 0, 0, -1, 1),
            "Related topic. No page links there yet; the target links back.",
        ),
        (
            Evidence(RELATED, 15, 0, 5, 0, 0, 2),
            "Related topic. No page of this section links there yet; 2 pages link to both.",
        ),
        (Evidence(RELATED, 15, 0, 5, 1), "Related topic. One page of this section links there."),
        (Evidence(LOOSE, 15, 0, 1, -1), "Loosely related topic. Only one page links there in all."),
        (Evidence(LOOSE, 15, 0, 1234, -1), "Loosely related topic. 1,234 pages link there in all."),
        (Evidence(VERY), "Very similar topic."),
        (NO_EVIDENCE, "Similar page."),
    ],
)
def test_evidence_becomes_at_most_two_sentences_the_most_telling_first(evidence: Evidence, told: str) -> None:
    assert sentences(evidence) == told


@pytest.mark.parametrize(
    ("rank", "query", "told"),
    [
        (
            3,
            "steam milk",
            "Third search result for “steam milk”; very similar topic. No page links there yet.",
        ),
        (
            12,
            "steam milk",
            "12th search result for “steam milk”; very similar topic. No page links there yet.",
        ),
        (22, "", "22nd search result; very similar topic. No page links there yet."),
        (1, "x" * 80, f"First search result for “{'x' * 59}…”; very similar topic. No page links there yet."),
    ],
)
def test_a_search_result_comes_with_its_rank_and_query(rank: int, query: str, told: str) -> None:
    assert sentences(Evidence(VERY, 15, 0, 0), serp_rank=rank, query=query) == told


def test_words_of_both_titles_stand_beside_the_topic() -> None:
    """They name what both pages are about; with a search result and an editor's decision, two clauses remain."""
    some = Evidence(SIMILAR, 15, 0, 0, title_words="civil rights")
    assert sentences(some) == "Similar topic: both titles say “civil rights”. No page links there yet."
    told = sentences(some, serp_rank=2, query="law", state="Accepted by an editor")
    assert told == "Accepted by an editor; second search result for “law”. No page links there yet."
    assert sentences(Evidence(title_words="law")) == "Similar page: both titles say “law”."
    assert (
        sentences(Evidence(SIMILAR, title_words="law"), is_query=True)
        == "Similar topic: its title says “law”."
    )


def test_what_an_editor_did_comes_first() -> None:
    """A decision outranks the topic, which follows."""
    told = sentences(Evidence(SIMILAR, 15, 0, 0), state="Waits for an editor's approval")
    assert told == "Waits for an editor's approval; similar topic. No page links there yet."


def test_words_of_the_target_in_the_text_and_a_reservation_are_told() -> None:
    """The text's own words come beside the links' evidence; what speaks against the link is never dropped."""
    some = Evidence(SIMILAR, 15, 2, 9)
    assert sentences(some, mentions="steam  wand") == (
        "Similar topic. 2 of its 15 nearest pages link there; the text mentions “steam wand”."
    )
    nowhere = "2 of its 15 nearest pages link there; no page of this section does yet."
    assert sentences(some, mentions="steam wand", mentions_query=True) == (
        "Similar topic. The text says “steam wand”, a search query of the target; 2 of its 15 nearest pages link there."
    )
    assert sentences(some._replace(section_inlinks=0), mentions="steam wand") == f"Similar topic. {nowhere}"
    assert sentences(some._replace(last_resort=1), mentions="steam wand") == (
        "Similar topic. 2 of its 15 nearest pages link there; the target is very short, full of links or deprecated."
    )
    assert sentences(Evidence(SIMILAR, last_resort=3)) == "Similar topic. Both pages follow one template."
    assert (
        sentences(Evidence(SIMILAR), mentions="steam wand")
        == "Similar topic. The text mentions “steam wand”."
    )


def test_a_link_of_an_earlier_version_gets_its_level_from_its_score() -> None:
    """Without evidence, the score stands in; without a score, the search result or the bare fact does."""
    assert [sentences(NO_EVIDENCE, score=score) for score in (0.5, 2.5, 3.5, 8.0)] == [
        f"{topic}." for topic in TOPICS[1:]
    ]
    assert sentences(NO_EVIDENCE, serp_rank=1, query="milk") == "First search result for “milk”."
    assert topic_by_score(nan) == 0


def test_evidence_is_read_back_whole_and_from_other_versions() -> None:
    plain = Evidence(VERY, 15, 2, 9, 0, 1, 3, "tea", 2)
    needed = plain._replace(needed=4, impressions=1200, position=8, age=3)
    for some in (plain, needed):
        assert Evidence.unpack(list(some.pack())) == some
        assert Evidence.of_counts(some.counts, some.title_words, some.need) == some
    assert Evidence.unpack([*needed.pack(), 7]) == needed
    assert Evidence.unpack([VERY, 15, 2]) == Evidence(VERY, 15, 2)
    for damaged in (["4"], [VERY, None], [VERY, 15, 2, 9, 0, 1, 3, 4]):
        with pytest.raises(TypeError):
            Evidence.unpack(damaged)


def test_a_link_that_came_by_need_says_so() -> None:
    some = Evidence(VERY, 15, 0, 2, needed=4, impressions=1200, position=8)
    told = (
        "Very similar topic. Chosen by priority: the target earns 1,200 impressions in 28 days at position 8"
    )
    assert sentences(some) == f"{told} and has 2 in-links."
    assert sentences(some._replace(inlinks=0, age=3)) == f"{told}, has no in-links and is new."
    assert sentences(some._replace(inlinks=9)) == f"{told}."
    bare = Evidence(VERY, needed=1)
    assert (
        sentences(bare) == "Very similar topic. Chosen by priority: the target needs links more than others."
    )


def test_levels_begin_at_their_thresholds() -> None:
    assert topics(np.array([nan, -3, 0.99, 1, 1.99, 2, 3.99, 4, 12])).tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_no_sentence_has_a_figure_with_decimals() -> None:
    random = np.random.default_rng(1)
    for values in random.integers(0, [5, 16, 16, 40, 5, 2, 5], (500, 7)).tolist():
        values[2] = min(values[1], values[2])
        told = sentences(Evidence(*values), score=float(random.normal()))
        assert told.count(".") == 1 + (". " in told)
        assert told[-1] == "." and told[0].isupper()

"""Where a phrase stands in a text, and the text without it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.text.spans import spans, without_anchors


@pytest.mark.parametrize(
    ("text", "anchors", "left"),
    [
        ("Read our green tea guide.", ["green tea"], "Read our   guide."),
        ("tea, teapot; Tea and tea", ["tea"], " , teapot; Tea and  "),
        ("green\n tea and green  tea", ["green tea ", " green\ttea"], "  and  "),
        ("black tea cup, tea cup", ["tea cup", "black tea", "tea"], " ,  "),
        ("Green Tea", ["green tea"], " "),
        ("see ourGuide and guides", ["Guide"], "see our  and guides"),
        ("C and CSS", ["C"], "  and CSS"),
        ("CSS only", ["C", "", " "], "CSS only"),
        ("use watch() (a+b)", ["watch()", "a+b"], "use   ( )"),
        ("می‌خواهم می", ["می"], "می‌خواهم  "),
        ("في فيُو", ["في"], "  فيُو"),
        ("للمزيد والمكونات", ["المكونات"], "للمزيد و "),
        ("我们喝绿茶吧", ["绿茶"], "我们喝 吧"),
        ("녹차를 마신다", ["녹차"], " 를 마신다"),
        ("ดื่มชาเขียวทุกวัน", ["ชาเขียว"], "ดื่ม ทุกวัน"),
        ("चाय और चायवाला", ["चाय"], "  और चायवाला"),
        ("nothing of it", ["menu entry"], "nothing of it"),
    ],
)
def test_anchors_are_cut(text: str, anchors: list[str], left: str) -> None:
    """Whole phrases go, in any script, with any spacing; longer words stay unless the anchor is nowhere else."""
    assert without_anchors(text, anchors) == left


WORDS = st.sampled_from(["tea", "cup", "pot"])


@given(
    st.lists(WORDS),
    st.lists(st.lists(WORDS, min_size=1, max_size=3), max_size=3),
    st.sampled_from([" ", "\n ", "\u00a0"]),
)
def test_words_outside_every_anchor_stay(words: list[str], anchors: list[list[str]], space: str) -> None:
    gone: set[int] = set()
    for anchor in anchors:
        at = 0
        while at < len(words):
            here = words[at : at + len(anchor)] == anchor
            gone |= set(range(at, at + len(anchor))) if here else set()
            at += len(anchor) if here else 1
    left = without_anchors(space.join(words), [" ".join(anchor) for anchor in anchors])
    assert left.split() == [word for at, word in enumerate(words) if at not in gone]


def test_whole_words_come_before_parts_of_words_and_those_before_other_cases() -> None:
    assert spans("a guide and guides, Guide", "guide") == [(2, 7)]
    assert spans("ourguide, Guide", "guide") == [(3, 8)]
    assert spans("ourtea, Tea and TEA", "tea") == [(8, 11), (16, 19)]
    assert spans("ourteas", "teas") == [(3, 7)]

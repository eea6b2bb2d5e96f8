"""Words of a text: whole in every script, and equal across keyboards and fonts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.text.words import normalise, words

ZWNJ = "\u200c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Internal links, 2nd edition (2024): v2.10", "internal links 2nd edition 2024 v2 10"),
        ("snake_case and kebab-case", "snake case and kebab case"),
        ("green\u200btea’s “cup”…hot\xa0water – now—soon", "green tea cup hot water now soon"),
        ("schöner_als neu", "schöner als neu"),
        ("a I 7", ""),
        ("", ""),
    ],
)
def test_english(text: str, expected: str) -> None:
    """A word has at least two letters or digits; the underscore separates words like punctuation."""
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the page's title", "the page title"),
        ("the page’s title", "the page title"),
        ("we don't", "we don"),
        ("l'eau de l’été", "eau de été"),
        ("об'єкт обʼєкт об’єкт", "об єкт об єкт об єкт"),
    ],
)
def test_apostrophes(text: str, expected: str) -> None:
    """Every apostrophe separates words, so that an article or possessive doesn't form another word."""
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    "writings",
    [
        ["کتاب", "كتاب"],
        ["فارسی", "فارسي", "فارسى"],
        ["مدونة", "مُدَوَّنَة", "مدونه", "مـــدونة"],
        ["أحمد", "احمد", "اَحْمَد"],
        ["مسؤول", "مسوول"],
        ["نقطۀ", "نقطه"],
        ["۱۴۰۳", "١٤٠٣", "1403", "１４０３"],
        ["שָׁלוֹם", "שלום"],
        ["İSTANBUL", "istanbul", "Istanbul", "ıstanbul"],
        ["ΑΘΗΝΑ", "Αθήνα"],
        ["ΟΔΟΣ", "οδός"],
        ["Straße", "STRASSE"],
        ["ёлка", "Елка"],
        ["științe", "ştiinţe"],
        ["café", unicodedata.normalize("NFD", "CAFÉ")],
        ["Ｗｅｂ", "web"],
        ["ﬁle", "file"],
        ["co\u00adoperate", "cooperate"],
    ],
)
def test_one_word_many_writings(writings: list[str]) -> None:
    folded = [words(writing) for writing in writings]
    assert all(len(found) == 1 for found in folded)
    assert all(found == folded[0] for found in folded)


def test_latin_accents_are_kept() -> None:
    """Accents distinguish words: "schön" isn't "schon", "año" isn't "ano"."""
    assert words("schön schon año ano") == ["schön", "schon", "año", "ano"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"کتاب{ZWNJ}ها", "کتاب ها"),
        ("کتاب ها", "کتاب ها"),
        (f"APIهای API{ZWNJ}های API های", "api های api های api های"),
        ("الـDOM html۵", "ال dom html5"),
    ],
)
def test_persian_and_arabic_suffixes(text: str, expected: str) -> None:
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    "text",
    [
        "आंतरिक लिंक पाठकों को पृष्ठ",
        "অভ্যন্তরীণ লিংক",
        "தமிழ் மொழி",
        "తెలుగు భాష",
        "മലയാളം ഭാഷ",
        "සිංහල භාෂාව",
        "ދިވެހި ބަސް",
        "tiếng việt",
        "внутренние ссылки",
        "ქართული ენა",
        "አማርኛ ቋንቋ",
    ],
)
def test_marks_do_not_cut_words(text: str) -> None:
    assert words(text) == text.split()


def test_joiners_of_indic_scripts_only_shape_letters() -> None:
    """A zero-width (non-)joiner doesn't split a Hindi word."""
    assert words(f"क्{ZWNJ}षमा क्\u200dषमा") == ["क्षमा", "क्षमा"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("内部链接", "内部 部链 链接"),
        ("Vue3教程 水", "vue3 教程 水"),
        ("内部リンクの作成", "内部 リン ンク の 作成"),
        ("ﾘﾝｸ", "リン ンク"),
        ("링크를 그", "링크 크를 그"),
    ],
)
def test_pairs(text: str, expected: str) -> None:
    """Chinese, Japanese and Korean runs give their character pairs; a single character stays as it is."""
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("เชื่อมโยง", "เชื่อ ชื่อม อมโ มโย โยง"),
        ("ดี", "ดี"),
        ("ພາສາລາວ", "ພາສ າສາ ສາລ າລາ ລາວ"),
        ("ភ្ជាប់", "ភ្ជាប់"),
        ("မြန်မာ", "မြန်မာ"),
    ],
)
def test_triples(text: str, expected: str) -> None:
    assert words(text) == expected.split()


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_words_are_the_same_in_any_company(text: str) -> None:
    """The fast path for ASCII gives the same words as the path for all scripts."""
    assert words(f"{text} é") == words(text)


@given(st.text(st.characters(), max_size=30))
def test_any_text(text: str) -> None:
    assert all(word and not any(char.isspace() for char in word) for word in words(text))


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Read about Internal\n Links here", "internal links"),
        (f"همه كتاب{ZWNJ}هاي خوب", "کتاب های خوب"),
        ("Η ΠΟΛΗ ΤΗΣ ΑΘΗΝΑΣ", "πόλη της Αθήνας"),
        ("内部リンクの作成", "リンクの作成"),
        ("Don’t use “click\u00a0here”", 'don\'t use "click here"'),
    ],
)
def test_normalised_phrase_stands_in_normalised_text(text: str, phrase: str) -> None:
    assert normalise(phrase) in normalise(text)

"""Blocks that hold no anchor: each kind, in plain text and Markdown, and the prose around them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.text.blocks import Templates, blocks, closed_spans

PROSE = "A burr grinder cuts every bean to the same size, so the cup tastes clean."


def closed(content: str, *headings: int) -> list[tuple[str, str]]:
    """Return kind and text of the blocks in a text, in order."""
    found = sorted(blocks(content, headings), key=lambda block: block[1])
    return [(kind.value, content[start:end]) for kind, start, end in found]


def kinds(*lines: str) -> list[str]:
    """Return the kind of each line, "" if it is open, in a text of these lines between two of prose."""
    content = "\n".join([PROSE, *lines, PROSE])
    found = dict[str, str]()
    for kind, text in closed(content):
        found |= dict.fromkeys(text.split("\n"), kind)
    return [found.get(line, "") for line in lines]


@pytest.mark.parametrize(
    "lines",
    [
        ["## Grind size"],
        ["Grind size", "=========="],
        ["Grind size", "---"],
        ["**Grind size**"],
        ["Grind size"],
        ["挽き目の決め方"],
    ],
)
def test_headings_are_closed(lines: list[str]) -> None:
    assert kinds(*lines) == ["heading"] * len(lines)


def test_known_headings_need_no_guess() -> None:
    """Where the page's HTML tells its headings, a short line is text."""
    content = f"Grinders\n{PROSE}\nTry it out\n{PROSE}"
    assert closed(content, 0) == [("heading", "Grinders")]
    assert closed(content) == [("heading", "Grinders"), ("heading", "Try it out")]


def test_wrapped_lines_are_no_headings() -> None:
    """A line that goes on in the next one is text, however short."""
    content = "We ground it.\nSince our launch of the\nhand grinder, many people have asked us which of the two to buy."
    assert closed(content) == []


@pytest.mark.parametrize(
    "line",
    [
        *(
            "Figure 1: A hand grinder",
            "Fig. 2.1 – Burrs",
            "Table 3. Sizes by brew",
            "Photo by Ann Lee",
            "Image: Ann Lee",
        ),
        *(
            "Source: National Coffee Association, 2024",
            "Photo courtesy of the museum",
            "Abb. 3: Ein Mahlwerk",
        ),
        *(
            "Quelle: Statistisches Bundesamt",
            "Foto von Anna Schmidt",
            "Crédit photo : Anne Roy",
            "Figura 2. El molino",
        ),
        *(
            "Fuente: elaboración propia",
            "Рис. 4. Жернова",
            "Источник: Росстат",
            "Şekil 1: Değirmen",
            "شكل 2: مطحنة القهوة",
        ),
        *(
            "منبع: خبرگزاری",
            "图1：磨豆机",
            "图片来源：新华社",
            "図2　コーヒーミル",
            "出典：総務省",
            "그림 1: 커피 그라인더",
            "출처: 통계청",
        ),
        *("ภาพที่ 1: เครื่องบดกาแฟ", "चित्र 2: कॉफी चक्की"),
    ],
)
def test_captions_are_closed(line: str) -> None:
    assert kinds(line) == ["caption"]


@pytest.mark.parametrize(
    "line",
    [
        "Figure 1 shows how the burrs are set and what happens when they touch.",
        "Source code is ground as finely as beans are, and reviewed by two people.",
        "Photo books by local artists are sold at the counter for a small price.",
        "Table 4 by the window is the best one for tasting, as there is light.",
        "图片在页面的左侧，说明在右侧，读者先看到图片。",
    ],
)
def test_sentences_about_figures_are_open(line: str) -> None:
    assert kinds(line) == [""]


CODE = [
    "npm install grinder --save",
    "$ grind beans.txt",
    "import { grind } from 'grinder'",
    "const size = grind(beans, { burrs: 'steel' })",
    "function grind(beans: string[]): Cup {",
    "})",
    "<Grinder size={4} />",
    "def grind(beans, size=4):",
    "SELECT * FROM beans WHERE size < 4;",
    "// this grinds the beans",
    "curl -X POST https://api.example/grind",
    "git clone https://git.example/grinder.git",
    "113/tcp open ident",
    "kubectl get pods -n grinder",
    "grinder.burrs.set(4);",
    "private static int size(String beans) {",
    "└─ Grinder (burr set)",
    "│  ├── settings",
    "|-- grinder settings",
]


@pytest.mark.parametrize("line", CODE)
def test_lines_of_code_are_closed(line: str) -> None:
    assert kinds(line) == ["code"]


@pytest.mark.parametrize(
    "line",
    [
        "Call grind() with the beans, then pour() the water; the rest is done by brew().",
        "Go to Settings > Burrs and choose the size that your brew needs.",
        "Import duties on green coffee (from 2024 on) are lower than those on roasted beans.",
        "private keys of the grinder. You (or a friend of yours",
        "Private beans are kept in a tin (with a lid) behind the counter.",
        "Make coffee with a friend, and let the friend do the grinding.",
        "Use $GRIND_SIZE or --size to tell the program how fine the beans should be.",
        "如果需要更细的研磨，请调用 grind() 函数并传入 { size: 2 } 作为参数：",
        "برای آسیاب ریزتر، تابع grind() را با اندازهٔ کمتر صدا بزنید؛ نتیجه بهتر می‌شود:",
    ],
)
def test_sentences_with_code_are_open(line: str) -> None:
    assert kinds(line, "grind({ size: 2 });") == ["", "code"]


def test_code_between_code_is_code() -> None:
    assert kinds("services:", "  grinder: {", "restart always", "}")[1:] == ["code"] * 3


@pytest.mark.parametrize(
    "lines",
    [
        ["```", "any words here", "and here", "```"],
        ["~~~ text", "any words here.", "~~~"],
        ["", "    any words here", "    and more"],
    ],
)
def test_marked_code_is_closed(lines: list[str]) -> None:
    assert kinds(*lines) == ["code" if line else "" for line in lines]


def test_a_fence_alone_closes_no_page() -> None:
    """Without a second fence, the text below stays open; and code in backticks is closed within its sentence."""
    assert kinds("```", PROSE.replace("A", "One")) == ["code", ""]
    assert closed("Then call `grind beans` twice, not ` once.") == [("code", "`grind beans`")]


@pytest.mark.parametrize(
    "lines",
    [
        ["| Brew | Size |", "|------|-----:|", "| V60 | fine |"],
        ["Brew | Size", "-----|-----", "V60 | fine"],
        ["Brew\tSize", "V60\tmedium fine"],
        ["Bank     Account Name", "First    Green Tea Ltd"],
    ],
)
def test_tables_are_closed(lines: list[str]) -> None:
    assert kinds(*lines) == ["table"] * len(lines)


def test_links_whose_markup_is_text_are_closed() -> None:
    """So they are where a line ends within their words, but not over the end of a paragraph."""
    text = "A [burr grinder][topic\ngrinders] cuts [evenly](/cut) and [quietly], see [1] (below)."
    text += "\n\nA [pot\n\nor two](/pot)."
    assert [each for each in closed(text) if each[0] == "list of links"] == [
        ("list of links", "[burr grinder][topic\ngrinders]"),
        ("list of links", "[evenly](/cut)"),
    ]


def test_html_and_footnotes_in_markdown_are_closed() -> None:
    assert kinds("<div class=x>", "Tea is good.", "", "Tea is new.", "[^1]: Tea is old.") == [
        *("code", "structure", "", "", "structure")
    ]


def test_quotes_are_closed() -> None:
    assert kinds("> The grinder matters most.", ">and the beans.") == ["quote", "quote"]


def test_lists_of_links_are_closed() -> None:
    """A line that is hardly more than links is; a sentence with a link is not."""
    content = (
        f"{PROSE}\n- V60 recipe\n- Aeropress, French press\nWeigh the beans before you use the V60 recipe."
    )
    links = [
        (content.index(words), content.index(words) + len(words))
        for words in ("V60 recipe", "Aeropress", "French press")
    ]
    last = content.rindex("V60 recipe")
    found = blocks(content, links=[*links, (last, last + 10)])
    assert [content[start:end] for _, start, end in found] == ["- V60 recipe", "- Aeropress, French press"]


@pytest.mark.parametrize(
    "title",
    [
        "See also",
        "## Further reading",
        "Siehe auch:",
        "関連記事",
        "延伸阅读",
        "اطلع أيضا",
        "Читайте также:",
        "Next steps",
    ],
)
def test_lists_of_related_pages_are_closed(title: str) -> None:
    lines = ["V60 recipe", "French press guide", PROSE.replace("A", "One"), "Cold brew"]
    assert [bool(kind) for kind in kinds(title, *lines)][:4] == [True, True, True, False]
    assert kinds(title, "V60 recipe", "## Burrs", PROSE.replace("A", "One"))[2:] == ["heading", ""]
    assert kinds("See also: the V60 recipe and Aeropress") != [""]


LETTER = "Subscribe to our letter and never miss a cup."


def test_templates_are_closed() -> None:
    """A line or sentence on five pages and 1% of them is a template's, whatever its digits; one on four is not."""
    pages = [
        f"Page{'x' * at}. {LETTER} More{'y' * at}.\nUpdated in {2000 + at}, by us all." for at in range(5)
    ]

    def found(all_pages: list[str]) -> list[str]:
        spans = closed_spans(pages[3], [99], templates=Templates(all_pages))
        return [pages[3][start:end] for start, end in spans]

    assert found(pages) == [LETTER, "Updated in 2003, by us all."]
    assert not found(pages[:4])
    assert not found([*pages, *(f"Another text, number {'x' * at}." for at in range(500))])


def test_templates_with_names_are_closed() -> None:
    """Eight words in succession on five pages and 2% of them are a template's, whatever stands before and behind."""
    names = ["Assam", "Ceylon", "Darjeeling", "Earl Grey", "Fujian"]
    pages = [
        f"How we brew {name} at home, and which pot you need to serve {name} right now." for name in names
    ]
    (span,) = closed_spans(pages[3], templates=Templates(pages))
    assert pages[3][slice(*span)] == "at home, and which pot you need to serve"
    assert not closed_spans(pages[3], templates=Templates([*pages, *("x" * at for at in range(400))]))


def test_a_sentence_that_one_page_repeats_is_no_template() -> None:
    assert not [*Templates([f"{LETTER}\n" * 20, "Another text."]).spans(LETTER)]


def test_spans_are_sorted_and_apart() -> None:
    """Blocks that overlap become one span; lines known from HTML are closed as well."""
    content = "Grinders\n> " + LETTER + "\nsome words\n" + PROSE
    spans = closed_spans(
        content, [0], closed=[2], templates=Templates(f"{LETTER} {at}\n{PROSE}" for at in range(5))
    )
    assert [content[start:end] for start, end in spans] == ["Grinders", f"> {LETTER}", "some words", PROSE]


LINES = st.sampled_from(
    [*CODE, PROSE, "", "See also", "```", "---", "| a |", "> q", "a\tb", "    x", "Figure 1: x", "図1"]
)


@given(st.lists(LINES | st.text(max_size=20)), st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99))))
def test_any_text_has_spans_within(lines: list[str], ends: list[tuple[int, int]]) -> None:
    content = "\n".join(lines)
    links = [(min(pair), max(pair)) for pair in ends if max(pair) <= len(content)]
    spans = closed_spans(content, links=links, templates=Templates([content] * 5))
    flat = [place for span in spans for place in span]
    assert flat == sorted(flat) and all(start < end for start, end in spans)
    assert not flat or 0 <= flat[0] <= flat[-1] <= len(content)


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", ["a ", "a\n", "`", "```\n", "| ", "<a ", "-", "\t", "图 ", "a: ", ".)", "import a "]
)
def test_long_texts_take_no_longer_in_proportion(piece: str) -> None:
    content = piece * (300_000 // len(piece))
    began = time.process_time()
    closed_spans(content, templates=Templates([content]))
    assert time.process_time() - began < 20

"""An accepted wording adds its words to its sentence with the link in them, and changes nothing else."""

import pytest

from internal_linker.model.source_files import Markup
from internal_linker.publish.insertion import Inserted, Placement, Refusal, insert

SENTENCE = "Soft water keeps the boiler clean."
WORDING = "Soft water keeps the boiler clean (see Tea & water)."


def worded(
    text: str,
    text_format: Markup = "markdown",
    sentence: str = SENTENCE,
    wording: str = WORDING,
    title: str = "Tea & water",
) -> Inserted | Refusal:
    placement = Placement(
        "https://a.example/to/", "/to/", title, sentence, lambda href: href == "/to/", wording
    )
    return insert(text, text_format, placement)


@pytest.mark.parametrize(
    ("text_format", "text", "new"),
    [
        ("markdown", f"# Tea\n\nFirst. {SENTENCE}  \nLast.\n", f"# Tea\n\nFirst. {WORDING}  \nLast.\n"),
        (
            "markdown",
            "Soft *water* keeps\nthe boiler **clean**.",
            "Soft *water* keeps\nthe boiler **clean** (see Tea & water).",
        ),
        ("markdown", f"\ufeff{SENTENCE}\r\n", f"\ufeff{WORDING}\r\n"),
        ("markdown", f"- {SENTENCE}\n- Tea.\n", f"- {WORDING}\n- Tea.\n"),
        ("mdx", f"<Note />\n\n{SENTENCE}\n", f"<Note />\n\n{WORDING}\n"),
        ("html", f"<p>A. {SENTENCE} B.</p>", f"<p>A. {WORDING} B.</p>"),
        (
            "html",
            "<p>Soft <b>water</b> keeps the boiler <i>clean</i>.</p>",
            "<p>Soft <b>water</b> keeps the boiler <i>clean</i> (see Tea & water).</p>",
        ),
    ],
)
def test_only_the_words_and_the_link_are_new(text_format: Markup, text: str, new: str) -> None:
    found = worded(text, text_format)
    html = text_format == "html"
    link = '<a href="/to/">Tea &amp; water</a>' if html else "[Tea & water](/to/)"
    assert isinstance(found, Inserted) and found.text == new.replace("Tea & water", link)
    assert found.text[found.start : found.end] == f" (see {link}" and found.in_sentence


@pytest.mark.parametrize(
    "text",
    [
        "Soft water keeps the kettle clean.",
        f"{SENTENCE} Yes.\n\n{SENTENCE}",
        f"{SENTENCE}\n\n# {SENTENCE}\n",
        f"# {SENTENCE}\n",
        f"```\n{SENTENCE}\n```\n",
    ],
    ids=["changed", "twice", "also a heading", "a heading", "code"],
)
def test_a_sentence_that_is_not_there_once_is_refused(text: str) -> None:
    assert worded(text) is Refusal.NO_SENTENCE


def test_a_page_that_links_to_the_target_is_refused() -> None:
    assert worded(f"{SENTENCE} See [tea](/to/).") is Refusal.LINKED


@pytest.mark.parametrize("title", ["Tea *and* water", "Tea <b>", "`Tea`", "[Tea](/x/)", "{{ tea }}"])
def test_titles_that_would_be_markup_are_refused(title: str) -> None:
    assert worded(SENTENCE, wording=f"{SENTENCE[:-1]} (see {title}).", title=title) is Refusal.UNSAFE


def test_a_title_with_markup_is_text_in_html() -> None:
    found = worded(f"<p>{SENTENCE}</p>", "html", wording=f"{SENTENCE[:-1]} (see Tea <b>).", title="Tea <b>")
    assert isinstance(found, Inserted)
    assert found.text == '<p>Soft water keeps the boiler clean (see <a href="/to/">Tea &lt;b&gt;</a>).</p>'


def test_words_in_the_middle_of_a_sentence() -> None:
    found = worded(
        "My tests passed.",
        sentence="My tests passed.",
        wording="My end-to-end tests passed.",
        title="end-to-end tests",
    )
    assert isinstance(found, Inserted) and found.text == "My [end-to-end tests](/to/) passed."


def test_a_link_beyond_the_sentence_is_none_of_a_wording() -> None:
    """The anchor stands in code within its sentence, and as text elsewhere: nothing is changed."""
    text = "My `a b` tests passed. Take a b."
    assert (
        worded(text, sentence="My a b tests passed.", wording="My a b tests have passed.", title="a b")
        is Refusal.UNSAFE
    )

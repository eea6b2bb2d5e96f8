"""The normal form of a URL: equal for two spellings of one page, different for two pages."""

import time
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from internal_linker.model.urls import (
    TRACKING_PARAMETERS,
    encoded,
    names_index_page,
    normal_form,
    within_site,
    without_tracking,
)

HOSTS = st.sampled_from(
    ["example.com", "www.example.com", "bücher.example", "例え.example", "a-b.c_d.example"]
)
WORDS = st.text(st.sampled_from("abzABZ019-._~éüمهß☕ %(),:@!'*$+;="), min_size=1, max_size=8)
SEGMENTS = st.lists(WORDS.map(lambda word: quote(word, safe="")), max_size=4)
PAIRS = st.lists(
    st.tuples(st.sampled_from(["id", "page", "q", "Q", "utm"]), WORDS.map(lambda word: quote(word, safe=""))),
    max_size=3,
)


@st.composite
def urls(draw: st.DrawFn) -> str:
    """Draw full URLs in the usual spelling."""
    query = "&".join(f"{name}={value}" for name, value in draw(PAIRS))
    scheme = draw(st.sampled_from(["http", "https"]))
    return f"{scheme}://{draw(HOSTS)}/{'/'.join(draw(SEGMENTS))}" + (f"?{query}" if query else "")


def form_or_none(text: str) -> str | None:
    try:
        return normal_form(text)
    except ValueError:
        return None


@given(urls())
def test_the_normal_form_is_its_own(url: str) -> None:
    """Normalising a normal form returns it unchanged, in plain ASCII."""
    form = normal_form(url)
    assert normal_form(form) == form
    assert form.isascii()


@given(st.text(max_size=60).map(lambda rest: "https://e.example/" + rest) | st.text(max_size=60))
@example("https://e.example/?%75tm_source=x")
@example("https://e.example/%%34%31")
@example("https://e.example/\udcff")
@example("https://[::1%25\x00]/")
@example("https://e.example:٣/")
@example("https://xn--/")
@example("http://\u2100.example/")
def test_any_text_has_a_form_or_a_reason(text: str) -> None:
    form = form_or_none(text)
    assert form is None or normal_form(form) == form


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", ["a", " ", "%", "é", "&", "/", ".", "\u0301", "\ufeff", "xn--", "@", "[", ":"]
)
def test_a_huge_text_is_answered_at_once(piece: str) -> None:
    """A text of 5 MB is processed in well under a second."""
    begun = time.process_time()
    for text in (
        piece * 5_000_000,
        "https://e.example/" + piece * 5_000_000 + "x",
        "https://" + piece * 8000,
    ):
        form_or_none(text)
    assert time.process_time() - begun < 1.5


@given(urls(), st.data())
def test_a_variation_of_writing_is_the_same_page(url: str, data: st.DataObject) -> None:
    scheme, rest = url.split("://")
    host, _, tail = rest.partition("/")
    path, mark, query = tail.partition("?")
    if data.draw(st.booleans(), "port"):
        host += {"http": ":80", "https": ":443"}[scheme]
    if data.draw(st.booleans(), "case"):
        scheme, host = scheme.upper(), host.upper()
    if data.draw(st.booleans(), "slash"):
        path = path.rstrip("/") + "/"
    if data.draw(st.booleans(), "tracking"):
        name = data.draw(st.sampled_from([*sorted(TRACKING_PARAMETERS), "utm_source", "UTM_Medium", "mtm_x"]))
        query = "&".join(
            part for part in (data.draw(st.sampled_from(["", name])), query, f"{name}=1") if part
        )
        mark = "?"
    fragment = data.draw(st.sampled_from(["", "#", "#top", "#a?b=c&d"]))
    around = data.draw(st.sampled_from(["", " ", "\n", "\ufeff", "\u200b", "\u200f \u202b"]))
    assert normal_form(f"{around}{scheme}://{host}/{path}{mark}{query}{fragment}{around}") == normal_form(url)


def test_a_space_in_a_url_is_encoded() -> None:
    """A space inside a path or query is %20, as browsers send it."""
    assert normal_form("https://e.example/green tea/?q=a b") == "https://e.example/green%20tea?q=a%20b"
    assert normal_form("https://e.example/a%20b") == normal_form("https://e.example/a b")
    assert encoded(" https://e.example/a b ") == "https://e.example/a%20b"


@given(
    st.text(
        st.characters(min_codepoint=32, exclude_categories=["Cs"], exclude_characters="/?#\x7f%\\"),
        min_size=1,
    )
)
def test_every_spelling_of_the_percent_encoding_is_one(segment: str) -> None:
    """A raw path and its upper- and lower-case encodings are equal; only reserved characters differ when encoded."""
    encoded = quote(segment, safe="&+;=")
    forms = {
        normal_form(f"https://e.example/a{text}z") for text in (segment, encoded, lower_triplets(encoded))
    }
    assert len(forms) == 1


def lower_triplets(text: str) -> str:
    pieces = text.split("%")
    return pieces[0] + "".join("%" + piece[:2].lower() + piece[2:] for piece in pieces[1:])


@pytest.mark.parametrize(
    ("unicode", "punycode"),
    [
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example.", "XN--BCHER-KVA.example"),
        ("قهوه.example", "xn--ehbkad.example"),
        ("faß.example", "xn--fa-hia.example"),
        ("e。example", "e.example"),
        ("ｅ.ｅxample", "e.example"),
    ],
)
def test_a_host_in_any_script_is_its_punycode(unicode: str, punycode: str) -> None:
    assert normal_form(f"https://{unicode}/x") == normal_form(f"https://{punycode}/x")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://e.example/Mag", "https://e.example/mag"),
        ("https://e.example/?id=1", "https://e.example/?id=2"),
        ("https://e.example/?id=a", "https://e.example/?id=A"),
        ("https://e.example/?a=1&b=2", "https://e.example/?b=2&a=1"),
        ("https://e.example/x", "https://e.example/x?id=1"),
        ("https://e.example/a%2Fb", "https://e.example/a/b"),
        ("https://e.example/a%3Fb", "https://e.example/a?b"),
        ("https://e.example/?a=1%26b", "https://e.example/?a=1&b"),
        ("https://e.example/?a=%2B", "https://e.example/?a=+"),
        ("https://e.example/%2541", "https://e.example/%41"),
        ("https://e.example/?utm=1", "https://e.example/"),
        ("https://e.example/?ref=1", "https://e.example/"),
        ("https://www.e.example/", "https://e.example/"),
        ("http://e.example/", "https://e.example/"),
        ("https://e.example:8443/", "https://e.example/"),
        ("http://e.example:443/", "http://e.example/"),
    ],
)
def test_two_pages_stay_two(one: str, other: str) -> None:
    """URLs for which a server may give different answers stay different."""
    assert normal_form(one) != normal_form(other)


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("/mag/index.html", "/mag"),
        ("/Index.HTM?id=1", "/?id=1"),
        ("/mag/default.aspx#top", "/mag/"),
        ("/index.php/index.php", "/"),
        ("/a/./b/../c/%2E%2E/", "/a"),
        ("/../../a", "/a"),
        ("/a/..", "/"),
        ("/mag/reindex.html", None),
        ("/index.php/article", None),
        ("/index.html.gz", None),
        ("/a/..%2Fb", None),
        ("/a/...", None),
    ],
)
def test_index_pages_and_dots_are_their_folder(path: str, same: str | None) -> None:
    """The file name of an index page, `.` and `..` make no other page; names that only look like them do."""
    url = f"https://e.example{path}"
    assert names_index_page(url) is (same is not None)
    assert normal_form(url) == (normal_form(f"https://e.example{same}") if same else url)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \ufeff ", "empty"),
        ("/mag/x", "full URL"),
        ("example.com/x", "full URL"),
        ("ftp://e.example/x", "full URL"),
        ("mailto:a@e.example", "full URL"),
        ("https:///x", "full URL"),
        ("https://e.example/a\nb", "line break"),
        ("https://my e.example/a", "^the host name contains a space$"),
        ("https://my\xa0e.example/a", "^the host name contains a space$"),
        ("https://e,example/a", "^the host name contains “,”$"),
        ("https://ex\u200bämple♥.example/a", "^the host name contains “♥”$"),
        ("https://é..example/a", "^the host name is not valid: check its spelling$"),
        ("https://e.example/a https://e.example/b", "more than one URL"),
        ("https://e.example/a\x00b", "control character"),
        ("https://e.example/\ud83d", "broken"),
        ("https://anna:secret@e.example/", "user name"),
        ("https://@e.example/", "user name"),
        ("https://e.example:99999/", "port .* is not a number from 0 to 65535"),
        ("https://e.example:eighty/", "port .* is not a number from 0 to 65535"),
        ("https://[::1/", r"\[ or \] without an IP address"),
        ("https://e\u2100example/", "a letter that stands for /"),
        ("https://e\u2044example/", "the host name contains “⁄”"),
        ("https://e.example/" + "a" * 9000, "longer than"),
    ],
)
def test_what_is_no_url_is_refused_with_its_reason(text: str, reason: str) -> None:
    """A text that isn't a web URL is refused with an actionable reason."""
    with pytest.raises(ValueError, match=reason):
        normal_form(text)


@given(st.lists(st.sampled_from(["mag", "magazine", "ma", "Mag", "x", "%C3%BC"]), max_size=3))
def test_a_folder_of_the_site_ends_at_its_slash(path: list[str]) -> None:
    """`e.example/mag` contains /mag and everything below it, never /magazine or /Mag."""
    key = normal_form("https://e.example/" + "/".join(path))
    assert within_site(key, "e.example/mag") == (path[:1] == ["mag"])
    assert within_site(key, "e.example/mag/") == (path[:1] == ["mag"])
    assert within_site(key, "e.example")


@pytest.mark.parametrize(
    ("url", "site", "inside"),
    [
        ("https://shop.e.example/x", "e.example", True),
        ("https://shop.e.example/x", "www.e.example", True),
        ("https://www.e.example/x", "e.example", True),
        ("https://e.example/x", "WWW.E.Example", True),
        ("https://note.example/x", "e.example", False),
        ("https://e.example/x", "shop.e.example", False),
        ("https://e.example.evil.example/x", "e.example", False),
        ("https://evil.example/e.example/x", "e.example", False),
        ("https://xn--bcher-kva.example/x", "bücher.example", True),
        ("https://bücher.example/x", "xn--bcher-kva.example", True),
        ("https://e.example/%D9%85%D9%82%D8%A7%D9%84%D9%87/x", "e.example/مقاله", True),
        ("https://e.example:8080/x", "e.example", True),
        ("https://e.example/mag?page=2", "e.example/mag", True),
    ],
)
def test_a_site_holds_its_own_hosts_alone(url: str, site: str, inside: bool) -> None:
    assert within_site(normal_form(url), site) is inside


@given(urls(), st.sampled_from(["srsltid=A1", "utm_source=x", "%75tm_source=x", "gclid"]))
def test_tracking_goes_and_the_writing_stays(url: str, tracking: str) -> None:
    longer = url + ("&" if "?" in url else "?") + tracking + "#top"
    assert without_tracking(longer) == url

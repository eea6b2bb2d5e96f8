"""The exclusion patterns: matched anywhere in a URL, read with line numbers, and harmless to a run."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.canonical_hosts import CanonicalHosts, host_map
from internal_linker.model.errors import ConfigurationError
from internal_linker.project.settings.exclusions import Exclusions, read_exclusions


def test_a_pattern_matches_anywhere_and_is_named() -> None:
    """The result is the first pattern that matches any of the URLs, so that users learn which one it was."""
    exclusions = Exclusions([(1, r"/tag/"), (2, r"\.pdf$"), (3, r"(?i)/DRAFT-\d+")])
    assert exclusions.match("https://e.example/tag/tea") == "/tag/"
    assert exclusions.match("https://e.example/a", "https://e.example/a.pdf") == r"\.pdf$"
    assert exclusions.match("https://e.example/draft-7") == r"(?i)/DRAFT-\d+"
    assert exclusions.match("https://e.example/tags", "https://e.example/a.pdf?x=1") == ""
    assert len(exclusions) == 3


@pytest.mark.parametrize("pattern", ["(a+)+$", "(x+x+)+y"])
def test_no_pattern_can_hang_a_run(pattern: str) -> None:
    """A pattern on which other engines hang matches a URL of a megabyte at once."""
    assert Exclusions([(1, pattern)]).match("a" * 1_000_000 + "!", "x" * 1_000_000 + "!") in ("", pattern)


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "(?<=a)b", r"(a)\1", "a" + "{1000}{1000}"])
def test_a_bad_pattern_names_file_and_line(tmp_path: Path, pattern: str) -> None:
    """A pattern that RE2 can't parse stops the run before it spends anything; the error names file and line."""
    path = tmp_path / "excluded_urls.txt"
    path.write_text(f"# ours\n\n/tag/\n{pattern}\n/ok/\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="excluded_urls.txt, line 4: ") as caught:
        read_exclusions(path)
    assert f"'{pattern}'" in str(caught.value)


@pytest.mark.parametrize(
    ("wildcards", "pattern", "matched", "other"),
    [
        ("*tea*", "tea", "https://e.example/green-tea-pots", "https://e.example/te/a"),
        ("*/tag/*", "/tag/", "https://e.example/tag/a", "https://e.example/tags"),
        ("*.pdf", r"\.pdf$", "https://e.example/a.pdf", "https://e.example/a.pdf?x"),
        ("*/shop/*/old*", "/shop/.*/old", "https://e.example/shop/a/old/", "https://e.example/shop/old"),
    ],
)
def test_wildcards_get_the_pattern_that_they_mean(
    wildcards: str, pattern: str, matched: str, other: str
) -> None:
    """A line as in names of files is refused with the regular expression to write instead, which does what it meant."""
    with pytest.raises(ConfigurationError, match="a \\* repeats the sign before it") as caught:
        Exclusions([(1, wildcards)])
    assert f"Write '{pattern}':" in str(caught.value)
    assert Exclusions([(1, pattern)]).match(matched) and not Exclusions([(1, pattern)]).match(other)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("/a/(b", r"a \( has no \). Add it, or write \\\( for the sign itself"),
        ("b)", r"a \) has no \(."),
        ("[a", r"a \[ has no \]"),
        ("(*)", "a sign of repetition"),
        ("a++*", "two repetitions stand side by side"),
        ("(?!tea)", "RE2 has no look-around"),
        (r"(a)\1", "has no meaning after it"),
        ("x{2000}", "a number up to 1000"),
        ("\\", "it ends with"),
    ],
)
def test_what_is_wrong_with_a_pattern_is_said_plainly(pattern: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as caught:
        Exclusions([(1, pattern)])
    assert not any(term in str(caught.value) for term in ("operator", "missing", "invalid", "unexpected"))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.text(max_size=30))
def test_any_line_is_a_pattern_or_a_configuration_error(pattern: str, url: str) -> None:
    with suppress(ConfigurationError):
        exclusions = Exclusions([(7, pattern)])
        assert exclusions.match(url.encode("utf-8", "replace").decode()) in {"", pattern}


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_blanks_and_marks_of_editors_are_no_patterns(tmp_path: Path, start: str, end: str) -> None:
    """Comments, blank lines, a BOM, Windows line ends and surrounding spaces are ignored."""
    path = tmp_path / "excluded_urls.txt"
    lines = ["# all tags", "", "  /tag/  ", "   ", "  # /shop/", "/برچسب/"]
    path.write_bytes((start + end.join(lines)).encode())
    exclusions = read_exclusions(path)
    assert len(exclusions) == 2
    assert exclusions.match("https://e.example/tag/x") == "/tag/"
    assert exclusions.match("https://e.example/shop/x # all tags") == ""
    assert exclusions.match("https://e.example/برچسب/x") == "/برچسب/"


def test_no_file_means_no_patterns(tmp_path: Path) -> None:
    assert len(read_exclusions(tmp_path / "excluded_urls.txt")) == 0


def test_a_file_of_windows_powershell_is_read(tmp_path: Path) -> None:
    """A UTF-16 file, as `echo pattern > file` writes it in PowerShell, is read."""
    path = tmp_path / "excluded_urls.txt"
    path.write_bytes("/tag/\r\n".encode("utf-16"))
    assert read_exclusions(path).match("https://e.example/tag/x") == "/tag/"


@pytest.mark.parametrize(
    "content", ["/tag/\n".encode("utf-16-le")[:-1] + b"\xff", "/größe/".encode("cp1252")]
)
def test_a_file_in_another_encoding_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file that isn't UTF-8 is rejected rather than read as other patterns than intended."""
    path = tmp_path / "excluded_urls.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"excluded_urls\.txt .*UTF-8"):
        read_exclusions(path)


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    """A path that can't be read as a file raises a ConfigurationError instead of crashing."""
    (tmp_path / "excluded_urls.txt").mkdir()
    with pytest.raises(ConfigurationError, match="can't be read"):
        read_exclusions(tmp_path / "excluded_urls.txt")


@pytest.mark.parametrize(
    ("pattern", "url", "excluded"),
    [
        ("^http://e.example/tag/", "https://www.e.example/tag/tea", True),
        (r"^https?:\/\/www\.e\.example\/tag", "http://e.example/tag/tea", True),
        (r"https://(www\.)?e\.example/a$|https://e\.example/b$", "http://www.e.example/b", True),
        ("https://blog.e.example/", "https://www.e.example/", False),
        ("^http://", "https://e.example/", False),
        ("https://staging.e.example/tag/", "https://www.e.example/tag/x", True),
        (r"staging\.e\.example/tag/", "https://www.e.example/tag/x", True),
        ("[http://e-z]+x$", "https://www.e.example/tag/x", True),
    ],
)
def test_a_pattern_holds_for_every_form_of_its_host(pattern: str, url: str, excluded: bool) -> None:
    """A pattern with http://, https://, www. or a mapped host excludes the page under the site's own form."""
    hosts = CanonicalHosts(host_map(["staging.e.example=www.e.example"]))
    exclusions = Exclusions([(1, pattern)], hosts=hosts)
    assert exclusions.match(url) == (pattern if excluded else "")

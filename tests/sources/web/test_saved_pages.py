"""`import` of saved HTML files: the text without menus, links with their positions, and the page's URL."""

import json
import os
from pathlib import Path

import pytest

from internal_linker.sources.web.html_page import WebPage, decode_page, read_page
from internal_linker.text.html import read_html
from tests.support.crawls import A, B, C, crawl, imported, links, pages, table
from tests.support.small_project import SITE, write_text
from tests.support.web_sites import TEXT, html_page, menu_links, saved_as


def rows(project: Path) -> list[dict[str, str]]:
    """Return the imported pages by column."""
    header, *cells = pages(project)
    return [dict(zip(header, row, strict=True)) for row in cells]


STRUCTURED = """<html lang=en><head><title>Deploying</title></head>
<body><header><a href=/>Home</a></header>
<main><h1>Deploying an app</h1>

<p>Before you deploy the app for the first time, make sure that the configuration file names the region of your
database.</p>
<h2 id=a>Install the tool<a class=anchor href=#a>#</a></h2>
<div class="highlight"><pre><span></span><code class="language-bash"><span class=nb>npm</span> install -g deployer
<span class=c># log in</span>
deployer login --region eu</code></pre></div>
<p>After that, run <kbd>deployer up</kbd> in the folder of the app and wait for the address that the tool prints
at the end.</p>
<div class="table-wrapper"><table><thead><tr><th>Plan</th><th>Memory limit</th></tr>
</thead>
<tbody>
<tr><td>Hobby</td>
<td>512 megabytes of memory</td></tr>
<tr><td><p>Team</p>
</td>
<td><p>Eight gigabytes of memory</p>
</td></tr>
</tbody></table></div>
<div class="admonition note"><p>Note: the memory limit counts for each of the instances, and not for the whole
of the app.</p>
</div>
<blockquote class=twitter>We moved forty apps in one afternoon, and nobody noticed a thing. <cite>Ann
Lee</cite></blockquote>
<figure class="wp-caption"><img src=d.png alt=""><figcaption>
Figure 1: the dashboard of an app with its two regions</figcaption></figure>

<h3>Related articles</h3>
<ul><li><a href=/scaling>Scaling an app</a></li><li><a href=/db>Databases</a> <span>5 min</span></li></ul>
<details><summary>What does it cost?</summary>
<p>The first app is free of charge, and each further one costs five dollars a month at most.</p>
</details>
<p>When the address answers, the app is deployed and you can point the domain of your company to it.</p>
</main><footer>© 2026</footer></body></html>"""


def test_code_tables_quotes_and_lists_of_links_are_known_after_an_import(
    project: Path, tmp_path: Path
) -> None:
    """The imported main text keeps the structure by which a run knows where no anchor may stand."""
    write_text(tmp_path / "deploy.html", STRUCTURED)
    assert imported(project, str(tmp_path / "deploy.html"), "--base-url", SITE) == 0
    content = read_html(rows(project)[0]["Main Content"])
    lines = content.text.split("\n")
    assert [lines[at] for at in content.headings] == [
        *("Deploying an app", "Install the tool#", "Related articles", "What does it cost?"),
    ]
    assert [lines[at] for at in content.closed] == [
        "npm install -g deployer # log in deployer login --region eu",
        *("Plan", "Memory limit", "Hobby", "512 megabytes of memory", "Team", "Eight gigabytes of memory"),
        "We moved forty apps in one afternoon, and nobody noticed a thing. Ann Lee",
        "Scaling an app",
    ]


def test_a_page_becomes_a_row_and_its_links(project: Path, tmp_path: Path) -> None:
    """A file gives its title, headline, language and URL, its main text and link, and the position of each link."""
    write_text(tmp_path / "tea.html", html_page("Tea", head=saved_as(A), links=[("/b/#top", "tea pots")]))
    assert imported(project, str(tmp_path / "tea.html")) == 0
    (row,) = rows(project)
    content = read_html(row.pop("Main Content"))
    assert row == {
        **{"URL": A, "Title": "Tea | Tiny", "H1": "Tea", "Lang": "en-GB", "Indexability": "Indexable"},
        **{"Status Code": "", "Canonical": A, "Redirect URL": ""},
    }
    assert content.text.splitlines() == ["Tea", f"{TEXT} Read on about tea pots."]
    assert content.headings == (0,)
    assert content.links == ((SITE + "/b/#top", "tea pots"),)
    header, *found = links(project)
    assert header == ("Source", "Destination", "Anchor", "Link Position", "Type", "Rel")
    inside = (A, SITE + "/b/#top", "tea pots", "Content", "Hyperlink")
    assert sorted(row[:5] for row in found) == sorted([*menu_links(A), inside])


def test_links_that_pass_no_weight_are_known_as_such(project: Path, tmp_path: Path) -> None:
    link = '<p>Read on about <a href="/b/" rel="UGC nofollow">tea pots</a>.</p>'
    html = html_page("Tea", head=saved_as(A)).replace("</p>", f"</p>{link}", 1)
    write_text(tmp_path / "tea.html", html)
    assert imported(project, str(tmp_path / "tea.html")) == 0
    assert [row[5] for row in links(project)[1:] if row[1] == SITE + "/b/"] == ["UGC nofollow"]
    (row,) = rows(project)
    assert read_html(row["Main Content"]).unfollowed == {(SITE + "/b/", "tea pots")}


def test_a_folder_is_read_as_wget_saves_a_site(project: Path, tmp_path: Path) -> None:
    """With --base-url each file's path is its URL, index.html is its folder, and links between files resolve."""
    site = tmp_path / "mirror"
    write_text(
        site / "index.html", html_page("Home", links=[("blog/tea%20pots.html", "pots"), ("about.htm", "us")])
    )
    write_text(site / "blog/tea pots.html", html_page("Pots", links=[("../index.html#x", "start")]))
    write_text(site / "about.htm", html_page("About", links=[("blog/", "blog"), ("blog/none.html", "gone")]))
    write_text(site / "blog/index.html", html_page("Blog"))
    write_text(site / "style.css", "p { color: red }")
    assert imported(project, str(site), "--base-url", SITE) == 0
    urls = [f"{SITE}/{path}" for path in ("about.htm", "blog/", "blog/tea%20pots.html", "")]
    assert [row["URL"] for row in rows(project)] == urls
    about, blog, pots, home = urls
    inside = {row[:3] for row in links(project)[1:] if row[3] == "Content"}
    assert inside == {
        *((home, pots, "pots"), (home, about, "us"), (pots, home, "start"), (about, blog, "blog")),
        (about, f"{SITE}/blog/none.html", "gone"),
    }


ADDRESSES = {
    "canonical": (saved_as(A), "", A),
    "og:url": (f'<meta property="og:url" content="{A}">', "", A),
    "canonical first": (f'<meta property="og:url" content="{B}">{saved_as(A)}', "", A),
    "relative to its folder": (saved_as("/b/"), C, B),
    "as a browser notes": (f"<!-- saved from url=(0027){C} -->{saved_as(A)}", "", C),
    "its folder's": ("", SITE + "/x", SITE + "/x/tea.html"),
    "a broken canonical": (saved_as("https://["), SITE, SITE + "/tea.html"),
}


@pytest.mark.parametrize(("head", "base", "url"), ADDRESSES.values(), ids=ADDRESSES)
def test_a_saved_page_has_an_address(head: str, base: str, url: str, project: Path, tmp_path: Path) -> None:
    """The URL comes from the browser's saved-from comment, else from the page itself, else from --base-url."""
    write_text(tmp_path / "tea.html", html_page("Tea", head=head))
    options = ("--base-url", base) if base else ()
    assert imported(project, str(tmp_path / "tea.html"), *options) == 0
    assert [row["URL"] for row in rows(project)] == [url]


def test_a_file_that_cant_be_used_is_told_of(project: Path, tmp_path: Path) -> None:
    """A file without a URL or too large is a rejected row with reason and remedy; other files are imported."""
    site = tmp_path / "site"
    write_text(site / "a.html", html_page("Tea", head=saved_as(A)))
    write_text(site / "b.html", html_page("Pots"))
    write_text(site / "c.xhtml", "x" * 10_000_001)
    assert imported(project, str(site)) == 0
    assert [row["URL"] for row in rows(project)] == [A]
    told = {row[0]: row[3] for row in table(project, "rejected_rows.csv")[1:]}
    assert "--base-url" in told[str(site / "b.html")]
    assert "larger than 10 MB" in told[str(site / "c.xhtml")]


def test_files_without_an_address_are_told_of_on_the_terminal(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The terminal names --base-url, whether some of the files lack a URL or all of them."""
    for name in "ab":
        write_text(tmp_path / f"site/{name}.html", html_page("Pots"))
    assert imported(project, str(tmp_path / "site")) == 3
    told = capsys.readouterr().err
    assert "rejected: 2 because the file's URL is unknown" in told and "with --base-url" in told
    write_text(tmp_path / "site/c.html", html_page("Tea", head=saved_as(A)))
    assert imported(project, str(tmp_path / "site")) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "Rejected: " in line]
    assert len(lines) == 2 and all("with --base-url" in line for line in lines)
    assert all(f"{name}.html" in line for name, line in zip("ab", lines, strict=True))


ERRORS = {
    "empty folder": ((), "has no HTML file"),
    "no address": (("--base-url", "example"), "--base-url example: not a full URL"),
    "no page left": (("--exclude", "/a"), "no rows left to import"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_cant_be_imported_is_a_sentence(
    case: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each error is one sentence with exit code 3, and nothing is written."""
    options, sentence = ERRORS[case]
    (tmp_path / "site").mkdir()
    if options:
        write_text(tmp_path / "site/a.html", html_page("Tea", head=saved_as(A)))
    assert imported(project, str(tmp_path / "site"), *options) == 3
    assert sentence in capsys.readouterr().err
    assert not (project / "files/urls_rawdata.csv").exists()


def test_pages_and_tables_come_in_at_once(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A crawl's facts and a saved page's text are merged; filters apply to both, and each is counted."""
    file = crawl(tmp_path / "p.csv", ("URL", "Status Code", "Title"), (A, "200", "Crawled"), (B, "404", ""))
    write_text(tmp_path / "s/a.html", html_page("Tea", head=saved_as(A)))
    write_text(tmp_path / "s/c.html", html_page("Short", "Three words only.", head=saved_as(C)))
    options = ("--only-200", "--min-words", "20", "--json")
    assert imported(project, file, str(tmp_path / "s"), *options) == 0
    (row,) = rows(project)
    assert (row["URL"], row["Status Code"], row["Title"]) == (A, "200", "Crawled")
    assert TEXT in read_html(row["Main Content"]).text
    told = json.loads(capsys.readouterr().out)
    assert told["left_out"] == {"status is not 200": 1, "fewer than 20 words": 1}
    assert (told["pages"], told["merged"]) == (1, 1)


# -- a page's HTML ---------------------------------------------------------------------------------


def read(html: str, **headers: str) -> WebPage:
    return read_page(html, A, {name.replace("_", "-"): value for name, value in headers.items()})


NOINDEX = {
    "meta": ('<meta name="robots" content="follow, NOINDEX">', {}, True),
    "none": ("<meta name=Robots content=none>", {}, True),
    "Google's meta": ("<meta name=googlebot content=noindex>", {}, True),
    "header": ("", {"x_robots_tag": "noindex"}, True),
    "Google's header": ("", {"x_robots_tag": "bingbot: nofollow, googlebot: nosnippet, noindex"}, True),
    "another robot's header": ("", {"x_robots_tag": "otherbot: noindex, nofollow"}, False),
    "a header with a date": ("", {"x_robots_tag": "unavailable_after: 25 Jun 2030 15:00:00 PST"}, False),
    "neither": ("<meta name=robots content='index, max-snippet:-1'>", {}, False),
}


@pytest.mark.parametrize(("head", "headers", "noindex"), NOINDEX.values(), ids=NOINDEX)
def test_noindex_is_understood(head: str, headers: dict[str, str], noindex: bool) -> None:
    assert read(html_page("Tea", head=head), **headers).indexability == (
        "Non-Indexable" if noindex else "Indexable"
    )


def test_canonical_and_language() -> None:
    """Canonical and language come from the page first, then from the server; a relative canonical becomes absolute."""
    own = read(html_page("x", head='<link rel="CANONICAL" href="../b/">'), link=f'<{C}>; rel="canonical"')
    assert (own.canonical, own.lang) == (B, "en-GB")
    served = read(
        "<p>x",
        link=f'<https://x.example/s.css>; rel=preload, <{C}>; rel="canonical"',
        content_language="de, en",
    )
    assert (served.canonical, served.lang) == (C, "de")


def test_a_link_is_where_it_stands() -> None:
    """A link's position follows from its element or role; an article's own header and footer belong to its text, and
    unnamed elements only if the text contains them.
    """
    body = """<div role="navigation"><a href="/1">one</a></div><article><header><h2><a href="/2">two</a></h2></header>
    <p>See <a rel="nofollow" href="/3">three</a>.</p><footer><a href="/4"><img src=x alt="four"></a></footer>
    </article>"""
    html = html_page("Tea", body=body).replace("</body>", '<div id=links><a href="/5">five</a></div></body>')
    places = {link.anchor: link.position for link in read(html).links}
    expected = {"one": "Navigation", "two": "Content", "three": "Content", "four": "Content", "five": "Aside"}
    assert {name: places[name] for name in expected} == expected


def test_code_in_a_sentence_is_part_of_it() -> None:
    """Inline code splits no sentence and no link's anchor; a block of code stays a block."""
    body = """<p>Run <code>git status</code> to see what changed, press <kbd>Ctrl</kbd>, and read the
    <a href="/b/">guide to <code>git add</code> and more</a> before you commit anything at all.</p>
    <pre><code>git commit -m x</code></pre><p>This paragraph follows the code and ends the article of the page.</p>"""
    page = read(html_page("Git", body=body))
    lines = read_html(page.content).text.splitlines()
    assert "git commit -m x" in lines
    (line,) = (line for line in lines if line.startswith("Run"))
    assert line.startswith(
        "Run git status to see what changed, press Ctrl, and read the guide to git add and more"
    )
    assert [link.position for link in page.links if link.target == B] == ["Content"]


@pytest.mark.parametrize("outer", ['<div class="post">{}</div>', "<article>{}</article>"])
def test_a_box_inside_the_article_belongs_to_it(outer: str) -> None:
    """Links in a box of class "sidebar" inside the text are content, also without semantic elements; beside it not."""
    box = '<div class="sidebar"><h4>Read on</h4><ul><li><a href="/{0}">{0}</a></li></ul></div>'
    text = f"<h1>Tea</h1><p>{TEXT}</p>{box.format('inside')}<p>{TEXT[::-1]}</p>"
    html = f"<title>Tea</title><div id=page>{outer.format(text)}{box.format('beside')}</div>"
    places = {link.anchor: link.position for link in read(html).links}
    assert places == {"inside": "Content", "beside": "Aside"}


def test_base_and_odd_addresses() -> None:
    """`base` counts; link targets that aren't pages or can't be parsed stay unchanged so that they can be counted."""
    body = '<a href="x">x</a> <a href="mailto:a@b.example">m</a> <a href="https://[">b</a>'
    targets = {
        link.anchor: link.target for link in read(html_page("x", head='<base href="/z/">', body=body)).links
    }
    assert (targets["x"], targets["m"], targets["b"]) == (SITE + "/z/x", "mailto:a@b.example", "https://[")


def test_a_page_without_a_recognised_text_is_read_whole(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    teasers = "".join(f'<div><a href="/{n}/">Offer {n}</a></div>' for n in range(3))
    listing = f"<title>x</title>{saved_as(A)}<nav><a href=/m/>Menu</a></nav><div>{teasers}</div><script>var x</script>"
    write_text(tmp_path / "a.html", listing + " " * 3_000_001)
    write_text(tmp_path / "b.html", html_page("Tea", head=saved_as(B)))
    assert imported(project, str(tmp_path / "a.html"), str(tmp_path / "b.html"), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert list(told["facts"].values()) == [1]
    content = read_html(rows(project)[0]["Main Content"])
    assert content.text == "Offer 0\nOffer 1\nOffer 2"


def test_a_page_that_the_library_stumbles_over_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbles(*args: object, **options: object) -> str:
        raise RecursionError("maximum recursion depth exceeded")

    html = html_page("Tea", body="<p>Green tea is steamed.</p>")
    assert not read(html).whole
    monkeypatch.setattr("trafilatura.extract", stumbles)
    page = read(html)
    assert page.whole and "Green tea is steamed." in read_html(page.content).text


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p",
        "<html><frameset></frameset></html>",
        "<div>" * 100_000,
        "\x00\ud800 &#0;",
        "<table>" * 5_000,
        "<a href=x>" * 5_000,
    ],
)
def test_broken_pages_are_read(html: str) -> None:
    assert read(html).url == A


ENCODINGS = {
    "declared by its server": (
        "Größe żółw".encode("iso-8859-2", "replace"),
        "text/html; charset=ISO-8859-2",
        "Gr",
    ),
    "by itself": ('<meta charset="windows-1251">чай'.encode("cp1251"), "", "чай"),
    "its server's word first": (
        '<meta charset="windows-1251">سبز'.encode(),
        'text/html; charset="UTF-8"',
        "سبز",
    ),
    "a mark first": ("\ufeff<meta charset=windows-1251>茶".encode(), "text/html; charset=koi8-r", "茶"),
    "UTF-16": ("\ufeff茶".encode("utf-16-le"), "", "茶"),
    "nobody's word": ("grüner Tee".encode(), "", "grüner Tee"),
    "nobody's word, older": ("grüner Tee".encode("cp1252"), "", "grüner Tee"),
    "nobody's word, Russian": ("<p>как заварить зелёный чай</p>".encode("cp1251"), "", "<p>как заварить"),
    "Latin 1, as browsers read it": ("“tea”".encode("cp1252"), "text/html; charset=iso-8859-1", "“tea”"),
    "no encoding of text": (b"tea", "text/html; charset=zip", "tea"),
    "none that is known, by itself": (
        '<meta charset="x-klingon"><p>Grüner Tee</p>'.encode(),
        "",
        "Grüner Tee",
    ),
    "none that is known": (b"tea", "text/html; charset=x-klingon", "tea"),
    "a wrong word": ("grün".encode("cp1252"), "text/html; charset=utf-8", "gr"),
    "a page that can't be in UTF-16": ("<meta charset=utf-16>grün".encode(), "", "grün"),
}


@pytest.mark.parametrize(("data", "content_type", "text"), ENCODINGS.values(), ids=ENCODINGS)
def test_encodings(data: bytes, content_type: str, text: str) -> None:
    """The encoding comes from the BOM, else the server's header, else the page's declaration, else detection."""
    assert text in decode_page(data, content_type)


@pytest.mark.parametrize(("spare", "code"), [(0, 0), (-1, 3)])
def test_a_page_may_have_the_largest_size(
    spare: int, code: int, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of exactly the largest size is imported; one byte more is too many."""
    file = tmp_path / "tea.html"
    write_text(file, saved_as(A) + html_page("Tea"))
    monkeypatch.setattr("internal_linker.sources.web.saved_pages.MOST_BYTES", file.stat().st_size + spare)
    assert imported(project, str(file)) == code


@pytest.mark.skipif(os.name == "nt", reason="creating symbolic links needs a right on Windows")
def test_links_out_of_the_folder_are_not_followed(project: Path, tmp_path: Path) -> None:
    """A symbolic link to a file outside the folder is rejected unread; one within the folder is read."""
    write_text(tmp_path / "outside/secret.html", html_page("Secret", head=saved_as(C)))
    write_text(tmp_path / "saved/tea.html", html_page("Tea", head=saved_as(A)))
    write_text(tmp_path / "saved/real/pots.txt", html_page("Pots", head=saved_as(B)))
    (tmp_path / "saved/pots.html").symlink_to("real/pots.txt")
    (tmp_path / "saved/secret.html").symlink_to(tmp_path / "outside/secret.html")
    (tmp_path / "saved/all").symlink_to(tmp_path / "outside")
    assert imported(project, str(tmp_path / "saved")) == 0
    assert [row["URL"] for row in rows(project)] == [B, A]
    (rejected,) = table(project, "rejected_rows.csv")[1:]
    assert "secret.html" in rejected[0] and "symbolic link to a file outside the folder" in rejected[-1]
    # A file that the user names is read, wherever it is.
    assert imported(project, str(tmp_path / "saved/secret.html")) == 0
    assert [row["URL"] for row in rows(project)] == [C]

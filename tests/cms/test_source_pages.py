"""Source files are matched with pages by their generator's conventions, and what is unsure is listed."""

import time

import pytest

from internal_linker.cms.generators import Generator
from internal_linker.cms.source_pages import How, KnownPage, Unsure, match_pages
from tests.cms.trees import HOST, front, matched_by_path, pages_of, tree_of

HUGO = {
    "content/_index.md": ("", "/"),
    "content/posts/_index.md": ("", "/posts/"),
    "content/posts/My First_Post.md": ("", "/posts/my-first_post/"),
    "content/posts/bundle/index.md": ("", "/posts/bundle/"),
    "content/posts/slugged/index.md": (front(slug="other-name"), "/posts/other-name/"),
    "content/posts/b.md": (front(slug="b-slug"), "/posts/b-slug/"),
    "content/about.md": (front(url="/who/we-are.html"), "/who/we-are.html"),
    "content/posts/a.fa.md": ("", "/fa/posts/a/"),
    "content/posts/a.md": ("", "/posts/a/"),
    "content/نوشته/سلام.md": ("", "/%D9%86%D9%88%D8%B4%D8%AA%D9%87/%D8%B3%D9%84%D8%A7%D9%85/"),
}
JEKYLL = {
    "index.md": (front(title="Home"), "/"),
    "about.md": (front(title="About"), "/about.html"),
    "contact.md": (front(permalink="/reach-us/"), "/reach-us/"),
    "_posts/2026-01-05-hello-world.md": (
        front(categories="news tips"),
        "/news/tips/2026/01/05/hello-world.html",
    ),
    "guides/_posts/2026-02-05-two.md": (front(title="Two"), "/guides/2026/02/05/two.html"),
    "_posts/2026-01-06-three.md": (front(date="2026-03-07 10:00:00 +0100"), "/2026/03/07/three.html"),
    "_recipes/soup.md": (front(title="Soup"), "/recipes/soup.html"),
}
ASTRO = {
    "src/content/docs/index.mdx": ("", "/"),
    "src/content/docs/guides/Getting Started.md": ("", "/guides/getting-started/"),
    "src/content/docs/fa/guides/index.md": ("", "/fa/guides/"),
    "src/content/docs/old.md": (front(slug="new/name"), "/new/name/"),
    "src/pages/about.md": ("", "/about/"),
    "src/content/blog/first.md": ("", "/blog/first/"),
}
DOCUSAURUS = {
    "docs/01-intro.md": ("", "/docs/intro"),
    "docs/02-guide/index.md": ("", "/docs/guide/"),
    "docs/02-guide/03. setup.mdx": ("", "/docs/guide/setup"),
    "docs/02-guide/slugged.md": (front(slug="/top"), "/docs/top"),
    "docs/02-guide/relative.md": (front(slug="near"), "/docs/guide/near"),
    "docs/02-guide/named.md": (front(id="by-id"), "/docs/guide/by-id"),
    "docs/api/api.md": ("", "/docs/api/"),
    "docs/03-more/more.md": ("", "/docs/more/more"),
    "docs/03-more/index.md": (front(id="overview"), "/docs/more/"),
    "docs/2026-01-notes.md": ("", "/docs/2026-01-notes"),
    "versioned_docs/version-1.0/intro.md": ("", "/docs/1.0/intro"),
    "blog/2026-01-05-hello.md": ("", "/blog/2026/01/05/hello"),
    "blog/2026-01-06-folder/index.md": ("", "/blog/2026/01/06/folder"),
    "blog/2026-01-07-slugged.md": (front(slug="short"), "/blog/short"),
    "src/pages/about.md": ("", "/about"),
    "i18n/fa/docusaurus-plugin-content-docs/current/01-intro.md": ("", "/fa/docs/intro"),
    "i18n/fa/docusaurus-plugin-content-blog/2026-01-05-hello.md": ("", "/fa/blog/2026/01/05/hello"),
}
MKDOCS = {
    "docs/index.md": ("", "/"),
    "docs/guide/README.md": ("", "/guide/"),
    "docs/guide/Set_Up.md": ("", "/guide/Set_Up/"),
    "docs/راهنما/a.md": ("", "/راهنما/a/"),
}
ELEVENTY = {
    "src/index.md": ("", "/"),
    "src/posts/first.md": ("", "/posts/first/"),
    "src/posts/2026-01-05-dated.md": ("", "/posts/2026-01-05-dated/"),
    "src/about.md": (front(permalink="/who/"), "/who/"),
}
PLAIN = {
    "index.html": ("<title>Home</title>", "/"),
    "about.html": ("<title>About</title>", "/about.html"),
    "blog/index.html": ("", "/blog/"),
    "blog/a.htm": ("", "/blog/a.htm"),
}
TREES = {
    Generator.HUGO: (HUGO, {"hugo.toml": 'baseURL = "https://example.com/"'}),
    Generator.JEKYLL: (JEKYLL, {"_config.yml": "title: x\ncollections:\n  recipes:\n    output: true\n"}),
    Generator.ASTRO: (ASTRO, {"astro.config.mjs": "export default defineConfig({})"}),
    Generator.DOCUSAURUS: (DOCUSAURUS, {"docusaurus.config.js": "module.exports = {\n  baseUrl: '/',\n}"}),
    Generator.MKDOCS: (MKDOCS, {"mkdocs.yml": "site_name: x\nx: !!python/name:os.system\n"}),
    Generator.ELEVENTY: (ELEVENTY, {".eleventy.js": 'return { dir: { input: "src" } }'}),
    Generator.PLAIN: (PLAIN, {}),
}


@pytest.mark.parametrize("base", ["", "/base"])
@pytest.mark.parametrize("configured", [True, False])
@pytest.mark.parametrize("generator", TREES)
def test_conventions(generator: Generator, configured: bool, base: str) -> None:
    if not configured and generator is Generator.JEKYLL:
        pytest.skip("a collection has no address without its configuration")
    files, settings = TREES[generator]
    texts = {path: text for path, (text, _) in files.items()}
    pages = [base + url for _, url in files.values()]
    found = pages_of(texts, pages, settings if configured else {})
    wanted = {path: f"{HOST}{base}{url}" for path, (_, url) in files.items()}
    assert {one.file: one.url for one in found.matched} == wanted
    assert (found.missing, found.unsure, found.problems) == ((), (), ())
    if configured:
        assert found.site.generator is generator


@pytest.mark.parametrize(
    ("settings", "path", "text", "url"),
    [
        (
            "permalinks:\n  posts: /:year/:month/:slug/\n",
            "content/posts/a.md",
            front(date="2026-03-04", title="Big Day"),
            "/2026/03/big-day/",
        ),
        ("permalinks:\n  page:\n    posts: /x/:filename/\n", "content/posts/a b.md", "", "/x/a-b/"),
        ("contentDir: texts\n", "texts/posts/a.md", "", "/posts/a/"),
        ("defaultContentLanguage: de\ndefaultContentLanguageInSubdir: true\n", "content/a.md", "", "/de/a/"),
        (
            "languages:\n  fa:\n    contentDir: content/fa\n  en:\n    contentDir: content/en\n",
            "content/fa/a.md",
            "",
            "/fa/a/",
        ),
    ],
)
def test_settings_of_hugo(settings: str, path: str, text: str, url: str) -> None:
    wanted = {path: url}
    assert (
        matched_by_path({path: text}, [url, "/x/other/"], {"hugo.yaml": "baseURL: /\n" + settings}) == wanted
    )


@pytest.mark.parametrize(
    ("settings", "path", "text", "url"),
    [
        ("permalink: pretty\n", "_posts/2026-01-05-a.md", "", "/2026/01/05/a/"),
        ("permalink: ordinal\n", "_posts/2026-01-05-a.md", "", "/2026/005/a.html"),
        ("permalink: weekdate\n", "x/_posts/2026-01-05-a.md", "", "/x/2026/W02/Mon/a.html"),
        ("permalink: none\n", "x/_posts/2026-01-05-a.md", "", "/x/a.html"),
        ("permalink: /blog/:title\n", "_posts/2026-01-05-a.md", "", "/blog/a"),
        (
            "permalink: /:categories/:short_year-:i_month-:i_day/:slug/\n",
            "_posts/2026-01-05-A B.md",
            front(category="x"),
            "/x/26-1-5/a-b/",
        ),
        (
            "collections:\n  docs: {output: true, permalink: /manual/:path/}\n",
            "_docs/a/b.md",
            "",
            "/manual/a/b/",
        ),
        (
            "defaults:\n- scope: {path: '', type: posts}\n  values: {permalink: /n/:title/}\n",
            "_posts/2026-01-05-a.md",
            "",
            "/n/a/",
        ),
    ],
)
def test_settings_of_jekyll(settings: str, path: str, text: str, url: str) -> None:
    assert matched_by_path({path: text}, [url], {"_config.yml": settings}) == {path: url}


def test_a_name_with_a_dot_may_have_no_language() -> None:
    files = {"content/posts/jquery.min.md": "", "content/posts/a.fa.md": "", "content/posts/v1.2.md": ""}
    urls = ["/posts/jquery.min/", "/fa/posts/a/", "/posts/v1.2/"]
    assert matched_by_path(files, urls, {"hugo.toml": ""}) == dict(zip(files, urls, strict=True))


def test_a_page_of_two_files_is_unsure() -> None:
    found = pages_of({"content/a.md": "", "content/a/index.md": ""}, ["/a/"], {"hugo.toml": "baseURL = '/'"})
    assert found.matched == ()
    assert found.unsure == (Unsure(f"{HOST}/a/", "", ("content/a.md", "content/a/index.md")),)
    assert found.missing == ()


def test_a_file_of_two_pages_is_unsure() -> None:
    tree = tree_of({"content/a.md": ""}, {"hugo.toml": "baseURL = '/'"})
    found = match_pages(tree, [KnownPage(f"{HOST}/a/"), KnownPage("https://blog.example.com/a/")])
    assert found.unsure == (Unsure("", "content/a.md", (f"{HOST}/a/", "https://blog.example.com/a/")),)
    assert (found.matched, found.missing) == ((), ())


def test_pages_without_a_file_are_missing() -> None:
    """A page that no file makes is missing; a file whose own address is no page is not taken for another one."""
    found = match_pages(
        tree_of({"content/a.md": front(url="/gone/", title="A long title")}, {"hugo.toml": "baseURL = '/'"}),
        [KnownPage(f"{HOST}/b/", "A long title")],
    )
    assert (found.matched, found.unsure, found.missing) == ((), (), (f"{HOST}/b/",))


def test_a_folder_is_understood_by_its_names() -> None:
    files = {f"app/texts/blog/{name}.md": "" for name in ("one", "two", "three")} | {
        "README.md": "",
        "app/x/one.md": "",
    }
    found = pages_of(files, ["/en/blog/one", "/en/blog/two", "/en/blog/three", "/other"])
    assert {one.file: (one.url, one.how) for one in found.matched} == {
        f"app/texts/blog/{name}.md": (f"{HOST}/en/blog/{name}", How.FOLDER)
        for name in ("one", "two", "three")
    }
    assert found.missing == (f"{HOST}/other",)


BODY = " ".join(f"word{number} and more of it" for number in range(40))
OTHER = " ".join(f"thing{number} is quite another text" for number in range(40))


def test_title_and_text_decide_where_no_name_does() -> None:
    tree = tree_of(
        {
            "x/1.md": f"# Of words\n\n{BODY}",
            "x/2.md": f"---\ntitle: Nothing alike\n---\n{OTHER}",
            "x/3.md": "# Of words\n\nShort.",
        }
    )
    found = match_pages(
        tree,
        [
            KnownPage(f"{HOST}/p?id=1", "Of words | Example", f"Menu of the site. {BODY} Imprint."),
            KnownPage(f"{HOST}/p?id=2", "Of things | Example", f"Menu of the site. {OTHER} Imprint."),
            KnownPage(f"{HOST}/p?id=3", "Of words", ""),
        ],
    )
    assert {(one.file, one.url, one.how) for one in found.matched} == {
        ("x/1.md", f"{HOST}/p?id=1", How.TITLE),
        ("x/2.md", f"{HOST}/p?id=2", How.TEXT),
    }
    assert [(one.file, one.candidates) for one in found.unsure] == [("x/3.md", (f"{HOST}/p?id=3",))]


def test_equal_texts_are_unsure() -> None:
    tree = tree_of({"x/1.md": f"# Of words\n\n{BODY}"})
    found = match_pages(tree, [KnownPage(f"{HOST}/p?id={n}", "Of words", BODY) for n in (1, 2)])
    assert found.matched == ()
    assert found.unsure == (Unsure("", "x/1.md", (f"{HOST}/p?id=1", f"{HOST}/p?id=2")),)


def test_a_title_alone_must_be_unique() -> None:
    tree = tree_of(
        {"x/1.md": "# Of words", "x/2.md": "# Twice said", "x/3.md": "# Twice said", "x/4.md": "# About"}
    )
    pages = [
        KnownPage(f"{HOST}/p?id={n}", title) for n, title in enumerate(("Of words", "Twice said", "About"))
    ]
    found = match_pages(tree, pages)
    assert [(one.file, one.url) for one in found.matched] == [("x/1.md", f"{HOST}/p?id=0")]
    assert {one.file for one in found.unsure} == {"x/2.md", "x/3.md", "x/4.md"}


def test_what_a_person_named_wins() -> None:
    """A saved row wins over all conventions; a row of a page that is gone is passed over."""
    files, settings = (
        {"content/a.md": "", "content/b.md": "", "content/c.md": ""},
        {"hugo.toml": "baseURL = '/'"},
    )
    saved = {f"{HOST}/a/": "content/b.md", f"{HOST}/gone": "content/gone.md"}
    found = match_pages(tree_of(files, settings), [KnownPage(f"{HOST}/{n}/") for n in "abc"], saved)
    assert [*found.rows()] == [
        (f"{HOST}/a/", "content/b.md", "named by you"),
        (f"{HOST}/c/", "content/c.md", "its path"),
        (f"{HOST}/b/", "", "no file was found"),
    ]
    assert found.problems == ()


def test_a_saved_file_that_is_gone_is_a_problem() -> None:
    found = match_pages(tree_of({"a.md": ""}), [KnownPage(f"{HOST}/a/")], {f"{HOST}/a/": "no.md"})
    assert [(one.file, one.how) for one in found.matched] == [("a.md", How.PATH)]
    assert found.problems == (
        f"no.md, the saved file of {HOST}/a/, is not in site, so it was not used. Correct its row.",
    )


def test_saved_files_of_another_folder_are_told_once() -> None:
    pages = [KnownPage(f"{HOST}/{name}/") for name in "ab"]
    found = match_pages(tree_of({"c.md": ""}), pages, {f"{HOST}/{name}/": f"{name}.md" for name in "ab"})
    assert found.problems == (
        "None of the 2 saved files is in site, so none was used. Is it the right folder?",
    )


def test_rows_name_what_is_unsure() -> None:
    settings = {"hugo.toml": "baseURL = '/'"}
    two_files = pages_of({"content/a.md": "", "content/a/index.md": ""}, ["/a/"], settings)
    assert [*two_files.rows()] == [(f"{HOST}/a/", "", "not sure: content/a.md or content/a/index.md")]
    hosts = [KnownPage(f"{HOST}/a/"), KnownPage("https://blog.example.com/a/")]
    two_pages = match_pages(tree_of({"content/a.md": ""}, settings), hosts)
    assert [*two_pages.rows()] == [(page.url, "", "not sure: content/a.md") for page in hosts]


def test_broken_front_matter_and_settings_are_problems() -> None:
    files = {"content/a.md": "---\ntitle: a: b\n---\n", "content/b.md": ""}
    found = pages_of(files, ["/a/", "/b/"], {"hugo.yaml": "baseURL: /\nx: [\n"})
    assert found.problems[0].startswith("hugo.yaml, line ")
    assert found.problems[1].startswith("content/a.md, line 2: ")
    assert len(found.matched) == 2


@pytest.mark.long
def test_a_thousand_files_take_a_second() -> None:
    """1,000 files, a third of which only their texts tell, are matched in about a second."""
    sections = [f"s{number}" for number in range(20)]
    body = "\n\n".join(f"Paragraph {number} says {'this and that ' * 12}." for number in range(8))
    files = {
        f"content/{sections[n % 20]}/page-{n}.md": front(title=f"Page {n} of many") + body + f" {n}" * 9
        for n in range(1000)
    }
    pages = [
        KnownPage(
            f"{HOST}/{sections[n % 20]}/{'page' if n % 3 else 'odd'}-{n}/",
            f"Page {n} of many",
            body + f" {n}" * 9,
        )
        for n in range(1000)
    ]
    tree, start = tree_of(files, {"hugo.toml": "baseURL = '/'"}), time.process_time()
    found = match_pages(tree, pages)
    assert time.process_time() - start < 4
    assert len([one for one in found.matched if one.how is How.PATH]) == 666

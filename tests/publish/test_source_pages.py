"""Source files are matched with pages by their generator's conventions, and what is unsure is listed."""

import time

import pytest

from internal_linker.publish.generators import Generator
from internal_linker.publish.source_pages import How, KnownPage, Unsure, match_pages
from tests.publish.trees import HOST, front, matched_by_path, pages_of, tree_of

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
        # A name with a dot may have no language.
        ("", "content/posts/jquery.min.md", "", "/posts/jquery.min/"),
        ("", "content/posts/v1.2.md", "", "/posts/v1.2/"),
    ],
)
def test_settings_of_hugo(settings: str, path: str, text: str, url: str) -> None:
    files, pages = {path: text}, [url, "/x/other/"]
    if path.count(".") > 1:
        files |= {"content/posts/a.fa.md": ""}
        pages.append("/fa/posts/a/")
    found = matched_by_path(files, pages, {"hugo.yaml": "baseURL: /\n" + settings})
    assert found == dict(zip(files, (url, "/fa/posts/a/"), strict=False))


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


HUGO_SETTINGS = {"hugo.toml": "baseURL = '/'"}


def test_what_is_unsure_or_missing_is_named() -> None:
    """Two files of a page, two pages of a file; a file whose own address is no page is not taken for another one."""
    files = ("content/a.md", "content/a/index.md")
    two_files = pages_of(dict.fromkeys(files, ""), ["/a/"], HUGO_SETTINGS)
    assert two_files.unsure == (Unsure(f"{HOST}/a/", "", files),)
    assert [*two_files.rows()] == [(f"{HOST}/a/", "", "not sure: content/a.md or content/a/index.md")]
    hosts = (f"{HOST}/a/", "https://blog.example.com/a/")
    two_pages = match_pages(tree_of({"content/a.md": ""}, HUGO_SETTINGS), [*map(KnownPage, hosts)])
    assert two_pages.unsure == (Unsure("", "content/a.md", hosts),)
    assert [*two_pages.rows()] == [(url, "", "not sure: content/a.md") for url in hosts]
    tree = tree_of({"content/a.md": front(url="/gone/", title="A long title")}, HUGO_SETTINGS)
    gone = match_pages(tree, [KnownPage(f"{HOST}/b/", "A long title")])
    assert (gone.unsure, gone.missing) == ((), (f"{HOST}/b/",))
    assert two_files.missing == two_pages.missing == ()
    assert not two_files.matched and not two_pages.matched and not gone.matched


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


@pytest.mark.parametrize(
    ("texts", "pages", "matched", "unsure"),
    [
        (
            [f"# Of words\n\n{BODY}", f"---\ntitle: Nothing alike\n---\n{OTHER}", "# Of words\n\nShort."],
            [
                ("Of words | Example", f"Menu of the site. {BODY} Imprint."),
                ("Of things | Example", f"Menu of the site. {OTHER} Imprint."),
                ("Of words", ""),
            ],
            {(1, 1, How.TITLE), (2, 2, How.TEXT)},
            {3: (3,)},
        ),
        # Equal texts.
        ([f"# Of words\n\n{BODY}"], [("Of words", BODY), ("Of words", BODY)], set(), {1: (1, 2)}),
        # A title alone must be unique, and of more than one word.
        (
            ["# Of words", "# Twice said", "# Twice said", "# About"],
            [("Of words", ""), ("Twice said", ""), ("About", "")],
            {(1, 1, How.TITLE)},
            {2: (2,), 3: (2,), 4: (3,)},
        ),
    ],
)
def test_title_and_text_decide_where_no_name_does(
    texts: list[str], pages: list[tuple[str, str]], matched: set[object], unsure: dict[int, tuple[int, ...]]
) -> None:
    tree = tree_of({f"x/{n}.md": text for n, text in enumerate(texts, 1)})
    known = [KnownPage(f"{HOST}/p?id={n}", *page) for n, page in enumerate(pages, 1)]
    found = match_pages(tree, known)
    assert {(int(one.file[2]), int(one.url[-1]), one.how) for one in found.matched} == matched
    named = {
        int(one.file[2]): tuple(int(url[-1]) for url in one.candidates) for one in found.unsure if one.file
    }
    assert named == unsure


def test_what_a_person_named_wins() -> None:
    """A saved row wins over all conventions; a row of a page that is gone is passed over."""
    tree = tree_of(dict.fromkeys(("content/a.md", "content/b.md", "content/c.md"), ""), HUGO_SETTINGS)
    saved = {f"{HOST}/a/": "content/b.md", f"{HOST}/gone": "content/gone.md"}
    found = match_pages(tree, [KnownPage(f"{HOST}/{n}/") for n in "abc"], saved)
    assert [*found.rows()] == [
        (f"{HOST}/a/", "content/b.md", "named by you"),
        (f"{HOST}/c/", "content/c.md", "its path"),
        (f"{HOST}/b/", "", "no file was found"),
    ]
    assert found.problems == ()


def test_saved_files_that_are_gone_are_a_problem() -> None:
    pages = [KnownPage(f"{HOST}/{name}/") for name in "ab"]
    found = match_pages(tree_of({"a.md": ""}), pages[:1], {f"{HOST}/a/": "no.md"})
    assert [(one.file, one.how) for one in found.matched] == [("a.md", How.PATH)]
    assert found.problems == (
        f"no.md, the saved file of {HOST}/a/, is not in site, so it was not used. Correct its row.",
    )
    found = match_pages(tree_of({"c.md": ""}), pages, {f"{HOST}/{name}/": f"{name}.md" for name in "ab"})
    assert found.problems == (
        "None of the 2 saved files is in site, so none was used. Is it the right folder?",
    )


def test_broken_front_matter_and_settings_are_problems() -> None:
    files = {"content/a.md": "---\ntitle: a: b\n---\n", "content/b.md": ""}
    found = pages_of(files, ["/a/", "/b/"], {"hugo.yaml": "baseURL: /\nx: [\n"})
    assert found.problems[0].startswith("hugo.yaml, line ")
    assert found.problems[1].startswith("content/a.md, line 2: ")
    assert len(found.matched) == 2


@pytest.mark.long
def test_a_thousand_files_take_a_second() -> None:
    """1,000 files, a third of which only their texts tell, are matched in about a second."""
    body = "\n\n".join(f"Paragraph {number} says {'this and that ' * 12}." for number in range(8))
    files, pages = dict[str, str](), list[KnownPage]()
    for n in range(1000):
        title, text = f"Page {n} of many", body + f" {n}" * 9
        files[f"content/s{n % 20}/page-{n}.md"] = front(title=title) + text
        pages.append(KnownPage(f"{HOST}/s{n % 20}/{'page' if n % 3 else 'odd'}-{n}/", title, text))
    tree, start = tree_of(files, HUGO_SETTINGS), time.process_time()
    found = match_pages(tree, pages)
    assert time.process_time() - start < 4
    assert len([one for one in found.matched if one.how is How.PATH]) == 666

"""Links are written as the site writes them, and each written link leads to its target."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.source_files import SourceTree
from internal_linker.model.urls import normal_form
from internal_linker.publish.generators import Generator
from internal_linker.publish.link_style import Form, LinkStyle, Style
from internal_linker.publish.source_pages import KnownPage, SourcePages, match_pages
from tests.publish.test_source_pages import TREES
from tests.publish.trees import HOST, tree_of

HUGO = {f"content/posts/{name}.md": f"/posts/{name}/" for name in "abcdef"} | {
    "content/posts/g/index.md": "/posts/g/"
}
HUGO_SETTINGS = {"hugo.toml": 'baseURL = "https://example.com/"'}
MKDOCS = {f"docs/guide/{name}.md": f"/guide/{name}/" for name in "abcdef"} | {
    "docs/top (1).md": "/top%20(1)/"
}
# Below /base: files and settings, where a link stands, a post's or doc's file, and another one.
BASED = {
    "jekyll": (
        {f"_posts/2026-01-0{n}-{name}.md": f"/2026/01/0{n}/{name}.html" for n, name in enumerate("abcdef", 1)}
        | {"about.md": "/about.html"},
        {"_config.yml": "baseurl: /base\n"},
        ("_posts/2026-01-01-a.md", "_posts/2026-01-04-d.md", "_posts/2026-01-03-c.md", "about.md"),
    ),
    "docusaurus": (
        {f"docs/{name}.md": f"/docs/{name}" for name in "abcdef"}
        | {"blog/2026-01-05-x.md": "/blog/2026/01/05/x"},
        {"docusaurus.config.js": "module.exports = {\n  baseUrl: '/base/',\n}"},
        ("docs/a.md", "docs/d.md", "docs/c.md", "blog/2026-01-05-x.md"),
    ),
}
PLAIN = {f"{name}.html": f"/{name}.html" for name in "abcdef"} | {"blog/x.html": "/blog/x.html"}


def learned(
    files: dict[str, str], settings: dict[str, str], texts: dict[str, str], base: str = ""
) -> tuple[LinkStyle, dict[str, str]]:
    """Return the style of a tree with these texts, and the pages' URLs by file."""
    tree = tree_of({path: texts.get(path, "Text.") for path in files}, settings)
    urls = {path: f"{HOST}{base}{url}" for path, url in files.items()}
    pages = match_pages(tree, [KnownPage(url) for url in urls.values()])
    assert {one.file: one.url for one in pages.matched} == urls
    return LinkStyle.learn(tree, pages), urls


@pytest.mark.parametrize(
    ("link", "href"),
    [
        ("Nothing.", "/posts/c/"),
        ("[b](/posts/b/)", "/posts/c/"),
        ("[b](../b/)", "../c/"),
        ("[b](../b/#part 'Title')", "../c/"),
        (f"[b]({HOST}/posts/b/)", f"{HOST}/posts/c/"),
        ("[b](b.md)", "c.md"),
        ("[b](/posts/b.md)", "/posts/c.md"),
        ('[b]({{< ref "/posts/b.md" >}})', '{{< ref "/posts/c.md" >}}'),
        ('[b]({{< relref "b" >}})', '{{< relref "/posts/c" >}}'),
        ('[b]({{% ref "posts/b.md#part" %}})', '{{% ref "/posts/c.md" %}}'),
        ("[b]: /posts/b/\n[c]: ../c/\n[d]: ../d/", "../c/"),
        ("`[b](../b/)`\n\n```\n[b](../b/)\n```\n\n![b](../b/) <!-- [b](../b/) -->", "/posts/c/"),
        ("[x](../nowhere/) [y](https://other.example/) [z](#part) [m](mailto:a@b.c)", "/posts/c/"),
    ],
)
def test_styles_of_hugo(link: str, href: str) -> None:
    style, urls = learned(HUGO, HUGO_SETTINGS, {"content/posts/a.md": link})
    target = "content/posts/c.md"
    assert style.href("content/posts/d.md", target, urls[target]) == href


def test_a_reference_names_the_folder_of_a_bundle() -> None:
    style, urls = learned(HUGO, HUGO_SETTINGS, {"content/posts/a.md": '[b]({{< ref "b.md" >}})'})
    href = style.href("content/posts/d.md", "content/posts/g/index.md", urls["content/posts/g/index.md"])
    assert href == '{{< ref "/posts/g" >}}'
    for known in (href, '{{< ref "g" >}}', '{{< relref "/posts/g/index.md" >}}', '{{< ref path="g" >}}'):
        assert style.leads_to("content/posts/d.md", known) == f"{HOST}/posts/g"
    assert style.leads_to("content/posts/d.md", '{{< ref "nowhere" >}}') is None
    assert style.leads_to("content/posts/d.md", '{{< figure src="/posts/g/" >}}') is None


@pytest.mark.parametrize(
    ("generator", "link", "hrefs"),
    [
        ("jekyll", "Nothing.", ("/base/2026/01/03/c.html", "/base/about.html")),
        # A page that is no post gets no post's tag.
        ("jekyll", "[b]({% post_url 2026-01-02-b %})", ("{% post_url 2026-01-03-c %}", "/base/about.html")),
        (
            "jekyll",
            "[b]({% link _posts/2026-01-02-b.md %})",
            ("{% link _posts/2026-01-03-c.md %}", "{% link about.md %}"),
        ),
        *(
            ("jekyll", f"[b]({link.format(one)})", (link.format(other), link.format(one)))
            for link, one, other in (
                ("{{{{ site.baseurl }}}}{{% link {} %}}", "about.md", "_posts/2026-01-03-c.md"),
                ("{{{{ site.baseurl }}}}{}", "/about.html", "/2026/01/03/c.html"),
                ("{{{{ '{}' | relative_url }}}}", "/about.html", "/2026/01/03/c.html"),
            )
        ),
        ("docusaurus", "Nothing.", ("c.md", "/blog/2026/01/05/x")),
        ("docusaurus", "[b](./b.md)", ("c.md", "/blog/2026/01/05/x")),
        ("docusaurus", "[b](/docs/b)", ("/docs/c", "/blog/2026/01/05/x")),
        ("docusaurus", "[b](/base/docs/b)", ("/base/docs/c", "/base/blog/2026/01/05/x")),
        ("docusaurus", "[b](@site/docs/b.md)", ("@site/docs/c.md", "/blog/2026/01/05/x")),
        ("docusaurus", "[b](./b)", ("c", "../blog/2026/01/05/x")),
    ],
)
def test_styles_below_a_base(generator: str, link: str, hrefs: tuple[str, str]) -> None:
    files, settings, (linking, source, *targets) = BASED[generator]
    style, urls = learned(files, settings, {linking: link}, "/base")
    for file, href in zip(targets, hrefs, strict=True):
        assert style.href(source, file, urls[file]) == href
        assert style.leads_to(source, href) == normal_form(urls[file])


def test_files_of_mkdocs() -> None:
    style, urls = learned(MKDOCS, {"mkdocs.yml": "site_name: x\n"}, {})
    assert style.href("docs/guide/a.md", "docs/top (1).md", urls["docs/top (1).md"]) == "../top%20%281%29.md"
    assert style.href("docs/top (1).md", "docs/guide/a.md", urls["docs/guide/a.md"]) == "guide/a.md"
    assert style.href("docs/guide/a.md", None, f"{HOST}/shop/") == "/shop/"
    assert style.href("docs/guide/a.md", None, "https://shop.example.com/x") == "https://shop.example.com/x"


@pytest.mark.parametrize(
    ("link", "href"),
    [
        ("", "/c.html"),
        ('<a class="x" href="b.html">b</a>', "../c.html"),
        ("<A HREF='/b.html'>b</A>", "/c.html"),
    ],
)
def test_styles_of_html(link: str, href: str) -> None:
    style, urls = learned(PLAIN, {}, {"a.html": link})
    assert style.href("blog/x.html", "c.html", urls["c.html"]) == href


def test_the_majority_decides_and_sections_have_their_own() -> None:
    files = HUGO | {f"content/docs/{name}.md": f"/docs/{name}/" for name in "abcdef"}
    texts = {f"content/posts/{name}.md": "[x](/posts/b/) [y](/posts/c/) [z](../d/)" for name in "abcdef"}
    texts |= {"content/docs/a.md": " ".join(f"[x](../{name}/)" for name in "bcdef")}
    style, urls = learned(files, HUGO_SETTINGS, texts)
    assert style.href("content/posts/a.md", "content/docs/b.md", urls["content/docs/b.md"]) == "/docs/b/"
    assert style.href("content/docs/a.md", "content/docs/b.md", urls["content/docs/b.md"]) == "../b/"


def test_slashes_as_the_site_writes_them() -> None:
    """Where most links leave out the last slash, new ones do; a few don't decide."""
    few, urls = learned(HUGO, HUGO_SETTINGS, {"content/posts/a.md": "[x](/posts/b) [x](/posts/c/)"})
    many, _ = learned(HUGO, HUGO_SETTINGS, {"content/posts/a.md": "[x](/posts/b) " * 6 + "[x](/posts/c/)"})
    target = "content/posts/c.md"
    assert few.href("content/posts/d.md", target, urls[target]) == "/posts/c/"
    assert many.href("content/posts/d.md", target, urls[target]) == "/posts/c"


def test_relative_links_where_urls_have_lost_their_slash() -> None:
    files = {path: url.rstrip("/") for path, url in HUGO.items()}
    style, urls = learned(
        files, HUGO_SETTINGS, {"content/posts/a.md": "[x](../b/) [x](../c/) [x](../../posts/d/)"}
    )
    target = "content/posts/c.md"
    assert style.in_folders is True
    assert style.href("content/posts/d.md", target, urls[target]).rstrip("/") == "../c"
    assert style.leads_to("content/posts/d.md", "../c/#part") == normal_form(urls[target])


def test_what_a_link_leads_to() -> None:
    style, _ = learned(HUGO, HUGO_SETTINGS, {})
    for href, path in {
        "/posts/b/": "/posts/b",
        "/posts/b?utm_source=x#part": "/posts/b",
        "http://www.example.com/Posts/B/": "/posts/b",
        "//example.com/posts/b/index.html": "/posts/b",
        "b.md#part": "/posts/b",
        "./b.md": "/posts/b",
        "../b/": "/posts/b",
        "#part": "/posts/a",
        "/elsewhere/": "/elsewhere",
    }.items():
        assert style.leads_to("content/posts/a.md", href) == HOST + path
    for href in (
        *("mailto:a@example.com", "javascript:void(0)", "http://[", "{{ page.url }}", "https://", "http:b"),
    ):
        assert style.leads_to("content/posts/a.md", href) is None


@pytest.mark.long
@pytest.mark.parametrize("name", ["a.md", "a.html"])
def test_hostile_texts_take_no_time(name: str) -> None:
    parts = ["[]", "[", "[](", "<!--", "`", "{{a}}", "{%", "(", '<a href="{{a}}', "<h1>", "<script>"]
    for part in (*parts, "[a]: {{a}}", "\n```x\n~~~\n", "]("):
        text = "# Title\n\n[x](" + part * (60_000 // len(part))
        start = time.process_time()
        tree = tree_of({name: text, "b.md": text})
        pages = match_pages(tree, [KnownPage(f"{HOST}/p?id=1", "Title", text), KnownPage(f"{HOST}/b")])
        style = LinkStyle.learn(tree, pages)
        style.leads_to("b.md", part * 1000)
        assert time.process_time() - start < 5, part


FORMS = [
    *(
        Form(style, based=based)
        for style in (Style.ROOT, Style.RELATIVE, Style.ABSOLUTE, Style.FILE)
        for based in (True, False)
    ),
    *(Form(Style.FILE_FROM_ROOT, f"{prefix}\0") for prefix in ("/", "@site/")),
    *(Form(Style.REF, template) for template in ('{{< ref "\0" >}}', '{{% relref "\0" %}}')),
    Form(Style.LIQUID_LINK, "{% link \0 %}"),
    Form(Style.POST_URL, "{{ site.baseurl }}{% post_url \0 %}"),
    Form(Style.TEMPLATE, "{{ site.baseurl }}\0"),
    Form(Style.TEMPLATE, "{{ '\0' | relative_url }}"),
]
SITES = dict[tuple[Generator, str], tuple[SourceTree, SourcePages]]()


def site_of(generator: Generator, base: str) -> tuple[SourceTree, SourcePages]:
    if (generator, base) not in SITES:
        files, settings = TREES[generator]
        tree = tree_of({path: text for path, (text, _) in files.items()}, settings)
        pages = match_pages(tree, [KnownPage(f"{HOST}{base}{url}") for _, url in files.values()])
        SITES[generator, base] = tree, pages
    return SITES[generator, base]


@given(st.data())
def test_each_written_link_leads_to_its_target(data: st.DataObject) -> None:
    tree, pages = site_of(
        data.draw(st.sampled_from(list(TREES))), data.draw(st.sampled_from(["", "/base", "/docs"]))
    )
    form = data.draw(st.sampled_from(FORMS))
    style = LinkStyle(
        tree,
        pages,
        {"markdown": form, "html": form},
        slash=data.draw(st.sampled_from([None, True, False])),
        in_folders=data.draw(st.sampled_from([None, True, False])),
    )
    source, target = (data.draw(st.sampled_from(pages.matched)) for _ in range(2))
    file = target.file if data.draw(st.booleans()) else None
    assert style.leads_to(source.file, style.href(source.file, file, target.url)) == normal_form(target.url)

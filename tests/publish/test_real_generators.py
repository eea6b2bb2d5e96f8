"""The addresses of source files are those that the real generators give them, and links lead where they should."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

import pytest

from internal_linker.model.source_files import SourceTree
from internal_linker.publish.insertion import Inserted, Placement, Refusal, insert
from internal_linker.publish.link_style import LinkStyle
from internal_linker.publish.source_pages import KnownPage, SourcePages, match_pages, path_key
from internal_linker.store.files.source_tree import read_tree, write_file
from tests.support.small_project import write_text

pytestmark = pytest.mark.long

HUGO = {
    "hugo.toml": """
baseURL = "https://example.com/base/"
title = "Site"
defaultContentLanguage = "en"
disableKinds = ["taxonomy", "term", "RSS", "sitemap"]
[security]
allowContent = [".*"]
[languages.en]
weight = 1
[languages.fa]
weight = 2
[permalinks.page]
news = "/:year/:month/:slug/"
notes = "/n/:slugorcontentbasename/"
""",
    "layouts/_default/baseof.html": '<html><body>{{ block "main" . }}{{ end }}</body></html>',
    "layouts/_default/single.html": '{{ define "main" }}<h1>{{ .Title }}</h1>{{ .Content }}{{ end }}',
    "layouts/_default/list.html": '{{ define "main" }}<h1>{{ .Title }}</h1>{{ .Content }}{{ end }}',
    "content/_index.md": "---\ntitle: Home\n---\nHome.\n",
    "content/posts/_index.md": "---\ntitle: Posts\n---\nPosts.\n",
    "content/posts/My First_Post!.md": "---\ntitle: One\n---\nOne.\n",
    "content/posts/bundle/index.md": '---\ntitle: Bundle\n---\nSee [one]({{< relref "/posts/a.md" >}}).\n',
    "content/posts/named/index.md": "---\ntitle: Named\nslug: other-name\n---\nNamed.\n",
    "content/posts/b.md": '+++\ntitle = "B"\nslug = "b slug"\n+++\nB.\n',
    "content/posts/c.md": '{"title": "C", "url": "/see/c/"}\n\nC.\n',
    "content/posts/d.html": "---\ntitle: D\n---\n<p>D.</p>\n",
    "content/posts/2026-01-05-dated.md": "---\ntitle: Dated\n---\nDated.\n",
    "content/posts/a.md": "---\ntitle: A\n---\nA.\n",
    "content/posts/a.fa.md": "---\ntitle: الف\n---\nالف.\n",
    "content/posts/C++ & C#.md": "---\ntitle: Signs\n---\nSigns.\n",
    "content/posts/two  spaces, a.b's.md": "---\ntitle: Two\n---\nTwo.\n",
    "content/posts/نیم\u200cفاصله.md": "---\ntitle: نیم\n---\nنیم.\n",
    "content/news/x.md": "---\ntitle: Big Day\ndate: 2026-03-04\n---\nBig.\n",
    "content/notes/y.md": "---\ntitle: Why\n---\nWhy.\n",
    "content/نوشته/سلام دنیا.md": "---\ntitle: سلام\n---\nسلام.\n",
    "content/Über/Café.md": "---\ntitle: Café\n---\nCafé.\n",
}
# Pages of folders that Hugo makes without a file, and the address of the language without a folder.
LISTS = {"/en/", "/fa/", "/fa/posts/", "/news/", "/notes/", "/über/", "/نوشته/"}
MKDOCS = {
    "mkdocs.yml": "site_name: Site\nsite_url: https://example.com/base/\ntheme:\n  name: null\n  custom_dir: theme\n",
    "theme/main.html": "<html><body>{{ page.content }}</body></html>",
    "docs/index.md": "# Home\n\nHome.\n",
    "docs/guide/README.md": "# Guide\n\nSee [B](../B_c.md).\n",
    "docs/guide/set up.md": "# Set up\n\nSet up.\n",
    "docs/B_c.md": "# B\n\nB.\n",
    "docs/راهنما/الف.md": "# الف\n\nالف.\n",
    "docs/a(b).md": "# Signs\n\nSigns.\n",
}
JEKYLL = {
    "_config.yml": """
title: Site
baseurl: /base
exclude: [vendor]
collections:
  recipes: {output: true}
  manual: {output: true, permalink: "/docs/:path/"}
""",
    "index.md": "---\ntitle: Home\n---\nHome\n",
    "Some Page.md": "---\n---\nSome [about]({% link about.md %})\n",
    "about.md": "---\n---\nAbout\n",
    "sub/index.html": "---\n---\n<p>Sub</p>\n",
    "contact.md": "---\npermalink: /reach/\n---\nContact\n",
    "_posts/2026-01-05-Hello World_x.md": "---\ncategories: News tips\n---\nHello\n",
    "_posts/2026-01-06-slugged.md": "---\nslug: Other Slug\n---\nSlugged\n",
    "_posts/2026-01-07-dated.md": "---\ndate: 2026-03-07 10:00:00\n---\nDated\n",
    "_posts/2026-01-08-سلام.md": "---\ncategories: [A b, c]\n---\nSalam\n",
    "_posts/2026-01-09-it's_a-c++.md": "---\n---\nSigns\n",
    "_posts/2026-01-10-own.md": "---\npermalink: /own/:year/:title/\n---\nOwn\n",
    "guides/_posts/2026-02-05-two.md": "---\ntitle: Two\n---\nTwo\n",
    "_recipes/Soup One.md": "---\ntitle: Soup\n---\nSoup\n",
    "_manual/a/b.md": "---\n---\nManual\n",
}


# The call of a generator, run in the folder of the sources.
CALLS = {
    "hugo": "hugo --source {folder} --destination {output} --quiet",
    "mkdocs": "mkdocs build --quiet --strict --site-dir {output}",
    "jekyll": "jekyll build --quiet --source {folder} --destination {output}",
}


def build(name: str, folder: Path, output: Path) -> dict[str, str]:
    """Build a site; return the HTML of its pages by URL."""
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    program = shutil.which(name, path=beside)
    if program is None:
        pytest.skip(f"{name} is not installed: see docs/contributing.md")
    _, *options = (part.format(folder=folder, output=output) for part in CALLS[name].split())
    env = {**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    subprocess.run([program, *options], cwd=folder, check=True, capture_output=True, env=env)
    found = dict[str, str]()
    for path in sorted(output.rglob("*.html")):
        if path.name in {"404.html", "search.html"}:
            continue
        below = path.relative_to(output).as_posix().removesuffix("index.html")
        found["https://example.com/base/" + quote(below, safe="/+()")] = path.read_text(encoding="utf-8")
    return found


def last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def visible(html: str) -> str:
    return " ".join(re.sub(r"<[^<>]*>", " ", html).split())


def add_links(folder: Path, tree: SourceTree, found: SourcePages, target: str) -> dict[str, str]:
    """Link the first word of each file's last line to a target; return the anchors by the URLs of the pages."""
    style, linked = LinkStyle.learn(tree, found), dict[str, str]()
    for one in found.matched:
        file = tree.files[one.file]
        if one.url == target:
            continue
        href = style.href(one.file, found.file_of(target), target)
        word = re.search(r"\w+", visible(last_line(file.text)))
        assert word
        done = insert(file.text, file.text_format, Placement(target, href, word[0], "", lambda href: False))
        if done == Refusal.LINKED:
            continue
        assert isinstance(done, Inserted), (one.file, done)
        write_file(folder, file, done.text)
        linked[one.url] = word[0]
    return linked


@pytest.mark.parametrize(
    ("name", "files", "target", "href", "generated"),
    [
        ("hugo", HUGO, "https://example.com/base/posts/a/", '{{< relref "/posts/a.md" >}}', LISTS),
        ("mkdocs", MKDOCS, "https://example.com/base/guide/set%20up/", "set%20up.md", set[str]()),
        ("jekyll", JEKYLL, "https://example.com/base/about.html", "{% link about.md %}", set[str]()),
    ],
)
def test_real_sites(
    tmp_path: Path, name: str, files: dict[str, str], target: str, href: str, generated: set[str]
) -> None:
    """Each built page has its file; a link in the file leads to its target, and the page is otherwise the same."""
    folder = tmp_path / "sources"
    for path, text in files.items():
        write_text(folder / path, text)
    tree = read_tree(folder)
    before = build(name, folder, tmp_path / "before")
    found = match_pages(tree, [KnownPage(url) for url in before])
    sources = {path for path in tree.files if not path.startswith(("layouts/", "theme/"))}
    assert {unquote(url).removeprefix("https://example.com/base") for url in found.missing} == generated
    assert {one.file for one in found.matched} == sources
    assert found.unsure == ()
    for one in found.matched:
        body = last_line(tree.files[one.file].text)
        word = visible(re.sub(r"[\[\]]|\(.*\)|\.$", "", body)).rstrip(".")
        assert word in visible(before[one.url]), (one, before[one.url])

    built_target = next(url for url in before if unquote(url) == unquote(target))
    linked = add_links(folder, tree, found, built_target)
    after = build(name, folder, tmp_path / "after")
    assert set(after) == set(before)
    assert len(linked) > len(found.matched) - 3
    for url, anchor in linked.items():
        (link,) = re.findall(rf'<a href="([^"]*)">{anchor}</a>', after[url])
        led_to = urljoin(url, link)
        assert path_key(urlsplit(led_to).path) == path_key(unquote(urlsplit(target).path)), (url, link)
        assert after[url].replace(f'<a href="{link}">{anchor}</a>', anchor) == before[url]
    for url in set(before) - set(linked):
        assert after[url] == before[url]
    assert any(href in (folder / path).read_text(encoding="utf-8") for path in sources)

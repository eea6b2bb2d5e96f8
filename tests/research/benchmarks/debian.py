"""A benchmark site of real pages with their editors' links, from Debian's documentation packages.

    python -m tests.research.benchmarks.debian --out DIR                DIR/pages.csv and DIR/existing_links.csv
    python -m tests.research.benchmarks.debian --out DIR --pages 5000   fewer pages
    python -m tests.research.benchmarks.debian --out DIR --packages P   P keeps the downloads (DIR/packages)

Needs apt-get and dpkg-deb, and `apt-get update` once; downloads about 140 MB. The texts belong to their authors and
stay on this computer: none of them is part of this project.
"""

import argparse
import csv
import gzip
import hashlib
import re
import shutil
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import quote, urldefrag, urljoin

from selectolax.lexbor import LexborHTMLParser

from internal_linker.text.html import read_html
from internal_linker.text.words import words

HOST = "https://docs.example"
# The newest version in the release. Together they have prose and reference, short and long pages, and about thirty
# languages (the installation guide, Apache, LibreOffice, LilyPond).
PACKAGES = (
    "apache2-doc",
    "cmake-doc",
    "debian-policy",
    "developers-reference",
    "erlang-doc",
    "gap-doc",
    "git-doc",
    "harden-doc",
    "installation-guide-amd64",
    "libboost1.*-doc",
    "libglib2.0-doc",
    "libgtk-3-doc",
    "libreoffice-help-de",
    "libreoffice-help-en-us",
    "libreoffice-help-es",
    "libreoffice-help-fr",
    "lilypond-doc-html",
    "lilypond-doc-html-de",
    "lilypond-doc-html-fr",
    "octave-doc",
    "openjdk-*-doc",
    "postgresql-doc-*",
    "python-django-doc",
    "python-sqlalchemy-doc",
    "python3.*-doc",
    "qtdeclarative5-doc-html",
    "r-doc-html",
    "sphinx-doc",
    "sqlite3-doc",
    "tomcat*-docs",
)
LEAST_WORDS = 50
# A longer "page" is a whole manual, whose chapters are separate pages.
MOST_CHARACTERS = 200_000
# A destination linked from more than this share of a package's pages is its menu.
MENU_SHARE = 0.1
_HTML = re.compile(r"\.x?html?(\.[a-z]{2}(-[a-z]{2})?)?(\.[a-z0-9-]+)?$", re.IGNORECASE)
_NO_PAGE = re.compile(
    r"(^|[/_-])(gen|py-mod|doc|the)?index(-files/|-all|-[a-z0-9]+\.)|genindex|modindex|search\.|big-page|/class-use/"
    r"|package-(use|tree)\.|overview-tree\.|all(classes|packages)|_source\.|-members\.|/_(sources|static)/|changelog",
    re.IGNORECASE,
)
# Boilerplate around the text of every page; read_html already recognises <nav>.
_FRAME = (
    "noscript, .related, .sphinxsidebar, .navheader, .navfooter, .nav, .navbar, .navigation, .navigationbar, .footer, "
    ".toc, .sidebar, .breadcrumb, .spirit-nav, .toplang, .bottomlang, .top, .nav_table, #preamble, #quickview, "
    "#topsearch, #footer, #tocframe, #TopLeftHeader, .leftside, .rightside"
)
_REDIRECT = "meta[http-equiv=refresh i]"
# .../manual/de/bind.html, .../html/it-IT/ch03.html, index.html.fr
_IN_PATH = re.compile(r"/doc/[^/]+/(?:html/|manual/)?([a-z]{2})(?:-[A-Z]{2})?/|\.html?\.([a-z]{2})\b")
_STEPS = re.compile(
    r"(\W*(next|prev(ious)?|up|home|index|contents|top|back|forward|weiter|zurück|nach oben)\b.*|\W*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A page of a package: `links` are (URL, anchor), wherever they lead."""

    url: str
    title: str
    text: str
    lang: str
    links: tuple[tuple[str, str], ...]


def read_page(url: str, raw: bytes) -> Found | None:
    """Return one file as a page, or None for a redirect, an index, a too short page or a whole book."""
    html = _decoded(raw)
    if _NO_PAGE.search(url.removeprefix(HOST)):
        return None
    tree = LexborHTMLParser(html.encode("utf-8", "replace"))
    for node in reversed(tree.css(_FRAME)):
        node.decompose()
    read = read_html(tree.html or "")
    if (
        tree.css_first(_REDIRECT)
        or len(read.text) > MOST_CHARACTERS
        or len(words(read.text[:5000])) < LEAST_WORDS
    ):
        return None
    title, base = tree.css_first("title"), tree.css_first("base[href]")
    start = urljoin(url, base.attributes["href"]) if base else url
    links = ((urldefrag(urljoin(start, href)).url, anchor) for href, anchor in read.links if _stays(href))
    named = " ".join(title.text().split()) if title else ""
    return Found(url, named, read.text, _language(url, tree), tuple(links))


def chosen(sizes: Mapping[str, int], pages: int) -> int:
    """Return the cap per package: the smallest that reaches the total, and at most a quarter of it.

    Args:
        sizes: pages of each package.
        pages: the wanted total; 0 for all pages.
    """
    wanted = min(pages or sum(sizes.values()), sum(sizes.values()))
    enough = (cap for cap in range(wanted + 1) if sum(min(size, cap) for size in sizes.values()) >= wanted)
    cap = next(enough, 0)
    while cap and cap > sum(min(size, cap) for size in sizes.values()) / 4:
        cap -= 1
    return cap


def site(pages: Sequence[Found]) -> list[tuple[str, str, str]]:
    """Return the editors' links between those pages: source, target, anchor, each pair once, without menus."""
    urls = {page.url for page in pages}
    linked = {
        (page.url, to): anchor
        for page in pages
        for to, anchor in reversed(page.links)  # the first of several anchors
        if to in urls and to != page.url and not _STEPS.fullmatch(anchor)
    }
    incoming = Counter(to for _, to in linked)
    sizes = Counter(_package(page.url) for page in pages)
    return [
        (source, to, anchor)
        for (source, to), anchor in linked.items()
        if incoming[to] <= max(20, MENU_SHARE * sizes[_package(to)])
    ]


def downloaded(folder: Path) -> list[Path]:
    """Return the packages' files, the newest of each, downloaded if missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for tool in ("apt-get", "apt-cache", "dpkg-deb"):
        if not shutil.which(tool):
            raise SystemExit(f"{tool} is not on this computer: the corpus is made on Debian or Ubuntu only.")
    there = {path.name.partition("_")[0]: path for path in sorted(folder.glob("*.deb"))}
    missing = [each for each in PACKAGES if not any(fnmatch(name, each) for name in there)]
    if missing:
        known = subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True, check=False)
        names = [_newest(each, known.stdout.split()) for each in missing]
        wanted = [name for name in names if name]
        command = ["apt-get", "download", "-q", *wanted]
        if not wanted or subprocess.run(command, cwd=folder, check=False).returncode:
            raise SystemExit(
                "The packages can't be downloaded. Run `apt-get update`, online, and start again."
            )
    return [
        path for path in sorted(folder.glob("*.deb")) if any(fnmatch(path.name, f"{p}_*") for p in PACKAGES)
    ]


def pages_of(package: Path) -> Iterator[Found]:
    """Return every page of a package's file; of exact copies only the first."""
    name = package.name.partition("_")[0]
    seen: set[bytes] = set()
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
            for member in archive:
                path = member.name.removeprefix("./usr/share/").removesuffix(".gz")
                file = archive.extractfile(member) if member.isfile() and _HTML.search(path) else None
                if file is None:
                    continue
                raw = file.read()
                raw = gzip.decompress(raw) if member.name.endswith(".gz") else raw
                page = read_page(f"{HOST}/{name}/{quote(path)}", raw)
                digest = hashlib.sha256(page.text.encode("utf-8", "replace")).digest() if page else b""
                if page and digest not in seen:
                    seen.add(digest)
                    yield page


def main() -> None:
    """Download, read, write the two files and print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--pages", type=int, default=0, help="the most pages; 0: all")
    options = parser.parse_args()
    found: dict[str, list[Found]] = {}
    for package in downloaded(options.packages or options.out / "packages"):
        # Sorted by a digest, so that a part of a package is a fair sample.
        pages = sorted(pages_of(package), key=lambda page: hashlib.sha256(page.url.encode()).digest())
        found[package.name.partition("_")[0]] = pages
        print(f"  {package.name.partition('_')[0]:<28}{len(pages):>7} pages", flush=True)
    cap = chosen({name: len(pages) for name, pages in found.items()}, options.pages)
    kept = [page for pages in found.values() for page in sorted(pages[:cap], key=lambda page: page.url)]
    links = site(kept)
    write(options.out, kept, links)
    report(kept, len(links))


def write(folder: Path, pages: Sequence[Found], links: Sequence[tuple[str, str, str]]) -> None:
    """Write pages.csv and existing_links.csv, as a project reads them."""
    rows = ((page.url, page.title, page.text, page.lang) for page in pages)
    for name, header, body in (
        ("pages.csv", ("URL", "Title", "Main Content", "Lang"), rows),
        ("existing_links.csv", ("Source", "Destination", "Anchor"), links),
    ):
        with (folder / name).open("w", encoding="utf-8", errors="replace", newline="") as file:
            csv.writer(file).writerows([header, *body])


def report(pages: Sequence[Found], links: int) -> None:
    """Print counts by package and by language."""
    print(f"{len(pages)} pages, {links} links between them")
    for what, counts in (
        ("package", Counter(_package(page.url) for page in pages)),
        ("language", Counter(page.lang for page in pages)),
    ):
        print(f"by {what}: " + ", ".join(f"{name} {count}" for name, count in counts.most_common()))


def _decoded(raw: bytes) -> str:
    named = re.search(rb"(?:charset|encoding)=[\"']?([\w-]+)", raw[:3000])
    for encoding in ("utf-8", named[1].decode() if named else "", "cp1252"):
        try:
            return raw.decode(encoding or "utf-8")
        except (UnicodeDecodeError, LookupError):
            continue
    return raw.decode("latin-1")


def _language(url: str, tree: LexborHTMLParser) -> str:
    html = tree.css_first("html")
    code = (html.attributes.get("lang") or html.attributes.get("xml:lang") or "") if html else ""
    named = _IN_PATH.search(url)
    return (code.lower() or (next(filter(None, named.groups())) if named else "en"))[:2]


def _newest(pattern: str, names: Sequence[str]) -> str | None:
    def version(name: str) -> list[int]:
        return [int(digits) for digits in re.findall(r"\d+", name)]

    return max((name for name in names if fnmatch(name, pattern)), key=version, default=None)


def _package(url: str) -> str:
    return url.removeprefix(f"{HOST}/").partition("/")[0]


def _stays(href: str) -> bool:
    return not re.match(r"[a-z][a-z0-9+.-]*:|//|#", href, re.IGNORECASE)


if __name__ == "__main__":
    main()

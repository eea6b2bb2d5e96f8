"""Saved pages: HTML files from a browser, wget or a publishing program, each with its URL."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

from internal_linker.model.errors import InputError
from internal_linker.model.records import ReadReport, Reject
from internal_linker.model.urls import normal_form
from internal_linker.sources.web.html_page import address_in, decode_page, read_page
from internal_linker.sources.web.page_table import LinkSpool, Row, cells_of_page

SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
# Maximum bytes of a page, saved or fetched.
MOST_BYTES = 10_000_000
_NO_URL = (
    "the file's URL is unknown: it has neither a canonical nor an og:url. Name the address of its folder "
    "with --base-url"
)

_OUTSIDE = "it is a symbolic link to a file outside the folder. Copy the file into the folder"


@dataclass(frozen=True, slots=True)
class SavedFile:
    """An HTML file."""

    path: Path  # the file
    folder: Path  # the folder that its URL starts from
    found: bool  # whether it was found in the folder, not named by the user

    @property
    def outside(self) -> bool:
        """Whether it was found as a link to a file outside the folder."""
        return self.found and not self.path.resolve().is_relative_to(self.folder.resolve())


def html_files(given: Iterable[Path]) -> list[SavedFile]:
    """Return the HTML files among and below these paths, in order.

    Raises:
        InputError: a folder has no HTML file, or a file does not exist.
    """
    found: list[SavedFile] = []
    for path in given:
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES)
            if not inside:
                raise InputError(f"{path} has no HTML files (.html, .htm, .xhtml). Name another folder.")
            found += [SavedFile(file, path, found=True) for file in inside]
        elif path.exists():
            found.append(SavedFile(path, path.parent, found=False))
        else:
            raise InputError(f"{path} not found: check the path.")
    return found


class SavedPages:
    """Reads saved pages, one at a time; `base_url` is the address of the files' folders, "" if unknown.

    Raises:
        InputError: `base_url` is not a URL.
    """

    def __init__(self, files: Sequence[SavedFile], base_url: str) -> None:
        try:
            self._base = normal_form(base_url).rstrip("/") + "/" if base_url else ""
        except ValueError as error:
            raise InputError(f"--base-url {base_url}: {error}.") from None
        self._files = files

    def rows(self, links: LinkSpool, asides: ReadReport) -> Iterator[Row]:
        """Yield the row of each page; reject files that can't be read and those without a URL."""
        urls = self._urls()
        for number, file in enumerate(self._files, 1):
            path = file.path
            if file.outside:
                asides.rejects.append(Reject(str(path), 1, "", _OUTSIDE))
                continue
            html, url = _html(path), urls.get(_place(path), "")
            if isinstance(html, OSError):
                reason = f"it can't be read ({html.strerror or html})"
                asides.rejects.append(Reject(str(path), 1, url, reason))
                continue
            if not url:
                asides.rejects.append(Reject(str(path), 1, "", _NO_URL))
                continue
            page = read_page(html, url, leads_to=partial(_target, path, urls))
            links.put(url, page.links)
            yield number, cells_of_page(page, asides)

    def _urls(self) -> dict[str, str]:
        urls = {}
        for file in self._files:
            html = "" if file.outside else _html(file.path)
            if isinstance(html, str) and (url := self._url(html, file.path, file.folder)):
                urls[_place(file.path)] = url
        return urls

    def _url(self, html: str, path: Path, folder: Path) -> str:
        noted, named = address_in(html)
        steps = [*path.relative_to(folder).parts]
        if path.stem.lower() == "index":
            steps[-1] = ""
        local = self._base + "/".join(map(quote, steps)) if self._base else ""
        for url in (noted, _joined(noted or local, named), local):
            try:
                normal_form(url)
            except ValueError:
                continue
            return url
        return ""


def _html(path: Path) -> str | OSError:
    try:
        if not path.is_file():
            return OSError(None, "it is not a file")
        if path.stat().st_size > MOST_BYTES:
            return OSError(None, f"it is larger than {MOST_BYTES // 1_000_000} MB")
        return decode_page(path.read_bytes())
    except OSError as error:
        return error


def _place(path: Path) -> str:
    return os.path.normpath(path.absolute())


def _target(path: Path, urls: Mapping[str, str], href: str) -> str:
    """Return the URL of the saved file that a relative link leads to; "" for any other link."""
    local = unquote(href.partition("#")[0].partition("?")[0])
    if not local or local.startswith(("/", "\\")) or ":" in local.partition("/")[0]:
        return ""
    place = os.path.normpath(path.absolute().parent / local)
    return urls.get(place) or urls.get(os.path.join(place, "index.html"), "")  # noqa: PTH118


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address) if address else ""
    except ValueError:
        return ""

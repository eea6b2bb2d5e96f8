"""Which source file is which page: by the generator's conventions, the file's front matter, or its title and text."""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from urllib.parse import urlsplit
from zlib import crc32

from internal_linker.model.source_files import SourceTree, without_suffix
from internal_linker.model.urls import encoded_path, normal_form
from internal_linker.publish.addresses import addresses
from internal_linker.publish.front_matter import FrontMatter, read_front_matter
from internal_linker.publish.generators import GeneratedSite, find_sites

_HEADING = re.compile(r"^#{1,2}[ \t]+(.+?)[ \t]*#*[ \t]*\r?$|^([^\s#>*`-].*)\r?\n=+[ \t]*\r?$", re.MULTILINE)
_HTML_TITLE = re.compile(r"<(title|h1)\b[^<>]*>(.{0,1000}?)</\1\s*>", re.IGNORECASE | re.DOTALL)
# What readers don't see: code, comments, tags, templates, and the addresses of links and pictures.
_UNSEEN = re.compile(
    r"^(```|~~~).*?(?:^\1|\Z)|<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\2\s*>|\Z)|\{[{%#][^{}]*[}%#]\}|<[^<>]*>"
    r"|\]\([^()]*\)|\]\[[^\]\[]*\]",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
# Fewer hashes say nothing about a text.
_FEW_PRINTS = 5
# The shares of equal hashes from which a text is a page's, with the same title and without; the next page's must be
# below half. A crawled page has menus around the text, and the source has templates that put text in.
_ALIKE_WITH_TITLE, _ALIKE = 0.05, 0.35
# A folder of files is a folder of pages from so many equal names on, if at least this share of its files has one.
_FEW_FILES, _AGREEING = 3, 0.5
# Pages with the same last name; a name that more pages have tells nothing about folders.
_MOST_NAMESAKES = 20
# Paths that the site may be published below, tried when the configuration names none that fits.
_MOST_BASES = 12
# Folders of the parts that generators build pages from.
_PARTS = frozenset(
    {
        "_includes",
        "_layouts",
        "_data",
        "_partials",
        "layouts",
        "partials",
        "themes",
        "templates",
        "components",
    }
)
# Candidates of an unsure match that are named.
_MOST_NAMED = 5


class How(StrEnum):
    """How a file was found to be a page; the value is what people read."""

    SAVED = "named by you"
    ADDRESS = "the address in its front matter"
    PATH = "its path"
    FOLDER = "its name, and its folder's other files"
    TITLE = "its title and text"
    TEXT = "its text"


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page of the site: its URL as the site writes it, its title, and its text; "" for what is not known."""

    url: str
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Matched:
    """A file that is a page."""

    file: str
    url: str
    how: How


@dataclass(frozen=True, slots=True)
class Unsure:
    """A page that may be one of several files, or a file that may be one of several pages."""

    url: str  # the page's URL, "" if the file is known and the page is not
    file: str  # the file's path, "" if the page is known and the file is not
    candidates: tuple[str, ...]  # what may be the other side: paths or URLs


@dataclass(frozen=True)
class SourcePages:
    """Which file is which page."""

    matched: tuple[Matched, ...]  # the files that are pages, in the order of the pages
    unsure: tuple[Unsure, ...]  # what was not decided, since more than one match is possible
    missing: tuple[str, ...]  # the URLs of the pages without a file
    site: GeneratedSite  # the generator, its folders, and the path below which the site is published
    problems: tuple[str, ...] = ()  # front matter and configuration that can't be read, one sentence each

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield each page's URL, its file, "" for none that is sure, and how the file was found or what it may be."""
        for one in self.matched:
            yield one.url, one.file, one.how
        doubtful = defaultdict[str, list[str]](list)
        for unsure in self.unsure:
            for candidate in unsure.candidates:
                url, file = (unsure.url, candidate) if unsure.url else (candidate, unsure.file)
                doubtful[url].append(file)
        for url, files in doubtful.items():
            if self.file_of(url) is None:
                yield url, "", f"not sure: {' or '.join(dict.fromkeys(files))}"
        for url in self.missing:
            yield url, "", "no file was found"

    def file_of(self, url: str) -> str | None:
        """Return the file of a page."""
        return self._files.get(normal_form(url))

    def url_of(self, file: str) -> str | None:
        """Return the page's URL that a file makes."""
        return self._urls.get(file)

    @cached_property
    def _files(self) -> dict[str, str]:
        return {normal_form(one.url): one.file for one in self.matched}

    @cached_property
    def _urls(self) -> dict[str, str]:
        return {one.file: one.url for one in self.matched}


@dataclass
class _Search:
    tree: SourceTree
    pages: dict[str, KnownPage]  # by key
    fronts: dict[str, FrontMatter]
    files: dict[str, None]  # an ordered set
    matched: dict[str, Matched] = field(default_factory=dict)  # by the page's key
    unsure: list[Unsure] = field(default_factory=list)

    def match(self, key: str, file: str, how: How) -> None:
        self.matched[key] = Matched(file, self.pages[key].url, how)
        self.files.pop(file, None)


def path_key(path: str) -> str:
    """Return a path without what generators write in different ways: ending, index page, slash, capitals."""
    parts = encoded_path(path).split("/")
    while parts and not parts[-1]:
        parts.pop()
    if parts and parts[-1].lower().endswith((".html", ".htm")):
        parts[-1] = parts[-1].rpartition(".")[0]
    if parts and parts[-1].lower() == "index":
        parts.pop()
    return "/" + "/".join(part for part in parts if part).casefold()


def match_pages(
    tree: SourceTree, pages: Iterable[KnownPage], saved: Mapping[str, str] | None = None
) -> SourcePages:
    """Find the source file of each page; what more than one file could be is listed and not guessed.

    Files in `saved`, by URL, were named by a person or found by an earlier match: they win.

    Raises:
        ValueError: a page or a row of `saved` has no full URL.
    """
    known = dict[str, KnownPage]()
    for page in pages:
        known.setdefault(normal_form(page.url), page)
    fronts = {path: read_front_matter(file.text) for path, file in tree.files.items()}
    search = _Search(tree, known, fronts, dict.fromkeys(tree.files))
    gone = [*_take_saved(search, saved or {})]
    site = _match_paths(search)
    _match_folders(search)
    _match_texts(search)
    unsure = [one for one in search.unsure if _is_open(one, search)]
    doubtful = {normal_form(url) for one in unsure for url in ((one.url,) if one.url else one.candidates)}
    missing = (
        page.url for key, page in search.pages.items() if key not in search.matched and key not in doubtful
    )
    problems = [
        f"{path}, {front.problem}. Correct its front matter."
        for path, front in fronts.items()
        if front.problem
    ]
    return SourcePages(
        tuple(search.matched[key] for key in search.pages if key in search.matched),
        tuple(unsure),
        tuple(missing),
        site,
        (*gone, *site.problems, *problems),
    )


def _take_saved(search: _Search, saved: Mapping[str, str]) -> Iterator[str]:
    """Match what a person named; yield a sentence for each file that is gone, one for all if none is there."""
    folder = search.tree.folder
    asked = {url: file for url, file in saved.items() if normal_form(url) in search.pages}
    if len(asked) > 1 and not any(file in search.tree.files for file in asked.values()):
        yield f"None of the {len(asked)} saved files is in {folder}, so none was used. Is it the right folder?"
        return
    for url, file in saved.items():
        key = normal_form(url)
        if key not in search.pages:  # a page that is gone
            continue
        if file in search.tree.files:
            search.match(key, file, How.SAVED)
        else:
            yield f"{file}, the saved file of {url}, is not in {folder}, so it was not used. Correct its row."


def _is_open(unsure: Unsure, search: _Search) -> bool:
    if unsure.url:
        return normal_form(unsure.url) not in search.matched
    return unsure.file in search.files


# By path


@dataclass(frozen=True, slots=True)
class _Claim:
    """A file that may be a page, the place of the address among the file's, and whether the file names the address."""

    file: str
    place: int
    how: How


def _match_paths(search: _Search) -> GeneratedSite:
    """Match files by the addresses that the generator gives them; return the site that fits most of them."""
    by_path = defaultdict[str, list[str]](list)
    for key in search.pages:
        by_path[path_key(urlsplit(key).path) if "?" not in key else key].append(key)
    sites = find_sites(search.tree)
    published = [
        {path: [*map(path_key, addresses(site, path, search.fronts[path]))] for path in search.tree.files}
        for site in sites
    ]
    number, base = _best_fit(sites, published, by_path)
    site, found = replace(sites[number], base=base), published[number]
    claims = defaultdict[str, list[_Claim]](list)
    for path in [*search.files]:
        own = bool({"url", "permalink", "slug"}.intersection(search.fronts[path].values))
        how = How.ADDRESS if own else How.PATH
        for place, address in enumerate(found[path]):
            keys = by_path.get(_joined(base, address), [])
            if len(keys) > 1:
                search.unsure.append(Unsure("", path, tuple(search.pages[key].url for key in keys)))
            elif keys and keys[0] not in search.matched:
                claims[keys[0]].append(_Claim(path, place, how))
            if keys:
                break
        else:
            if {"url", "permalink"}.intersection(search.fronts[path].values) and found[path]:
                search.files.pop(path)  # the address that it names is not one of the pages
    for key, claimants in claims.items():
        first = min(claim.place for claim in claimants)
        likeliest = [claim for claim in claimants if claim.place == first]
        if len(likeliest) == 1:
            search.match(key, likeliest[0].file, likeliest[0].how)
        else:
            files = tuple(claim.file for claim in likeliest[:_MOST_NAMED])
            search.unsure.append(Unsure(search.pages[key].url, "", files))
    return site


def _best_fit(
    sites: Sequence[GeneratedSite],
    published: Sequence[Mapping[str, Sequence[str]]],
    by_path: Mapping[str, Sequence[str]],
) -> tuple[int, str]:
    """Return the number of the site that gives most files a page's address, and the path it is published below."""
    prefixes = Counter[str]()
    for path in by_path:
        parts = path.split("/")
        prefixes.update("/".join(parts[:depth]) for depth in (2, 3) if len(parts) > depth)
    common = [prefix for prefix, _ in prefixes.most_common(_MOST_BASES)]
    best, found = (-1.0, 0), (0, "")
    for number, site in enumerate(sites):
        configured = [path_key(site.base).rstrip("/")] if site.base is not None else []
        for order, base in enumerate(dict.fromkeys([*configured, "", *common])):
            score = (_fit(published[number], base, by_path), -order)
            if score[0] > best[0] or (score[0] == best[0] and score[1] > best[1]):
                best, found = score, (number, base)
    return found


def _fit(published: Mapping[str, Sequence[str]], base: str, by_path: Mapping[str, Sequence[str]]) -> float:
    """Count the files with a page's address; one that is not the file's likeliest counts for less."""
    places = (
        next((place for place, address in enumerate(found) if _joined(base, address) in by_path), None)
        for found in published.values()
    )
    return sum(1 / (1 + 0.1 * place) for place in places if place is not None)


def _joined(base: str, address: str) -> str:
    return f"{base}{address}".rstrip("/") or "/"


# By folder


def _match_folders(search: _Search) -> None:
    """Match files of folders whose names agree with those of pages: "src/texts/a.md" with "/blog/a".

    This is how a generator that nobody configured here, or whose configuration is a program, is understood.
    """
    left = {
        key: path_key(urlsplit(key).path)
        for key in search.pages
        if key not in search.matched and "?" not in key
    }
    named, by_path = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for key, path in left.items():
        named[path.rpartition("/")[2]].append(path)
        by_path[path].append(key)
    stems = {path: path_key("/" + without_suffix(path)) for path in search.files if not _is_part(path)}
    votes = Counter[tuple[str, str]]()
    for stem in stems.values():
        namesakes = named.get(stem.rpartition("/")[2], ())
        if len(namesakes) <= _MOST_NAMESAKES:
            votes.update({_roots(stem, path) for path in namesakes})
    for (folder, root), agreeing in votes.most_common():
        if agreeing < _FEW_FILES:
            break
        inside = [
            path for path, stem in stems.items() if stem.startswith(f"{folder}/") and path in search.files
        ]
        hits = {path: by_path.get(root + stems[path][len(folder) :], []) for path in inside}
        hits = {path: [key for key in keys if key not in search.matched] for path, keys in hits.items()}
        if sum(1 for keys in hits.values() if keys) < max(_FEW_FILES, _AGREEING * len(inside)):
            continue
        claimed = Counter(key for keys in hits.values() for key in keys)
        for path, keys in hits.items():
            if len(keys) == 1 and claimed[keys[0]] == 1 and not _differ(search, path, keys[0]):
                search.match(keys[0], path, How.FOLDER)
            elif keys:
                urls = tuple(search.pages[key].url for key in keys[:_MOST_NAMED])
                search.unsure.append(Unsure("", path, urls))


def _roots(stem: str, path: str) -> tuple[str, str]:
    one, other = stem.split("/"), path.split("/")
    while one and other and one[-1] == other[-1] and (len(one) > 1 and len(other) > 1):
        one.pop()
        other.pop()
    return "/".join(one), "/".join(other)


def _is_part(path: str) -> bool:
    return not _PARTS.isdisjoint(path.split("/")[:-1])


def _differ(search: _Search, path: str, key: str) -> bool:
    """Return whether a file and a page have nothing in common: neither the title nor a run of words."""
    page = search.pages[key]
    if set(titles(page.title)) & {folded(_title_of(search, path))}:
        return False
    file_prints, page_prints = prints_of(_visible(search, path)), prints_of(page.text)
    return min(len(file_prints), len(page_prints)) >= _FEW_PRINTS and not share_of(file_prints, page_prints)


# By title and text


def _match_texts(search: _Search) -> None:
    """Match files and pages with the same title and a similar text, then those with hardly another text."""
    pages = [key for key in search.pages if key not in search.matched]
    files = [path for path in search.files if not _is_part(path) and search.fronts[path].problem == ""]
    if not pages or not files:
        return
    page_prints = {key: prints_of(search.pages[key].text) for key in pages}
    file_prints = {path: prints_of(_visible(search, path)) for path in files}
    page_titles, file_titles = defaultdict[str, set[str]](set), defaultdict[str, list[str]](list)
    for key in pages:
        for title in titles(search.pages[key].title):
            page_titles[title].add(key)
    for path in files:
        if title := folded(_title_of(search, path)):
            file_titles[title].append(path)
    by_print = defaultdict[int, list[str]](list)
    for key, prints in page_prints.items():
        for one in prints:
            by_print[one].append(key)
    scores = dict[tuple[str, str], float]()
    for path, prints in file_prints.items():
        # What many pages have, such as a menu, tells none of them.
        telling = (keys for one in prints if len(keys := by_print.get(one, ())) <= _MOST_NAMESAKES)
        shared = Counter(key for keys in telling for key in keys)
        for key, _ in shared.most_common(_MOST_NAMESAKES):
            if min(len(prints), len(page_prints[key])) >= _FEW_PRINTS:
                scores[path, key] = share_of(prints, page_prints[key])
    same_title = {
        (path, key) for title, paths in file_titles.items() for path in paths for key in page_titles[title]
    }
    _decide(search, scores, same_title, {key for key in pages if len(page_prints[key]) >= _FEW_PRINTS})


def _decide(
    search: _Search,
    scores: Mapping[tuple[str, str], float],
    same_title: set[tuple[str, str]],
    has_text: set[str],
) -> None:
    """Match each pair that is clearly the best one of both sides; list the others that may be."""
    by_file, by_page = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for (path, key), score in scores.items():
        by_file[path].append(score)
        by_page[key].append(score)
    same = Counter(path for path, _ in same_title) + Counter(key for _, key in same_title)
    doubtful = defaultdict[str, list[str]](list)
    for path, key in sorted(same_title | set(scores), key=lambda pair: (-scores.get(pair, 0.0), pair)):
        score, titled = scores.get((path, key), 0.0), (path, key) in same_title
        rivals = (*_but(by_file[path], score), *_but(by_page[key], score))
        clear = all(2 * other <= score for other in rivals)
        alone = titled and same[path] == 1 == same[key]
        if path not in search.files or key in search.matched:
            continue
        if titled and clear and score >= _ALIKE_WITH_TITLE:
            search.match(key, path, How.TITLE)
        elif clear and score >= _ALIKE:
            search.match(key, path, How.TEXT)
        elif alone and key not in has_text and len(_title_of(search, path).split()) > 1:
            search.match(key, path, How.TITLE)
        elif titled or score >= _ALIKE:
            doubtful[path].append(search.pages[key].url)
    search.unsure += (Unsure("", path, tuple(urls[:_MOST_NAMED])) for path, urls in doubtful.items())


def _but(scores: Sequence[float], own: float) -> list[float]:
    others = [*scores]
    if own in others:
        others.remove(own)
    return others


def _title_of(search: _Search, path: str) -> str:
    front, text = search.fronts[path], search.tree.files[path].text
    if title := front.text("title"):
        return title
    body = text[front.end :][:MOST_CHARACTERS]
    if search.tree.files[path].text_format == "html":
        found = _HTML_TITLE.search(body)
        return re.sub(r"<[^<>]*>", "", found[2]) if found else ""
    heading = _HEADING.search(body)
    return (heading[1] or heading[2]) if heading else ""


def _visible(search: _Search, path: str) -> str:
    text = search.tree.files[path].text
    return _UNSEEN.sub(" ", text[search.fronts[path].end :][:MOST_CHARACTERS])


# Titles end with the site's name behind one of these.
_BRAND = re.compile(r"\s+[|\-–—·•»:]\s+")
_WORDS = re.compile(r"\w+")
# A text's fingerprint: the smallest hashes of its runs of words.
_RUN, _PRINTS = 4, 64
# A fingerprint covers this many characters from the beginning of a text.
MOST_CHARACTERS = 50_000


def titles(title: str) -> Iterator[str]:
    """Yield the forms of a page's title: whole, and without what is behind or before a separator."""
    parts = _BRAND.split(title)
    for form in dict.fromkeys((title, parts[0], *(parts[-1:] if len(parts) == 2 else ()))):
        if words := folded(form):
            yield words


def folded(text: str) -> str:
    """Return the words of a text in small letters."""
    return " ".join(_WORDS.findall(text.casefold()))


def prints_of(text: str) -> frozenset[int]:
    """Return a text's fingerprint: equal for equal texts, and sharing as much as they share runs of words."""
    words = _WORDS.findall(text[:MOST_CHARACTERS].casefold())
    runs = {" ".join(words[start : start + _RUN]) for start in range(max(len(words) - _RUN + 1, 0))}
    return frozenset(heapq.nsmallest(_PRINTS, {crc32(run.encode("utf-8", "replace")) for run in runs}))


def share_of(one: frozenset[int], other: frozenset[int]) -> float:
    """Estimate the share, 0 to 1, of equal runs of words in two texts."""
    smallest = heapq.nsmallest(_PRINTS, one | other)
    return (
        sum(1 for number in smallest if number in one and number in other) / len(smallest)
        if smallest
        else 0.0
    )

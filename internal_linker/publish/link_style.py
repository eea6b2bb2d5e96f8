"""How a site writes its internal links, learned from those that its source files have."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from html import unescape
from posixpath import join, normpath, relpath
from urllib.parse import unquote, urljoin, urlsplit

from internal_linker.model.source_files import SUFFIXES, SourceTree, suffix_of, without_suffix
from internal_linker.model.urls import encoded, normal_form
from internal_linker.publish.generators import Generator
from internal_linker.publish.source_pages import SourcePages, path_key

# Hostile texts must not take long: nothing here has two ways to match the same, or looks far ahead for its end.
_TEMPLATE = r"\{\{[^{}]*\}\}|\{%[^{}]*%\}"
_MARKDOWN_LINKS = re.compile(
    r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]{0,300}\]){0,300}+\]\(\s{0,9}<?"
    rf"((?:{_TEMPLATE}|[^()\s<>]|\([^()\s]*\))++)"
    rf"|^[ ]{{0,3}}\[[^\]^\n]+\]:[ \t]*<?((?:{_TEMPLATE}|[^\s<>])++)",
    re.MULTILINE,
)
_HTML_LINKS = re.compile(
    rf"""<a\s(?:[^<>]*?\s)?href\s*=\s*(?:"((?:{_TEMPLATE}|[^"])*+)"|'((?:{_TEMPLATE}|[^'])*+)')""",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"^[ ]{0,3}(```|~~~).*?(?:^[ ]{0,3}\1|\Z)|<!--.*?(?:-->|\Z)|`[^`\n]+`", re.MULTILINE | re.DOTALL
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
# Where the path stands in a template.
_PATH = "\0"
_REF = re.compile(r"""(\{\{[<%]\s*(?:rel)?ref\s+(?:path=)?)["`]([^"`#]+)(?:#[^"`]*)?["`](\s*[>%]\}\})""")
_POST_URL = re.compile(r"((?:\{\{[^{}]*\}\})*+\{%-?\s*post_url\s+)(\S+?)(\s*-?%\})(?:#.*)?")
_LIQUID_LINK = re.compile(r"((?:\{\{[^{}]*\}\})*+\{%-?\s*link\s+)(\S.*?)(\s*-?%\})(?:#.*)?")
_BASED = re.compile(r"((?:\{\{-?\s*site\.(?:base)?url\s*-?\}\})+)(/[^{}#?]*)(?:#.*)?")
_FILTERED = re.compile(
    r"""(\{\{-?\s*["'])(/[^"'#?]*)(["']\s*\|\s*(?:relative_url|absolute_url|url)\s*-?\}\})(?:#.*)?"""
)
# Characters that would end the path in a URL, or the address in Markdown.
_IN_FILE = {char: f"%{ord(char):02X}" for char in "%#? ()<>\"'"}
# Folders of their own style have this many links, and this share of them in it.
_FEW_LINKS, _CLEAR = 5, 0.7


class Style(StrEnum):
    """A way to write a link; the value is an example."""

    ROOT = "/guide/b/"
    RELATIVE = "../b/"
    ABSOLUTE = "https://example.com/guide/b/"
    FILE = "../guide/b.md"
    FILE_FROM_ROOT = "/guide/b.md"
    REF = '{{< ref "/guide/b.md" >}}'
    LIQUID_LINK = "{% link guide/b.md %}"
    POST_URL = "{% post_url 2026-01-31-b %}"
    TEMPLATE = "{{ site.baseurl }}/guide/b/"


@dataclass(frozen=True, slots=True)
class Form:
    """A style with its details."""

    style: Style
    template: str = ""  # what stands around the path, with NUL for the path; "" where nothing does
    # Whether a path from the root has the path below which the site is published, such as "/docs"
    based: bool = True


@dataclass(frozen=True)
class LinkStyle:
    """How the files of a tree write links to pages.

    A link is written in the form that most links of its folder have, or of all files where the folder has few. Where
    there are none, MkDocs and Docusaurus get paths of files, which they check and turn into addresses of any version
    and language; all others get the page's path on its host, which no generator changes.
    """

    tree: SourceTree
    pages: SourcePages  # which of them is which page
    # The form of most links of each kind of text, "markdown" or "html"
    form: Mapping[str, Form] = field(default_factory=dict)
    # The forms of folders with other links, by kind of text and folder
    sections: Mapping[tuple[str, str], Form] = field(default_factory=dict)
    slash: bool | None = None  # whether links end with a slash; None if they end as the page's URL does
    in_folders: bool | None = None  # whether relative links count a page as a folder; None if its URL tells

    @classmethod
    def learn(cls, tree: SourceTree, pages: SourcePages) -> "LinkStyle":
        """Return the style that the existing links between matched pages have."""
        links = Counter(
            (path, href)
            for path, file in tree.files.items()
            if pages.url_of(path)
            for href in _hrefs(file.text, file.text_format)
        )
        in_folders = _counts_as_folders(cls(tree, pages), links)
        unlearned = cls(tree, pages, in_folders=in_folders)
        forms, slashes = defaultdict[tuple[str, str], Counter[Form]](Counter), Counter[bool | None]()
        for (path, href), times in links.items():
            found = unlearned._read(path, href)
            if found is None or found[0] not in unlearned._known or found[1] is None:
                continue
            forms[_kind(tree, path), _section(path)][found[1]] += times
            slashes[_other_slash(href, found[1], unlearned._known[found[0]])] += times
        whole = defaultdict[str, Counter[Form]](Counter)
        for (kind, _), counts in forms.items():
            whole[kind].update(counts)
        form = {kind: _most(counts) for kind, counts in whole.items()}
        sections = {
            (kind, section): own
            for (kind, section), counts in forms.items()
            if (own := _most(counts)) != form[kind]
            and counts.total() >= _FEW_LINKS
            and counts[own] >= _CLEAR * counts.total()
        }
        slash, count = (slashes.most_common(1) or [(None, 0)])[0]
        return cls(tree, pages, form, sections, slash if count >= _FEW_LINKS else None, in_folders)

    def href(self, from_file: str, to_file: str | None, to_url: str) -> str:
        """Return a link as the site writes it; it surely leads to the page: else its full URL is returned."""
        kind = _kind(self.tree, from_file)
        learned = (self.sections.get((kind, _section(from_file))), self.form.get(kind))
        target = self._key(normal_form(to_url))
        for form in (*filter(None, learned), self._default(kind), self._root_form, Form(Style.ABSOLUTE)):
            written = self._write(form, from_file, to_file, to_url)
            if written and self.leads_to(from_file, written) == target:
                return written
        return encoded(to_url)

    def leads_to(self, from_file: str, href: str) -> str | None:
        """Return the key of the page that a link in a file leads to (its character references resolved); None if
        unknown.
        """
        found = self._read(from_file, href)
        return found[0] if found else None

    def _default(self, kind: str) -> Form:
        files = self.pages.site.generator in {Generator.MKDOCS, Generator.DOCUSAURUS}
        return Form(Style.FILE) if files and kind == "markdown" else self._root_form

    @property
    def _root_form(self) -> Form:
        """The form of a path from the root that works in any text: Docusaurus puts its base before each."""
        return Form(Style.ROOT, based=self.pages.site.generator is not Generator.DOCUSAURUS)

    # Pages by key

    @cached_property
    def _known(self) -> dict[str, str]:
        matched, unsure, missing = self.pages.matched, self.pages.unsure, self.pages.missing
        urls = [*(one.url for one in matched), *missing]
        urls += (url for one in unsure for url in ((one.url,) if one.url else one.candidates))
        return {normal_form(url): url for url in urls}

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """The keys of pages by what all spellings of their URLs share; "" for what pages share."""
        found = dict[str, str]()
        for key in self._known:
            spelling = _spelling(key)
            found[spelling] = "" if found.get(spelling, key) != key else key
        return found

    @cached_property
    def _origin(self) -> str:
        origins = Counter("{0.scheme}://{0.netloc}".format(urlsplit(url)) for url in self._known.values())
        return origins.most_common(1)[0][0] if origins else ""

    def _key(self, key: str) -> str:
        return key if key in self._known else self._spellings.get(_spelling(key)) or key

    def _page(self, base: str, href: str) -> str | None:
        """Return the key of the page that an address on a page with the URL `base` names; None for a broken one."""
        try:
            return self._key(normal_form(urljoin(base, href)))
        except ValueError:
            return None

    def _key_of_file(self, path: str) -> str | None:
        url = self.pages.url_of(path)
        return normal_form(url) if url else None

    def _url_of(self, path: str) -> str:
        return self.pages.url_of(path) or f"{self._origin}/"

    @property
    def _base(self) -> str:
        return self.pages.site.base or ""

    # Reading

    def _read(self, path: str, href: str) -> tuple[str, Form | None] | None:
        """Return the key of the page that a link leads to, and its form; no form for a link within the page."""
        href = href.strip()
        if "{" in href:
            return self._read_template(path, href)
        if not href or href.startswith(("#", "?")):
            key = self._key_of_file(path)
            return (key, None) if key and not href.startswith("?") else None
        if href.startswith(("//", "http:", "https:", "HTTP:", "HTTPS:")):
            # A scheme without a host is broken, though browsers guess.
            key = self._page(self._url_of(path), href) if href.partition("//")[2] else None
            return (key, Form(Style.ABSOLUTE)) if key else None
        if _SCHEME.match(href):
            return None
        if file := self._read_file(path, href):
            return file
        if href.startswith("/"):
            return self._read_root(path, href)
        key = self._page(self._base_url(path), href)
        return (key, Form(Style.RELATIVE)) if key else None

    def _read_file(self, path: str, href: str) -> tuple[str, Form] | None:
        """Read a link to a source file; HTML files of a plain tree are addresses as well."""
        named = unquote(href.partition("#")[0].partition("?")[0])
        if suffix_of(named) not in SUFFIXES or suffix_of(named).startswith(".htm"):
            return None
        prefix = "@site/" if named.startswith("@site/") else "/" if named.startswith("/") else ""
        if not prefix:
            key = self._key_of_file(normpath(join(path.rpartition("/")[0], named)))
            return (key, Form(Style.FILE)) if key else None
        for root in self._file_roots(path):
            if key := self._key_of_file(root + named.removeprefix(prefix)):
                return key, Form(Style.FILE_FROM_ROOT, f"{prefix}{_PATH}")
        return None

    def _file_roots(self, path: str) -> list[str]:
        """Return the folders that a file's path may be counted from, the likeliest first."""
        site = self.pages.site
        return [*dict.fromkeys((site.root_of(path) or "", site.folder, ""))]

    def _read_root(self, path: str, href: str) -> tuple[str, Form] | None:
        """Read a path from the root, with and without the path that the site is published below."""
        origin = self._url_of(path)
        whole = self._page(origin, href)
        if not self._base:
            return (whole, self._root_form) if whole else None
        below = self._page(origin, self._base + href)
        # Docusaurus reads each path as one below the base; elsewhere the browser reads it.
        readings = [(whole, True), (below, False)]
        if not self._root_form.based:
            readings.reverse()
        for key, based in readings:
            if key in self._known:
                return key, Form(Style.ROOT, based=based)
        key, based = readings[0]
        return (key, Form(Style.ROOT, based=based)) if key else None

    def _base_url(self, path: str) -> str:
        url = self._url_of(path).partition("#")[0].partition("?")[0]
        if self.in_folders is None:
            return url
        return url.rstrip("/") + "/" if self.in_folders else url.rstrip("/")

    def _read_template(self, path: str, href: str) -> tuple[str, Form] | None:
        key: str | None = None
        if found := _REF.fullmatch(href):
            key = self._ref(path, found[2])
            form = Form(Style.REF, f'{found[1]}"{_PATH}"{found[3]}')
        elif found := _POST_URL.fullmatch(href):
            ending = f"/_posts/{found[2].rpartition('/')[2]}"
            files = [file for file in self._posts if f"/{without_suffix(file)}".endswith(ending)]
            key = self._key_of_file(files[0]) if len(files) == 1 else None
            form = Form(Style.POST_URL, f"{found[1]}{_PATH}{found[3]}")
        elif found := _LIQUID_LINK.fullmatch(href):
            key = self._key_of_file(self.pages.site.folder + found[2].lstrip("/"))
            form = Form(Style.LIQUID_LINK, f"{found[1]}{_PATH}{found[3]}")
        elif found := _BASED.fullmatch(href) or _FILTERED.fullmatch(href):
            key = self._page(self._url_of(path), self._base + found[2])
            form = Form(Style.TEMPLATE, f"{found[1]}{_PATH}{found[3] if len(found.groups()) > 2 else ''}")
        else:
            return None
        return (key, form) if key else None

    @cached_property
    def _posts(self) -> list[str]:
        return [path for path in self.tree.files if "_posts/" in path]

    # Hugo's references

    @cached_property
    def _logical(self) -> dict[tuple[str, str, str], str]:
        """The files by folder of content, language in the name, and path as references have it."""
        return {self._logical_of(one.file): one.file for one in self.pages.matched}

    def _logical_of(self, path: str) -> tuple[str, str, str]:
        root = self.pages.site.root_of(path) or ""
        whole = without_suffix(path[len(root) :])
        stem, dot, language = whole.rpartition(".")
        languages = self.pages.site.settings.get("languages")
        if not (dot and isinstance(languages, dict) and language in languages):
            stem, language = whole, ""
        folder, _, name = f"/{stem}".rpartition("/")
        return root, language, (folder or "/") if name in {"index", "_index"} else f"/{stem}"

    def _ref(self, path: str, named: str) -> str | None:
        """Return the page that a reference of Hugo names: from the root, from the page, or by a name of its own."""
        root, language, logical = self._logical_of(path)
        asked = named.strip()
        if suffix_of(asked) in SUFFIXES:
            asked = without_suffix(asked)
        asked = asked.rstrip("/").removesuffix("/index") or "/"
        if asked.startswith("/"):
            places = [asked]
        else:
            own = f"/{path[len(root) :]}".rpartition("/")[0]
            places = [
                normpath(join(folder or "/", asked)) for folder in (own, logical.rpartition("/")[0], "")
            ]
        for place in places:
            if file := self._logical.get((root, language, place)):
                return self._key_of_file(file)
        if asked.startswith("/"):
            return None
        files = [
            file
            for (its_root, its_language, place), file in self._logical.items()
            if (its_root, its_language) == (root, language) and place.endswith(f"/{asked}")
        ]
        return self._key_of_file(files[0]) if len(files) == 1 else None

    # Writing

    def _write(self, form: Form, from_file: str, to_file: str | None, to_url: str) -> str | None:
        url = encoded(to_url)
        parts = urlsplit(url)
        query = f"?{parts.query}" if parts.query else ""
        path = self._with_slash(parts.path or "/")
        match form.style:
            case Style.ABSOLUTE:
                return parts._replace(path=path).geturl()
            case Style.ROOT:
                return _without_base(path, "" if form.based else self._base, query)
            case Style.TEMPLATE:
                below = _without_base(path, self._base, query)
                return form.template.replace(_PATH, below) if below and not query else None
            case Style.RELATIVE:
                return self._relative(from_file, path) + query
        if to_file is None or not self._same_content(from_file, to_file):
            return None
        return self._write_file(form, from_file, to_file)

    def _write_file(self, form: Form, from_file: str, to_file: str) -> str | None:
        site = self.pages.site
        match form.style:
            case Style.FILE:
                path = relpath(to_file, from_file.rpartition("/")[0] or ".")
                return "".join(_IN_FILE.get(char, char) for char in path)
            case Style.FILE_FROM_ROOT:
                root = site.folder if form.template.startswith("@") else site.root_of(from_file) or ""
                path = "".join(_IN_FILE.get(char, char) for char in to_file.removeprefix(root))
            case Style.REF:
                logical = self._logical_of(to_file)[2]
                # A reference to a folder's page names the folder.
                is_folder = without_suffix(to_file).endswith("index")
                path = logical if is_folder or not self._refs_have_suffix else logical + suffix_of(to_file)
            case Style.LIQUID_LINK:
                path = to_file.removeprefix(site.folder)
            case _:
                if "_posts/" not in to_file:
                    return None
                path = without_suffix(to_file.partition("_posts/")[2])
        return None if '"' in path else form.template.replace(_PATH, path)

    @cached_property
    def _refs_have_suffix(self) -> bool:
        found = Counter(
            suffix_of(ref[2]) in SUFFIXES
            for file in self.tree.files.values()
            for ref in _REF.finditer(file.text)
        )
        return found[True] >= found[False]

    def _same_content(self, from_file: str, to_file: str) -> bool:
        """Return whether the generator knows the target's file where it reads the other one."""
        site = self.pages.site
        root = site.root_of(from_file)
        if root is None or root != site.root_of(to_file):
            return False
        if site.generator is Generator.DOCUSAURUS:
            return _plugin(from_file[len(root) :]) == _plugin(to_file[len(root) :])
        return self._logical_of(from_file)[1] == self._logical_of(to_file)[1]

    def _relative(self, from_file: str, path: str) -> str:
        folder = urlsplit(self._base_url(from_file)).path.rpartition("/")[0] or "/"
        written = relpath(path, folder)
        if path.endswith("/") and not written.endswith("/"):
            written += "/"
        return f"./{written}" if ":" in written.partition("/")[0] else written

    def _with_slash(self, path: str) -> str:
        if self.slash is None or path == "/" or "." in path.rpartition("/")[2]:
            return path
        return path.rstrip("/") + ("/" if self.slash else "")


def _hrefs(text: str, text_format: str) -> Iterator[str]:
    if text_format == "html":
        for link in _HTML_LINKS.finditer(text):
            yield unescape(link[1] or link[2] or "")
        return
    for link in _MARKDOWN_LINKS.finditer(_CODE.sub("", text)):
        yield link[1] or link[2]


def _kind(tree: SourceTree, path: str) -> str:
    """Return the kind of text that decides on links: Markdown, or HTML, whose addresses no generator changes."""
    file = tree.files.get(path)
    return "html" if file and file.text_format == "html" else "markdown"


def _section(path: str) -> str:
    """Return the two upper folders of a file: the folder of all texts, and the section."""
    return "/".join(path.split("/")[:-1][:2])


def _most(counts: Counter[Form]) -> Form:
    styles = Counter[Style]()
    for form, count in counts.items():
        styles[form.style] += count
    style = styles.most_common(1)[0][0]
    return max((form for form in counts if form.style is style), key=lambda form: counts[form])


def _counts_as_folders(style: LinkStyle, links: Counter[tuple[str, str]]) -> bool | None:
    """Return whether relative links count pages as folders; None if the pages' URLs tell it as well."""
    hits = Counter[bool | None]()
    for (path, href), times in links.items():
        found = style._read(path, href)
        if found and found[1] is not None and found[1].style is Style.RELATIVE:
            for way in (None, True, False):
                tried = LinkStyle(style.tree, style.pages, in_folders=way)._base_url(path)
                hits[way] += times * (style._page(tried, href) in style._known)
    return max((None, True, False), key=lambda way: hits[way])


def _other_slash(href: str, form: Form, url: str) -> bool | None:
    """Return whether a link ends with a slash, None if it ends as the page's URL does or has no slash to end with."""
    if form.style not in {Style.ROOT, Style.RELATIVE, Style.ABSOLUTE}:
        return None
    path, own = href.partition("#")[0].partition("?")[0], urlsplit(url).path
    if own in {"", "/"} or "." in own.rpartition("/")[2] or not path.strip("./"):
        return None
    ends = path.endswith("/")
    return ends if ends != own.endswith("/") else None


def _without_base(path: str, base: str, query: str) -> str | None:
    """Return a path without the one that the site is published below; None for a path outside of it."""
    if not base:
        return path + query
    if path.casefold() != base.casefold() and not path.casefold().startswith(f"{base}/".casefold()):
        return None
    return (path[len(base) :] or "/") + query


def _plugin(path: str) -> tuple[str, ...]:
    """Return the folder of a plugin of Docusaurus, with the version: files of different ones don't know each other."""
    parts = path.split("/")[:-1]
    if parts[:1] == ["i18n"]:
        return tuple(parts[:4])
    return tuple(parts[: 2 if parts[:1] == ["versioned_docs"] else 1])


def _spelling(key: str) -> str:
    """Return what all spellings of a URL share: no scheme, no "www.", and a path without ending and capitals."""
    parts = urlsplit(key)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc.removeprefix('www.')}{path_key(parts.path)}{query}"

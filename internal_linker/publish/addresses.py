"""Addresses: the paths that site generators publish a source file at, by the conventions of each."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from posixpath import normpath
from unicodedata import category

from internal_linker.model.source_files import without_suffix
from internal_linker.publish.front_matter import FrontMatter, scalar
from internal_linker.publish.generators import GeneratedSite, Generator, below_folder, lowered, mapping_of

Paths = Sequence[str]
_DATED = re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})-(?P<name>.+)")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z]{2,4})?", re.IGNORECASE)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_TOKEN = re.compile(r":([a-z_]+)")


def addresses(site: GeneratedSite, path: str, front: FrontMatter) -> Paths:
    """Return the paths that a file may be published at, below the base, the likeliest first."""
    root = site.root_of(path)
    return [] if root is None else _RULES[site.generator](site, root, path[len(root) :], front)


def _folder_and_stem(path: str) -> tuple[str, str]:
    folder, slash, name = without_suffix(path).rpartition("/")
    return f"/{folder}{slash}", name


def _own_address(front: FrontMatter, *names: str) -> str:
    for name in names:
        value = front.text(name)
        if value and not re.search(r"\{\{|\{%|:[a-z]|^false$", value):
            return value
    return ""


# Hugo


def _hugo(site: GeneratedSite, root: str, path: str, front: FrontMatter) -> Paths:
    if url := _own_address(front, "url"):
        own = url if url.startswith("/") else "/" + url
        return [own, *(prefix + own for prefix in _hugo_prefixes(site, root))]
    folder, whole = _folder_and_stem(path)
    stem, language = _hugo_language(site, whole)
    prefixes = [f"/{language}", ""] if language else _hugo_prefixes(site, root)
    name = stem
    if stem in {"index", "_index"}:
        folder, _, name = folder.rstrip("/").rpartition("/")
        folder += "/"
    slug = front.text("slug")
    names = [slug] if slug and stem != "_index" else [name]
    if (dated := _DATED.fullmatch(name)) and not slug:
        names.append(dated["name"])
    patterned = _hugo_permalink(site, path, name, front) if stem != "_index" else []
    found = [*patterned, *(_hugo_path(folder + one) for one in names)]
    in_name = language and not site.settings.get("languages")  # it may be no language, as in "jquery.min"
    return [
        *(prefix + one for prefix in prefixes for one in found),
        *([_hugo_path(folder + whole)] * bool(in_name)),
    ]


def _hugo_language(site: GeneratedSite, stem: str) -> tuple[str, str]:
    name, dot, language = stem.rpartition(".")
    known = mapping_of(site.settings.get("languages"))
    if dot and (language in known if known else _LANGUAGE.fullmatch(language)):
        return name, language
    return stem, ""


def _hugo_prefixes(site: GeneratedSite, root: str) -> list[str]:
    """Return the language folders that a file without a language in its name may be published in, "" for none."""
    for name, values in mapping_of(site.settings.get("languages")).items():
        own = scalar(lowered(mapping_of(values)).get("contentdir"))
        if own and below_folder(site.folder, own) == root:
            return [f"/{name}", ""]
    default = scalar(site.settings.get("defaultcontentlanguage"))
    in_folder = scalar(site.settings.get("defaultcontentlanguageinsubdir")) == "true"
    return [f"/{default or 'en'}", ""] if in_folder else [""]


def _hugo_path(path: str) -> str:
    """Return a path as Hugo publishes it: in lower case, each space as a hyphen, without most punctuation."""
    hyphens = re.sub(r"\s", "-", path.strip())
    return "".join(char for char in hyphens if _is_of_word(char) or char in "./\\_#+~-@%").lower()


def _is_of_word(char: str) -> bool:
    """Return whether a character is a letter, a digit, or a mark such as an accent or an Indic vowel sign."""
    return char.isalnum() or category(char).startswith("M")


def _hugo_permalink(site: GeneratedSite, path: str, name: str, front: FrontMatter) -> list[str]:
    patterns = mapping_of(site.settings.get("permalinks"))
    patterns = mapping_of(patterns.get("page")) or patterns
    sections = path.split("/")[:-1]
    pattern = scalar(patterns.get(sections[0] if sections else "/"))
    if not pattern:
        return []
    title = _hugo_path(front.text("title"))
    slug = _hugo_path(front.text("slug"))
    bare = dated["name"] if (dated := _DATED.fullmatch(name)) else name
    section = sections[:-1] if without_suffix(path).endswith("/index") else sections
    values = {
        **_date_parts(front.text("date") or front.text("publishDate")),
        "section": sections[0] if sections else "",
        "sections": "/".join(section),
        "title": title,
        "slug": slug or title,
        "slugorfilename": slug or _hugo_path(name),
        "slugorcontentbasename": slug or _hugo_path(name),
        "filename": _hugo_path(name),
        "contentbasename": _hugo_path(name),
    }
    filled = _filled(pattern, values)
    others = _filled(
        pattern, {**values, "slugorfilename": slug or bare, "filename": bare, "slug": slug or bare}
    )
    return [*dict.fromkeys(filled + others)]


def _date_parts(text: str) -> dict[str, str]:
    """Return the parts of a day that permalinks may have, for a text with "2026-01-31" in it; {} for none."""
    found = _DATE.search(text)
    if found is None:
        return {}
    try:
        day = date(*map(int, found.groups()))
    except ValueError:
        return {}
    return {
        "year": f"{day.year:04}",
        "short_year": f"{day.year % 100:02}",
        "month": f"{day.month:02}",
        "i_month": str(day.month),
        "day": f"{day.day:02}",
        "i_day": str(day.day),
        "y_day": f"{day.timetuple().tm_yday:03}",
        "week": f"{day.isocalendar().week:02}",
        "short_day": _DAYS[day.weekday()],
    }


def _filled(pattern: str, values: Mapping[str, str]) -> list[str]:
    """Return a pattern such as "/:year/:title/" with its values; nothing if one of them is not known."""
    names = set(_TOKEN.findall(pattern))
    if not names <= set(values):
        return []
    return ["/" + re.sub("/{2,}", "/", _TOKEN.sub(lambda token: values[token[1]], pattern)).strip("/")]


# Jekyll

_STYLES = {
    "date": "/:categories/:year/:month/:day/:title:output_ext",
    "pretty": "/:categories/:year/:month/:day/:title/",
    "ordinal": "/:categories/:year/:y_day/:title:output_ext",
    "weekdate": "/:categories/:year/W:week/:short_day/:title:output_ext",
    "none": "/:categories/:title:output_ext",
}


def _jekyll(site: GeneratedSite, root: str, path: str, front: FrontMatter) -> Paths:
    parts = path.split("/")
    if "_posts" in parts[:-1]:
        return _jekyll_post(site, path, front)
    collection = next((part[1:] for part in parts[:-1] if part.startswith("_")), "")
    if own := _own_address(front, "permalink"):
        return [own if own.startswith("/") else "/" + own]
    if collection:
        return _jekyll_collection(site, collection, path, front)
    folder, stem = _folder_and_stem(path)
    if stem.lower() == "readme":
        return [folder] if not _has_index(site, root + path) else []
    pattern = _jekyll_default(site, path, "pages")
    values = {"path": folder.strip("/"), "basename": stem, "title": stem, "name": stem, "output_ext": ""}
    return [*(_filled(pattern, values) if pattern else ()), folder if stem == "index" else folder + stem]


def _jekyll_post(site: GeneratedSite, path: str, front: FrontMatter) -> Paths:
    folder, stem = _folder_and_stem(path)
    dated = _DATED.fullmatch(stem)
    if dated is None:
        return []
    if own := _own_address(front, "permalink"):
        return [own if own.startswith("/") else "/" + own]
    pattern = front.text("permalink") or _jekyll_default(site, path, "posts")
    pattern = pattern or scalar(site.settings.get("permalink")) or "date"
    pattern = _STYLES.get(pattern, pattern)
    above = folder.partition("_posts/")[0].strip("/").split("/")
    categories = [*above, *(front.texts("categories") or front.texts("category"))]
    slug = front.text("slug") or dated["name"]
    values = {
        "title": _slug(slug, "._~!$&'()+,;=@"),
        "slug": _slug(slug),
        "name": _slug(dated["name"]),
        "categories": "/".join(dict.fromkeys(one.lower() for one in categories if one)),
        "slugified_categories": "/".join(dict.fromkeys(_slug(one) for one in categories if one)),
        "output_ext": "",
    }
    named = f"{dated['year']}-{dated['month']}-{dated['day']}"
    # The time zone of the build decides on which of two days a post with a time is published.
    dates = dict.fromkeys((front.text("date") or named, named))
    return [filled for day in dates for filled in _filled(pattern, {**values, **_date_parts(day)})]


def _jekyll_collection(site: GeneratedSite, name: str, path: str, front: FrontMatter) -> Paths:
    options = mapping_of(mapping_of(site.settings.get("collections")).get(name))
    inside = without_suffix(path.partition(f"_{name}/")[2])
    stem = inside.rpartition("/")[2]
    pattern = _jekyll_default(site, path, name) or scalar(options.get("permalink")) or "/:collection/:path"
    values = {
        "collection": name,
        "path": inside,
        "name": _slug(stem),
        "title": _slug(front.text("slug") or stem, "._~!$&'()+,;=@"),
        "output_ext": "",
    }
    if dated := _DATED.fullmatch(stem):
        values |= _date_parts(stem) | {"title": _slug(front.text("slug") or dated["name"])}
    values |= _date_parts(front.text("date"))
    return _filled(pattern, values)


def _jekyll_default(site: GeneratedSite, path: str, kind: str) -> str:
    """Return the permalink that the configuration's `defaults` give a file; the longest path decides, as in Jekyll."""
    found = list[tuple[int, str]]()
    defaults = site.settings.get("defaults")
    for one in defaults if isinstance(defaults, list) else ():
        scope, values = mapping_of(mapping_of(one).get("scope")), mapping_of(mapping_of(one).get("values"))
        within, pattern = scalar(scope.get("path")).strip("/"), scalar(values.get("permalink"))
        if not pattern or scalar(scope.get("type")) not in {"", kind}:
            continue
        if not within or path == within or path.startswith(f"{within}/"):
            found.append((len(within), _STYLES.get(pattern, pattern)))
    return max(found, key=lambda one: one[0])[1] if found else ""


def _slug(text: str, kept: str = "") -> str:
    chars = "".join(char if _is_of_word(char) or char in kept else "-" for char in text)
    return re.sub("-{2,}", "-", chars).strip("-").lower()


# Astro


def _astro(site: GeneratedSite, root: str, path: str, front: FrontMatter) -> Paths:
    kind, _, inside = path.partition("src/")[2].partition("/")
    if kind == "pages":
        folder, stem = _folder_and_stem(inside)
        return [folder if stem == "index" else folder + stem]
    if kind != "content":
        return []
    collection, _, inside = inside.partition("/")
    slug = front.text("slug")
    segments = [_github_slug(part) for part in without_suffix(inside).split("/")]
    if segments[-1] == "index":
        segments.pop()
    below = "/" + (slug.strip("/") if slug else "/".join(segments))
    # Starlight's collection has no folder of its own; others mostly are published in one of their name.
    return [below, f"/docs{below}"] if collection == "docs" else [f"/{collection}{below}", below]


def _github_slug(text: str) -> str:
    kept = "".join(char for char in text.lower() if char in " -_" or _is_of_word(char))
    return kept.replace(" ", "-")


# Docusaurus

_POST = re.compile(r"(?P<folder>.*)(?P<date>\d{4}[-/]\d{1,2}[-/]\d{1,2})[-/]?(?P<name>.*?)(?:/index)?")
_NUMBERED = re.compile(r"^\d+\s*[-_.]+\s*(?=[^-_.\s])")
# Dates and versions are no numbers of an order.
_NO_ORDER = re.compile(r"\d+[-_.]\d+")


def _docusaurus(site: GeneratedSite, root: str, path: str, front: FrontMatter) -> Paths:
    inside, language = path, ""
    if path.startswith("i18n/"):
        _, language, plugin, *rest = [*path.split("/"), "", ""]
        kind = plugin.removeprefix("docusaurus-plugin-content-")
        inside = "/".join(part for part in (kind, *rest) if part)
        inside = re.sub(r"^docs/(current|(version-[^/]+))/", _unversioned, inside)
        language = f"/{language}"
    if root != site.folder:  # a folder of docs outside of the site's
        inside = f"docs/{path}"
    first, _, below = inside.partition("/")
    if first == "blog" or first.startswith("blog-"):
        return [language + one for one in _docusaurus_post(site, below, front)]
    if inside.startswith("src/pages/"):
        folder, stem = _folder_and_stem(inside.removeprefix("src/pages/"))
        return [language + (folder if stem == "index" else folder + stem)]
    if first == "versioned_docs":
        version, _, below = below.partition("/")
        number = version.removeprefix("version-")
        found = _docusaurus_doc(below, front)
        return [language + base + one for one in found for base in (f"/docs/{number}", "/docs", f"/{number}")]
    if not below:
        return []
    bases = dict.fromkeys((f"/{first}", f"/{first}/next", ""))
    if first == "docs" and (named := _docs_base(site)) is not None:
        bases = dict.fromkeys((named, f"{named}/next"))
    return [language + base + one for base in bases for one in _docusaurus_doc(below, front)]


def _unversioned(found: re.Match[str]) -> str:
    return f"versioned_docs/{found[2]}/" if found[2] else "docs/"


def _docs_base(site: GeneratedSite) -> str | None:
    found = re.search(r"""\bdocs\s*:\s*\{[^{}]*?\brouteBasePath\s*:\s*['"`]([^'"`]*)""", site.script)
    return ("/" + found[1].strip("/")).rstrip("/") if found else None


def _docusaurus_post(site: GeneratedSite, path: str, front: FrontMatter) -> Paths:
    found = re.search(r"""\bblog\s*:\s*\{[^{}]*?\brouteBasePath\s*:\s*['"`]([^'"`]*)""", site.script)
    base = ("/" + found[1].strip("/")).rstrip("/") if found else "/blog"
    if slug := front.text("slug"):
        return [f"{base}/{slug.strip('/')}"]
    stem = without_suffix(path)
    if dated := _POST.fullmatch(stem):
        return [f"{base}/{dated['date'].replace('-', '/')}/{dated['folder']}{dated['name']}"]
    return [f"{base}/{stem.removesuffix('/index')}"]


def _docusaurus_doc(path: str, front: FrontMatter) -> Paths:
    *folders, name = without_suffix(path).split("/")
    # Names with their numbers decide on this: "02-guide/guide.md" is no index page.
    is_index = name.lower() in {"index", "readme", *(folder.lower() for folder in folders[-1:])}
    if front.text("parse_number_prefixes") != "false":
        folders, name = [_without_number(part) for part in folders], _without_number(name)
    folder = "/" + "".join(f"{part}/" for part in folders)
    if slug := front.text("slug"):
        return [slug if slug.startswith("/") else normpath(folder + slug)]
    return [folder if is_index else folder + (front.text("id") or name)]


def _without_number(name: str) -> str:
    return name if _NO_ORDER.match(name) else _NUMBERED.sub("", name, count=1)


# MkDocs, Eleventy, plain files


def _mkdocs(site: GeneratedSite, root: str, path: str, front: FrontMatter) -> Paths:
    folder, stem = _folder_and_stem(path)
    if stem == "README" and _has_index(site, root + path):
        return []
    found = [folder if stem in {"index", "README"} else folder + stem]
    return [*found, *_with_language(folder, stem)]


def _has_index(site: GeneratedSite, path: str) -> bool:
    folder = path[: path.rfind("/") + 1]
    return any(f"{folder}index{suffix}" in site.paths for suffix in (".md", ".markdown", ".html"))


def _with_language(folder: str, stem: str) -> Iterator[str]:
    """Yield the path of a page whose file names its language: "guide/a.fa.md" is published at "/fa/guide/a"."""
    name, dot, language = stem.rpartition(".")
    if dot and _LANGUAGE.fullmatch(language):
        yield f"/{language}{folder}" + ("" if name in {"index", "README"} else name)


def _eleventy(site: GeneratedSite, root: str, path: str, front: FrontMatter) -> Paths:
    if any(part.startswith("_") for part in path.split("/")):  # _includes, _data
        return []
    if front.text("permalink") == "false":
        return []
    if own := _own_address(front, "permalink"):
        return [own if own.startswith("/") else "/" + own]
    folder, stem = _folder_and_stem(path)
    names = [stem, *([dated["name"]] if (dated := _DATED.fullmatch(stem)) else [])]
    # The name of the folder stands for its index page, too.
    return [folder if name == "index" or folder.endswith(f"/{name}/") else folder + name for name in names]


def _plain(site: GeneratedSite, root: str, path: str, front: FrontMatter) -> Paths:
    if own := _own_address(front, "permalink", "url"):
        return [own if own.startswith("/") else "/" + own]
    folder, stem = _folder_and_stem(path)
    return [folder if stem in {"index", "_index"} else folder + stem, *_with_language(folder, stem)]


_RULES: Mapping[Generator, Callable[[GeneratedSite, str, str, FrontMatter], Paths]] = {
    Generator.HUGO: _hugo,
    Generator.JEKYLL: _jekyll,
    Generator.ASTRO: _astro,
    Generator.DOCUSAURUS: _docusaurus,
    Generator.MKDOCS: _mkdocs,
    Generator.ELEVENTY: _eleventy,
    Generator.PLAIN: _plain,
}

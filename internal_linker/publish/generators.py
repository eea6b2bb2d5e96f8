"""Site generators: which of them a tree has the sources for, by their configuration files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from posixpath import normpath

from internal_linker.model.source_files import SourceTree, suffix_of, without_suffix
from internal_linker.publish.front_matter import parse_front_matter, scalar


class Generator(StrEnum):
    """A site generator, as its users call it."""

    HUGO = "Hugo"
    JEKYLL = "Jekyll"
    ASTRO = "Astro"
    DOCUSAURUS = "Docusaurus"
    MKDOCS = "MkDocs"
    ELEVENTY = "Eleventy"
    PLAIN = "plain files"


_MARKS = {
    Generator.DOCUSAURUS: re.compile(r"docusaurus\.config\.\w+"),
    Generator.ASTRO: re.compile(r"astro\.config\.\w+"),
    Generator.MKDOCS: re.compile(r"mkdocs\.ya?ml"),
    Generator.ELEVENTY: re.compile(r"\.eleventy\.c?js|eleventy\.config\.\w+"),
    Generator.JEKYLL: re.compile(r"_config\.(ya?ml|toml)"),
    Generator.HUGO: re.compile(r"hugo\.\w+|config\.(toml|ya?ml|json)|config/_default/\w+\.\w+"),
}


@dataclass(frozen=True)
class GeneratedSite:
    """A site that a tree has the sources of."""

    generator: Generator
    # The folder of its configuration in the tree, with `/` at its end; "" for the tree's own
    folder: str = ""
    # The path below which the site is published, such as "/docs"; "" for the root; None if nothing tells
    base: str | None = None
    # The folders in the tree that addresses are counted from, the longest first, "" or with `/` at the end
    roots: tuple[str, ...] = ("",)
    # The configuration, as far as it is YAML, TOML or JSON
    settings: Mapping[str, object] = field(default_factory=dict)
    script: str = ""  # the configuration, where it is a program
    paths: frozenset[str] = frozenset()  # all source files, which tell whether an index page has a neighbour
    problems: tuple[str, ...] = ()  # what in the configuration can't be read, one sentence each

    def root_of(self, path: str) -> str | None:
        """Return the folder that a file's address is counted from; None for a file that makes no page."""
        return next((root for root in self.roots if path.startswith(root)), None)


def find_sites(tree: SourceTree) -> list[GeneratedSite]:
    """Return the sites that a tree may hold: those with a configuration, else one for each known generator."""
    paths = frozenset(tree.files)
    found = dict[tuple[Generator, str], list[str]]()
    for path in tree.settings:
        folder, name = _split_settings(path)
        for generator, mark in _MARKS.items():
            if mark.fullmatch(name):
                found.setdefault((generator, folder), []).append(path)
    sites = [_configured(generator, folder, files, tree) for (generator, folder), files in found.items()]
    return [site for site in sites if site] or [
        # The plainest comes first: it is the one where several fit the same files.
        GeneratedSite(generator, roots=_default_roots(generator, "", paths), paths=paths)
        for generator in reversed(Generator)
    ]


def _split_settings(path: str) -> tuple[str, str]:
    folder, mark, name = path.rpartition("config/_default/")
    if mark:
        return folder, mark + name
    folder, slash, name = path.rpartition("/")
    return folder + slash, name


def _configured(
    generator: Generator, folder: str, files: Sequence[str], tree: SourceTree
) -> GeneratedSite | None:
    settings, problems, script = dict[str, object](), list[str](), ""
    for path in files:
        kind = suffix_of(path).lstrip(".")
        if kind not in {"yaml", "yml", "toml", "json"}:
            script = tree.settings[path]
            continue
        values, problem = parse_front_matter(tree.settings[path], kind)
        if problem:
            problems.append(f"{path}, {problem}. Its settings are not known.")
        stem = without_suffix(_split_settings(path)[1].rpartition("/")[2])
        in_parts = "config/_default/" in path and stem not in {"hugo", "config"}
        settings.update(
            {stem: values} if in_parts else lowered(values) if generator is Generator.HUGO else values
        )
    if generator is Generator.HUGO and not any(path.startswith(f"{folder}content/") for path in tree.files):
        named = scalar(settings.get("contentdir"))
        if not named and "baseurl" not in settings:
            return None  # config.json and the like are the files of many programs
    paths = frozenset(tree.files)
    site = GeneratedSite(generator, folder, None, (), settings, script, paths, tuple(problems))
    return replace(site, base=_base(site), roots=_roots(site))


def lowered(values: Mapping[str, object]) -> dict[str, object]:
    """Return settings with lower-case names, since Hugo doesn't tell capitals."""
    return {name.lower(): value for name, value in values.items()}


def _base(site: GeneratedSite) -> str | None:
    name = {
        Generator.HUGO: "baseurl",
        Generator.JEKYLL: "baseurl",
        Generator.MKDOCS: "site_url",
    }.get(site.generator)
    if name:
        url = scalar(site.settings.get(name))
        path = re.sub(r"^(https?:)?//[^/]*", "", url)
        return ("/" + path.strip("/")).rstrip("/") if url else None
    pattern = {
        Generator.DOCUSAURUS: r"""^\s*baseUrl\s*:\s*['"`]([^'"`]*)""",
        Generator.ASTRO: r"""^\s*base\s*:\s*['"`]([^'"`]*)""",
        Generator.ELEVENTY: r"""\bpathPrefix\s*:\s*['"`]([^'"`]*)""",
    }[site.generator]
    found = re.search(pattern, site.script, re.MULTILINE)
    return ("/" + found[1].strip("/")).rstrip("/") if found else None


def _roots(site: GeneratedSite) -> tuple[str, ...]:
    folder = site.folder
    if site.generator is Generator.MKDOCS:
        named = scalar(site.settings.get("docs_dir")) or "docs"
        return (below_folder(folder, named),)
    if site.generator is Generator.HUGO:
        content = scalar(site.settings.get("contentdir")) or "content"
        folders = [below_folder(folder, content)]
        for values in mapping_of(site.settings.get("languages")).values():
            if own := scalar(lowered(mapping_of(values)).get("contentdir")):
                folders.append(below_folder(folder, own))
        return tuple(sorted(set(folders), key=len, reverse=True))
    if site.generator is Generator.ELEVENTY:
        found = re.search(r"""\binput\s*:\s*['"`]([^'"`]+)""", site.script)
        called = re.search(r"""setInputDirectory\(\s*['"`]([^'"`]+)""", site.script)
        return (below_folder(folder, (found or called or [None, ""])[1] or ""),)
    if site.generator is Generator.JEKYLL:
        return (below_folder(folder, scalar(site.settings.get("source"))),)
    if site.generator is Generator.DOCUSAURUS:
        outside = re.findall(r"""\bpath\s*:\s*['"`](\.\./[^'"`]+)""", site.script)
        return (*(below_folder(folder, path) for path in outside), folder)
    return _default_roots(site.generator, folder, site.paths)


def _default_roots(generator: Generator, folder: str, paths: frozenset[str]) -> tuple[str, ...]:
    named = {
        Generator.HUGO: ("content/",),
        Generator.MKDOCS: ("docs/",),
        Generator.ELEVENTY: ("src/", "content/"),
    }.get(generator, ())
    there = tuple(
        f"{folder}{name}" for name in named if any(path.startswith(f"{folder}{name}") for path in paths)
    )
    # The folder that was given may be the folder of the texts itself.
    return there or (folder,)


def below_folder(folder: str, path: str) -> str:
    """Return a configured path below a folder of the tree, "" or with `/` at its end."""
    whole = normpath(folder + path.strip().strip("/")) if path.strip("./ ") or folder else "."
    return "" if whole in {".", ".."} else whole.rstrip("/") + "/"


def mapping_of(value: object) -> Mapping[str, object]:
    """Return a value of a configuration if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}

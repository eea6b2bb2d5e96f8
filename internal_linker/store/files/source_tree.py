"""A folder of source files, Markdown and HTML: read as it is, each file replaced whole."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from internal_linker.model.errors import InputError, OutputError
from internal_linker.model.source_files import SUFFIXES, LeftOut, SourceFile, SourceTree, suffix_of
from internal_linker.store.files.atomic import replace_binary, require_in_place
from internal_linker.store.files.encodings import unreadable

# Bytes; larger files are data, generated or minified: nobody writes such a page.
MOST_BYTES = 5_000_000
# A site of more source files than this was never tried; a folder like / or a home folder has more.
MOST_FILES = 100_000
# Markup of other generators (Sphinx, Antora, Emacs) that no link is put into.
_UNSUPPORTED = (".rst", ".adoc", ".asciidoc", ".org", ".textile")
# Folders that generators write into, unless they hold texts: "build" may also be a section of a manual.
_OUTPUTS = frozenset({"public", "dist", "build", "site", "out", "output", "htdocs", "_build"})
_PACKAGES = frozenset({"node_modules", "bower_components", "__pycache__"})
# The configuration files of the generators whose conventions are known; Hugo splits its own over a folder.
_SETTINGS = frozenset(
    f"{stem}.{suffix}"
    for stems, suffixes in (
        (("hugo", "config"), ("toml", "yaml", "yml", "json")),
        (("_config",), ("yml", "yaml", "toml")),
        (("mkdocs",), ("yml", "yaml")),
        (("docusaurus.config", "astro.config", "eleventy.config"), ("js", "mjs", "cjs", "ts", "mts")),
        ((".eleventy",), ("js", "cjs")),
        (("versions",), ("json",)),
    )
    for stem in stems
    for suffix in suffixes
)
_MOST_SETTINGS_BYTES = 200_000
# Folders above a configuration file: a repository of several projects has "apps/docs/astro.config.mjs".
_DEEPEST_SETTINGS = 2
_HUGO_FOLDER = "config/_default/"


@dataclass
class _Found:
    texts: list[str] = field(default_factory=list)  # the source files' paths
    settings: list[str] = field(default_factory=list)  # the configuration files' paths
    left_out: list[LeftOut] = field(default_factory=list)  # what is not read
    # The number of files by suffix in other markup.
    unsupported: Counter[str] = field(default_factory=Counter)


def read_tree(folder: Path, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES) -> SourceTree:
    """Read all Markdown and HTML files below a folder, and the configuration of its site generator.

    Hidden folders, installed packages and build outputs are passed over; links are not followed, because what they lead
    to is read in its own place or is outside the folder. Files that are larger than `most_bytes` or not UTF-8 are
    listed.

    Raises:
        InputError: the folder is missing, can't be read, or has more than `most_files` files.
    """
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "not found: check the path"
        raise InputError(f"{folder} {what}. Name the folder with the site's source files.")
    found = _Found()
    for path in _walk(folder, "", found):
        if len(found.texts) >= most_files:
            raise InputError(
                f"{folder} has more than {most_files:,} source files. Name the folder of one site's texts."
            )
        found.texts.append(path)
    _leave_out_outputs(found)
    files = dict[str, SourceFile]()
    for path in sorted(found.texts):
        read = _read(folder / path, path, most_bytes)
        if isinstance(read, LeftOut):
            found.left_out.append(read)
        else:
            files[path] = read
    settings = {
        path: read.text
        for path in sorted(found.settings)
        if isinstance(read := _read(folder / path, path, _MOST_SETTINGS_BYTES), SourceFile)
    }
    left_out = tuple(sorted(found.left_out, key=lambda one: one.path))
    return SourceTree(str(folder), files, settings, left_out, dict(sorted(found.unsupported.items())))


def write_file(folder: Path, file: SourceFile, text: str) -> SourceFile:
    """Replace the text of a file that was read from a folder, and return the file; mode and byte order mark stay.

    Raises:
        InputError: the file is no longer as it was read, so nothing was written.
        OutputError: the file can't be written; the earlier file stays as it was.
    """
    path, new = folder / file.path, file.encoded(text)
    try:
        # A link may have come into the file's place since, and lead out of the folder.
        changed = not is_inside(folder, path) or path.read_bytes() != file.encoded()
    except FileNotFoundError:
        changed = True
    except OSError as error:
        raise unreadable(path, error) from error
    if changed:
        raise InputError(
            f"{path} has changed since it was read, so nothing was written to it. Run the command again."
        )
    if not os.access(path, os.W_OK):
        raise OutputError(f"{path} is write-protected. Change its permissions and run again.")

    def write(out: BinaryIO) -> None:
        out.write(new)

    require_in_place(path, replace_binary(path, write))
    return SourceFile(file.path, text, file.bom)


def is_inside(folder: Path, path: Path) -> bool:
    """Return whether a path below a folder is in its place: neither `..` nor a link on the way leads elsewhere."""
    return path.is_relative_to(folder) and path.resolve() == folder.resolve() / path.relative_to(folder)


def _walk(folder: Path, below: str, found: _Found) -> Iterator[str]:
    """Yield the paths of the source files below a folder; note what else is there."""
    waiting = [below]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(folder / here) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            if not here:
                raise unreadable(folder, error) from error
            found.left_out.append(LeftOut(here.rstrip("/"), f"can't be read ({error.strerror or error})"))
            continue
        for entry in listed:
            path = here + entry.name
            if entry.is_symlink() or _is_junction(entry):
                if not entry.name.startswith(".") and (entry.is_dir() or suffix_of(path) in SUFFIXES):
                    found.left_out.append(LeftOut(path, "a link to another file or folder"))
            elif entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in _PACKAGES:
                    waiting.append(f"{path}/")
            elif entry.is_file(follow_symlinks=False):
                yield from _sorted_in(path, entry.name, found)


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a junction, Windows' other link between folders; Python 3.11 can't tell."""
    return bool(getattr(entry, "is_junction", lambda: False)())


def _sorted_in(path: str, name: str, found: _Found) -> Iterator[str]:
    suffix = suffix_of(path)
    in_config = path.startswith(_HUGO_FOLDER) and suffix in {".toml", ".yaml", ".yml", ".json"}
    if (name in _SETTINGS and path.count("/") <= _DEEPEST_SETTINGS) or in_config:
        found.settings.append(path)
    elif name.startswith("."):
        return
    elif suffix in SUFFIXES:
        yield path
    elif suffix in _UNSUPPORTED:
        found.unsupported[suffix] += 1


def _leave_out_outputs(found: _Found) -> None:
    """Leave out folders that a generator wrote: named like an output, mostly HTML, beside sources outside of them."""
    pages, texts = Counter[str](), Counter[str]()
    for path in found.texts:
        for output in _outputs_above(path):
            (pages if suffix_of(path).startswith(".htm") else texts)[output] += 1
    outputs = {folder for folder, count in pages.items() if count > texts[folder]}
    outside = [path for path in found.texts if not outputs.intersection(_outputs_above(path))]
    certain = {folder for folder in outputs if folder.rpartition("/")[2] == "_site"}
    if not outside and not found.settings:  # a site whose only sources are in "public" or "site"
        outputs = certain
    found.texts = [path for path in found.texts if not outputs.intersection(_outputs_above(path))]
    found.left_out += (
        LeftOut(folder, f"a build output ({pages[folder] + texts[folder]:,} files)")
        for folder in sorted(outputs)
        if not outputs.intersection(_outputs_above(f"{folder.rpartition('/')[0]}/"))
    )


def _outputs_above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return [
        "/".join(parts[: depth + 1])
        for depth, name in enumerate(parts)
        if name in _OUTPUTS or name == "_site"
    ]


def _read(path: Path, name: str, most_bytes: int) -> SourceFile | LeftOut:
    try:
        with path.open("rb") as file:
            raw = file.read(most_bytes + 1)
    except OSError as error:
        return LeftOut(name, f"can't be read ({error.strerror or error})")
    if len(raw) > most_bytes:
        return LeftOut(name, f"larger than {most_bytes:,} bytes")
    if b"\0" in raw:
        return LeftOut(name, "not a text in UTF-8")
    bom = raw.startswith(b"\xef\xbb\xbf")
    try:
        return SourceFile(name, raw[3 * bom :].decode(), bom)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return LeftOut(name, f"not a text in UTF-8 (line {line}): save it as UTF-8")

"""Trees of source files as the tests write them."""

from collections.abc import Mapping, Sequence

from internal_linker.model.source_files import SourceFile, SourceTree
from internal_linker.publish.source_pages import KnownPage, SourcePages, match_pages

HOST = "https://example.com"


def tree_of(files: Mapping[str, str], settings: Mapping[str, str] | None = None) -> SourceTree:
    return SourceTree("site", {path: SourceFile(path, files[path]) for path in sorted(files)}, settings or {})


def matched_by_path(
    files: Mapping[str, str], paths: Sequence[str], settings: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the paths of the pages by the files that were found for them."""
    found = pages_of(files, paths, settings)
    return {one.file: one.url.removeprefix(HOST) for one in found.matched}


def pages_of(
    files: Mapping[str, str], paths: Sequence[str], settings: Mapping[str, str] | None = None
) -> SourcePages:
    return match_pages(tree_of(files, settings), [KnownPage(HOST + path) for path in paths])


def front(**values: str) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in values.items())
    return f"---\n{lines}---\nText.\n"

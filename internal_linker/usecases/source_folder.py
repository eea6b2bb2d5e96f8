"""A folder of source files with the pages that they are, found once and kept in files/source_files.csv."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from internal_linker.adapters.files.git import WorkTree, find_work_tree
from internal_linker.adapters.files.source_tree import read_tree
from internal_linker.adapters.tables.source_files_csv import NO_FILE, SourceFileRow, SourceFilesCsv
from internal_linker.cms.link_style import LinkStyle
from internal_linker.cms.source_pages import How, KnownPage, SourcePages, match_pages
from internal_linker.core.records import Collected
from internal_linker.core.sequences import counted
from internal_linker.core.source_files import SourceTree
from internal_linker.usecases.project import Project

_FOUND = frozenset(str(how) for how in How if how is not How.SAVED)
_MISSING, _UNSURE = "no file found", "unsure: "


@dataclass(frozen=True)
class SourceFolder:
    """A folder of source files.

    Attributes:
        folder: its resolved path.
        tree: its files.
        pages: which file is which page.
        style: how its files write links.
        work_tree: the git work tree that it is in; None outside of one.
        dirty: paths of files with changes that are in no commit.
        rows: the rows of files/source_files.csv as they should be.
        is_new: whether these rows differ from the file's.
    """

    folder: Path
    tree: SourceTree
    pages: SourcePages
    style: LinkStyle
    work_tree: WorkTree | None
    dirty: frozenset[str]
    rows: Sequence[SourceFileRow]
    is_new: bool

    def why_no_file(self, url: str) -> str:
        """Return why a page has no file, as in `SourceFileRow.how`."""
        return self._reasons.get(url, _MISSING)

    def is_unsure(self, url: str) -> bool:
        """Return whether several files may be a page."""
        return self.why_no_file(url).startswith(_UNSURE)

    @cached_property
    def _reasons(self) -> Mapping[str, str]:
        return {row.url: row.how for row in self.rows if not row.file}

    @property
    def summary(self) -> str:
        """What was found, in a sentence."""
        found = Counter(row.how for row in self.rows if row.file and row.file != NO_FILE)
        parts = ", ".join(f"{count} by {how}" for how, count in found.most_common())
        unsure = sum(row.how.startswith(_UNSURE) for row in self.rows)
        missing = len(self.rows) - found.total() - unsure
        pages = counted(found.total(), "page")
        return (
            f"{counted(len(self.tree.files), 'source file')}; {pages} found{f' ({parts})' if parts else ''}, "
            f"{unsure} unsure, {missing} without a file. All are in files/source_files.csv."
        )


def open_source_folder(project: Project, folder: Path, site: Collected) -> SourceFolder:
    """Read a folder and find which file is which page; what files/source_files.csv says wins.

    Raises:
        InputError: the folder or the file can't be read, or the file names a source file that doesn't exist.
    """
    folder = folder.resolve()
    tree, saved = read_tree(folder), source_files_csv(project).read()
    known = (KnownPage(page.url, page.title or page.h1, str(page.content)) for page in site.pages)
    pages = match_pages(tree, known, _named(saved, tree))
    work_tree = find_work_tree(folder)
    rows = _rows(pages, saved)
    return SourceFolder(
        folder,
        tree,
        pages,
        LinkStyle.learn(tree, pages),
        work_tree,
        work_tree.dirty() if work_tree else frozenset(),
        rows,
        rows != saved,
    )


def source_files_csv(project: Project) -> SourceFilesCsv:
    """Return the file that says which source file is which page."""
    return SourceFilesCsv(project.file("source_files.csv"))


def _named(saved: Sequence[SourceFileRow], tree: SourceTree) -> dict[str, str]:
    """Return the files by URL that hold: a file that was found earlier and has gone since is looked for again."""
    named: dict[str, str] = {}
    for row in saved:
        if row.file.casefold() == NO_FILE:
            named[row.url] = ""
        elif row.file and (row.how not in _FOUND or row.file in tree.files):
            named[row.url] = row.file
    return named


def _rows(pages: SourcePages, saved: Sequence[SourceFileRow]) -> list[SourceFileRow]:
    """Return a row for each page; a match of an earlier time keeps the way in which it was found."""
    before = {(row.url, row.file): row.how for row in saved if row.how in _FOUND}
    by_hand = {row.url for row in saved if row.file.casefold() == NO_FILE}
    candidates = defaultdict[str, list[str]](list)
    for unsure in pages.unsure:
        for url in (unsure.url,) if unsure.url else unsure.candidates:
            candidates[url] += unsure.candidates if unsure.url else (unsure.file,)
    rows = [
        SourceFileRow(one.url, one.file, before.get((one.url, one.file), str(one.how)))
        for one in pages.matched
    ]
    done = {row.url for row in rows}
    rows += [
        SourceFileRow(url, "", _UNSURE + ", ".join(dict.fromkeys(files)))
        for url, files in candidates.items()
        if url not in done
    ]
    for missing in pages.missing:
        named = missing.url in by_hand
        rows.append(
            SourceFileRow(missing.url, NO_FILE if named else "", str(How.SAVED) if named else _MISSING)
        )
    return rows

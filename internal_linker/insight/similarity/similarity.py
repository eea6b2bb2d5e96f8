"""The similarity of pages by title, first heading and content, computed tile by tile."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from internal_linker.match.embed import embed, encodable
from internal_linker.model.arrays import Bools, Ints, Vectors, is_in, unit_rows
from internal_linker.model.ports import Encoder, Progress
from internal_linker.model.records import Page, Text
from internal_linker.model.sequences import Lazy
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.text.stemming import stem
from internal_linker.text.words import words

# Numbers in a tile of similarities; about five such arrays exist at a time, 16 MB each.
TILE = 4_000_000
MOST_ROWS = 1024
# Pairs of rows multiplied at a time.
_PAIRS = 8192

Rows: TypeAlias = Vectors | sparse.csr_matrix


@dataclass(frozen=True, slots=True)
class Field:
    """One field of n pages. Its rows have unit length, or are zeros for a page without that field."""

    name: str  # "title", "h1" or "content"
    weight: float  # its weight beside other fields, above 0
    meaning: Vectors | None = None  # (n, d) float32 embeddings; None if pages are not compared by meaning
    # (n, v) float32 TF-IDF rows, dense or sparse; None if pages are not compared by words
    words: Rows | None = None
    lift: float = 1.0  # how much words count beside the meaning, 0 to 1


class Similarity:
    """The similarity of n pages, -1 to 1: the weighted mean over the fields that both pages have, 0 without any.

    Within a field, two pages are similar by meaning or by words, as if one of two chances were enough: 1 - (1 - m) (1 -
    lift w), with the cosines m and max(w, 0). Without a meaning it is the square root of w: cosines of words are low,
    and the root makes a threshold mean about the same for both (1 in 100 of 18f-blog's pairs is above 0.5 by the words
    of contents, and by the meaning of titles).
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = tuple(fields)
        self._known = [(_known(each.meaning), _known(each.words)) for each in fields]
        self._turned = [_turned(each.words) for each in fields]

    def __len__(self) -> int:
        first = self.fields[0]
        return int((first.words if first.meaning is None else first.meaning).shape[0])  # type: ignore[union-attr]

    def points(self) -> Vectors:
        """Return (n, d) float32: all dense rows side by side, weighted; two of one field share its weight."""
        dense = [rows for rows in self._weighted() if not sparse.issparse(rows)]
        return np.hstack([np.zeros((len(self), 0), np.float32), *dense])

    def words(self) -> sparse.csr_matrix | None:
        """Return (n, v) float32: all sparse rows side by side, weighted likewise; None if there are none."""
        few = [rows for rows in self._weighted() if sparse.issparse(rows)]
        return sparse.hstack(few, format="csr", dtype=np.float32) if few else None

    def tiles(self, *, upper: bool = False) -> Iterator[tuple[int, int, Vectors]]:
        """Yield the first row, the first column and the (rows, columns) float32 similarities of each tile.

        With `upper`, columns below a tile's first row are left out: each pair comes once.
        """
        n = len(self)
        height = min(MOST_ROWS, max(1, TILE // n))
        for start in range(0, n, height):
            first = start if upper else 0
            parts = [self._tile(at, slice(start, start + height), first) for at in range(len(self.fields))]
            yield start, first, _mean(self.fields, parts)

    def compare_rows(self, rows: Ints, others: Ints, field: str = "") -> Vectors:
        """Return (p,) float32: the similarity of each row to another one, by all fields or by the named one."""
        named = [at for at, each in enumerate(self.fields) if field in ("", each.name)]
        fields, found = [self.fields[at] for at in named], [np.empty(0, np.float32)]
        for start in range(0, len(rows), _PAIRS):
            some = slice(start, start + _PAIRS)
            found.append(_mean(fields, [self._some(at, rows[some], others[some]) for at in named]))
        return np.concatenate(found)

    def _weighted(self) -> Iterator[Rows]:
        for each in self.fields:
            there = [rows for rows in (each.meaning, each.words) if rows is not None]
            yield from (rows * np.float32(np.sqrt(each.weight / len(there))) for rows in there)

    def _tile(self, at: int, rows: slice, first: int) -> tuple[Vectors, Bools]:
        field, turned, columns = self.fields[at], self._turned[at], slice(first, None)
        meaning = None if field.meaning is None else field.meaning[rows] @ field.meaning[columns].T
        words: Any = None
        if field.words is not None and turned is not None:
            words = field.words[rows] @ turned[:, columns]
            words = words.toarray() if sparse.issparse(words) else words
        known = [None if each is None else np.outer(each[rows], each[columns]) for each in self._known[at]]
        return _either(meaning, words, field.lift, known[0], known[1])

    def _some(self, at: int, rows: Ints, others: Ints) -> tuple[Vectors, Bools]:
        field = self.fields[at]
        meaning, words = (
            None if each is None else _products(each, rows, others) for each in (field.meaning, field.words)
        )
        known = [None if each is None else each[rows] & each[others] for each in self._known[at]]
        return _either(meaning, words, field.lift, known[0], known[1])


def _mean(fields: Sequence[Field], parts: Sequence[tuple[Vectors, Bools]]) -> Vectors:
    if len(parts) == 1:
        return parts[0][0]
    weights = [np.float32(field.weight) for field in fields]
    total = sum(weight * similar for weight, (similar, _) in zip(weights, parts, strict=True))
    shares = sum(weight * known for weight, (_, known) in zip(weights, parts, strict=True))
    mean: Vectors = np.divide(total, shares, out=np.zeros_like(parts[0][0]), where=shares > 0)
    return mean


def _either(
    meaning: Any, words: Any, lift: float, has_meaning: Bools | None, has_words: Bools | None
) -> tuple[Vectors, Any]:
    """Return the similarities by meaning or words, and where there are any."""
    if words is None or has_words is None:
        return meaning, has_meaning
    words.clip(min=0, out=words)
    if meaning is None or has_meaning is None:
        return np.sqrt(words, out=words), has_words
    alone = np.sqrt(words, out=np.zeros_like(words), where=~has_meaning)
    words *= np.float32(lift)
    words *= 1 - meaning
    meaning += words
    np.copyto(meaning, alone, where=~has_meaning)
    return meaning, has_meaning | has_words


def _known(rows: Any) -> Bools | None:
    if rows is None:
        return None
    return np.asarray(np.diff(rows.indptr) > 0 if sparse.issparse(rows) else (rows != 0).any(axis=1))


def _turned(rows: Any) -> Any:
    return rows.T.tocsr() if sparse.issparse(rows) else None if rows is None else rows.T


def _products(rows: Any, ours: Ints, others: Ints) -> Any:
    if sparse.issparse(rows):
        return np.asarray(rows[ours].multiply(rows[others]).sum(axis=1), np.float32).ravel()
    return np.einsum("ij,ij->i", rows[ours], rows[others])


@dataclass(frozen=True, slots=True)
class ComparedPages:
    """A site's pages and how similar they are."""

    pages: Sequence[Page]  # n of them
    titles: Sequence[str]  # n titles without brand
    similarity: Similarity  # the pages' similarity
    languages: Ints  # (n,) language codes, -1 where unknown
    gives: Bools  # (n,) whether each page gets links, by its role and section
    takes: Bools  # (n,) whether links may lead to it
    brands: Sequence[str]  # the brands removed from the titles
    links: Ints  # keys of the links between the pages, source * n + target, ascending
    followed: Ints  # keys of those that pass weight, likewise
    # how many pages neither get links nor may be linked to, by the reason; they are not compared
    left_out: Counter[str]
    gaps: Sequence[str]  # what is missing, one sentence each

    def linked(self, sources: Ints, targets: Ints) -> Bools:
        """Return (p,) whether each of these rows links to the other one today."""
        return is_in(sources.astype(np.int64) * len(self.pages) + targets, self.links)


# A word in more of the titles tells nothing; among a handful of titles, a share tells nothing.
_COMMON, _FEW = 0.3, 10


def title_words(titles: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """Return (n, v) float32 TF-IDF rows of unit length; zeros for a title without a word that tells anything."""
    n = len(titles)
    of, columns = _numbered(titles)
    frequency = np.bincount(columns, minlength=1)
    idf = 1 + np.log((1 + n) / (1 + frequency))
    idf[frequency > max(_FEW, _COMMON * n)] = 0
    kept = idf[columns] > 0
    weights = idf[columns[kept]]
    lengths = np.sqrt(np.bincount(of[kept], weights**2, n))
    values = (weights / lengths[of[kept]]).astype(np.float32)
    return sparse.csr_matrix((values, (of[kept], columns[kept])), (n, len(frequency)))


def _numbered(titles: Sequence[Sequence[str]]) -> tuple[Ints, Ints]:
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(word, len(numbers)) for word in dict.fromkeys(title)] for title in titles]
    columns = np.array([number for row in rows for number in row], np.int64)
    return np.repeat(np.arange(len(rows)), [len(row) for row in rows]), columns


# Default weights of the fields. On 18f-blog's editors' links, titles beside contents cost no NDCG@5 up to a share of a
# fifth, 0.01 with 3 in 10, 0.06 with half.
FIELDS: Mapping[str, float] = {"title": 1.0, "h1": 1.0, "content": 4.0}


@dataclass(frozen=True)
class Encoders:
    """The encoders by which pages are compared."""

    encoder: Encoder | None  # encodes the meaning; None: pages are compared by words only
    cache: EmbeddingCache  # keeps the encoder's vectors
    words: Encoder  # encodes contents by their words
    # how much words count beside the meaning, 0 to 1, by field; None: only words count
    lifts: Mapping[str, float | None] = field(default_factory=dict)


def field_similarity(
    pages: Sequence[Page],
    titles: Sequence[str],
    fields: Mapping[str, float],
    encoders: Encoders,
    progress: Progress,
) -> tuple[Similarity, list[str]]:
    """Encode each field of all pages: "title" (without brand), "h1" or "content", by its weight above 0.

    Returns:
        The pages' similarity, and what is missing, one sentence each.
    """
    compared: list[Field] = []
    gaps: list[str] = []
    for name, weight in fields.items():
        texts = field_texts(name, pages, titles)
        lift = encoders.lifts.get(name, 1.0)
        meaning = None
        if encoders.encoder and lift is not None:
            known, left_out = encodable(texts, [page.lang for page in pages], encoders.encoder)
            if left_out:
                progress.warn(left_out)
            embedded = embed(known, encoders.encoder, encoders.cache, progress)
            gaps += [embedded.problem] if embedded.problem else []
            meaning = unit_rows(embedded.vectors)
        by_words = meaning is None or lift
        rows = _words(name, pages, texts, encoders, progress) if by_words else None
        compared.append(Field(name, weight, meaning, rows, lift or 0.0))
    return Similarity(compared), gaps


def field_texts(name: str, pages: Sequence[Page], titles: Sequence[str]) -> Sequence[Text]:
    """Return the text of each page for a field; its hash identifies its vector in the cache."""
    return Lazy(len(pages), _Texts(name, pages, titles))


class _Texts:
    def __init__(self, name: str, pages: Sequence[Page], titles: Sequence[str]) -> None:
        self._name, self._pages, self._titles = name, pages, titles

    def __call__(self, row: int) -> Text:
        page, title, body = self._pages[row], self._titles[row], ""
        if self._name == "h1":
            title = page.h1
        elif self._name == "content":
            body = str(page.content).strip()
            title = (title or page.h1) if body else ""
        return Text(title.strip(), body, page.key)


def _words(
    name: str, pages: Sequence[Page], texts: Sequence[Text], encoders: Encoders, progress: Progress
) -> Rows:
    if name == "content":
        return unit_rows(embed(texts, encoders.words, encoders.cache, progress).vectors)
    stemmed = (
        [stem(word, page.lang) for word in words(text.title)] for page, text in zip(pages, texts, strict=True)
    )
    return title_words(list(stemmed))

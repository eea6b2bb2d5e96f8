"""The records of the lists that a run leaves beside the links."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AddedLink:
    """A link that an editor made, as the user writes its URLs, and its target's place for its source, from 1.

    0: it was not among the candidates.
    """

    source: str
    target: str
    anchor: str
    place: int


@dataclass(frozen=True, slots=True)
class ExcludedTarget:
    """Where no link of `source` may lead, and why: URLs as the user writes them; no source: see the reason."""

    source: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two pages of nearly the same text, as the user writes their URLs; `canonical` is the one to keep.

    `similarity` and `lexical` are as in `Candidate`, `overlap` the share of their shingles, 0 to 1.
    """

    page: str
    canonical: str
    similarity: float
    lexical: float
    overlap: float


@dataclass(frozen=True, slots=True)
class Orphan:
    """A page that no other links to today, and the pages most similar to it, best first: the user's own URLs."""

    page: str
    sources: tuple[str, ...]

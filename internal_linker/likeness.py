"""Pages and the fields to compare them by -> their similarity, by meaning (an encoder) or words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from internal_linker.arrays import Vectors
from internal_linker.embedding import embed, encodable, unit_rows
from internal_linker.ports import Encoder, Progress, VectorCache
from internal_linker.records import Page, Text
from internal_linker.sequences import Lazy
from internal_linker.similarity import Field, Rows, Similarity
from internal_linker.stems import stem
from internal_linker.steps.title_words import title_words
from internal_linker.steps.words import words

# How much a field counts beside others that are compared, where nobody says so. On 18f-blog, whose editors' links
# were to be found, titles beside contents cost NDCG@5 nothing up to a fifth, 0.01 as 3 in 10, 0.06 as half.
FIELDS: Mapping[str, float] = {"title": 1.0, "h1": 1.0, "content": 4.0}


@dataclass(frozen=True)
class Senses:
    """What pages are compared with.

    Attributes:
        encoder: of the meaning; None: words only.
        cache: of its vectors.
        words: an encoder of contents by their words.
        lifts: by the field, how much the words count beside the meaning, 0 to 1; None: they alone count.
    """

    encoder: Encoder | None
    cache: VectorCache
    words: Encoder
    lifts: Mapping[str, float | None] = field(default_factory=dict)


def likeness(
    pages: Sequence[Page],
    titles: Sequence[str],
    fields: Mapping[str, float],
    senses: Senses,
    progress: Progress,
    finish: Callable[[Vectors], Vectors] = lambda vectors: vectors,
) -> tuple[Similarity, list[str]]:
    """Read each field of all pages; the answer tells in sentences what could not be had.

    Args:
        pages: n of them.
        titles: theirs, without brand.
        fields: what to compare by ("title", "h1", "content"), and how much each counts, above 0.
        senses: the encoders.
        progress: is told.
        finish: makes other vectors of an encoder's (n, d).
    """
    compared: list[Field] = []
    gaps: list[str] = []
    for name, weight in fields.items():
        texts = Lazy(len(pages), _Texts(name, pages, titles))
        lift = senses.lifts.get(name, 1.0)
        meaning = None
        if senses.encoder and lift is not None:
            known, unknown = encodable(texts, [page.lang for page in pages], senses.encoder)
            if unknown:
                progress.warn(
                    f"{unknown} pages are in a language that {senses.encoder.name} does not know: "
                    "they are compared by their words."
                )
            embedded = embed(known, senses.encoder, senses.cache, progress)
            gaps += [embedded.problem] if embedded.problem else []
            meaning = finish(unit_rows(embedded.vectors))
        by_words = meaning is None or lift
        rows = _words(name, pages, texts, senses, progress) if by_words else None
        compared.append(Field(name, weight, meaning, rows, lift or 0.0))
    return Similarity(compared), gaps


class _Texts:
    """The text of a page by which one field of it is compared."""

    def __init__(self, name: str, pages: Sequence[Page], titles: Sequence[str]) -> None:
        self._name, self._pages, self._titles = name, pages, titles

    def __call__(self, row: int) -> Text:
        page = self._pages[row]
        if self._name == "title":
            return Text(self._titles[row].strip(), "")
        if self._name == "h1":
            return Text(page.h1.strip(), "")
        body = str(page.content).strip()
        return Text((self._titles[row] or page.h1).strip(), body) if body else Text("", "")


def _words(
    name: str, pages: Sequence[Page], texts: Sequence[Text], senses: Senses, progress: Progress
) -> Rows:
    if name == "content":
        return unit_rows(embed(texts, senses.words, senses.cache, progress).vectors)
    stemmed = (
        [stem(word, page.lang) for word in words(text.title)] for page, text in zip(pages, texts, strict=True)
    )
    return title_words(list(stemmed))

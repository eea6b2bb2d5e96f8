"""Pages and the fields to compare them by -> their similarity, by meaning (an encoder) or words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from internal_linker.analysis.similarity.similarity import Field, Rows, Similarity
from internal_linker.analysis.similarity.title_words import title_words
from internal_linker.core.arrays import unit_rows
from internal_linker.core.ports import Encoder, Progress, VectorCache
from internal_linker.core.records import Page, Text
from internal_linker.core.sequences import Lazy
from internal_linker.embeddings.embed import embed, encodable
from internal_linker.text.stemming import stem
from internal_linker.text.words import words

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
) -> tuple[Similarity, list[str]]:
    """Read each field of all pages; the answer tells in sentences what could not be had.

    Args:
        pages: n of them.
        titles: theirs, without brand.
        fields: what to compare by ("title", "h1", "content"), and how much each counts, above 0.
        senses: the encoders.
        progress: is told.
    """
    compared: list[Field] = []
    gaps: list[str] = []
    for name, weight in fields.items():
        texts = Lazy(len(pages), _Texts(name, pages, titles))
        lift = senses.lifts.get(name, 1.0)
        meaning = None
        if senses.encoder and lift is not None:
            known, left_out = encodable(texts, [page.lang for page in pages], senses.encoder)
            if left_out:
                progress.warn(left_out)
            embedded = embed(known, senses.encoder, senses.cache, progress)
            gaps += [embedded.problem] if embedded.problem else []
            meaning = unit_rows(embedded.vectors)
        by_words = meaning is None or lift
        rows = _words(name, pages, texts, senses, progress) if by_words else None
        compared.append(Field(name, weight, meaning, rows, lift or 0.0))
    return Similarity(compared), gaps


class _Texts:
    """The text of a page by which one field of it is compared."""

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
    name: str, pages: Sequence[Page], texts: Sequence[Text], senses: Senses, progress: Progress
) -> Rows:
    if name == "content":
        return unit_rows(embed(texts, senses.words, senses.cache, progress).vectors)
    stemmed = (
        [stem(word, page.lang) for word in words(text.title)] for page, text in zip(pages, texts, strict=True)
    )
    return title_words(list(stemmed))

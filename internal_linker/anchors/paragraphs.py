"""The paragraphs of a source's text: which of them fits a link to a target best."""

from functools import cached_property

import numpy as np

from internal_linker.anchors.name_table import NameTable
from internal_linker.anchors.source_text import SourceText
from internal_linker.core.arrays import Ints, Vectors
from internal_linker.text.sentences import paragraphs


class Paragraphs:
    """The paragraphs of a source's text.

    Attributes:
        begins: where each paragraph begins.
    """

    def __init__(self, text: SourceText) -> None:
        self._text, self.begins = text, paragraphs(text.text)

    def best(self, names: NameTable) -> Ints:
        """Return (t,) the number of the paragraph that fits a link to each target best.

        It has much of the target's subject, in few words.
        """
        within, stems, length = self._stems
        distinct, _ = self._text.distinct
        weights = names.weighing(distinct, lambda target: target.subject)
        weights[names.stems_in(distinct)] = 1
        t, n = weights.shape[0], len(length)
        places = (within + n * np.arange(t)[:, None]).ravel()
        fits = np.bincount(places, weights[:, stems].ravel(), n * t).reshape(t, n) / length
        best: Ints = fits.argmax(axis=1)
        return best

    @cached_property
    def _stems(self) -> tuple[Ints, Ints, Vectors]:
        """(s,) the paragraph and the number of each distinct stem of a paragraph; (p,) each paragraph's length, a root.

        A stem that a closed word has first is left out.
        """
        phrases, begins = self._text.phrases, np.array(self.begins)
        within = (np.searchsorted(begins, phrases.starts, side="right") - 1)[phrases.owners]
        _, first = np.unique((within << 32) + phrases.stems, return_index=True)
        first = first[~self._text.closed[phrases.owners[first]]]
        length = np.sqrt(1 + np.bincount(within, minlength=len(begins)))
        return within[first], self._text.distinct[1][first], length

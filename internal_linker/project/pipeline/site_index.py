"""What a lookup needs of a site: read from the index as far as that is up to date, else computed and kept."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any
from unicodedata import unidata_version

import numpy as np

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.match.embed import Embedded
from internal_linker.match.site_index import Site
from internal_linker.match.tokens import Tokenized, tokenize
from internal_linker.model.arrays import Vectors
from internal_linker.model.errors import OutputError
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Tracker
from internal_linker.model.records import Collected, ExistingLink, Targets, Text
from internal_linker.model.version import program_digest
from internal_linker.project.pipeline.columns import from_columns, to_columns
from internal_linker.project.pipeline.context import RunContext
from internal_linker.rank.adaptation import Adaptation, Examples, adapted
from internal_linker.rank.rank import Ranking
from internal_linker.rank.rules import LinkRules

# The parts of the index.
PAGES, SITE, HUBNESS, RANKER, ANCHORS = "pages", "site", "hubness", "ranker", "anchors"
WORDS, PHRASES, RUN = "words", "phrases", "run"
# What is quickly computed again, so that only an open site keeps it.
TARGETS, KEYS = "targets", "keys"
# The hubness of further texts is kept when it is known for this share of all more than before.
_WORTH_WRITING = 0.05


@dataclass(frozen=True)
class PageComparison:
    """The part of the index that compares pages."""

    state: str  # what it was derived from
    ranking: Ranking  # the pages' words, vectors and links, as `Ranking.lasting` returns them
    hashes: Sequence[str]  # `Embedded.hashes` of the pages
    notes: Sequence[str]  # sentences that a person should read
    hubness: Vectors | None  # `Site.known_hubness`; None: it is not known

    @cached_property
    def texts(self) -> int:
        """Count of distinct texts."""
        return len({*self.hashes})


class SiteIndex:
    """Reads and keeps the parts of one command; without an index, everything is computed.

    Args:
        progress: takes the notes that belong to a part, and a note if the index can't be written.
    """

    def __init__(self, context: RunContext, progress: Progress) -> None:
        self._context, self._progress = context, progress
        self._inputs = context.inputs() if context.index else ""
        self._writes = True
        self._counted_sites: list[CountedSite] = []

    @property
    def inputs(self) -> str:
        """A digest of all tables, the settings and the program; "" without an index."""
        return self._inputs

    def collected(self, read: Callable[[Progress], Collected]) -> Collected:
        """Return the input; `read` reads it from the tables."""
        known = self._known(PAGES, self._inputs)
        found: Any = None if known else self._read(PAGES, self._inputs)
        if found:
            known = self._remember(PAGES, self._inputs, (from_columns(found["input"]), found["notes"]))
        if known:
            before: Collected = known[0]
            for note in known[1]:
                self._progress.warn(note)
            return before
        noted = Tracker(self._progress)
        collected = read(noted)
        if self._inputs:
            self._keep(PAGES, self._inputs, {"input": to_columns(collected), "notes": noted.notes})
        return collected

    def comparison(self, collected: Collected, targets: Targets, rules: LinkRules) -> PageComparison | None:
        """Return the comparison of the pages if the index has it."""
        state = self._state_of(collected, targets, rules)
        known: PageComparison | None = self._known(SITE, state)
        if known:
            return known
        found: Any = self._read(SITE, state, collected)
        if not found:
            return None
        hubness: Any = self._read(HUBNESS, state)
        comparison = PageComparison(state, found["ranking"], found["hashes"], found["notes"], hubness)
        if self._context.kept is not None:
            comparison.ranking.site.hold_vectors()
        self._remember(SITE, state, comparison)
        return comparison

    def tokenized(self, texts: Sequence[Text]) -> Tokenized:
        """Return the pages' texts tokenized: only those that the index doesn't have are split into words."""
        known: Any = self._read(WORDS, self._texts_state)
        count = len(known) if known else 0
        made = tokenize(texts, known)
        # Windows keeps a file that is mapped into memory from being replaced.
        del known
        if made.new or count != len(texts):
            self._keep(WORDS, self._texts_state, made.tokens)
        return made

    def targets(self, of: Callable[[], Targets]) -> Targets:
        """Return the targets of a lookup, which depend on the input and the settings."""
        known: Targets | None = self._known(TARGETS, self._inputs)
        found: Targets = known or self._remember(TARGETS, self._inputs, of())
        return found

    def keep(
        self,
        ranking: Ranking,
        collected: Collected,
        embedded: Embedded,
        notes: Sequence[str],
    ) -> str:
        """Keep the comparison of the pages, unless vectors are missing; return its state.

        Args:
            ranking: the ranking of the pages, without guests.
            embedded: the vectors of the pages, and of guests after them.
            notes: sentences on the pages that a person should read.
        """
        if not self._inputs or embedded.missing or embedded.problem:
            return ""
        state = self._state_of(collected, ranking.targets, ranking.rules)
        what = {
            "ranking": ranking.lasting(),
            "hashes": list(embedded.hashes[: len(collected.pages)]),
            "notes": list(notes),
        }
        # Even if it is there: what is there could not be read.
        self._keep(SITE, state, what, collected)
        return state

    def keep_hubness(self, site: Site, state: str) -> None:
        """Keep the hubness of the texts, if it is known of many more than the index has."""
        if not state:
            return
        comparison: PageComparison | None = self._known(SITE, state)
        before: Any = comparison.hubness if comparison else self._read(HUBNESS, state)
        known = 0 if before is None else np.isfinite(before[0]).sum()
        # That of guests is nobody else's.
        found = site.known_hubness[:, : len(site.pages)]
        if comparison:
            self._remember(SITE, state, replace(comparison, hubness=found))
        if np.isfinite(found[0]).sum() - known > _WORTH_WRITING * found.shape[1]:
            self._keep(HUBNESS, state, np.ascontiguousarray(found))

    def adapted(
        self,
        ranking: Ranking,
        known: Sequence[ExistingLink],
        accepted: Sequence[ExistingLink],
        *,
        hashes: Sequence[str],
        state: str,
    ) -> tuple[Ranking, Adaptation | None]:
        """Return `ranking.adaptation.adapted`, by the weights of an earlier run if it learned from nearly the same.

        Args:
            ranking: a ranking by the packaged ranker.
            state: that of the comparison of the pages, "" if it is not kept.
        """
        if not state:
            return adapted(ranking, [*known, *accepted])
        rejected = {key: sorted(each) for key, each in sorted(ranking.targets.rejected.items())}
        model, state = self._model_of(ranking.rules), _digest(state, rejected, accepted)
        # A copy, since Windows keeps a file that is mapped into memory from being replaced.
        found: Any = self._known(RANKER, model) or deepcopy(self._read(RANKER, model))
        if not (found and found[0] == state):
            links = [*known, *accepted]
            examples = Examples.from_ranking(ranking, links, hashes)
            if found and examples.are_nearly(found[1]):
                found = (state, *found[1:])
            else:
                # All sources will be weighed by the new weights.
                ranking.site.share()
                better, adaptation = adapted(ranking, links)
                found = state, examples, better.ranker, adaptation
            self._keep(RANKER, model, found)
        _, _, ranker, adaptation = self._remember(RANKER, model, found)
        return ranking.with_ranker(ranker), adaptation

    def counted_site(self, collected: Collected) -> CountedSite:
        """Return the site, with what the index knows of its words and names."""
        site = self._counted_site(collected)
        self._counted_sites.append(site)
        return site

    def _counted_site(self, collected: Collected) -> CountedSite:
        state = self._anchors_state
        known: CountedSite | None = self._known(ANCHORS, state)
        if known:
            return known
        found: Any = self._read(ANCHORS, state)
        if not found:
            words: Any = self._read(PHRASES, self._texts_state)
            return CountedSite(collected, words, self._context.page_queries)
        site = CountedSite(collected)
        site.resume(found)
        self._remember(ANCHORS, state, site)
        return site

    def keep_counted(self) -> None:
        """Keep what `counted_site` counted on the site's pages, unless the index has it or it wasn't needed."""
        for site in self._counted_sites:
            if self._inputs and site.counted:
                self._keep(ANCHORS, self._anchors_state, site.lasting())
                if site.page_words.new:
                    self._keep(PHRASES, self._texts_state, site.page_words.kept())
        self._counted_sites.clear()

    def read_run(self, digest: str) -> Mapping[str, Any] | None:
        """Return what the last run kept, if this is the digest of all that it left."""
        found: Any = self._read(RUN, digest)
        return found if isinstance(found, dict) else None

    def write_run(self, digest: str, kept: Mapping[str, Any]) -> None:
        """Keep what a run says of itself under the digest of all that it left."""
        self._keep(RUN, digest, dict(kept))

    @property
    def _anchors_state(self) -> str:
        """What the names of pages depend on, "" without an index."""
        return _digest(self._inputs, self._context.search_data()) if self._inputs else ""

    @property
    def _texts_state(self) -> str:
        """What the words of a text depend on besides the text, "" without an index."""
        # The letters of words are those of Python's Unicode.
        return _digest(program_digest(), unidata_version) if self._inputs else ""

    def _state_of(self, collected: Collected, targets: Targets, rules: LinkRules) -> str:
        """Return what the comparison of the pages depends on, "" without an index."""
        if not self._inputs:
            return ""
        return _digest(self._inputs, self._model_of(rules), self._keys_of(targets), len(collected.pages))

    def _keys_of(self, targets: Targets) -> str:
        before = self._known(KEYS, self._inputs)
        if not (before and before[0] is targets.known):
            before = self._remember(KEYS, self._inputs, (targets.known, _digest(*targets.known)))
        found: str = before[1]
        return found

    def _model_of(self, rules: LinkRules) -> str:
        """Return what the comparison of any two texts depends on besides the texts."""
        encoder, storage = self._context.encoder, self._context.vector_cache.storage
        model = encoder.name, encoder.model, encoder.recipe, encoder.dimensions, str(storage)
        return _digest(program_digest(), model, rules.terms, rules.near_duplicate, rules.last)

    def _known(self, part: str, state: str) -> Any:
        """Return what an open site keeps of this state; None if it keeps nothing."""
        kept = self._context.kept
        known = kept.get(part) if kept and state else None
        return known[1] if known and known[0] == state else None

    def _remember(self, part: str, state: str, what: Any) -> Any:
        if self._context.kept is not None and state:
            self._context.kept[part] = state, what
        return what

    def _read(self, part: str, state: str, collected: Collected | None = None) -> object | None:
        if self._context.index is None or not state:
            return None
        return self._context.index.read(part, state, _known(collected))

    def _keep(self, part: str, state: str, what: object, collected: Collected | None = None) -> None:
        # A table that changed while it was read might be neither the former one nor the new one.
        if self._context.index is None or not self._writes or self._context.inputs() != self._inputs:
            return
        try:
            self._context.index.write(part, state, what, _known(collected))
        except OutputError as error:
            self._writes = False
            self._progress.warn(str(error))


def _known(collected: Collected | None) -> dict[str, object]:
    """Return the objects that the parts refer to by their names."""
    if collected is None:
        return {}
    return {"input": collected, "pages": collected.pages, "rows": collected.rows}


def _digest(*parts: object) -> str:
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

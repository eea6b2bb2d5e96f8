"""The names of several targets in one table, so that a text is compared with all of them at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from internal_linker.anchors.target_names import Name, TargetNames
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.text.phrases import Hashes, is_among


@dataclass(frozen=True)
class NameTable:
    """The names of t targets, N in all and at most w of one."""

    targets: Sequence[TargetNames]  # the targets

    @cached_property
    def names(self) -> Sequence[Name]:
        """All names (N), target by target."""
        return [name for target in self.targets for name in target.names]

    @cached_property
    def counts(self) -> Ints:
        """(t,) how many names each target has."""
        return np.array([len(target.names) for target in self.targets], np.int64)

    @cached_property
    def name_targets(self) -> Ints:
        """(N,) the target of each name."""
        return np.repeat(np.arange(len(self.targets)), self.counts)

    @cached_property
    def places(self) -> Ints:
        """(t, w) the place of each target's names in `names`; N beyond them."""
        columns = np.arange(self.counts.max(initial=0))
        first = np.cumsum(self.counts) - self.counts
        return np.where(columns < self.counts[:, None], first[:, None] + columns, len(self.names))

    @cached_property
    def kinds(self) -> Ints:
        """(t, w) the kind of each target's names; -1 beyond them."""
        return np.append(np.array([name.kind for name in self.names], np.int64), -1)[self.places]

    @cached_property
    def wholes(self) -> Ints:
        """(t, w) the hash of the stems of each target's names; 0 beyond them."""
        return np.append(np.array([name.whole for name in self.names], np.uint64), np.uint64(0))[self.places]

    @cached_property
    def links(self) -> Ints:
        """(t, w) how many known links have each of a target's names as their anchor."""
        return np.append(np.array([name.links for name in self.names], np.int64), 0)[self.places]

    @cached_property
    def weights(self) -> Vectors:
        """(t, w) the rarity of each name's stems in all; 1 beyond a target's names."""
        return np.append(np.array([name.weight for name in self.names], np.float64), 1)[self.places]

    def matching(self, sets: Ints, of: Ints) -> Bools:
        """Return (n, w) which of its target's names each of n sets of stems is."""
        same: Bools = (self.wholes[of] == sets[:, None]) & (self.kinds[of] >= 0)
        return same

    def stems_in(self, distinct: Hashes) -> Bools:
        """Return (t, u) which of a text's distinct, sorted stems the names of each target have."""
        name, at = self.places_in(distinct)
        found = np.zeros((len(self.targets), len(distinct)), np.bool_)
        found[self.name_targets[name], at] = True
        return found

    def places_in(self, distinct: Hashes) -> tuple[Ints, Ints]:
        """Return (s,) the numbers of names and their stems' places among a text's distinct, sorted stems."""
        stems = [name.stems for name in self.names]
        of = np.repeat(np.arange(len(stems)), [len(each) for each in stems])
        at, there = is_among(np.concatenate([np.empty(0, np.uint32), *stems]), distinct)
        return of[there], at[there]

    def having(self, hashes: Ints, of_target: Callable[[TargetNames], Ints]) -> Bools:
        """Return (t, n) which of a text's hashes are among those of each target, which are few."""
        parts = [of_target(target) for target in self.targets]
        known, which = np.unique(np.concatenate([hashes[:0], *parts]), return_inverse=True)
        has = np.zeros((len(parts), len(known)), np.bool_)
        has[np.repeat(np.arange(len(parts)), [len(each) for each in parts]), which] = True
        at, there = is_among(hashes, known)
        found = np.zeros((len(parts), len(hashes)), np.bool_)
        found[:, there] = has[:, at[there]]
        return found

    def weighing(self, distinct: Ints, of_target: Callable[[TargetNames], tuple[Hashes, Vectors]]) -> Vectors:
        """Return (t, u) float32 the weight of each of a text's distinct, sorted hashes by each target; else 0."""
        parts = [of_target(target) for target in self.targets]
        found = np.zeros((len(parts), len(distinct)), np.float32)
        of = np.repeat(np.arange(len(parts)), [len(hashes) for hashes, _ in parts])
        at, there = is_among(np.concatenate([hashes for hashes, _ in parts]), distinct)
        found[of[there], at[there]] = np.concatenate([weights for _, weights in parts])[there]
        return found

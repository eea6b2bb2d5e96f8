"""The comparison of a record with the committed one."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from tests.golden.recorder import PART, STEP

_FRACTION = re.compile(r"-?\d+\.\d{3,}")
# In units of the last decimal place: another processor adds in another order.
_TOLERANCE = 2


def differences(old: str, new: str) -> Iterator[str]:
    """Yield the first differing line of each part that differs, as it was and as it is."""
    before, after = _parts(old), _parts(new)
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in after:
            yield f"{name}\n  is gone"
        elif name not in before:
            yield f"{name}\n  is new: {after[name][0] if after[name] else ''}"
        else:
            yield from _first(name, before[name], after[name])


def _first(name: str, before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for number, (old, new) in enumerate(zip_longest(before, after), 1):
        if old is None or new is None or not equal(old, new):
            shown = (("<nothing>" if line is None else line) for line in (old, new))
            was, now = shown
            yield f"{name}, line {number} of {len(before)} (now {len(after)})\n  old: {was}\n  new: {now}"
            return


def equal(old: str, new: str) -> bool:
    """Return whether two lines are equal but for the last digit of fractions."""
    if old == new:
        return True
    if _FRACTION.sub("", old) != _FRACTION.sub("", new):
        return False
    pairs = zip(_FRACTION.findall(old), _FRACTION.findall(new), strict=True)
    return all(_near(one, other) for one, other in pairs)


def _near(one: str, other: str) -> bool:
    places = min(len(text.partition(".")[2]) for text in (one, other))
    return abs(float(one) - float(other)) <= _TOLERANCE * 10.0**-places * 1.001


def _parts(text: str) -> dict[str, list[str]]:
    """Return the lines of each part by the names of its step and of itself."""
    parts: dict[str, list[str]] = {}
    step = name = ""
    steps = 0
    for line in text.split("\n"):
        if line.startswith(f"{STEP} "):
            steps, name = steps + 1, ""
            step = f"step {steps}: {line.removeprefix(f'{STEP} ')}"
        elif line.startswith(f"{PART} "):
            name = f"{step} > {line.removeprefix(f'{PART} ')}"
            parts[name] = []
        elif name and line:
            parts[name].append(line)
    return parts

"""The patterns of config/excluded_urls.txt: URLs that no link leads to."""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import re2

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.errors import ConfigurationError
from internal_linker.store.files.plain_text import plain_text, shortened

# Enough for some hundred thousand patterns.
MOST_BYTES = 5_000_000


# What people read for RE2's messages, by their beginnings.
_PLAIN_WORDS = {
    "no argument for repetition": "a sign of repetition (* + ?) has no sign before it. Write \\* for the sign itself",
    "bad repetition operator": "two repetitions stand side by side. Delete one of them",
    "invalid repetition size": "{ } must hold a number up to 1000, or two with the smaller one first, as in {2,5}",
    "missing )": "a ( has no ). Add it, or write \\( for the sign itself",
    "unexpected )": "a ) has no (. Add it, or write \\) for the sign itself",
    "missing ]": "a [ has no ]. Add it, or write \\[ for the sign itself",
    "invalid character class range": "in [ ] the first sign of a range must come before the last, as in [a-z]",
    "invalid perl operator": "RE2 has no look-around such as (?!x) or (?<=x). Name in other lines what to leave out",
    "invalid escape sequence": "a \\ stands before a letter or digit that has no meaning after it. Delete the \\",
    "trailing \\": "it ends with \\. Delete it, or write \\\\ for the sign itself",
    "pattern too large": "it is too large. Divide it among several lines",
}
_SPECIAL = re.compile(r"[.+?(){}\[\]^$|\\]")

# A host in a pattern: https://www.example.com/tag/, ^https?://(www\.)?example\.com
_HOST = re.compile(r"https?\??:(?:\\?/){2}(?:\(\?:www\\?\.\)\?|\(www\\?\.\)\?|www\\?\.)?(?=\w)")


class Exclusions:
    """RE2 patterns, matched anywhere in a URL; RE2 runs in linear time, so no pattern can hang a run.

    A pattern with a host after http:// or https:// matches its other forms, too: http and https, with and without www.

    Args:
        patterns: (line number, pattern) pairs.
        name: the file's name for error messages.
        hosts: hosts that stand for others; a pattern may name either.

    Raises:
        ConfigurationError: a pattern is not valid RE2; the message names the line.
    """

    def __init__(
        self,
        patterns: list[tuple[int, str]],
        name: str = "excluded_urls.txt",
        hosts: CanonicalHosts | None = None,
    ) -> None:
        mapped = (hosts or CanonicalHosts()).mapped
        options = re2.Options()
        options.log_errors = False
        self._patterns = []
        for line, pattern in patterns:
            try:
                compiled = re2.compile(pattern, options)
            except re2.error as error:
                reason = error.args[0] if error.args else error
                reason = reason.decode() if isinstance(reason, bytes) else str(reason)
                raise ConfigurationError(
                    f"config/{name}, line {line}: '{shortened(pattern)}' can't be used: {_plainly(reason, pattern)}."
                ) from None
            any_form = _any_form(pattern, mapped)
            with suppress(re2.error):  # a host within [...] is no host
                compiled = re2.compile(any_form, options)
            self._patterns.append((pattern, compiled))

    def match(self, *urls: str) -> str:
        """Return the first pattern that matches one of `urls`, "" if none does."""
        for pattern, compiled in self._patterns:
            if any(compiled.search(url) for url in urls):
                return pattern
        return ""

    def __len__(self) -> int:
        return len(self._patterns)


def _plainly(reason: str, pattern: str) -> str:
    """Return what is wrong with a pattern and what to write instead, by RE2's own message."""
    if pattern.startswith("*"):
        return (
            "a * repeats the sign before it, and there is none. Write "
            f"'{shortened(_without_wildcards(pattern))}': a pattern matches anywhere in a URL, and .* is any text"
        )
    return next((words for beginning, words in _PLAIN_WORDS.items() if reason.startswith(beginning)), reason)


def _without_wildcards(pattern: str) -> str:
    """Return the regular expression of a pattern in which * stands for any text, as in names of files."""
    parts = (_SPECIAL.sub(r"\\\g<0>", part) for part in pattern.strip("*").split("*"))
    return (".*".join(parts) + ("" if pattern.endswith("*") else "$")) or "."


def _any_form(pattern: str, mapped: Mapping[str, tuple[str, str]]) -> str:
    """Return a pattern that also matches the other forms of the hosts in it, and the hosts that they are mapped to."""
    form = _HOST.sub(r"https?://(?:www\\.)?", pattern)
    for host, (_, other) in mapped.items():
        for text in (host, re.escape(host)):
            form = form.replace(text, re.escape(other.removeprefix("www.")))
    return form


def read_exclusions(path: Path, hosts: CanonicalHosts | None = None) -> Exclusions:
    """Read one pattern per line, skipping blank lines and comments (#); a missing file has no patterns.

    Raises:
        ConfigurationError: the file can't be read, or a pattern in it is wrong.
    """
    if not path.exists():
        return Exclusions([])
    return Exclusions(numbered_patterns(plain_text(path, path.name, MOST_BYTES)), path.name, hosts)


def numbered_patterns(text: str) -> list[tuple[int, str]]:
    """Return the patterns of a text with their line numbers, without blank lines and comments."""
    numbered = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, line) for number, line in numbered if line and not line.startswith("#")]

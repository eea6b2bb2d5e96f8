"""The patterns of config/excluded_urls.txt: URLs that no link leads to."""

from pathlib import Path

import re2

from internal_linker.adapters.files.plain_text import plain_text, shortened
from internal_linker.core.errors import ConfigurationError

# Enough for some hundred thousand patterns.
_MOST_BYTES = 5_000_000


class Exclusions:
    """RE2 patterns, matched anywhere in a URL; RE2 runs in linear time, so no pattern can hang a run.

    Args:
        patterns: (line number, pattern) pairs.
        name: the file's name for error messages.

    Raises:
        ConfigurationError: a pattern is not valid RE2; the message names the line.
    """

    def __init__(self, patterns: list[tuple[int, str]], name: str = "excluded_urls.txt") -> None:
        options = re2.Options()
        options.log_errors = False
        self._patterns = []
        for line, pattern in patterns:
            try:
                self._patterns.append((pattern, re2.compile(pattern, options)))
            except re2.error as error:
                reason = error.args[0] if error.args else error
                reason = reason.decode() if isinstance(reason, bytes) else str(reason)
                raise ConfigurationError(
                    f"config/{name}, line {line}: '{shortened(pattern)}' is not a valid RE2 pattern "
                    f"({shortened(reason)}). Correct or delete the line; RE2 has no look-around or back-references."
                ) from None

    def match(self, *urls: str) -> str:
        """Return the first pattern that matches one of `urls`, "" if none does."""
        for pattern, compiled in self._patterns:
            if any(compiled.search(url) for url in urls):
                return pattern
        return ""

    def __len__(self) -> int:
        return len(self._patterns)


def read_exclusions(path: Path) -> Exclusions:
    """Read one pattern per line, skipping blank lines and comments (#); a missing file has no patterns.

    Raises:
        ConfigurationError: the file can't be read, or a pattern in it is wrong.
    """
    if not path.exists():
        return Exclusions([])
    lines = plain_text(path, path.name, _MOST_BYTES).splitlines()
    numbered = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    return Exclusions([(n, line) for n, line in numbered if line and not line.startswith("#")], path.name)

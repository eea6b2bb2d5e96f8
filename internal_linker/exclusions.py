"""`config/excluded_urls.txt` -> the patterns that no link target may match."""

from pathlib import Path

import re2

from internal_linker.errors import ConfigurationError


class Exclusions:
    """RE2 patterns, matched anywhere in a URL; RE2 runs in linear time, so no pattern can hang a run.

    Args:
        patterns: (line number, pattern) pairs.
        name: the file's name for error messages.

    Raises:
        ConfigurationError: a pattern is no valid RE2; names the line.
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
                    f"{name} line {line}: '{pattern}' is not a pattern that RE2 understands ({reason}). "
                    "Correct or delete the line; look-around and back-references are not available."
                ) from None

    def match(self, *urls: str) -> str:
        """The first pattern that occurs in one of `urls`, or "" where none does."""
        for pattern, compiled in self._patterns:
            if any(compiled.search(url) for url in urls):
                return pattern
        return ""

    def __len__(self) -> int:
        return len(self._patterns)


def read_exclusions(path: Path) -> Exclusions:
    """Read one pattern a line; blank lines and lines that begin with # are skipped; no file, no patterns.

    Raises:
        ConfigurationError: the file can't be read, or a pattern in it is wrong.
    """
    if not path.exists():
        return Exclusions([])
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path.name} can't be read ({error}). Save it as a plain UTF-8 text file."
        ) from None
    numbered = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    return Exclusions([(n, line) for n, line in numbered if line and not line.startswith("#")], path.name)

"""A small file that people write by hand -> its text, or why it can't be read."""

import codecs
from pathlib import Path

from internal_linker.core.errors import ConfigurationError

# Bytes of settings and keys: what is larger is something else, and a TOML reader may take minutes for it.
MOST_BYTES = 50_000


def plain_text(path: Path, shown: str, most: int = MOST_BYTES) -> str:
    """UTF-8, or the UTF-16 that `echo ... > file` of Windows PowerShell writes.

    Args:
        path: the file, which is there.
        shown: what the error calls it.
        most: bytes that it may have.

    Raises:
        ConfigurationError: it is no file, can't be read, is too large, or is no such text.
    """
    try:
        # A pipe would never end.
        if not path.is_file():
            raise OSError(None, "it is no file")
        if path.stat().st_size > most:
            raise OSError(None, f"it is larger than {most:,} bytes")
        raw = path.read_bytes()
        wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return raw.decode("utf-16" if wide else "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(
            f"{shown} can't be read ({reason}). Save it as a plain UTF-8 text file."
        ) from None


def shortened(text: str, most: int = 60) -> str:
    """For a message: on one line, without control characters, and no longer than that."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[:most]}..."

"""Small text files that people write by hand, and texts shortened for messages."""

import codecs
from pathlib import Path

from internal_linker.model.errors import ConfigurationError

# Bytes of settings and keys: a larger file is something else, and a TOML parser may take minutes for it.
MOST_BYTES = 50_000


def plain_text(path: Path, shown: str, most: int = MOST_BYTES) -> str:
    """Read a file in UTF-8, or in the UTF-16 that `echo ... > file` of Windows PowerShell writes.

    `shown` is its name in the error; `most`, its largest size in bytes.

    Raises:
        ConfigurationError: the path is not a file, or the file can't be read, is too large, or has another encoding.
    """
    try:
        # Reading a pipe might never end.
        if not path.is_file():
            raise OSError(None, "it is not a file")
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
    """Return a text for a message: one line of up to `most` characters and "...", without control characters."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[:most]}..."

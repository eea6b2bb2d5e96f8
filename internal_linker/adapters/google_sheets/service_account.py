"""The text of a service account's key file -> its fields, or why it can't be used."""

import json
import re
from collections.abc import Mapping
from typing import Any

from internal_linker.core.errors import ConfigurationError

KEY_FILE = "config/service_account.txt"
NEW_KEY = "console.cloud.google.com > IAM & Admin > Service Accounts > Keys > Add key > JSON"
_NEEDED = ("client_email", "private_key", "token_uri")


def key_fields(text: str) -> Mapping[str, Any]:
    """The fields of a key as Google's console gives it for download.

    Raises:
        ConfigurationError: it is empty, no JSON, incomplete, or the key of something else.
    """
    if not text.strip():
        raise bad_key("it is empty")
    try:
        fields = json.loads(text.strip().removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise bad_key("it is not JSON, so part of it may be missing") from None
    if not isinstance(fields, dict) or fields.get("type") != "service_account":
        raise bad_key("it is not the key of a service account")
    if missing := [name for name in _NEEDED if not isinstance(fields.get(name), str)]:
        raise bad_key(f"it lacks {' and '.join(missing)}")
    if not re.match(r"https?://[^/]", fields["token_uri"]):
        raise bad_key("its token_uri is no address")
    return fields


def bad_key(problem: str) -> ConfigurationError:
    """The error for a key file that has this problem; it repeats nothing of the file."""
    return ConfigurationError(
        f"{KEY_FILE} can't be used: {problem}. Make a new key ({NEW_KEY}) and put the whole content of the "
        f"downloaded file into {KEY_FILE}."
    )

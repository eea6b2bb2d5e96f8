"""config/wordpress.txt: the site, the user and the application password for WordPress."""

from urllib.parse import urlsplit

from internal_linker.adapters.wordpress.account import KEY_FILE, Account
from internal_linker.core.errors import ConfigurationError
from internal_linker.ingest.web.access import origin_of


def wordpress_account(text: str) -> Account | None:
    """Return the account that the text has; None if it is empty.

    Args:
        text: the content of config/wordpress.txt: the site's address, the user and the password, on a line each.

    Raises:
        ConfigurationError: the text is wrong; the message repeats nothing of it.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    address = lines[0] if "://" in lines[0] else f"https://{lines[0]}"
    origin = origin_of(address.lower())
    if len(lines) != 3 or not origin or "@" in urlsplit(address).netloc or ":" in lines[1]:
        raise ConfigurationError(
            f"{KEY_FILE} must have three lines: the site's address such as https://www.example.com, the user's login "
            "name, and the application password."
        )
    return Account(address.rstrip("/"), origin, lines[1], lines[2])

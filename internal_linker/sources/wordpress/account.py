"""The account with which a WordPress site is edited: every command reads it, and few need a client."""

from collections.abc import Iterator
from dataclasses import dataclass, field

KEY_FILE = "config/wordpress.txt"


@dataclass(frozen=True, slots=True)
class Account:
    """A user of a site with an application password; its `repr` shows neither."""

    site: str
    origin: str  # the only origin that gets the password, such as https://www.example.com
    user: str = field(repr=False)
    password: str = field(repr=False)  # the application password; its spaces don't count

    def secrets(self) -> Iterator[str]:
        """Yield every text that no log may show."""
        yield self.password
        yield self.password.replace(" ", "")

"""Access to protected sites: what is sent to exactly the origins that the user named, and to no other."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class SiteAccess:
    """How to reach the pages of an origin; its `repr` shows no secret."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # headers to send with each request
    user: str = field(default="", repr=False)  # the user of basic authentication; "": none
    password: str = field(default="", repr=False)  # the user's password
    # The address of a proxy, http:// or https://, with its own user and password if it needs them; "": none
    proxy: str = field(default="", repr=False)
    key: str = field(default="", repr=False)  # the key of its content management system's API; "": none
    # Whether to fetch what its robots.txt disallows, as that of a staging site disallows everything
    ignore_robots: bool = False

    @property
    def sent(self) -> dict[str, str]:
        """All headers to send, with that of basic authentication."""
        basic = {"Authorization": f"Basic {self._credentials}"} if self.user else {}
        return {**self.headers, **basic}

    @property
    def _credentials(self) -> str:
        return b64encode(f"{self.user}:{self.password}".encode()).decode()

    def secrets(self) -> Iterator[str]:
        """Yield every text that no log may show."""
        yield from self.headers.values()
        if self.user:
            yield from (self.password, self._credentials)
        if self.key:
            yield self.key
        if hidden := urlsplit(self.proxy).password:
            yield from (hidden, unquote(hidden))


NO_ACCESS = SiteAccess()


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL in one spelling, such as https://staging.example.com; "" if invalid."""
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return ""
    host = (parts.hostname or "").rstrip(".")
    if not host or parts.scheme not in _DEFAULT_PORTS:
        return ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + ("" if port == _DEFAULT_PORTS[parts.scheme] else f":{port}")

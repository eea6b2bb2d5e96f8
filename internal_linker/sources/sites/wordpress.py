"""WordPress: posts, pages and public custom types over the REST API, and the account that opens and edits a site."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from internal_linker.sources.sites import SiteSource, register_site, site_address

if TYPE_CHECKING:
    from internal_linker.model.ports import StreamSource
    from internal_linker.sources.import_sources import SiteReader

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


def read_wordpress(address: str, reader: "SiteReader") -> "list[StreamSource]":
    """Return the tables of a site's pages and links; see `wordpress_tables`."""
    from internal_linker.sources.wordpress.posts import wordpress_tables
    from internal_linker.sources.wordpress.rest import open_site

    site, fetcher = site_address("wordpress", address), reader.client
    with open_site(
        site,
        reader.account(site),
        fetcher.access(site),
        allow_private=fetcher.allow_private,
        delay=fetcher.delay,
    ) as client:
        return wordpress_tables(client, reader)


register_site(
    "wordpress",
    SiteSource(
        "WordPress",
        "Read the posts and pages of this WordPress site, over its REST API.",
        f"Posts and pages are read over its REST API; later imports fetch only what changed. If {KEY_FILE} has an "
        "account for this site, it is used.",
        read_wordpress,
    ),
)

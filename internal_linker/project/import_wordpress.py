"""Open a WordPress site with the account in config/wordpress.txt, and import its posts."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Progress, StreamSource
from internal_linker.model.progress import Tracker
from internal_linker.project.options.imports import ImportOptions
from internal_linker.project.project import Project
from internal_linker.project.settings.accounts import (
    exposed_keys,
    site_accesses,
    unencrypted,
    wordpress_account,
)
from internal_linker.sources.web.access import NO_ACCESS, origin_of
from internal_linker.sources.web.client import PublicHosts, ThroughProxy
from internal_linker.sources.web.page_table import LinkSpool
from internal_linker.sources.wordpress.account import KEY_FILE, Account
from internal_linker.sources.wordpress.posts import wordpress_tables
from internal_linker.sources.wordpress.rest import LONGEST_S, PER_SECOND, RestClient
from internal_linker.store.answers import StoredPages

# What it takes to change all posts and pages without losing HTML.
_RIGHTS = ("edit_others_posts", "edit_published_posts", "edit_others_pages", "unfiltered_html")
# Requests per second if no pause is wanted.
_FASTEST = 1000.0


def wordpress_posts(
    project: Project,
    options: ImportOptions,
    reason: Callable[[str], str],
    cache: StoredPages,
    links: LinkSpool,
    progress: Progress,
) -> list[StreamSource]:
    """Return the tables of a site's pages and links; see `wordpress_tables`."""
    with wordpress_client(
        project,
        options.wordpress,
        progress,
        allow_private=options.allow_private,
        per_second=_pace(options.delay),
    ) as client:
        return wordpress_tables(client, reason, cache, links, progress, limit=options.limit)


def account_facts(project: Project, account: Account) -> str:
    """Sign in, and return who the user is and what is missing for changing posts.

    Raises:
        ServiceError: the site does not answer, has no REST API, or refuses the account.
    """
    with wordpress_client(project, account.site, Tracker(), per_second=PER_SECOND) as client:
        user = client.sign_in()
    roles, rights = user.get("roles"), user.get("capabilities")
    role = ", ".join(map(str, roles)) if isinstance(roles, list) and roles else "no role"
    lacking = [right for right in _RIGHTS if not (isinstance(rights, dict) and rights.get(right))]
    missing = f"; it lacks {', '.join(lacking)}, so not every post can be changed" if lacking else ""
    return f"signed in at {account.site} as {role}{missing}"


@contextmanager
def editing_client(
    project: Project, address: str, progress: Progress, *, delay: float
) -> Iterator[RestClient]:
    """Yield a client that is signed in at a site, to change its posts.

    `delay` is the number of seconds between two requests.

    Raises:
        ConfigurationError: the address is wrong, or config/wordpress.txt has no account for the site.
        ServiceError: the site does not answer, has no REST API, or refuses the account.
    """
    if not has_account(project, address):
        raise ConfigurationError(
            f"{KEY_FILE} has no account for {_site(address)}: create an application password for a user who may edit "
            "its posts, and write the site's address, the user and the password there (docs/wordpress.md)."
        )
    with wordpress_client(project, address, progress, per_second=_pace(delay)) as client:
        yield client


def has_account(project: Project, address: str) -> bool:
    """Return whether the account in config/wordpress.txt is for the site at an address, or for one above it.

    Raises:
        ConfigurationError: the address or the account is wrong.
    """
    site = _site(address)
    account = wordpress_account(project.settings.wordpress.get_secret_value())
    if account is None or account.origin != origin_of(site):
        return False
    path, own = (f"{urlsplit(one).path.rstrip('/')}/" for one in (site, account.site))
    return path.startswith(own) and ".." not in path.split("/")


@contextmanager
def wordpress_client(
    project: Project,
    address: str,
    progress: Progress,
    *,
    allow_private: bool = False,
    per_second: float = PER_SECOND,
) -> Iterator[RestClient]:
    """Yield a client of a site whose REST API was found; it is signed in if the account is for this site.

    An address without a scheme is https. `allow_private`: a site without an account may be in a private network.

    Raises:
        ConfigurationError: the address or the account is wrong.
        ServiceError: the site does not answer, has no REST API, or refuses the account.
    """
    site = _site(address)
    account = wordpress_account(project.settings.wordpress.get_secret_value())
    if account and account.origin != origin_of(site):
        progress.warn(f"{KEY_FILE} is for {account.origin}, so {site} is read without a password.")
        account = None
    if account:
        for sentence in (*exposed_keys(project.root), *unencrypted({KEY_FILE: site})):
            progress.warn(sentence)
    access = site_accesses(project.settings.site_access.get_secret_value()).get(origin_of(site), NO_ACCESS)
    transport = (
        ThroughProxy(access.proxy, LONGEST_S)
        if access.proxy
        else PublicHosts(LONGEST_S, allow_private=allow_private or account is not None)
    )
    with closing(
        RestClient(site, account, transport=transport, headers=access.sent, per_second=per_second)
    ) as client:
        client.discover()
        if account:
            client.sign_in()
        yield client


def _pace(delay: float) -> float:
    """Return the most requests per second with so many seconds between two of them."""
    return min(_FASTEST, 1 / delay) if delay else _FASTEST


def _site(address: str) -> str:
    """Return the full address of a site in one spelling, without a slash at its end."""
    site = address.strip() if "://" in address else f"https://{address.strip()}"
    parts = urlsplit(site)
    if not origin_of(site) or "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigurationError(
            f"--wordpress {address}: name the site's address, such as https://www.example.com."
        )
    return f"{origin_of(site)}{parts.path}".rstrip("/")

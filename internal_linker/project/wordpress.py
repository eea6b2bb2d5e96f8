"""The account in config/wordpress.txt: for which site it is, what it may do there, and a client that uses it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from urllib.parse import urlsplit

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Tracker
from internal_linker.project.project import Project
from internal_linker.project.settings.accounts import (
    exposed_keys,
    site_accesses,
    unencrypted,
    wordpress_account,
)
from internal_linker.sources.sites import site_address
from internal_linker.sources.sites.wordpress import KEY_FILE, Account
from internal_linker.sources.web.access import NO_ACCESS, origin_of
from internal_linker.sources.wordpress.rest import PER_SECOND, RestClient, open_site

# What it takes to change all posts and pages without losing HTML.
_RIGHTS = ("edit_others_posts", "edit_published_posts", "edit_others_pages", "unfiltered_html")


def account_facts(project: Project, account: Account) -> str:
    """Sign in, and return who the user is and what is missing for changing posts.

    Raises:
        ServiceError: the site does not answer, has no REST API, or refuses the account.
    """
    with _opened(project, account.site, Tracker(), 1 / PER_SECOND) as client:
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
    site = site_address("wordpress", address)
    if not has_account(project, site):
        raise ConfigurationError(
            f"{KEY_FILE} has no account for {site}: create an application password for a user who may edit "
            "its posts, and write the site's address, the user and the password there (docs/wordpress.md)."
        )
    with _opened(project, site, progress, delay) as client:
        yield client


def has_account(project: Project, address: str) -> bool:
    """Return whether the account in config/wordpress.txt is for the site at an address, or for one above it.

    Raises:
        ConfigurationError: the address or the account is wrong.
    """
    site = site_address("wordpress", address)
    account = wordpress_account(project.settings.wordpress.get_secret_value())
    if account is None or account.origin != origin_of(site):
        return False
    path, own = (f"{urlsplit(one).path.rstrip('/')}/" for one in (site, account.site))
    return path.startswith(own) and ".." not in path.split("/")


def account_for(project: Project, site: str, progress: Progress) -> Account | None:
    """Return the account in config/wordpress.txt if it is for the site's host; warn if not, or if others could see it.

    Raises:
        ConfigurationError: the account is wrong.
    """
    account = wordpress_account(project.settings.wordpress.get_secret_value())
    if account and account.origin != origin_of(site):
        progress.warn(f"{KEY_FILE} is for {account.origin}, so {site} is read without a password.")
        return None
    if account:
        for sentence in (*exposed_keys(project.root), *unencrypted({KEY_FILE: site})):
            progress.warn(sentence)
    return account


def _opened(
    project: Project, site: str, progress: Progress, delay: float
) -> AbstractContextManager[RestClient]:
    account = account_for(project, site, progress)
    access = site_accesses(project.settings.site_access.get_secret_value()).get(origin_of(site), NO_ACCESS)
    return open_site(site, account, access, delay=delay)

"""Warnings about exposed keys: readable key files, and addresses without encryption."""

import ipaddress
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from internal_linker.ingest.web.access import SiteAccess
from internal_linker.usecases.settings.sources import KEY_FILES


def exposed_keys(project: Path) -> Iterator[str]:
    """Yield a warning for each key file that other users of this computer can read; not checked on Windows."""
    for file, _ in KEY_FILES.values():
        path = project / file
        if os.name == "posix" and path.is_file():
            facts = path.stat()
            if facts.st_size and facts.st_mode & (stat.S_IRGRP | stat.S_IROTH):
                yield (
                    f"{file.as_posix()} can be read by other users of this computer. "
                    f"To restrict access, run: chmod 600 {file.as_posix()}"
                )


def unencrypted(addresses: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each service, by its setting, that would get keys and texts unencrypted."""
    for setting, address in addresses.items():
        parts = urlsplit(address)
        if parts.scheme == "http" and not _is_here(parts.hostname or ""):
            yield (
                f"{setting} begins with http://: keys and texts go to {parts.hostname} unencrypted. "
                "Use https:// if the server supports it."
            )


def unencrypted_sites(accesses: Mapping[str, SiteAccess]) -> Iterator[str]:
    """Yield a warning for each site, by its origin, that would get a password or headers unencrypted."""
    for origin, access in accesses.items():
        parts = urlsplit(origin)
        if parts.scheme == "http" and access.sent and not _is_here(parts.hostname or ""):
            yield (
                f"config/site_access.toml: {origin} gets its password and headers unencrypted. "
                "Use https:// if the site supports it."
            )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")

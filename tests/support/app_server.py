"""The app on a real port, in a thread of the test's process, with a client that has its token."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from internal_linker.usecases.known_projects import KnownProject, KnownProjects
from internal_linker.web.access import Access, hashed
from internal_linker.web.server import listening, server_of

# How long clients wait for an answer, in seconds: a busy machine takes many times as long as a free one.
PATIENCE_S = 60


@dataclass(frozen=True)
class RunningApp:
    """A server that answers.

    Attributes:
        url: its address, without a path.
        access: its door.
        known: its list of projects.
        client: a client that may do everything.
    """

    url: str
    access: Access
    known: KnownProjects
    client: httpx.Client

    @property
    def entrance(self) -> str:
        """The start address."""
        return f"{self.url}/?token={self.access.token}"

    def stranger(self, **more: Any) -> httpx.Client:
        """Return a client without the token."""
        return httpx.Client(base_url=self.url, trust_env=False, timeout=PATIENCE_S, **more)

    def open(self, folder: Path) -> KnownProject:
        """Open a project folder."""
        return self.known.open(folder)


@contextmanager
def running_app(folder: Path, password: str = "") -> Iterator[RunningApp]:
    """Serve the app on a free port; its list of projects is in `folder`."""
    with listening("127.0.0.1", range(1)) as sock:
        port = sock.getsockname()[1]
        access = Access(port, hashed(password) if password else "")
        known = KnownProjects(folder / "projects.json")
        server = server_of(access, known)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        url = f"http://127.0.0.1:{port}"
        headers = {"Authorization": f"Bearer {access.token}"}
        try:
            with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=PATIENCE_S) as client:
                yield RunningApp(url, access, known, client)
        finally:
            server.should_exit = True
            thread.join()

"""The app on a real port, in a thread of the test's process, with a client that has its token."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from argon2 import PasswordHasher

from internal_linker.faces.web.access import Access
from internal_linker.faces.web.server import listening, server_of
from internal_linker.project.known_projects import KnownProject, KnownProjects

# How long clients wait for an answer, in seconds: a busy machine takes many times as long as a free one.
PATIENCE_S = 60
PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class RunningApp:
    """A server that answers."""

    url: str  # without a path
    access: Access
    known: KnownProjects
    client: httpx.Client  # may do everything

    @property
    def entrance(self) -> str:
        return f"{self.url}/?token={self.access.token}"

    def stranger(self, **more: Any) -> httpx.Client:
        """Return a client without the token."""
        return httpx.Client(base_url=self.url, trust_env=False, timeout=PATIENCE_S, **more)

    def open(self, folder: Path) -> KnownProject:
        return self.known.open(folder)


# A real hash takes a tenth of a second and 64 MB, and so does each login with it.
_hashed = cache(PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash)


@contextmanager
def running_app(folder: Path, password: str = "") -> Iterator[RunningApp]:
    """Serve the app on a free port; its list of projects is in `folder`."""
    with listening("127.0.0.1", range(1)) as sock:
        port = sock.getsockname()[1]
        access = Access(port, _hashed(password) if password else "")
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


def wait_for(reached: Callable[[], Any]) -> Any:
    """Return what `reached` returns as soon as it is true."""
    until = time.monotonic() + PATIENCE_S
    while not (found := reached()):
        assert time.monotonic() < until, "it was not reached in time"
        time.sleep(0.05)
    return found


def ended(app: RunningApp, api: str, kind: str) -> Any:
    """Wait for a task's end and return its state."""
    return wait_for(
        lambda: (state := app.client.get(f"{api}/tasks/{kind}").json())["status"] != "running" and state
    )


@contextmanager
def shared_app(folder: Path) -> Iterator[RunningApp]:
    """Serve the app with PASSWORD; its client is a colleague who has signed in."""
    with (
        running_app(folder, PASSWORD) as running,
        running.stranger(headers={"Origin": running.url}) as client,
    ):
        assert client.post("/api/login", json={"password": PASSWORD}).status_code == 200
        yield replace(running, client=client)

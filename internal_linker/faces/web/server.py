"""The server of the app: it takes a port, opens the browser, and serves until it is stopped."""

import logging
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn

from internal_linker.faces.web.access import Access, hash_password
from internal_linker.faces.web.application import create_app
from internal_linker.model.errors import ConfigurationError
from internal_linker.project.known_projects import KnownProjects, project_key
from internal_linker.project.settings.settings import SETTINGS_FILE

LOOPBACK = "127.0.0.1"
# The first port to try, and how many after it.
PORT, PORTS = 8765, 20


def serve(
    say: Callable[[str], None],
    *,
    project: Path | None = None,
    host: str = LOOPBACK,
    port: int = 0,
    password: str = "",
    browser: bool = True,
) -> None:
    """Serve the app until SIGINT or SIGTERM; runs that it started go on.

    Args:
        say: shows a line to the person who started it.
        project: the folder that is opened first, if it is a project.
        host: the address to listen on; any other than 127.0.0.1 needs a password.
        port: the port; 0: 8765 or the next free one.
        password: what everybody must type, also on this computer; "": the start address has a token.
        browser: open the start address in a browser.

    Raises:
        ConfigurationError: the port is taken, or others could reach the app without a password.
    """
    beyond = host not in (LOOPBACK, "localhost")
    if beyond and not password:
        raise ConfigurationError(f"--host {host} lets others reach the app, so it needs a password.")
    secret = hash_password(password) if password else ""
    sock = listening(host if beyond else LOOPBACK, [port] if port else range(PORT, PORT + PORTS))
    access = Access(sock.getsockname()[1], secret)
    known = KnownProjects()
    path = "/"
    if project and (project / SETTINGS_FILE).is_file():
        known.open(project.resolve())
        path = f"/p/{project_key(project.resolve())}/"
    address = f"http://{_named(host)}:{access.port}{path}"
    say(f"The app is at {address}" + (f"?token={access.token}" if access.local else ""))
    if beyond:
        say("Passwords and pages travel unencrypted: put a proxy with TLS in front of it (docs/app.md).")
    say("Press Ctrl-C to stop it. Runs that it started go on.")
    logging.getLogger("internal_linker.faces.web").addHandler(logging.StreamHandler())
    if browser:
        opened = address + (f"?start={access.start_code()}" if access.local else "")
        threading.Timer(0.5, webbrowser.open, [opened]).start()
    with sock:
        server_of(access, known).run(sockets=[sock])


def server_of(access: Access, known: KnownProjects) -> uvicorn.Server:
    """Return the server of the application, which needs a socket yet."""
    config = uvicorn.Config(
        create_app(access, known),
        log_level="warning",
        access_log=False,
        server_header=False,
        # Seconds; longer than Caddy (120), nginx (60) or httpx (5) keep an idle connection. A server that closes it
        # first may do so while the next request is on its way, which is then lost.
        timeout_keep_alive=150,
        # An open stream of progress must not keep the server from ending.
        timeout_graceful_shutdown=1,
        # Without a password there is no proxy, and no header may say who a connection comes from.
        proxy_headers=not access.local,
    )
    return uvicorn.Server(config)


def _named(host: str) -> str:
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def listening(host: str, ports: Sequence[int]) -> socket.socket:
    """Return a socket that listens on the first of these ports that is free; port 0 is any.

    Raises:
        ConfigurationError: none can be used.
    """
    problem: str | None = ""
    for port in ports:
        try:
            return socket.create_server(
                (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
            )
        except OSError as error:
            problem = error.strerror
    tried = f"Port {ports[0]}" if len(ports) == 1 else f"Ports {ports[0]} to {ports[-1]}"
    raise ConfigurationError(f"{tried} of {host} can't be used ({problem}): choose another one with --port.")

"""Real local servers that take messages: a webhook (HTTP) and a mail server (SMTP), and one that never answers."""

import json
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOST = "127.0.0.1"


@dataclass
class Inbox:
    """What a server took.

    Attributes:
        port: where it listens, on 127.0.0.1.
        hooks: of the webhook: (path, the JSON).
        mails: of the mail server.
    """

    port: int
    hooks: list[tuple[str, Any]] = field(default_factory=list)
    mails: list[EmailMessage] = field(default_factory=list)


@contextmanager
def webhook() -> Iterator[Inbox]:
    """Serve a webhook: /refuse/... answers 403 and repeats the path, /moved/... redirects, /drip/... never ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            inbox.hooks.append((self.path, json.loads(body)))
            if self.path.startswith("/moved"):
                self.send_response(302)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                return
            self.send_response(403 if self.path.startswith("/refuse") else 200)
            self.end_headers()
            while self.path.startswith("/drip"):
                time.sleep(0.2)
                self.wfile.write(b".")
            self.wfile.write(self.path.encode())

        def do_GET(self) -> None:
            inbox.hooks.append((self.path, None))
            self.send_response(200)
            self.end_headers()

        def handle(self) -> None:
            with suppress(ConnectionError, ValueError):  # who asked has gone
                super().handle()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    server.daemon_threads = True
    inbox = Inbox(server.server_port)
    with _served(server):
        yield inbox


@contextmanager
def mail_server(password: str = "") -> Iterator[Inbox]:
    """Serve SMTP (RFC 5321); with a password, AUTH is offered, and every login is refused with the password in it."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.say("220 mail.example ESMTP")
            for raw in self.rfile:
                verb = raw.decode().strip().upper()
                if verb.startswith("EHLO"):
                    self.say("250-mail.example\r\n250 AUTH PLAIN" if password else "250 mail.example")
                elif verb.startswith("AUTH"):
                    self.say(f"535 5.7.8 Authentication failed for {password}")
                elif verb == "DATA":
                    self.say("354 Go on")
                    lines = iter(self.rfile.readline, b".\r\n")
                    content = b"".join(line.removeprefix(b".") for line in lines)
                    mail = message_from_bytes(content, policy=policy.default)
                    assert isinstance(mail, EmailMessage)
                    inbox.mails.append(mail)
                    self.say("250 Taken")
                elif verb == "QUIT":
                    self.say("221 Bye")
                    return
                else:
                    self.say("250 OK")

        def say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

    server = socketserver.ThreadingTCPServer((HOST, 0), Handler)
    server.daemon_threads = True
    inbox = Inbox(server.server_address[1])
    with _served(server):
        yield inbox


@contextmanager
def silent_server() -> Iterator[int]:
    """Listen without ever answering; yield the port."""
    with socket.socket() as listening:
        listening.bind((HOST, 0))
        listening.listen()
        yield int(listening.getsockname()[1])


@contextmanager
def _served(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

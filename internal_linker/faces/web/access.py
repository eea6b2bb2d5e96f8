"""Who may use the app: sessions, the start address's token or a password, and the limit on guesses."""

import secrets
import threading
import time
from collections import deque
from dataclasses import dataclass, field

from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from internal_linker.model.errors import ConfigurationError, InternalLinkerError

# NIST's advice for a password without a second factor is 15 characters; guesses are limited here besides.
SHORTEST_PASSWORD = 12
# A working day: a browser that is left open is asked again the next morning.
SESSION_S = 12 * 3600
# Guesses by everybody together: an attacker may have many addresses.
MOST_GUESSES, WITHIN_S = 5, 60.0


class TooManyGuesses(InternalLinkerError):
    """Passwords were wrong too often in the last minute."""


@dataclass
class Access:
    """The door of one server."""

    port: int  # its port
    password: str = ""  # the argon2 hash of the password; "": the token of the start address opens the door
    # what the start address carries, and scripts send as `Authorization: Bearer`
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _code: str = field(default="", init=False)
    _sessions: dict[str, float] = field(default_factory=dict, init=False)
    _guesses: deque[float] = field(default_factory=deque, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def cookie(self) -> str:
        """The cookie's name: browsers send a cookie to all ports of a computer."""
        return f"internal_linker_{self.port}"

    @property
    def local(self) -> bool:
        """Whether only this computer's user reaches the server, with the token."""
        return not self.password

    def takes_host(self, header: str) -> bool:
        """Return whether a Host header may lead to this server.

        Without a password no other site's name may. With one, a proxy in front of it has a name of its own, and a page
        under another name has no cookie.
        """
        if not self.local:
            return True
        name, _, port = header.rpartition(":") if header.rpartition(":")[2].isdigit() else (header, "", "80")
        return name in ("127.0.0.1", "localhost", "[::1]") and port == str(self.port)

    def knows_token(self, given: str) -> bool:
        """Return whether this is the start address's token; with a password there is none."""
        return self.local and secrets.compare_digest(given.encode(), self.token.encode())

    def start_code(self) -> str:
        """Return a code that opens one session, for the browser: other users may see the arguments of its process."""
        self._code = secrets.token_urlsafe(32)
        return self._code

    def takes_code(self, given: str) -> bool:
        """Return whether this is the start code, which is used up then; with a password there is none."""
        with self._lock:
            if not (
                self.local and self._code and secrets.compare_digest(given.encode(), self._code.encode())
            ):
                return False
            self._code = ""
            return True

    def knows_password(self, given: str) -> bool:
        """Return whether this is the password.

        Raises:
            TooManyGuesses: five were wrong in the last minute.
        """
        with self._lock:
            now = time.monotonic()
            while self._guesses and self._guesses[0] < now - WITHIN_S:
                self._guesses.popleft()
            if len(self._guesses) >= MOST_GUESSES:
                raise TooManyGuesses("Too many wrong passwords: wait a minute, then try again.")
            # One at a time, since each takes 64 MB.
            try:
                return PasswordHasher().verify(self.password, given)
            except VerifyMismatchError:
                self._guesses.append(now)
                return False

    def open_session(self) -> str:
        """Return the secret of a new session."""
        secret, now = secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            if not self.local:
                self._sessions = {each: until for each, until in self._sessions.items() if until > now}
            self._sessions[secret] = now + SESSION_S
        return secret

    def knows_session(self, secret: str) -> bool:
        """Return whether a session is open; on this computer alone it lasts as long as the server."""
        until = self._sessions.get(secret)
        return until is not None and (self.local or until > time.monotonic())

    def close_session(self, secret: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(secret, None)


def hash_password(password: str) -> str:
    """Return the argon2 hash of a password.

    Raises:
        ConfigurationError: it is too short.
    """
    if len(password) < SHORTEST_PASSWORD:
        raise ConfigurationError(
            f"The password is too short: it needs {SHORTEST_PASSWORD} characters or more."
        )
    return PasswordHasher().hash(password)

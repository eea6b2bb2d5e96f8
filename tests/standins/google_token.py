"""Google's token endpoint: it exchanges a signed assertion for a short-lived access token."""

from __future__ import annotations

import base64
import json
import secrets
import time
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.standins.wire import Answer

EMAIL = "internal-linker@standin.iam.gserviceaccount.com"
AUDIENCE = "https://oauth2.googleapis.com/token"  # always Google's own, whatever token_uri says
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
HOUR = 3600


@cache
def private_key() -> rsa.RSAPrivateKey:
    """Return the only key of the process, because creating one is slow; as long as Google's own."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def make_service_account(server_url: str, email: str = EMAIL) -> dict[str, str]:
    """Return the content of a service account's key file that gets its tokens from the stand-in at `server_url`."""
    pem = private_key().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return {
        "type": "service_account",
        "project_id": "standin",
        "private_key_id": "standin",
        "private_key": pem.decode(),
        "client_email": email,
        "client_id": "0",
        "auth_uri": f"{server_url}/auth",
        "token_uri": f"{server_url}/token",
        "universe_domain": "googleapis.com",
    }


@dataclass(frozen=True)
class Token:
    """The rights behind an access token."""

    email: str
    scopes: frozenset[str]
    expires: float  # time.time()


class TokenDesk:
    """The endpoint's state: it checks assertions and remembers the tokens it issued."""

    def __init__(self) -> None:
        self.revoked = False  # as after the key was deleted in the console
        self._tokens: dict[str, Token] = {}

    def find(self, access_token: str) -> Token | None:
        """Return the token's rights, or None if it is unknown or has expired."""
        token = self._tokens.get(access_token)
        return token if token and token.expires > time.time() else None

    @property
    def given(self) -> list[str]:
        return list(self._tokens)

    def answer(self, form: bytes) -> Answer:
        fields = {name: values[0] for name, values in parse_qs(form.decode()).items()}
        if fields.get("grant_type") != GRANT:
            return _refused("unsupported_grant_type", f"Invalid grant_type: {fields.get('grant_type')}")
        claims = None if self.revoked else _verified(fields.get("assertion", ""))
        if claims is None:
            return _refused("invalid_grant", "Invalid JWT Signature.")
        if not claims["iat"] - 300 <= time.time() <= claims["exp"] <= claims["iat"] + HOUR:
            message = "Invalid JWT: Token must be a short-lived token and in a reasonable timeframe."
            return _refused("invalid_grant", message)
        if claims.get("aud") != AUDIENCE:
            return _refused("invalid_grant", "Invalid JWT: Failed audience check.")
        access = f"ya29.{secrets.token_urlsafe(24)}"
        scopes = frozenset(str(claims.get("scope", "")).split())
        self._tokens[access] = Token(claims["iss"], scopes, time.time() + HOUR)
        return Answer(body={"access_token": access, "expires_in": HOUR, "token_type": "Bearer"})


def _verified(assertion: str) -> dict[str, Any] | None:
    """Return the claims of an RS256 assertion signed with our key, None for any other."""
    try:
        signed, _, signature = assertion.rpartition(".")
        header, _, claims = signed.partition(".")
        if json.loads(_decoded(header))["alg"] != "RS256":
            return None
        public = private_key().public_key()
        public.verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        found: dict[str, Any] = json.loads(_decoded(claims))
        return found
    except (InvalidSignature, ValueError, KeyError):
        return None


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _refused(error: str, description: str) -> Answer:
    return Answer(400, {"error": error, "error_description": description})

"""Keys and tokens appear nowhere: not in the log, terminal, results, cache or process list."""

import json
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from internal_linker.model.errors import InternalLinkerError
from internal_linker.sources.google_sheets.queries_tab import GoogleSheet
from tests.standins import GoogleStandIn, OpenAIStandIn, Reply, SerpApiStandIn, SerperStandIn
from tests.standins.google_token import make_service_account
from tests.support.embedders import PAGES, collect, encoder_at, start_stand_in
from tests.support.searching import client
from tests.support.sites import make_project, sample_pages, sample_queries, use_standins
from tests.support.small_project import start

PAGES_OF_SITE = 12
SEARCH_KEY, OPENAI_KEY = "search-0123456789-abcdef-secret", "sk-0123456789-abcdef-very-secret-key"


@pytest.fixture(params=[SerperStandIn, pytest.param(SerpApiStandIn, marks=pytest.mark.long)])
def search(request: pytest.FixtureRequest) -> Iterator[SerperStandIn | SerpApiStandIn]:
    with request.param(lambda words, site: [], api_key=SEARCH_KEY) as server:
        yield server


@pytest.fixture
def services() -> Iterator[tuple[OpenAIStandIn, GoogleStandIn]]:
    rows = [["URL", "Main Query"], *sample_queries(sample_pages(PAGES_OF_SITE))]
    with (
        OpenAIStandIn(api_key=OPENAI_KEY) as openai,
        GoogleStandIn({"Main": rows}, rows=60, columns=8) as google,
    ):
        yield openai, google


def command_lines() -> str:
    """Return the command lines of all processes, on Linux."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:  # the process has ended
            continue
    return "\n".join(found)


def secrets(google: GoogleStandIn) -> list[str]:
    """Return the keys, each line of the private key, and each issued access token."""
    pem = google.service_account["private_key"]
    lines = [line for line in pem.splitlines() if not line.startswith("-----")]
    return [SEARCH_KEY, OPENAI_KEY, *lines, *google.tokens.given]


# The real program, with retries that don't wait.
HASTY = """
from internal_linker.sources.http import limits
limits._backoff = lambda state: 0.0
from internal_linker.faces.cli import main
main()
"""


@pytest.mark.parametrize("mishap", ["refused", pytest.param("nonsense", marks=pytest.mark.long)])
def test_no_secret_leaves_its_file(
    mishap: str,
    search: SerperStandIn | SerpApiStandIn,
    services: tuple[OpenAIStandIn, GoogleStandIn],
    tmp_path: Path,
) -> None:
    openai, google = services
    project = make_project(tmp_path, PAGES_OF_SITE)
    if isinstance(search, SerperStandIn):
        use_standins(project, google=google, serper=search, openai=openai)
    else:
        use_standins(project, google=google, serpapi=search, openai=openai)
    for server, key in ((search, SEARCH_KEY), (openai, OPENAI_KEY)):
        # Some services repeat in an error what they were sent.
        words = f"the key {key} is not one"
        error = words if server is search else {"message": words, "code": 400}
        refusal = Reply(400, {"error": error, "message": words})
        fault = refusal if mishap == "refused" else Reply(200, html=words)
        server.script(*[fault] * 40, on="search|embeddings")
    process = start("-X", "dev", "-c", HASTY, "run", "--project", str(project), cwd=tmp_path)
    seen = []
    while process.poll() is None:
        seen.append(command_lines())
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    out, err = process.communicate()
    texts = {"terminal": out + err, "processes": "\n".join(seen)}
    for path in project.rglob("*"):
        if path.is_file() and path.parent.name != "config":
            texts[path.name] = path.read_bytes().decode("utf-8", "replace")
    assert "Details: logfile.txt" in out and {"logfile.txt", "cache.sqlite3", "Output.csv"} <= texts.keys()
    assert search.calls("/search")
    hidden = secrets(google)
    assert len(hidden) > 20
    assert [(name, one[:6]) for name, text in texts.items() for one in hidden if one in text] == []


class _Nobody(BaseHTTPRequestHandler):
    """A handler for requests that must never arrive."""

    def do_GET(self) -> None:
        reached.append(self.path)
        self.send_response(200)
        self.end_headers()

    do_POST = do_GET


reached: list[str] = []


@pytest.fixture
def impostor(tmp_path: Path) -> Iterator[str]:
    """Return the address of a server with a self-signed certificate."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = tmp_path / "own.pem"
    file.write_bytes(pem + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server = HTTPServer(("127.0.0.1", 0), _Nobody)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    reached.clear()
    yield f"https://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    "variable",
    [
        "",
        *(
            pytest.param(variable, marks=pytest.mark.long)
            for variable in ("PYTHONHTTPSVERIFY=0", "REQUESTS_CA_BUNDLE=")
        ),
    ],
)
def test_nobody_can_pose_as_a_service(variable: str, impostor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if variable:
        monkeypatch.setenv(*variable.split("="))
    with (
        SerperStandIn(lambda words, site: []) as serper,
        SerpApiStandIn(lambda words, site: []) as serpapi,
        start_stand_in() as openai,
    ):
        encoder = encoder_at(openai)
        encoder._server.base_url = f"{impostor}/v1"
        account = json.dumps(make_service_account(impostor))
        asked: list[Callable[[], object]] = [
            lambda: client(serper, url=impostor).search("tea", 1),
            lambda: client(serpapi, url=impostor).search("tea", 1),
            lambda: collect(encoder, PAGES[:1]),
            GoogleSheet(account, "1", api_url=impostor, links_per_page=5).read,
        ]
        for ask in asked:
            with pytest.raises(InternalLinkerError):
                ask()
    assert reached == []

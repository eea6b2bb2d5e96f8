"""A real WordPress on loopback, with SQLite; `install_wordpress.sh` fetches it."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
from platformdirs import user_cache_path

from tests.support.wordpress_posts import seed_posts

_HERE = Path(__file__).parent
_CODE = user_cache_path("internal-linker-tests", appauthor=False) / "wordpress"
_ROLES = {"admin": "administrator", "anna": "author", "sam": "subscriber"}
# Seconds until the server answers; it takes a tenth of one.
_START_S = 20.0
# Keeps the compiled code from one request to the next.
_QUICK = ("-d", "opcache.enable_cli=1", "-d", "opcache.revalidate_freq=0")
# Gives posts their language as Polylang does, and the fields of Yoast SEO, where a post has them.
_FIELDS = """<?php
add_action( 'rest_api_init', function () {
	register_rest_field( array( 'post', 'page' ), 'lang', array( 'get_callback' => function ( $post ) {
		return get_post_meta( $post['id'], 'language', true );
	} ) );
	register_rest_field( array( 'post', 'page' ), 'yoast_head_json', array( 'get_callback' => function ( $post ) {
		return json_decode( get_post_meta( $post['id'], 'yoast', true ) ?: 'null' );
	} ) );
} );
"""


def missing() -> str:
    """Return why there is no WordPress to test with; "" if there is one."""
    if not shutil.which("php"):
        return "PHP is not installed"
    if not (_CODE / "wp-load.php").exists():
        return "WordPress is not in the cache; to fetch it, run tests/support/install_wordpress.sh"
    return ""


@dataclass(frozen=True)
class WordPress:
    """A site that runs.

    Attributes:
        url: its address, without a slash at the end.
        folder: its database and plugins.
        passwords: the application passwords of admin, anna (an author) and sam (a subscriber).
        posts: the ids of its posts, by their slugs.
    """

    url: str
    folder: Path
    passwords: Mapping[str, str]
    posts: Mapping[str, int]

    def content(self, post: int) -> str:
        """Return a post's content as it is in the database."""
        with closing(sqlite3.connect(self.folder / "site.sqlite3")) as database:
            row = database.execute("SELECT post_content FROM wp_posts WHERE ID = ?", (post,)).fetchone()
        return str(row[0])

    def edit(self, post: int, kind: str = "posts", **fields: str) -> None:
        """Change a post as an administrator does."""
        self._request("POST", post, kind, fields)

    def delete(self, post: int, kind: str = "posts") -> None:
        self._request("DELETE", post, kind, {"force": "true"})

    def plugin(self, php: str, name: str = "test.php") -> None:
        """Add a plugin, from the next request on."""
        (self.folder / "mu-plugins" / name).write_text(f"<?php\n{php}", encoding="utf-8")

    def set_meta(self, post: int, name: str, value: str) -> None:
        """Set a meta field of a post, as a plugin does."""
        with closing(sqlite3.connect(self.folder / "site.sqlite3")) as database, database:
            database.execute(
                "INSERT INTO wp_postmeta (post_id, meta_key, meta_value) VALUES (?, ?, ?)",
                (post, name, value),
            )

    def _request(self, method: str, post: int, kind: str, fields: Mapping[str, str]) -> None:
        address = f"{self.url}/wp-json/wp/v2/{kind}/{post}"
        answer = httpx.request(method, address, json=dict(fields), auth=("admin", self.passwords["admin"]))
        answer.raise_for_status()


def make_template(folder: Path) -> Path:
    """Install a site with its users and posts, from which tests take copies; its URL is fixed until it is copied."""
    (folder / "mu-plugins").mkdir(parents=True)
    (folder / "mu-plugins" / "fields.php").write_text(_FIELDS, encoding="utf-8")
    given = {
        "users": _ROLES,
        "categories": ["Tools", "Seasons & weather"],
        "posts": [asdict(post) for post in seed_posts(_TEMPLATE_URL)],
    }
    seeding = subprocess.run(
        ["php", str(_HERE / "wordpress_site" / "seed.php"), str(_CODE)],
        input=json.dumps(given).encode(),
        capture_output=True,
        env=_environment(folder, _TEMPLATE_URL),
        check=False,
    )
    assert seeding.returncode == 0, seeding.stdout + seeding.stderr
    (folder / "seeded.json").write_bytes(seeding.stdout)
    return folder


@contextmanager
def running_site(template: Path, folder: Path) -> Iterator[WordPress]:
    """Serve a copy of a template; links in its posts lead to the copy."""
    shutil.copytree(template, folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with closing(sqlite3.connect(folder / "site.sqlite3")) as database, database:
        database.execute(
            "UPDATE wp_posts SET post_content = replace(post_content, ?, ?)", (_TEMPLATE_URL, url)
        )
    seeded = json.loads((folder / "seeded.json").read_text(encoding="utf-8"))
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            ["php", *_QUICK, "-S", f"127.0.0.1:{port}", "-t", str(_CODE)],
            stdout=log,
            stderr=log,
            env=_environment(folder, url),
        )
        try:
            _await(port, server)
            yield WordPress(url, folder, seeded["passwords"], seeded["posts"])
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


_TEMPLATE_URL = "http://127.0.0.1:1"


def _environment(folder: Path, url: str) -> dict[str, str]:
    ours = {
        "WORDPRESS_TEST_CONFIG": str(_HERE / "wordpress_site" / "config.php"),
        "WORDPRESS_TEST_FOLDER": str(folder),
        "WORDPRESS_TEST_URL": url,
    }
    return {**os.environ, **ours}


def _await(port: int, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("PHP's server did not start")

"""An interrupted import, or one that gets no page, leaves the tables unchanged and keeps what it fetched."""

import signal
import time
from pathlib import Path

import pytest

from tests.support.crawls import empty_project, imported
from tests.support.small_project import REPOSITORY, finish, start, write_text
from tests.support.web_server import HTML, Reply, Site
from tests.support.web_sites import html_page


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Ctrl-C as POSIX has it")
def test_an_interrupted_import(tmp_path: Path) -> None:
    """Ctrl-C ends the import with exit code 130; the next import requests the first page with its ETag."""
    project = empty_project(tmp_path)
    write_text(project / "files/urls_rawdata.csv", "my own pages")
    urls = project / "urls.txt"
    with Site() as site:
        write_text(urls, f"{site.url}/a\n{site.url}/slow\n")
        site.pages = {"/a": Reply(html_page("A"), headers={**HTML, "ETag": '"1"'}), "/slow": Reply(slow=30)}
        command = ("-m", "internal_linker", "import", "--urls", str(urls), "--project", str(project))
        process = start(*command, "--allow-private", "--delay", "0", cwd=REPOSITORY)
        patience = time.monotonic() + 60
        while "/slow" not in site.paths:
            assert time.monotonic() < patience
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        code, _, err = finish(process)
        assert (code, "Interrupted. Everything fetched" in err) == (130, True)
        assert (project / "files/urls_rawdata.csv").read_text(encoding="utf-8") == "my own pages"
        assert [path.name for path in (project / "files").glob("*.csv")] == ["urls_rawdata.csv"]
        site.pages["/slow"] = html_page("Slow")
        site.asked.clear()
        assert imported(project, "--urls", str(urls), "--allow-private", "--delay", "0") == 0
        asked = dict(site.asked)
        assert asked["/a"]["if-none-match"] == '"1"' and "if-none-match" not in asked["/slow"]


def test_a_site_that_shuts_us_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An import without a single page ends with exit code 4 and the reasons; a page rendered by scripts is counted."""
    project = empty_project(tmp_path)
    write_text(project / "files/urls_rawdata.csv", "my own pages")
    with Site({"/a": Reply("no", 403), "/b": Reply("no", 403)}) as site:
        write_text(project / "urls.txt", f"{site.url}/a\n{site.url}/b\n{site.url}/c\n")
        options = ("--urls", str(project / "urls.txt"), "--allow-private", "--delay", "0")
        assert imported(project, *options) == 4
        assert "returned a page (2 times HTTP 403, 1 times HTTP 404)" in capsys.readouterr().err
        assert (project / "files/urls_rawdata.csv").read_text(encoding="utf-8") == "my own pages"
        site.pages["/c"] = '<title>App</title><div id="app"></div><script src="/app.js"></script>'
        assert imported(project, *options) == 0
        assert "Pages without text (scripts may generate it): 1" in capsys.readouterr().out

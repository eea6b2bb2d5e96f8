"""An import that a person ends in the middle leaves the tables alone, and what it fetched is there the next time."""

import signal
import time
from pathlib import Path

import pytest

from tests.crawls import empty_project
from tests.small_project import REPOSITORY, finish, start, write_text
from tests.web_server import HTML, Reply, Site
from tests.web_sites import html_page


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Ctrl-C as POSIX has it")
def test_an_interrupted_import(tmp_path: Path) -> None:
    """Exit code 130; the next import asks for the first page by its ETag."""
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
        assert (code, "Interrupted. What was fetched" in err) == (130, True)
        assert (project / "files/urls_rawdata.csv").read_text(encoding="utf-8") == "my own pages"
        assert [path.name for path in (project / "files").glob("*.csv")] == ["urls_rawdata.csv"]
        site.pages["/slow"] = html_page("Slow")
        site.asked.clear()
        code, _, _ = finish(start(*command, "--allow-private", "--delay", "0", cwd=REPOSITORY))
        assert code == 0
        asked = dict(site.asked)
        assert asked["/a"]["if-none-match"] == '"1"' and "if-none-match" not in asked["/slow"]

"""Channels: messages reach real local servers, and nothing that is said or logged has a part of an address."""

import io
import logging
import time
from collections.abc import Iterator

import pytest

from internal_linker.project.notifications.channels import open_channels, send
from tests.support.message_servers import mail_server, silent_server, webhook

TITLE = "www.tiny.example: 2 new orphans"
BODY = "2 NEW ORPHANS\n- https://www.tiny.example/a_b_c/?x=1&y=2\n- <b>*no* markup</b>"
SECRET = "T0pSecretToken99"


def sent(*addresses: str, longest: float = 20.0, failed: bool = False) -> list[str]:
    """Send the message to each address; return the problems."""
    channels, problems = open_channels(enumerate(addresses, 1), "config/notify.txt", "Internal Linker")
    return [*problems, *filter(None, send(channels, TITLE, BODY, failed=failed, longest=longest))]


def test_a_webhook_gets_the_message_as_json_and_a_chat_one_text() -> None:
    token = "3ccdd113474722377935511fc85d3dd4"
    with webhook() as inbox:
        assert sent(f"json://127.0.0.1:{inbox.port}/hook", failed=True) == []
        assert sent(f"mmost://127.0.0.1:{inbox.port}/{token}") == []
    (path, body), (chat, text) = inbox.hooks
    assert path == "/hook" and body["title"] == TITLE and body["message"] == BODY
    assert body["type"] == "failure" and "github" not in str(body)
    assert chat == f"/hooks/{token}" and text["text"].split() == f"{TITLE} {BODY}".split()


@pytest.mark.parametrize("form", ["html", "text"])
def test_a_mail_has_subject_and_text(form: str) -> None:
    """In HTML, every special character of the text is shown as it is."""
    with mail_server() as inbox:
        address = f"mailto://127.0.0.1:{inbox.port}?from=robot@tiny.example&to=seo@tiny.example&format={form}"
        assert sent(address) == []
    (mail,) = inbox.mails
    assert mail["Subject"] == TITLE and mail["To"] == "seo@tiny.example"
    part = mail.get_body((form.replace("text", "plain"),))
    assert part is not None
    content = part.get_content()
    if form == "html":
        assert "&lt;b&gt;*no*&nbsp;markup&lt;/b&gt;" in content and "/a_b_c/?x=1&amp;y=2<br/>" in content
    else:
        assert content.split() == BODY.split()


def test_wrong_addresses_are_named_by_line_alone(capfd: pytest.CaptureFixture[str]) -> None:
    """A line that is no address gives one sentence with file and line, without its text; the others are sent to."""
    lines = [SECRET, f"https://hooks.example/{SECRET}", f"slack://{SECRET}", f"nosuch://{SECRET}"]
    with webhook() as inbox:
        problems = sent(*lines, f"json://127.0.0.1:{inbox.port}/hook")
    assert [problem.partition(":")[0] for problem in problems] == [
        f"config/notify.txt, line {line}" for line in range(1, 5)
    ]
    assert "write jsons://" in problems[1] and "slack://" in problems[2]
    assert len(inbox.hooks) == 1
    assert SECRET not in " ".join(problems) + "".join(capfd.readouterr())


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Return what a program that logs everything would log; pytest's own fixture also hears what is kept from it."""
    text = io.StringIO()
    handler, root = logging.StreamHandler(text), logging.getLogger()
    root.addHandler(handler)
    before = root.level
    root.setLevel(logging.DEBUG)
    yield text
    root.setLevel(before)
    root.removeHandler(handler)


def test_refusals_say_why_without_any_secret(capfd: pytest.CaptureFixture[str], logged: io.StringIO) -> None:
    """Status or answer of a service is repeated, without what it repeats of the address; nothing else is logged."""
    with webhook() as inbox, mail_server(SECRET) as mails:
        problems = sent(
            f"json://user:{SECRET}@127.0.0.1:{inbox.port}/refuse/{SECRET}",
            f"json://127.0.0.1:{inbox.port}/moved/{SECRET}",
            f"mailto://robot:{SECRET}@127.0.0.1:{mails.port}?from=a@tiny.example&to=b@tiny.example",
            f"json://127.0.0.1:1/{SECRET}",
        )
    starts = ["config/notify.txt, line 1 (JSON)", "config/notify.txt, line 2 (JSON)"]
    starts += ["config/notify.txt, line 3 (E-Mail)", "config/notify.txt, line 4 (JSON)"]
    assert [problem.partition(":")[0] for problem in problems] == starts
    assert "403" in problems[0] and "302" in problems[1] and "535" in problems[2], problems
    assert {path.split("/")[1] for path, _ in inbox.hooks} == {"refuse", "moved"}
    assert not mails.mails
    told = " ".join(problems) + "".join(capfd.readouterr()) + logged.getvalue()
    assert SECRET not in told


@pytest.mark.long
def test_nobody_waits_for_a_server_that_hangs() -> None:
    with webhook() as inbox, silent_server() as port:
        began = time.monotonic()
        problems = sent(
            f"json://127.0.0.1:{inbox.port}/drip/{SECRET}",
            f"json://127.0.0.1:{port}/{SECRET}?rto=60",
            f"json://127.0.0.1:{inbox.port}/hook",
            longest=3.0,
        )
        assert time.monotonic() - began < 5.0
    starts = [f"config/notify.txt, line {line} (JSON): it did not take" for line in (1, 2)]
    assert len(problems) == 2 and all(map(str.startswith, problems, starts))
    assert "/hook" in [path for path, _ in inbox.hooks]

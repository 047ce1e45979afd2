"""The smoke test after a deployment passes only for a working stack."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from infra.accounts import TOKEN_PATH
from infra.deploying import smoke
from infra.deploying.account import DeployError
from infra.deploying.smoke import EMAIL, smoke_test
from tests.live import Live, shared


@pytest.fixture(scope="session")
def live(request: pytest.FixtureRequest) -> Live:
    """The running stack that all tests over HTTP share."""
    return shared(request.config)


def test_stack_that_works(live: Live) -> None:
    """Health, account, token and prediction are checked on the real service, repeatedly."""
    for _ in range(2):
        said: list[str] = []
        smoke_test(live.url, live.stack.settings, said.append)
        assert [line.partition(":")[0] for line in said] == [
            "health",
            "account and token",
            "prediction",
        ]
    assert live.account(EMAIL).plan == "STARTER"


def test_stack_that_answers_nothing(live: Live) -> None:
    """A server that always fails is reported with its answer after several attempts."""
    asked: list[str] = []

    class Broken(BaseHTTPRequestHandler):
        """Fails."""

        def do_GET(self) -> None:
            """Answer with an error."""
            asked.append(self.path)
            self.send_error(503, "not yet")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Broken) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with pytest.raises(DeployError, match="answered 503") as failed:
            smoke_test(url, live.stack.settings, lambda _: None, pause_seconds=0)
        server.shutdown()

    assert "docs/runbook.md" in str(failed.value)
    assert len(asked) == 8


@contextmanager
def warming_up(live: Live, token_answers: list[int]) -> Iterator[str]:
    """Return other answers before those of the real service.

    Each answer is taken off the list. Yields the address.
    """

    class Gateway(BaseHTTPRequestHandler):
        """Passes a call on, unless it has an answer to give."""

        def do_GET(self) -> None:
            """Pass it on."""
            self._pass_on(b"")

        def do_POST(self) -> None:
            """Answer with the next status of the list, or pass it on."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path != TOKEN_PATH or not token_answers:
                self._pass_on(body)
            elif status := token_answers.pop(0):
                self.send_error(status)

        def _pass_on(self, body: bytes) -> None:
            """Ask the service and give its answer."""
            service = http.client.HTTPConnection(live.url.removeprefix("http://"))
            service.request(self.command, self.path, body, dict(self.headers))
            answer = service.getresponse()
            content = answer.read()
            service.close()
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_token_of_a_stage_that_warms_up(live: Live) -> None:
    """Gateway errors and lost connections before the first token are retried."""
    answers, said = [503, 502, 0, 504], []
    with warming_up(live, answers) as url:
        smoke_test(url, live.stack.settings, said.append, pause_seconds=0)

    assert not answers
    assert said[1] == "account and token: ok"


def test_token_that_is_refused_for_good(live: Live) -> None:
    """If the service refuses the account's key, this is reported at once with the remedy."""
    answers = [401, 401]
    with (
        warming_up(live, answers) as url,
        pytest.raises(DeployError, match=r"(?s)answered 401.*compare the e-mail address"),
    ):
        smoke_test(url, live.stack.settings, lambda _: None, pause_seconds=0)

    assert answers == [401]


def test_token_that_never_comes(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempts end at their time limit."""
    monkeypatch.setattr(smoke, "_LONGEST_SECONDS", 0.3)
    answers = [503] * 8
    with warming_up(live, answers) as url, pytest.raises(DeployError, match="answered 503"):
        smoke_test(url, live.stack.settings, lambda _: None, pause_seconds=0.1)

    assert 1 < len(answers) < 8

"""The test at the end of a deployment tells a stack that works from one that does not."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from infra.deploying.account import DeployError
from infra.deploying.smoke import EMAIL, smoke_test
from tests.live import Live, shared


@pytest.fixture(scope="session")
def live(request: pytest.FixtureRequest) -> Live:
    """The running stack that all tests over HTTP share."""
    return shared(request.config)


def test_stack_that_works(live: Live) -> None:
    """Health, account, token and prediction are asked of the real service; it may be repeated."""
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
    """A server that always fails is told with what it said, after some tries."""
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

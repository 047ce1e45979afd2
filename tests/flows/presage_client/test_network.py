"""The client on a network that stalls, refuses, and fails during an upload."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from presage import AsyncPresage, Presage, RateLimitError, UnreachableError, UnreadableAnswerError
from presage._sync.fetching import fetch

from tests.flows.presage_client import WEATHER
from tests.flows.presage_client.bad_network import answered, dropped, passed, stalled
from tests.flows.presage_client.test_client import through

BUSY = answered(503, b'{"message": "slow down", "code": "throttled"}', Retry_After="0.1")


@pytest.fixture
def hasty(network, account):
    """A client behind the proxy with a short timeout.

    Long enough for what a busy machine does answer, which would be asked for once more, too.
    """
    with Presage(network.url, *account, http={"timeout": 3.0}) as client:
        client.usage()
        network.calls.clear()
        yield client


def test_reads_that_stall_are_sent_again(hasty, network):
    """A stalled call is repeated; a change is repeated with the same key."""
    network.faults = [stalled]
    assert hasty.usage().object == "apiusage"
    network.faults = [stalled]
    made = hasty.language.datasets.create("late", labels=["a"], type="text-intent")
    assert [one.id for one in hasty.language.datasets.list(name="late")] == [made.id]
    assert len(network.calls) == 5


def test_predictions_are_repeated_when_the_service_is_busy(far, network, weather_model):
    """A prediction refused with a 503 was not counted, so it is repeated."""
    network.faults = [BUSY, BUSY, answered(429, b'{"message": "spent"}', Retry_After="999999")]
    with pytest.raises(RateLimitError, match="spent"):
        far.language.intent(weather_model, "hot?")
    assert len(network.calls) == 3


def test_a_service_that_stays_busy_is_an_error_in_the_end(far, network, monkeypatch):
    """Retries are limited; the latest answer becomes the error."""
    monkeypatch.setattr("presage._sync.transport.ATTEMPTS", 3)
    network.faults = [BUSY] * 9
    with pytest.raises(Exception, match="slow down"):
        far.usage()
    assert len(network.calls) == 3


def test_a_token_that_ends_in_an_upload_is_renewed(far, network, account, monkeypatch):
    """A token that expires during an upload is renewed, and nothing is sent twice."""
    monkeypatch.setattr("presage._sync.uploads.LARGEST_IN_CALL", 100)
    network.faults = [passed, answered(401, b'{"message": "Invalid access token"}')]
    data = far.language.datasets.upload(WEATHER, type="text-intent", progress=False)
    assert data.total_examples == 73
    begin = ["POST /v2/uploads", "POST /v2/language/datasets/upload", "POST /v2/oauth2/token"]
    assert network.calls[:4] == [*begin, begin[1]]


def test_callers_at_the_same_time_share_a_token(network, account):
    """Threads and tasks of one client share a token, initially and after its expiry."""
    token = "POST /v2/oauth2/token"
    with Presage(network.url, *account) as client, ThreadPoolExecutor(8) as threads:
        for fetched in (1, 2):
            seen = [threads.submit(client.usage) for _ in range(8)]
            assert {item.result().object for item in seen} == {"apiusage"}
            assert network.calls.count(token) == fetched
            client.transport.credentials.valid_until = 0.0

    async def story() -> None:
        async with AsyncPresage(network.url, *account) as client:
            await asyncio.gather(*(client.usage() for _ in range(8)))

    asyncio.run(story())
    assert network.calls.count(token) == 3


def test_pages_of_another_service_are_reported(far, network):
    """A proxy's page, foreign JSON and an invalid encoding raise a clear error."""
    network.faults = [answered(200, b"<html>", Content_Type="text/html")]
    with pytest.raises(UnreadableAnswerError, match="check the address"):
        far.health()
    network.faults = [answered(200, b'{"hello": 1}')]
    with pytest.raises(UnreadableAnswerError, match="update presage-client"):
        far.health()
    network.faults = [answered(200, b"no gzip at all", Content_Encoding="gzip")] * 9
    with pytest.raises(UnreachableError):
        far.language.datasets.create("odd", labels=["a"], type="text-intent")


def test_exports_begin_again_when_the_line_breaks(presage, network, tmp_path):
    """An interrupted download is repeated; the file appears only when it is complete."""
    data = presage.language.datasets.upload(WEATHER, type="text-intent", progress=False)
    ended = data.export("csv").wait()
    through(network, ended)
    network.faults = [dropped]
    with (tmp_path / "back.csv").open("w+b") as file:
        size = fetch(presage.language.transport, ended.url, ended.bytes, file, False)
    assert (len(network.calls), (tmp_path / "back.csv").stat().st_size) == (2, size)


@pytest.mark.parametrize("begun", ["POST /v2/uploads", "POST /v2/language/datasets/upload"])
def test_ctrl_c_in_an_upload_ends_at_once(network, account, tmp_path, begun):
    """Ctrl-C in an upload prints one message, without a traceback or a temporary file."""
    file, key = tmp_path / "large.csv", tmp_path / "key.pem"
    file.write_text("a text,label\n" * (400_000 if begun == "POST /v2/uploads" else 4))
    key.write_text(account[1])
    names = {"URL": network.url, "EMAIL": account[0], "KEY_FILE": str(key)}
    names = {f"PRESAGE_{name}": text for name, text in names.items()}
    environment = {**os.environ, **names, "PYTHONPATH": "client/src", "TMPDIR": str(tmp_path)}
    network.faults = [passed, stalled]
    # A background process ignores Ctrl-C, and so does its child unless it resets the handler.
    reset = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program = f"{reset}import presage.__main__"
    command = [sys.executable, "-c", program, "datasets", "upload", str(file)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    ) as run:
        deadline = time.monotonic() + 60
        while begun not in network.calls:
            assert time.monotonic() < deadline, run.poll()
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        out, error = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, "")
    assert "Traceback" not in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["key.pem", "large.csv"]

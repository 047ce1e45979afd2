"""Simulates one account that calls far too fast, in a separate process: `python -m bench.flood`.

It reads `HOST:PORT TOKEN CALLS_A_SECOND` from its arguments and a `Request` as JSON from its
standard input. It calls until it is stopped, and prints the number of answers by status.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONNECTIONS = 16
NICENESS = 19
"""Nice value of the process, because a real caller would not use the service's processors."""


@dataclass(frozen=True)
class Request:
    """The HTTP call to repeat."""

    method: str = "GET"
    path: str = "/v2/language/datasets?count=1"
    kind: str = ""
    """Content type of the body."""
    body: str = ""
    """The body, whose bytes are encoded as Latin-1."""


LISTING = Request()


@contextmanager
def flooding(
    url: str, token: str, per_second: float, seen: Counter[str], request: Request = LISTING
) -> Iterator[None]:
    """Send requests from a second process during the `with` block; count the answers by status."""
    host = url.removeprefix("http://")
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.flood", host, token, str(per_second)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdin
    process.stdin.write(json.dumps(asdict(request)).encode())
    process.stdin.close()
    time.sleep(1)
    try:
        yield
    finally:
        process.terminate()
        assert process.stdout
        seen.update(json.loads(process.stdout.read()))
        process.wait()


def call(
    host: str,
    token: str,
    request: Request,
    pause: float,
    seen: Counter[int],
    is_over: threading.Event,
) -> None:
    """Call at a steady rate over one connection. Calls that are late are sent immediately."""
    connection, due = http.client.HTTPConnection(host, timeout=60), time.monotonic()
    headers = {"Authorization": f"Bearer {token}"}
    headers |= {"Content-Type": request.kind} if request.kind else {}
    body = request.body.encode("latin-1") or None
    while not is_over.is_set():
        connection.request(request.method, request.path, body, headers)
        answer = connection.getresponse()
        answer.read()
        seen[answer.status] += 1
        due = max(due + pause, time.monotonic() - 1)
        is_over.wait(max(0.0, due - time.monotonic()))


def main() -> int:
    """Call until the process is stopped."""
    os.nice(NICENESS)
    host, token, per_second = sys.argv[1:]
    request = Request(**json.load(sys.stdin))
    seen: Counter[int] = Counter()
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    pause = CONNECTIONS / float(per_second)
    threads = [
        threading.Thread(target=call, args=(host, token, request, pause, seen, is_over))
        for _ in range(CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    is_over.wait()
    for thread in threads:
        thread.join()
    print(json.dumps(seen))
    return 0


if __name__ == "__main__":
    sys.exit(main())

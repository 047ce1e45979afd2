"""One account that calls far too fast, in a separate process: `python -m bench.flood`.

It reads `HOST:PORT TOKEN CALLS_A_SECOND [FILE]` from its arguments, calls until it is ended, and
counts the answers by status on its standard output. FILE is the JSON of another `Request`.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

CONNECTIONS = 16
NICENESS = 19
"""Its work is done on the caller's machine: here it must not take the service's processors."""


@dataclass(frozen=True)
class Request:
    """The call that is repeated."""

    method: str = "GET"
    path: str = "/v2/language/datasets?count=1"
    kind: str = ""
    """Content type of the body."""
    body: str = ""
    """Bytes as Latin-1."""


def call(
    host: str,
    token: str,
    request: Request,
    pause: float,
    seen: Counter[int],
    is_over: threading.Event,
) -> None:
    """Call at a steady pace over one connection; what is late is sent at once."""
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
    """Call until stopped."""
    os.nice(NICENESS)
    host, token, per_second, *files = sys.argv[1:]
    request = Request(**json.loads(Path(files[0]).read_text("utf-8"))) if files else Request()
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

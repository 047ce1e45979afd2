"""One account that calls far too fast, in a separate process: `python -m bench.flood`.

It reads `HOST:PORT TOKEN CALLS_A_SECOND` from its arguments, calls until it is ended, and counts
the answers by status on its standard output.
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

CONNECTIONS = 16
NICENESS = 19
"""Its work is done on the caller's machine: here it must not take the service's processors."""
PATH = "/v2/language/datasets?count=1"


def call(host: str, token: str, pause: float, seen: Counter[int], is_over: threading.Event) -> None:
    """Call at a steady pace over one connection; what is late is sent at once."""
    connection, due = http.client.HTTPConnection(host, timeout=60), time.monotonic()
    while not is_over.is_set():
        connection.request("GET", PATH, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        answer.read()
        seen[answer.status] += 1
        due = max(due + pause, time.monotonic() - 1)
        is_over.wait(max(0.0, due - time.monotonic()))


def main() -> int:
    """Call until stopped."""
    os.nice(NICENESS)
    host, token, per_second = sys.argv[1:]
    seen: Counter[int] = Counter()
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    pause = CONNECTIONS / float(per_second)
    threads = [
        threading.Thread(target=call, args=(host, token, pause, seen, is_over))
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

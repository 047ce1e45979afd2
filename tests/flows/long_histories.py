"""Random histories against a model of the specification; long, run by `make histories`.

A divergence names its seed; with it as PRESAGE_HISTORY_SEED the first history is the same again.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.flows.histories.history import History
from tests.flows.world import World

OPERATIONS = int(os.environ.get("PRESAGE_HISTORY_OPERATIONS") or 10_000)
SEED = int(os.environ.get("PRESAGE_HISTORY_SEED") or secrets.randbelow(1_000_000))
EACH = 500
"""Operations of one history; each has separate accounts."""
AT_ONCE = 2


def test_long_histories_are_as_specified(world: World) -> None:
    """Random histories, two at a time, match the specification in every answer."""
    began = time.monotonic()
    lengths = [min(EACH, OPERATIONS - done) for done in range(0, OPERATIONS, EACH)]
    histories = [History(world, SEED + place, length) for place, length in enumerate(lengths)]
    say(f"{OPERATIONS} operations in {len(histories)} histories, PRESAGE_HISTORY_SEED={SEED}")
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for number, _ in enumerate(threads.map(History.run, histories), 1):
            minutes = (time.monotonic() - began) / 60
            say(f"{number} of {len(histories)} histories without divergence, {minutes:.1f} minutes")
    calls, refusals = (
        sum(getattr(history, name) for history in histories) for name in ("calls", "refusals")
    )
    say(f"{calls} calls, polls not counted; a busy machine refused {refusals} of them")


def say(text: str) -> None:
    """Print a line; the Makefile makes pytest show it."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()

"""msgspec types are compiled by one thread at a time, in service and client."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from infra.local.environment import ROOT

RACE = """
import sys
from threading import Barrier, Thread
from typing import Annotated, Literal
from msgspec import Meta, Struct, convert, defstruct
from chalicelib.domain.common.decoding import prepare
from presage._records import Record, decode

DECODE = {
    "service": (Struct, lambda kind: prepare(kind) or convert({"a0": "x"}, kind)),
    "client": (Record, lambda kind: decode({"a0": "x"}, kind)),
}
base, decoded = DECODE[sys.argv[1]]
sys.setswitchinterval(1e-6)

def first_use(number):
    texts = [Annotated[str, Meta(max_length=100 * number + place)] for place in range(1, 9)]
    members = [(f"a{place}", text | None, None) for place, text in enumerate(texts)]
    kind = defstruct(f"Kind{number}", [*members, ("choice", Literal["x", "y"], "x")], bases=(base,))
    barrier, found = Barrier(8), []

    def use():
        barrier.wait()
        found.append(decoded(kind).a0)

    threads = [Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["x"] * 8

for number in range(200):
    first_use(number)
"""


@pytest.mark.parametrize("side", ["service", "client"])
def test_threads_may_decode_a_type_for_the_first_time_together(side):
    """Eight threads decode 200 new types at once without a crash."""
    done = subprocess.run(
        [sys.executable, "-c", RACE, side],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"client/src:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr

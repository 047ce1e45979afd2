"""Runs each part of the suite several times next to busy loops and prints a table of results.

Run: `make test-busy`, or `python -m tests.busy [PART ...] [--times N] [--loops N]`. A part is a
name of `DIVISION` in tests/parts.py. The timed part is left out unless it is named: it measures
time, so it runs alone. The exit status is 0 when every run passed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.parts import Part, clock, has_passed, parts, say

LOOP = "while True: pass"
TIMES = 3
"""Runs of each part."""
LOOPS = 2
"""Busy loops: as many as a small machine has processors, so that tests get half of its time."""


@dataclass(frozen=True)
class Run:
    """One run of one part of the suite."""

    part: str
    number: int
    passed: bool
    last_line: str
    seconds: float


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep as many processors busy as there are loops."""
    with ExitStack() as ends:
        for _ in range(count):
            loop = ends.enter_context(subprocess.Popen([sys.executable, "-c", LOOP]))
            ends.callback(loop.kill)
        yield


def run_parts(names: Sequence[str], times: int) -> list[Run]:
    """Run parts one after the other, each several times.

    Args:
        names: of the parts; none for all but the timed one.
        times: runs of each part.

    Raises:
        ValueError: a name is not a part; the text lists the parts.
    """
    queue, timed = parts([])
    known = {part.name: part for part in (*queue, timed)}
    unknown = sorted(set(names) - known.keys())
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: not a part. Parts: {', '.join(known)}.")
    chosen = names or [part.name for part in queue]
    return [_run(known[name], number) for name in chosen for number in range(1, times + 1)]


def _run(part: Part, number: int) -> Run:
    started = time.monotonic()
    fresh = Part(part.name, part.arguments, program=part.program)
    fresh.run()
    return Run(part.name, number, has_passed(fresh), fresh.last, time.monotonic() - started)


def table(runs: Sequence[Run]) -> str:
    """Return the results as a table with one line per run."""
    lines = ["part      run  result  time   last line"]
    for run in runs:
        result = "passed" if run.passed else "FAILED"
        took = clock(run.seconds)
        lines.append(f"{run.part:9} {run.number:3}  {result}  {took:>5}  {run.last_line}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Run parts next to busy loops; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.busy", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="all but `timed` by default")
    parser.add_argument("--times", type=int, default=TIMES, help="runs of each part (%(default)s)")
    parser.add_argument("--loops", type=int, default=LOOPS, help="busy loops (%(default)s)")
    chosen = parser.parse_args(arguments)
    with busy_loops(chosen.loops):
        try:
            done = run_parts(chosen.parts, chosen.times)
        except ValueError as error:
            parser.error(str(error))
    say(f"\n{table(done)}\n")
    return 0 if all(run.passed for run in done) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

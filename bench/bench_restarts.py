"""Measures how long a local stack with 400,000 saved examples takes to start and stop.

Run: python -m bench.bench_restarts [--texts N --rounds N]. An empty and a filled installation start
alternately, and their median times are compared. Between start and stop, each stack is idle for 10
seconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.bench_http import BIG_TEXTS, big_file
from bench.report import Report, ceiling, say
from infra.backups.folder import BackupFolder
from tests.flows.world import World
from tests.local_stack import LocalStack

BUILD = Path(__file__).parents[1] / "build" / "bench"
TEXTS = 400_000
ROUNDS = 3
# A start or stop may take this many seconds longer than with an empty installation.
MOST_SECONDS = 3.0
# Longest time until a file of texts is read, in seconds.
FILL_SECONDS = 900.0
# Seconds between start and stop, in which sweeps run.
IDLE_SECONDS = 10.0
# Seconds until changes are saved; short, so that all are saved before a stop is measured.
SAVE_SECONDS = "4"


def fill(stack: LocalStack, texts: int, folder: Path) -> None:
    """Upload `texts` texts, in files of the largest allowed size."""
    world = World(stack, folder)
    caller = world.caller("GOLD", example_calls=1_000_000)
    started = time.perf_counter()
    for first in range(0, texts, BIG_TEXTS):
        number = min(BIG_TEXTS, texts - first)
        uploaded = caller.upload(big_file(number), name=f"from {first}")
        done = caller.wait_dataset(int(uploaded["id"]), FILL_SECONDS)
        assert done["totalExamples"] == number, done
    world.close()
    say(f"{texts:,} texts are uploaded in {time.perf_counter() - started:.0f} s")


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that a call of `work` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def size(stack: LocalStack) -> int:
    """Return the number of bytes in the files that a stack has saved."""
    return sum(path.stat().st_size for path in stack.state.data.rglob("*") if path.is_file())


def files(stack: LocalStack) -> dict[Path, int]:
    """Return the modification time of each file that a stack has saved."""
    return {p: p.stat().st_mtime_ns for p in stack.state.data.rglob("*") if p.is_file()}


def memory(stack: LocalStack) -> float:
    """Return the resident memory of the process that emulates AWS, in MB."""
    pages = Path(f"/proc/{stack.processes['aws']}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def settle(stack: LocalStack) -> None:
    """Wait until a stack has saved all changes and removed the files of deleted data."""
    folder, before = BackupFolder(stack.state.data), ""
    while True:
        last, previous, seal = folder.manifest(), folder.previous(), folder.seal()
        is_clean = last and (previous is None or previous.pieces() <= last.pieces())
        if is_clean and seal == before:
            return
        before = seal
        time.sleep(2 * float(SAVE_SECONDS))


def main() -> int:
    """Run all sections; the exit status is 0 if every value meets its limit."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_restarts")
    parser.add_argument("--texts", type=int, default=TEXTS, help="examples of the filled stack")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="starts and stops of each stack")
    options = parser.parse_args()
    report = Report(f"Start and stop with {options.texts:,} examples")
    bare = {"arguments": ["--bare"], "environment": {"PRESAGE_SAVE_SECONDS": SAVE_SECONDS}}
    found: dict[str, list[float]] = {}
    written = 0
    with (
        LocalStack(ready_seconds=300, **bare) as empty,
        LocalStack(ready_seconds=300, **bare) as full,
        tempfile.TemporaryDirectory() as place,
    ):
        fill(full, options.texts, Path(place))
        say(f"saved: {size(full) / 1e6:.0f} MB")
        for stack in (empty, full):
            settle(stack)
            stack.pause()
        for _ in range(options.rounds):
            for name, stack in (("empty", empty), ("full", full)):
                before = files(stack)
                found.setdefault(f"{name}: start", []).append(timed(stack.start))
                time.sleep(IDLE_SECONDS)
                found.setdefault(f"{name}: memory", []).append(memory(stack))
                found.setdefault(f"{name}: stop", []).append(timed(stack.pause))
                written += len(set(files(stack).items()) - set(before.items()))
    middle = {name: statistics.median(values) for name, values in found.items()}
    for name, value in middle.items():
        report.add(name, value, "MB" if "memory" in name else "s")
    for step in ("start", "stop"):
        more = middle[f"full: {step}"] - middle[f"empty: {step}"]
        report.add(f"{step}: more than empty", more, "s", ceiling(MOST_SECONDS))
    report.add("files written", written, "", ceiling(0))
    return report.finish(BUILD / "restarts.json")


if __name__ == "__main__":
    sys.exit(main())

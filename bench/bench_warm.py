"""Compares warm predictions over HTTP of the current commit and of an earlier commit.

Run: make bench-warm BASE=<commit>, or python -m bench.bench_warm BASE [--pairs N --calls N]. Each
commit has a separate local stack, started in a git worktree with this environment's packages.
Blocks of predictions on one stack alternate with blocks on the other. Uncommitted changes are not
measured.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from bench.report import Report, ceiling, say
from bench.text_data import BUILD, ROOT, bootstrapped

PAIRS, CALLS = 30, 60
BAR = 1.05
SIDE = """
import itertools, statistics, sys, tempfile, time
from pathlib import Path
from tests.flows.world import World, weather
from tests.local_stack import LocalStack

with LocalStack() as stack, tempfile.TemporaryDirectory() as folder:
    client = World(stack, Path(folder)).caller("GOLD", example_calls=100_000)
    model = client.model(int(client.dataset(weather())["id"]))

    def seconds(number):
        began = time.perf_counter()
        client.predict(model, f"is it going to rain {number} {began}").ok
        return time.perf_counter() - began

    for count in map(int, itertools.chain(["30"], sys.stdin)):
        print(statistics.median(map(seconds, range(count))), flush=True)
    client.close()
"""
"""Program of one stack: prints the median time of N predictions for each line `N` of its input."""


class Side:
    """The stack of one commit, in a separate process.

    Args:
        tree: working tree of the commit.
    """

    def __init__(self, tree: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SIDE],
            cwd=tree,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def seconds(self, calls: int) -> float:
        """Return the median time of a prediction."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{calls}\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> float:
        assert self._process.stdout is not None
        return float(self._process.stdout.readline())


@contextmanager
def tree_of(commit: str, name: str) -> Iterator[Path]:
    """Check a commit out into a folder below build/bench, with this checkout's models."""
    folder = BUILD / "warm" / name
    shutil.rmtree(folder, ignore_errors=True)
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--force", "--detach", folder, commit], check=True)
    try:
        (folder / ".models").symlink_to((ROOT / ".models").resolve())
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", folder], check=True)


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_warm")
    parser.add_argument("base", help="commit that the current one is compared with")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="of blocks, one of each stack")
    parser.add_argument("--calls", type=int, default=CALLS, help="in a block")
    options = parser.parse_args()
    report = Report(f"Warm predictions over those of {options.base}")
    ratios: list[float] = []
    times = []
    with ExitStack() as opened:
        trees = [
            opened.enter_context(tree_of(commit, name))
            for commit, name in (("HEAD", "here"), (options.base, "base"))
        ]
        here, base = (opened.enter_context(Side(tree)) for tree in trees)
        say("both stacks are warm")
        for pair in range(options.pairs):
            # Each stack is first equally often, because the order may matter.
            found = {side: side.seconds(options.calls) for side in _in_turn(pair, here, base)}
            times.append(1_000 * found[here])
            ratios.append(found[here] / found[base])
    report.add("prediction, median", statistics.median(times), "ms")
    name = f"relative to the base, median of {options.pairs} pairs"
    middle = bootstrapped(lambda drawn: float(np.median(np.take(ratios, drawn))), len(ratios))
    report.add(name, middle.value, "x", ceiling(BAR), None, middle.interval)
    return report.finish(BUILD / "warm.json")


def _in_turn(pair: int, here: Side, base: Side) -> tuple[Side, Side]:
    """Return the stacks `here` and `base` in an order that alternates from pair to pair."""
    return (here, base) if pair % 2 else (base, here)


if __name__ == "__main__":
    sys.exit(main())

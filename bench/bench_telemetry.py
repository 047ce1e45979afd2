"""Measures the processor time that disabled metrics and traces cost the HTTP server process.

Run with `make bench-telemetry` or `python -m bench.bench_telemetry [--calls N] [--runs N]`. Two
local stacks answer the same predictions in turn. One of the stacks has no hooks for telemetry
(bench/hookless_app.py). The encoder computes nothing, so only the service's own work is measured.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.report import Report, ceiling
from bench.text_data import BUILD, ROOT
from tests.flows.client import Client
from tests.flows.world import World
from tests.local_stack import LocalStack

CALLS, RUNS = 1_000, 5
BLOCK = 50
"""Calls in a block. Blocks of the two stacks alternate, because the load of the machine changes."""
BAR = 1.03
PACKAGES = ("opentelemetry", "prometheus_client")
LOADED = f"""
import sys
import app, infra.local.supervisor, infra.local.http.front
print(sum(name.startswith({PACKAGES}) for name in sys.modules))
"""


def processor_seconds(stack: LocalStack) -> float:
    """Return the processor time that the HTTP server process has used so far, in seconds."""
    fields = Path(f"/proc/{stack.processes['front']}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def predict(client: Client, count: int) -> None:
    """Make predictions with a prebuilt model."""
    for number in range(count):
        answer = client.predict("CommunitySentiment", f"text {number}", "sentiment")
        assert answer.status == 200, answer.body


def measure(report: Report, sides: list[tuple[LocalStack, Client]], runs: int, calls: int) -> None:
    """Make calls to the two stacks in alternating blocks, and compare the processor times."""
    for _, client in sides:
        predict(client, 2 * BLOCK)
    ratios, means = [], []
    for run in range(runs):
        before = [processor_seconds(stack) for stack, _ in sides]
        for block in range(calls // BLOCK):
            # Each stack is first equally often, because the order may matter.
            for _, client in sides if (run + block) % 2 else reversed(sides):
                predict(client, BLOCK)
        used = [
            processor_seconds(stack) - began
            for (stack, _), began in zip(sides, before, strict=True)
        ]
        ratios.append(used[0] / used[1])
        means.append(1_000 * used[0] / calls)
    report.add("processor time of a call, median", statistics.median(means), "ms")
    spread = min(ratios), max(ratios)
    ratio = statistics.median(ratios)
    report.add(f"relative to no hooks, median of {runs}", ratio, "", ceiling(BAR), None, spread)


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_telemetry")
    parser.add_argument("--calls", type=int, default=CALLS, help="of each stack in a run")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    report = Report("Metrics and traces that are off")
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=ROOT, check=True, capture_output=True, text=True
    )
    report.add("imported modules of their packages", int(loaded.stdout), "", ceiling(0))
    with (
        LocalStack("bench.constant_app:app") as usual,
        LocalStack("bench.hookless_app:app") as hookless,
        tempfile.TemporaryDirectory() as folder,
    ):
        sides = []
        for number, stack in enumerate((usual, hookless)):
            place = Path(folder) / str(number)
            place.mkdir()
            sides.append((stack, World(stack, place).caller("GOLD")))
        measure(report, sides, options.runs, options.calls)
        for _, client in sides:
            client.close()
    return report.finish(BUILD / "telemetry.json")


if __name__ == "__main__":
    sys.exit(main())

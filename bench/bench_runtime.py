"""Measures the cold start of presage-runtime, relative to loading only the exported encoder.

Run with `make bench-runtime` or `python -m bench.bench_runtime [--runs N]`. It exports a text model
over HTTP and starts new processes in turn: some predict a first text with presage-runtime, others
only load the exported encoder with ONNX Runtime and tokenizers.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from bench.report import Report, ceiling
from bench.text_data import BUILD, ROOT
from infra.packaging.reachable import write_runtime
from tests.flows.client import LANGUAGE, opened
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack

RUNS = 9
BAR = 1.5
PREDICT = """
from time import perf_counter
began = perf_counter()
import sys
from presage_runtime import load
load(sys.argv[1]).predict("Where is my parcel?")
print(perf_counter() - began)
"""
LOAD = """
from time import perf_counter
began = perf_counter()
import sys
from pathlib import Path
import numpy, onnxruntime, tokenizers
graphs = list(Path(sys.argv[1], "encoders").glob("*/*.onnx"))
assert graphs
for graph in graphs:
    onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    tokenizers.Tokenizer.from_file(str(graph.parent / "tokenizer.json"))
print(perf_counter() - began)
"""


def export_model(folder: Path) -> None:
    """Train a text model on a local stack, and unpack its export into a folder."""
    with LocalStack() as stack, tempfile.TemporaryDirectory() as keys:
        world = World(stack, Path(keys))
        client = world.caller("GOLD")
        model = client.model(int(client.dataset(csv_file(made_rows(60)))["id"]))
        path = f"{LANGUAGE}/models/{model}/exports"
        export = client.json("POST", path, {}).ok["id"]
        record = client.wait(f"{path}/{export}", lambda one: "url" in one, 120)[-1]
        with opened(record["url"]) as answer:
            content = answer.read()
        world.close()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)


def seconds(package: Path, script: str, model: Path) -> float:
    """Run a script in a new process that can only import the runtime, and return its time."""
    done = subprocess.run(
        [sys.executable, "-c", script, str(model)],
        cwd=package,
        env={**os.environ, "PYTHONPATH": str(package)},
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_runtime")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    report = Report("Cold start of presage-runtime")
    with tempfile.TemporaryDirectory() as name:
        package, model = Path(name) / "package", Path(name) / "model"
        package.mkdir()
        write_runtime(ROOT, ROOT / "deploy/runtime/presage_runtime", package / "presage_runtime")
        export_model(model)
        firsts, loads = [], []
        for run in range(options.runs + 1):
            first, load = (seconds(package, one, model) for one in (PREDICT, LOAD))
            # The first pair is not measured, because it reads files from the disk and compiles the
            # package.
            if run:
                firsts.append(first)
                loads.append(load)
    ratios = [first / load for first, load in zip(firsts, loads, strict=True)]
    report.add("imports and load of the encoder, median", statistics.median(loads), "s")
    report.add("imports and first text, median", statistics.median(firsts), "s")
    spread = min(ratios), max(ratios)
    ratio = statistics.median(ratios)
    report.add(f"ratio, median of {options.runs}", ratio, "", ceiling(BAR), None, spread)
    return report.finish(BUILD / "runtime.json")


if __name__ == "__main__":
    sys.exit(main())

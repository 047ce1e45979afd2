"""Measures batches: whether results equal single calls, cost, memory, delay of single calls.

Run: python -m bench.bench_batches [--only SECTION …] [--pictures 1000] [--documents 100] [--texts
20000] [--lines 1000000] [--data FOLDER]; the smallest run is --only files --pictures 2 --documents
1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.batch_texts import bench_latency, bench_memory, bench_quota, bench_speed
from bench.report import Bar, Report
from tests.flows.client import VISION, Client
from tests.flows.pictures import folders_zip
from tests.flows.test_batches import answered, papers, photos, single
from tests.flows.world import World
from tests.local_stack import LocalStack
from tests.pictures import make_zip

ROOT = Path(__file__).parents[1]


def compare(
    report: Report, client: Client, call: str, files: Mapping[str, bytes], **fields: str
) -> None:
    """Predict files as a batch and by single calls; report how many results are equal."""
    begun = time.perf_counter()
    _, lines = answered(client, VISION, "files.zip", make_zip(files), seconds=3600, **fields)
    batch_seconds = time.perf_counter() - begun
    begun, equal = time.perf_counter(), 0
    for line, (name, content) in zip(lines, files.items(), strict=True):
        answer = client.multipart(
            "POST", f"{VISION}/{call}", fields, {"sampleContent": ("sample", content)}
        )
        equal += line == single(name, answer.body)
    single_seconds = time.perf_counter() - begun
    report.add(f"{call}: lines equal to single calls", equal, "", Bar(len(files)))
    report.add(f"{call}: the batch", batch_seconds, "s")
    report.add(f"{call}: single calls, one after the other", single_seconds, "s")


def bench_files(report: Report, asked: argparse.Namespace) -> None:
    """Compare images and documents in batches with single calls."""
    with LocalStack() as stack, tempfile.TemporaryDirectory() as folder:
        world = World(stack, Path(folder))
        client = world.photographer()
        made = client.dataset(folders_zip(), file_name="shapes.zip", type="image")
        model = client.model(made["id"], "shapes", epochs=10)
        compare(report, client, "predict", photos(asked.pictures), modelId=model)
        compare(report, client, "ocr", papers(asked.documents), modelId="OCRModel")
        world.close()


SECTIONS: dict[str, Callable[[Report, argparse.Namespace], None]] = {
    "files": bench_files,
    "speed": bench_speed,
    "latency": bench_latency,
    "quota": bench_quota,
    "memory": bench_memory,
}


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_batches")
    parser.add_argument("--only", action="append", choices=list(SECTIONS))
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--pictures", type=int, default=1_000)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--texts", type=int, default=20_000, help="of speed, latency and quota")
    parser.add_argument("--lines", type=int, default=1_000_000, help="of memory; a tenth for real")
    asked = parser.parse_args()
    report = Report("Batches and single calls")
    for name in asked.only or SECTIONS:
        SECTIONS[name](report, asked)
    return report.finish(ROOT / "build" / "bench" / "batches.json")


if __name__ == "__main__":
    sys.exit(main())

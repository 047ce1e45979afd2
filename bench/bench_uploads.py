"""Uploads an image archive of 2 GB in the documented way, and measures time and memory.

Run: python -m bench.bench_uploads [--megabytes N] [--only SECTION]. It draws the archive and starts
a separate local stack. The memory of a process is its peak minus the memory before the upload.
Memory in which moto, the AWS emulator, stores images is not included. An archive that is one byte
too large must be refused. The section `validate` validates the largest files that a call accepts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.report import Bar, Report, ceiling, say
from bench.upload_validation import bench_validate
from chalicelib.domain.common.limits import MAX_ARCHIVE_BYTES_BY_PATH
from tests.flows.big_archive import IMAGE_BYTES, post_file, write_archive
from tests.flows.client import VISION, Client
from tests.flows.memory import MEGABYTE, PROCESSES, Memory, watched
from tests.flows.world import World
from tests.local_stack import LocalStack

BUILD = Path(__file__).parents[1] / "build" / "bench"
MEMORY_BARS = {"aws": 200, "front": 200, "ingest": 400, "train": 400}
"""Largest additional memory of each process, in megabytes."""
READ_SECONDS = 900
"""Seconds in which a deployed function must have read an upload."""


def issue(client: Client) -> dict[str, Any]:
    """Request a presigned upload form."""
    return dict(client.json("POST", "/v2/uploads", {"name": "large.zip"}).ok)


def bench_archive(report: Report, stack: LocalStack, client: Client, archive: Path) -> None:
    """Upload an archive, and wait until the service has read it; report time and memory."""
    issued, size = issue(client), archive.stat().st_size
    kind = f"{size / MEGABYTE:.0f} MB"
    with watched(stack) as memory:
        started = time.perf_counter()
        status, text = post_file(issued, archive)
        report.add(f"{kind}: sent by the form", time.perf_counter() - started, "s")
        assert status == 204, text
        started = time.perf_counter()
        fields = {"path": issued["path"], "type": "image"}
        made = client.json("POST", f"{VISION}/datasets/upload", fields).ok
        seconds = time.perf_counter() - started
    report.add(f"{kind}: the call that names its path", seconds, "s", ceiling(25))
    add_memory(report, f"{kind}, sending", memory)
    with watched(stack) as memory:
        started = time.perf_counter()
        path = f"{VISION}/datasets/{made['id']}"
        over = client.wait(path, lambda d: d["statusMsg"] != "UPLOADING", READ_SECONDS * 2)[-1]
        seconds = time.perf_counter() - started
    assert over["statusMsg"] == "SUCCEEDED", over["statusMsg"]
    lost = size // IMAGE_BYTES - over["totalExamples"]
    report.add(f"{kind}: images that are missing", max(0, lost), "", ceiling(0))
    report.add(f"{kind}: read into the dataset", seconds, "s", ceiling(READ_SECONDS))
    # Moto stores the images in memory, because they are below 16 MB; they do not count.
    memory.before["aws"] += size
    add_memory(report, f"{kind}, reading", memory)
    bench_export(report, stack, client, path)


def bench_export(report: Report, stack: LocalStack, client: Client, dataset: str) -> None:
    """Export the images of a dataset to an archive; report time and memory."""
    with watched(stack) as memory:
        started = time.perf_counter()
        made = client.json("POST", f"{dataset}/exports", {"format": "zip"}).ok
        path = f"{dataset}/exports/{made['id']}"
        over = client.wait(path, lambda e: e["status"] in ("SUCCEEDED", "FAILED"), READ_SECONDS)[-1]
        seconds = time.perf_counter() - started
    assert over["status"] == "SUCCEEDED", over
    kind = f"{over['bytes'] / MEGABYTE:.0f} MB"
    report.add(f"{kind}: written as an export", seconds, "s", ceiling(READ_SECONDS))
    # Moto joins the parts of the file in memory.
    grown, bar = memory.grown("ingest"), ceiling(MEMORY_BARS["ingest"])
    report.add(f"{kind}, exporting: memory of ingest on top", grown, "MB", bar)


def add_memory(report: Report, what: str, memory: Memory) -> None:
    """Report the additional memory of each process during `what`."""
    for name in PROCESSES:
        bar = ceiling(MEMORY_BARS[name])
        report.add(f"{what}: memory of {name} on top", memory.grown(name), "MB", bar)


def bench_too_large(report: Report, stack: LocalStack, client: Client, archive: Path) -> None:
    """Upload an archive of one byte more than the form allows; it must be refused."""
    with archive.open("r+b") as file:
        file.truncate(MAX_ARCHIVE_BYTES_BY_PATH + 1)
    with watched(stack) as memory:
        status, text = post_file(issue(client), archive)
    say(f"one byte above the limit: {status} {text}")
    is_refused = status == 400 and "exceeds the maximum allowed size" in text
    report.add("one byte above the limit: refused", float(is_refused), "", Bar(1))
    report.add("one byte above: memory that aws took on top", memory.grown("aws"), "MB",
               ceiling(MEMORY_BARS["aws"]))  # fmt: skip


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_uploads")
    largest = MAX_ARCHIVE_BYTES_BY_PATH // MEGABYTE
    parser.add_argument("--megabytes", type=int, default=largest, help="most that a file has")
    parser.add_argument("--only", choices=("archive", "validate"), help="one section alone")
    options = parser.parse_args()
    report = Report("Large uploads: seconds and memory of each process")
    with tempfile.TemporaryDirectory() as folder, LocalStack() as stack:
        world = World(stack, Path(folder))
        client = world.caller("GOLD").vision()
        if options.only != "archive":
            bench_validate(report, stack, client, Path(folder), options.megabytes * MEGABYTE)
        if options.only != "validate":
            archive = Path(folder) / "large.zip"
            started = time.perf_counter()
            count = write_archive(archive, min(options.megabytes, largest) * MEGABYTE)
            say(f"{count} images drawn in {time.perf_counter() - started:.0f} s")
            bench_archive(report, stack, client, archive)
            bench_too_large(report, stack, client, archive)
        client.close()
        world.close()
    return report.finish(BUILD / "uploads.json")


if __name__ == "__main__":
    sys.exit(main())

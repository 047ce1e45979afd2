"""Measures OCR over HTTP on a separate local stack: times, and memory of the server process."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from bench.bench_http import ceiling, milliseconds, peak_bytes, quantile, resident_bytes
from bench.ocr_data import eight_pages, read_rendered, read_sroie
from bench.report import say
from tests.flows.client import VISION, Client
from tests.flows.world import World
from tests.local_stack import LocalStack

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

CROP_WIDTH, CROP_HEIGHT = 600, 150
CROP_CALLS, CROP_WARM_UP = 1_000, 30
DIGITAL_CALLS = 10
CALL_SECONDS = 600
"""Longest time that a call may take before the benchmark gives up."""


@dataclass(frozen=True)
class Service:
    """A running stack, and a caller of its API."""

    bench: Bench
    caller: Client
    front: int
    """Id of the process that answers calls."""

    def read(self, content: bytes, task: str = "text", model: str = "OCRModel") -> dict[str, Any]:
        """Read a file; the call must succeed."""
        files = {"sampleContent": ("file", content)}
        fields = {"modelId": model, "task": task}
        return dict(self.caller.multipart("POST", f"{VISION}/ocr", fields, files).ok)

    def seconds(self, content: bytes, **fields: str) -> float:
        """Time one call, in seconds."""
        return milliseconds(lambda: self.read(content, **fields)) / 1_000

    def add(self, name: str, value: float, unit: str, limit: float | None = None) -> None:
        """Report a value."""
        self.bench.report.add(name, value, unit, None if limit is None else ceiling(limit))


def bench_service(bench: Bench) -> None:
    """Measure the service over HTTP, with the engine under test."""
    with running(bench) as service:
        bench_times(service)
        bench_memory(service)


@contextmanager
def running(bench: Bench) -> Iterator[Service]:
    """Start a stack that uses the engine under test, and sign in an account."""
    environment = {"PRESAGE_OCR_ENGINE": bench.reader.name}
    with LocalStack(environment=environment) as stack, tempfile.TemporaryDirectory() as folder:
        world = World(stack, Path(folder))
        try:
            found = world.caller("GOLD")
            caller = Client(stack.url, found.token, CALL_SECONDS)
            yield Service(bench, caller, stack.processes["front"])
            caller.close()
        finally:
            world.close()


def bench_times(service: Service) -> None:
    """Measure the times of a receipt, a PDF with text and eight pages that are images."""
    data = service.bench.data
    receipts = [sample.content for sample in read_sroie(data)]
    first = service.seconds(receipts[0])
    times = [service.seconds(content) for content in receipts]
    service.add("first call of a process, a receipt, HTTP", first, "s")
    service.add("receipt, HTTP: p50", quantile(times, 0.5), "s")
    plain = (data / "ocr" / "rendered" / "pdf" / "plain.pdf").read_bytes()
    times = [service.seconds(plain) for _ in range(DIGITAL_CALLS)]
    service.add("born-digital PDF of 3 pages, HTTP: p50", quantile(times, 0.5), "s", 0.5)
    content = eight_pages(data)
    started = time.perf_counter()
    items = service.read(content)["probabilities"]
    seconds = time.perf_counter() - started
    pages = {item["attributes"]["pageNumber"] for item in items}
    say(f"{len(content) / 1e6:.1f} MB, {len(items)} items on pages {sorted(pages)}")
    service.add("8 pages that are images, HTTP", seconds, "s", 22)
    service.add("API process, most memory so far", peak_bytes(service.front) / 1e6, "MB", 900)


def bench_memory(service: Service) -> None:
    """Measure the server's memory after many calls with images of different sizes and words."""
    crops = crops_of(service.bench.data)
    for number in range(CROP_WARM_UP):
        service.read(crops[number % len(crops)])
    before = resident_bytes(service.front)
    started = time.perf_counter()
    for number in range(CROP_CALLS):
        service.read(crops[number % len(crops)])
    seconds = time.perf_counter() - started
    growth = (resident_bytes(service.front) - before) / 1e6
    service.add(f"{CROP_CALLS} calls with a crop, HTTP: growth of memory", growth, "MB", 50)
    service.add("a crop of 600 pixels, HTTP: mean", seconds / CROP_CALLS, "s")
    service.add("API process, most memory", peak_bytes(service.front) / 1e6, "MB", 900)


def crops_of(data: Path) -> list[bytes]:
    """Cut strips of 600 pixels out of the drawn pages."""
    crops = []
    for sample, _ in read_rendered(data, "text"):
        page = Image.open(io.BytesIO(sample.content)).convert("RGB")
        for top in range(100, page.height - 2 * CROP_HEIGHT, CROP_HEIGHT):
            stream = io.BytesIO()
            page.crop((90, top, 90 + CROP_WIDTH, top + CROP_HEIGHT)).save(stream, "PNG")
            crops.append(stream.getvalue())
    return crops

"""Measures the cost of the table network, of reading eight pages, and of reading many files.

Files are read in new processes: `python -m bench.ocr_cost PLACE ENGINE`. If PLACE is a PDF, the
process reads its pages. If PLACE is the folder of evaluation files, the process reads files of all
kinds.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from bench.bench_http import ceiling, peak_bytes
from bench.ocr_data import eight_pages
from bench.ocr_reading import MAX_PAGES, Cost, Reader, cpu_seconds, go_on
from bench.ocr_table_data import read_pubtabnet
from bench.report import say
from bench.vision_data import ROOT
from chalicelib.domain.documents.ocr import FORM, TASKS, OcrRequest
from chalicelib.engines.ocr.pool import OcrPool
from chalicelib.engines.ocr.tasks import Tools, find_items
from chalicelib.formats.documents import Document, open_document
from chalicelib.formats.templates.form_template import standard_template
from infra.models import default_directory

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

THREADS = 2
FORM_TYPE = "1040"
MIXED = (
    "sroie/img/385.jpg", "sroie/img/608.jpg", "funsd/71202511.png", "funsd/0001456787.png",
    "funsd/87682908.png", "icdar2013/eu-003.pdf", "icdar2013/us-003.pdf",
    "pubtabnet/PMC3519711_003_00.png", "rendered/cards/c05.png", "rendered/cards/c11.png",
    "rendered/forms/f05.png", "rendered/pdf/tables8_imageonly.pdf",
    "documents/specimens/w2_2020.png", "documents/specimens/form1040_2023_picture.png",
    "documents/irs1040/filled1_scan200.pdf",
)  # fmt: skip
"""Files that the long process reads, below the folder of the evaluation files."""
_SECONDS = 1_800


def bench_cost(bench: Bench) -> None:
    """Report the costs of the table network, of eight pages and of many files."""
    bench_structure(bench)
    bench_fresh(bench)
    bench_long(bench)


def bench_structure(bench: Bench) -> None:
    """Measure the processor time of the network that finds a table's structure."""
    structure = bench.reader.structure
    if structure is None:
        say("the network for tables is not installed")
        return
    cost = Cost()
    for sample, _ in read_pubtabnet(bench.data):
        pixels = np.asarray(Image.open(io.BytesIO(sample.content)).convert("RGB"))
        structure.grid(pixels)
        with cost.document():
            structure.grid(pixels)
    bench.report.add("structure of a table: CPU", fmean(cost.cpu), "s", ceiling(0.1))


def bench_fresh(bench: Bench) -> None:
    """Read eight pages that are images, in a new process; measure start, time and memory."""
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(eight_pages(bench.data))
        file.flush()
        facts = run_fresh(file.name, bench.reader.name)
        peer = None if bench.peer is None else run_fresh(file.name, bench.peer.name)
    units = {"start": "s", "8 pages": "s", "8 pages, CPU": "s", "most memory": "MB"}
    limits = {"8 pages": 22.0, "most memory": 900.0}
    for name, unit in units.items():
        bar = ceiling(limits[name]) if name in limits else None
        other = peer and (bench.peer.name, round(peer[name], 1))
        bench.report.add(f"fresh process: {name}", facts[name], unit, bar, other)


def bench_long(bench: Bench) -> None:
    """Measure the memory of one process that reads all kinds of files for all tasks.

    The limit is 1.1 times the memory that an early version needed for the same files. That version
    did not analyse the geometry of forms, tables and pages.
    """
    most = run_fresh(str(bench.data / "ocr"), bench.reader.name)["most memory"]
    bench.report.add("15 files for all tasks: most memory", most, "MB", ceiling(719))


def run_fresh(place: str, engine: str) -> dict[str, float]:
    """Run this module in a new process; return the costs that it prints."""
    command = [sys.executable, "-m", "bench.ocr_cost", place, engine]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=_SECONDS)
    return dict(json.loads(done.stdout))


def read_fresh(file: Path, engine: str) -> dict[str, float]:
    """Read a PDF's pages in two threads, and return the measured costs."""
    started = time.perf_counter()
    pool = OcrPool(default_directory(), engine)
    reader = Reader(pool.engine(), pool.structure())
    ready = time.perf_counter()
    cpu = cpu_seconds()

    def read(document: Document, number: int) -> None:
        reader.runs(reader.read(document.page(number, False)))

    with (
        ThreadPoolExecutor(THREADS) as threads,
        open_document(file.read_bytes(), MAX_PAGES) as document,
    ):
        numbers = range(1, document.page_count + 1)
        list(threads.map(lambda number: read(document, number), numbers))
    return {
        "start": ready - started,
        "8 pages": time.perf_counter() - ready,
        "8 pages, CPU": cpu_seconds() - cpu,
        "most memory": peak_bytes(os.getpid()) / 1e6,
    }


def read_long(folder: Path, engine: str) -> dict[str, float]:
    """Read the files in MIXED once for each task; return the peak memory in MB."""
    pool = OcrPool(default_directory(), engine)
    tools = Tools(pool.engine(), pool.structure())
    reader = Reader(tools.engine, tools.structure)
    for task in TASKS:
        template = standard_template(FORM_TYPE) if task == FORM else None
        request = OcrRequest(task, template)
        for name in MIXED:
            with open_document((folder / name).read_bytes(), MAX_PAGES) as document:
                for number in range(1, document.page_count + 1):
                    page = document.page(number, request.needs_pixels)
                    find_items(reader.read(page), request, tools, go_on)
    return {"most memory": peak_bytes(os.getpid()) / 1e6}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    read = read_long if place.is_dir() else read_fresh
    print(json.dumps(read(place, sys.argv[2])))

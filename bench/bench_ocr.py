"""Measures accuracy and cost of OCR on public data, and of Tesseract (the peer) in the same run.

Run with `make bench-ocr` or `python -m bench.bench_ocr [--data FOLDER] [--only NAME] [--engine
NAME] [--no-peer] [--plot] [--picture FILE]`. Files are read by the functions that the service
calls; one section calls the whole service over HTTP. Prints a table, writes build/bench/ocr.json,
and fails if a value misses its limit. `--plot` writes images of the pages with the found boxes to
build/bench/plots. `--picture` only draws the sample page with all results.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import (
    ocr_contacts,
    ocr_cost,
    ocr_curled,
    ocr_documents,
    ocr_forms,
    ocr_layout,
    ocr_learning,
    ocr_mrz,
    ocr_pdf,
    ocr_picture,
    ocr_plots,
    ocr_service,
    ocr_tables,
    ocr_text,
)
from bench.ocr_reading import Cost, Reader
from bench.report import Bar, Report, say
from bench.vision_data import BUILD, ROOT
from chalicelib.engines.ocr.interface import PPOCR, TESSERACT, OcrNotInstalled
from chalicelib.engines.ocr.pool import OcrPool
from infra.models import default_directory


@dataclass
class Bench:
    """The engines, the data and the report that all sections of this benchmark use."""

    report: Report
    data: Path
    reader: Reader
    """The engine that is measured."""
    peer: Reader | None
    """The engine to compare with; None if it is left out."""
    plots: ocr_plots.Plots | None

    def add(
        self,
        name: str,
        value: float,
        bar: Bar | None = None,
        peer: float | None = None,
        interval: tuple[float, float] | None = None,
    ) -> None:
        """Report a value, with the peer's value if there is one."""
        other = None if peer is None or self.peer is None else (self.peer.name, round(peer, 4))
        self.report.add(name, value, "", bar, other, interval)

    def add_cpu(self, name: str, cost: Cost, limit: float | None, peer: Cost | None) -> None:
        """Report the mean processor time per document, in seconds."""
        bar = None if limit is None else Bar(limit, is_ceiling=True)
        other = None
        if peer is not None and self.peer is not None:
            other = (self.peer.name, round(peer.mean_cpu, 2))
        self.report.add(f"{name}: CPU", cost.mean_cpu, "s", bar, other)


SECTIONS: dict[str, Callable[[Bench], None]] = {
    "text": ocr_text.bench_text,
    "layout": ocr_layout.bench_layout,
    "curled": ocr_curled.bench_curled,
    "table": ocr_tables.bench_tables,
    "contact": ocr_contacts.bench_contacts,
    "form": ocr_forms.bench_forms,
    "documents": ocr_documents.bench_documents,
    "learning": ocr_learning.bench_learning,
    "mrz": ocr_mrz.bench_zones,
    "cost": ocr_cost.bench_cost,
    "pdf": ocr_pdf.bench_pdf,
    "service": ocr_service.bench_service,
}


def main() -> int:
    """Run the sections; the exit status is 0 if every value meets its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--only", choices=SECTIONS, action="append", metavar="NAME")
    parser.add_argument("--engine", choices=(PPOCR, TESSERACT), default=PPOCR)
    parser.add_argument("--no-peer", action="store_true", help="leave the other engine out")
    parser.add_argument("--plot", action="store_true", help="draw PNG files")
    parser.add_argument("--picture", type=Path, help="only draw the sample page into this file")
    arguments = parser.parse_args()
    reader, peer = open_reader(arguments.engine), None
    if reader is None:
        return 2
    if arguments.picture is not None:
        ocr_picture.draw_sample(reader, arguments.picture)
        return 0
    if not (arguments.data / "ocr").is_dir():
        print(f"The evaluation data is absent: {arguments.data} has no folder ocr. Use --data.")
        return 2
    if not arguments.no_peer and arguments.engine != TESSERACT:
        peer = open_reader(TESSERACT)
    plots = ocr_plots.Plots(BUILD / "plots") if arguments.plot else None
    bench = Bench(Report(f"OCR with {reader.name}"), arguments.data, reader, peer, plots)
    for name in arguments.only or SECTIONS:
        say(name)
        SECTIONS[name](bench)
    return bench.report.finish(BUILD / "ocr.json")


def open_reader(name: str) -> Reader | None:
    """Load an engine; if it is not installed, print how to install it and return None."""
    pool = OcrPool(default_directory(), name)
    if not pool.is_installed(name):
        # The service would use the other engine instead. A benchmark must measure the named one.
        print(OcrNotInstalled(name))
        return None
    try:
        return Reader(pool.engine(), pool.structure())
    except OcrNotInstalled as trouble:
        print(trouble)
        return None


if __name__ == "__main__":
    sys.exit(main())

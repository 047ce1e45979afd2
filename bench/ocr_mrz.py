"""Measures the task `form` on drawn passports and cards with a machine-readable zone in OCR-B.

The font is in the Debian package fonts-ocr-b, which is installed or unpacked into build/fonts.
Without the font, the section prints a message, and its values miss their limits.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.mrz_pages import DrawnDocument, draw_documents
from bench.ocr_reading import Cost, Reader, go_on
from bench.report import Bar, ceiling, say
from chalicelib.domain.documents.findings import FormField
from chalicelib.domain.documents.ocr import FORM, OcrRequest
from chalicelib.engines.ocr.tasks import Tools, find_items
from chalicelib.formats.templates.form_template import standard_template

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

COUNT = 30
"""Number of documents of each format."""
DAMAGED = 10
"""Number of documents of each format with a wrong check digit."""
FONT = "OCRB.otf"
PACKAGE = "fonts-ocr-b"
FONT_FOLDERS = (
    Path("/usr/share/fonts/opentype/ocr-b"),
    Path(__file__).parents[1] / "build" / "fonts",
)
TEMPLATES = {"TD1": "permanentResident", "TD2": "passport", "TD3": "passport"}
FIELDS_RIGHT = Bar(0.98)
LEAST_SURE = 0.5
"""Probability that no value of a zone with a wrong check digit may reach."""


def bench_zones(bench: Bench) -> None:
    """Read documents of each format, with right and with wrong check digits."""
    font = find_font()
    for form, template in TEMPLATES.items():
        for is_bare in (False, True):
            name = f"{form} {'zone alone' if is_bare else 'documents'}"
            if font is None:
                bench.add(f"{name}: fields right", 0.0, FIELDS_RIGHT)
                continue
            drawn = draw_documents(form, COUNT, font, is_bare=is_bare)
            _bench_right(bench, name, template, drawn)
        if font is not None:
            drawn = draw_documents(form, DAMAGED, font, is_bare=True, is_damaged=True)
            sure = _sure_fields(bench.reader, template, drawn)
            bench.add(f"{form} wrong check digit: values of p >= .5", sure, ceiling(0))


def _bench_right(
    bench: Bench, name: str, template: str, documents: Sequence[DrawnDocument]
) -> None:
    """Report the fraction of correct values, and the time."""
    right, wanted, cost = 0, 0, Cost()
    for document in documents:
        with cost.document():
            fields = read_fields(bench.reader, template, document)
        found = {field.entity: field.value_text for field in fields}
        wrong = {
            entity: (value, found.get(entity))
            for entity, value in document.truth.items()
            if found.get(entity) != value
        }
        right += len(document.truth) - len(wrong)
        wanted += len(document.truth)
        if wrong:
            say(f"{document.name}: {wrong}")
    bench.add(f"{name}: fields right", right / wanted, FIELDS_RIGHT)
    bench.add_cpu(name, cost, None, None)


def _sure_fields(reader: Reader, template: str, documents: Sequence[DrawnDocument]) -> int:
    """Count values with a high probability in documents with a wrong check digit."""
    sure = 0
    for document in documents:
        fields = read_fields(reader, template, document)
        said = [field for field in fields if field.value_text and field.probability >= LEAST_SURE]
        sure += len(said)
        if said:
            say(f"{document.name}: {document.zone} {said}")
    return sure


def read_fields(reader: Reader, template: str, document: DrawnDocument) -> list[FormField]:
    """Read one document as the service reads it."""
    request = OcrRequest(FORM, standard_template(template))
    (page,) = reader.pages(document.content, needs_pixels=True)
    items = find_items(page, request, Tools(reader.engine, reader.structure), go_on)
    return [item for item in items if isinstance(item, FormField)]


def find_font() -> Path | None:
    """Return the file of the font; download its package if it is missing."""
    for folder in FONT_FOLDERS:
        for file in folder.rglob(FONT):
            return file
    folder = FONT_FOLDERS[-1]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(["apt-get", "-q", "download", PACKAGE], cwd=folder, check=True)
        (archive,) = folder.glob(f"{PACKAGE}_*.deb")
        subprocess.run(["dpkg-deb", "-x", archive.name, "."], cwd=folder, check=True)
        return next(folder.rglob(FONT))
    except (OSError, subprocess.CalledProcessError, ValueError, StopIteration):
        say(f"The font OCR-B is missing, so nothing was read: apt-get install {PACKAGE}")
        return None

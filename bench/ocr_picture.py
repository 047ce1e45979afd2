"""Draws the sample page with everything found in it: `bench_ocr --picture FILE`."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from bench.drawing.archives import ASSETS
from bench.drawing.page import PAGE
from bench.ocr_plots import (
    Mark,
    contact_marks,
    draw_marks,
    field_marks,
    line_marks,
    table_marks,
)
from bench.ocr_reading import Reader, go_on
from bench.report import say
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.contacts.finder import find_contacts
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.engines.ocr.tables.finder import find_tables
from chalicelib.formats.templates.form_template import read_template

COLOURS = 32
TEMPLATE = "samples/sample_template.json"


def draw_sample(reader: Reader, file: Path) -> None:
    """Read the sample page by all four tasks and draw what they found."""
    (page,) = reader.pages((ASSETS / PAGE).read_bytes(), needs_pixels=True)
    image = draw_marks(page, sample_marks(reader, page)).quantize(COLOURS, dither=Image.Dither.NONE)
    file.parent.mkdir(parents=True, exist_ok=True)
    image.save(file, "PNG", optimize=True)
    say(f"the sample page with its boxes in {file}, {file.stat().st_size} bytes")


def sample_marks(reader: Reader, page: ReadPage) -> list[Mark]:
    """Return marks (boxes to draw) of tables, contacts, fields and all other lines of text."""
    template = read_template((ASSETS / TEMPLATE).read_bytes())
    tables = find_tables(page, reader.engine, reader.structure, go_on)
    fields = find_fields(page, template)
    marks = [
        *table_marks(tables),
        *contact_marks([each for each in find_contacts(page) if each.tag != "OTHER"]),
        *field_marks([field for field in fields if field.key_box]),
    ]
    taken = [mark.box for mark in marks]
    lines = [
        line
        for line in reader.runs(page)
        if not any(line.box.overlap(box) > 0.5 * min(line.box.area, box.area) for box in taken)
    ]
    return line_marks(lines) + marks

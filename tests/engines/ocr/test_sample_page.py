"""Minimum quality on the sample page, read with the installed engine as by the service."""

from __future__ import annotations

import pytest

from bench.drawing.archives import ASSETS
from bench.drawing.page import CONTACTS, FIELDS, LINES, PAGE, TABLE
from bench.ocr_text_metrics import compare_texts, count_words
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.contacts.finder import find_contacts
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.engines.ocr.interface import PPOCR
from chalicelib.engines.ocr.pool import OcrPool
from chalicelib.engines.ocr.reading import read_page
from chalicelib.engines.ocr.runs import text_runs
from chalicelib.engines.ocr.tables.finder import find_tables
from chalicelib.formats.documents import open_document
from chalicelib.formats.templates.form_template import read_template, standard_template
from infra.models import default_directory

KEYS = {
    "employee": "Employee Name",
    "employee_number": "Employee ID",
    "pay_date": "Pay Date",
    "pay_period": "Pay Period",
    "net_pay": "Net Pay",
}
"""Entities of the sample template, with the keys that they have on the page."""
TEMPLATE = "samples/sample_template.json"


def go_on() -> None:
    """Never cancel."""


@pytest.fixture(scope="module")
def pool() -> OcrPool:
    """The installed engine."""
    return OcrPool(default_directory(), PPOCR)


@pytest.fixture(scope="module")
def page(pool: OcrPool) -> ReadPage:
    """The sample page as it was read."""
    with open_document((ASSETS / PAGE).read_bytes(), 1) as document:
        return read_page(document.page(1, True), pool.engine(), go_on)


def test_text(pool: OcrPool, page: ReadPage) -> None:
    """Every word is read, with less than one wrong character in a hundred."""
    found = [run.text for run in text_runs(page, pool.engine(), go_on)]
    written = [line.text for line in LINES] + [text for row in TABLE for text in row]
    words = count_words(written, found)
    assert words.f1 > 0.98, (words, found)
    truth, read = (" ".join(sorted(" ".join(texts).split())) for texts in (written, found))
    assert compare_texts(truth, read).rate < 0.01


def test_table(pool: OcrPool, page: ReadPage) -> None:
    """The ruled table is the only one, with the right cells, also merged ones."""
    tables = find_tables(page, pool.engine(), pool.structure(), go_on)
    assert len(tables) == 1, [table.text for table in tables]
    found = [(c.row, c.column, c.row_span, c.column_span, c.text) for c in tables[0].cells]
    assert sorted(found) == sorted(true_cells())


def true_cells() -> list[tuple[int, int, int, int, str]]:
    """Return row, column, spans and text of the drawn cells."""
    cells = []
    for number, row in enumerate(TABLE, start=1):
        spans = (1, 1, 1, 1) if len(row) == 4 else (3, 1)
        starts = (1, 2, 3, 4) if len(row) == 4 else (1, 4)
        cells += [
            (number, start, 1, span, text)
            for start, span, text in zip(starts, spans, row, strict=True)
        ]
    return cells


def test_contacts(page: ReadPage) -> None:
    """The letterhead is found with each tag once; other lines are OTHER or none."""
    found = [(each.tag, each.text) for each in find_contacts(page) if each.tag != "OTHER"]
    assert sorted(found) == sorted(CONTACTS.items())


def test_fields_of_the_sample_template(page: ReadPage) -> None:
    """Each key has its value, and the virtual key finds and normalizes the address."""
    template = read_template((ASSETS / TEMPLATE).read_bytes())
    found = {field.entity: field for field in find_fields(page, template)}
    address = found.pop("employer_address")
    assert {name: field.key_text for name, field in found.items()} == KEYS
    values = {name: field.value_text for name, field in found.items()}
    assert values == {name: FIELDS[key] for name, key in KEYS.items()}
    assert address.value_text == CONTACTS["ADDRESS"]
    assert address.normalized is not None
    assert '"ZipCode": "97214"' in address.normalized


def test_fields_of_the_standard_form(page: ReadPage) -> None:
    """The shipped pay stub template finds payee, date and amounts."""
    values = {field.value_text for field in find_fields(page, standard_template("paystub"))}
    expected = {FIELDS[key] for key in ("Employee Name", "Pay Date", "Net Pay")}
    assert expected <= values

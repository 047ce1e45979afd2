"""Reading documents: limits, page threads, time, memory, and the parts of an answer."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from PIL import Image

from chalicelib.domain.documents import page_work
from chalicelib.domain.documents.form_template import FormTemplate, HeaderCell, TemplateKey
from chalicelib.domain.documents.ocr import OcrRequest, TableBlock
from chalicelib.domain.documents.sample import Sample
from chalicelib.domain.models.model import ServedModel
from chalicelib.engines.ocr.interface import OcrNotInstalled
from chalicelib.errors import (
    BadRequest,
    DownloadFailed,
    InvalidParameter,
    MissingParameter,
    ModelNotFound,
    PrebuiltNotInstalled,
    TimedOut,
    TooLarge,
    UnsupportedType,
)
from chalicelib.services.predictions.documents import OcrService
from chalicelib.stores.fetching.downloads import Downloader
from chalicelib.stores.fetching.sample_files import SampleFiles
from chalicelib.stores.models.prebuilt import PrebuiltStore
from chalicelib.stores.models.served import ServedModels
from tests.formats.drawn import encoded
from tests.pdfs import Sheet, image_pdf, pdf, text_pdf, words
from tests.tiny_ocr import TinyEngine, TinyPool
from tests.tricks import Tricks

MODEL = ServedModel("OCRModel", "ocr", "SUCCEEDED", "prebuilt")
TEXT = OcrRequest("text")
# Allows as many calls as there are.
ALL = Mock(running=lambda *_: nullcontext(), downloading=lambda _: nullcontext())
PAPER = Image.new("RGB", (100, 60), "white")
PICTURE = encoded(PAPER, "PNG")


def a_service(engine=None, threads=2, downloads=None):
    """Build the service with a fake engine."""
    samples, engines = SampleFiles(downloads, None, ALL), TinyPool(engine or TinyEngine())
    return OcrService(samples, Mock(), engines, ALL, threads, 25.0)


def read(content, request=TEXT, engine=None, seconds=float("inf"), threads=2):
    """Return the findings of a document."""
    return read_whole(content, request, engine, seconds, threads).findings


def read_whole(content, request, engine=None, seconds=float("inf"), threads=2):
    """Read a document with all requested fields."""
    service = a_service(engine, threads)
    return service.read(MODEL, Sample(content=content), request, lambda: seconds)


def assert_threads_end(before):
    """Wait until there are no more threads than before."""
    deadline = time.monotonic() + 60
    while threading.active_count() > before:
        assert time.monotonic() < deadline, threading.enumerate()
        time.sleep(0.01)


def texts(findings):
    """Return page and text of each finding."""
    return [(each.page_number, each.item.text) for each in findings]


@pytest.fixture
def prebuilt(tmp_path):
    """Return models of which OCRModel is installed."""
    folder = tmp_path / "prebuilt" / "OCRModel"
    folder.mkdir(parents=True)
    (folder / "card.json").write_text(json.dumps({"object": "card"}))
    return ServedModels(Mock(), None, PrebuiltStore(str(tmp_path)))


def test_models(prebuilt):
    """OCR models need a card and an engine; unknown ids are a 404."""
    assert prebuilt.find("2", "OCRModel") == MODEL
    a_service().require_networks(MODEL)
    with pytest.raises(PrebuiltNotInstalled, match="tabulatev2"):
        prebuilt.find("2", "tabulatev2")
    with pytest.raises(ModelNotFound):
        prebuilt.find("2", "nothing")
    without = OcrService(SampleFiles(None, None, ALL), Mock(), TinyPool(None), ALL, 2, 25.0)
    with pytest.raises(PrebuiltNotInstalled, match=r"python -m infra\.models install"):
        without.require_networks(MODEL)


def test_model_of_another_type_reads_nothing():
    """A model of another type is refused before the document is read."""
    other = ServedModel("SceneClassifier", "image", "SUCCEEDED", "prebuilt")

    with pytest.raises(InvalidParameter, match=r"type image.*one of type ocr"):
        a_service().read(other, Sample(content=b"x"), TEXT, lambda: 9.0)


def test_picture():
    """The lines of an image are findings on page one, in pixels of the image."""
    found = read(PICTURE, engine=TinyEngine(lambda pixels, check: ("one", "two")))

    assert texts(found) == [(1, "one"), (1, "two")]
    assert (found[0].box.min_x, found[0].box.max_x, found[0].probability) == (5, 95, 0.99)


def test_blank_page():
    """An empty result is not an error."""
    for task in ("text", "table", "contact"):
        assert read(PICTURE, OcrRequest(task), TinyEngine(lambda pixels, check: ())) == ()


@pytest.mark.parametrize(("count", "is_allowed"), [(600, True), (601, False)])
def test_words_of_a_picture(count, is_allowed):
    """An image may have 600 words; one more is refused."""
    lines = [" ".join(["word"] * 100)] * 6 + ["word"] * (count - 600)
    engine = TinyEngine(lambda pixels, check: lines)

    if is_allowed:
        assert read(PICTURE, engine=engine)
    else:
        with pytest.raises(BadRequest, match=r"601 words; at most 600") as refusal:
            read(PICTURE, engine=engine)
        assert refusal.value.code == "too_many_words"


def test_words_of_a_pdf():
    """PDFs have no word limit, whether scanned or with a text layer."""
    lines = [" ".join(["word"] * 100)] * 7
    engine = TinyEngine(lambda pixels, check: lines)

    assert len(read(image_pdf([PAPER]), engine=engine)) == 7
    assert read(text_pdf([" ".join(["word"] * 12)] * 52))


def test_lines_of_a_form():
    """A page for contacts or fields may have at most 1,000 lines."""
    content = pdf([Sheet(b"".join(words(f"w{n}", 9 + n % 60 * 9, 9 + n // 60 * 20, 2)
                                  for n in range(1001)))])  # fmt: skip

    with pytest.raises(BadRequest, match=r"Page 1 has 1001 lines of text; at most 1000"):
        read(content, OcrRequest("contact"))
    assert len(read(content)) == 1001


def test_text_layer_is_read_without_the_engine():
    """Words of a text layer are exact, with probability 1, in reading order."""
    engine = TinyEngine()

    found = read(
        text_pdf(["The first line of all pages"], ["A second page, born digital"]), engine=engine
    )

    assert texts(found) == [(1, "The first line of all pages"), (2, "A second page, born digital")]
    assert {each.probability for each in found} == {1.0}
    assert engine.pages == []


@pytest.mark.parametrize(("task", "most"), [("text", 8), ("table", 8), ("contact", 5), ("form", 8)])
def test_pages_of_a_pdf(task, most):
    """A PDF may have eight pages, five for business cards."""
    template = FormTemplate((TemplateKey("a", ("Total amount",)),)) if task == "form" else None
    request = OcrRequest(task, template)
    page = Sheet(words("Some words of a page", 20, 100, 12), media=(0, 0, 300, 200))

    read(pdf([page] * most), request)
    with pytest.raises(BadRequest, match=f"{most + 1} pages.*at most {most}"):
        read(pdf([page] * (most + 1)), request)


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (PICTURE + bytes(10 * 1024 * 1024), TooLarge, "10485760"),
        (b"GIF89a" + bytes(20), UnsupportedType, "GIF"),
        (b"<!doctype html><title>404</title>", UnsupportedType, "HTML"),
        (b"", BadRequest, "empty"),
        (PICTURE[:-9], BadRequest, "truncated"),
        (b"%PDF-1.7\n" + bytes(100), BadRequest, "PDF"),
    ],
)
def test_documents_that_cannot_be_read(content, error, words):
    """The error has the cause, and no thread or process is left."""
    before = threading.active_count()

    with pytest.raises(error, match=words):
        read(content)
    assert_threads_end(before)


def test_addresses():
    """A document at a URL is downloaded within the limits of size and remaining time."""
    server = Tricks()
    try:
        service = a_service(downloads=Downloader([f"127.0.0.1:{server.port}"]))

        def ask(trap, seconds=20.0):
            sample = Sample(location=server.url(trap))
            return service.read(MODEL, sample, TEXT, lambda: seconds).findings

        assert texts(ask("/picture.png")) == [(1, "a line")]
        with pytest.raises(DownloadFailed, match="the document from the public URL"):
            ask("/missing.png")
        with pytest.raises(TooLarge, match="10,485,760"):
            ask("/huge.png")
        with pytest.raises(DownloadFailed, match=r"longer than 0\.3 seconds"):
            ask("/silent.png", 0.3)
    finally:
        server.close()


def test_pages_are_read_by_threads():
    """Two pages are read at a time by default, in document order; one with one thread."""

    def together(pixels, check):
        meeting.wait(30)
        return (f"page {pixels.shape[1] // 100}",)

    scans = image_pdf([Image.new("RGB", (100 * n, 100), "white") for n in range(1, 5)])
    for threads in (2, 1, 0):
        meeting = threading.Barrier(max(1, threads))
        engine = TinyEngine(together)
        found = read(scans, engine=engine, threads=threads)
        assert [number for number, _ in texts(found)] == [1, 2, 3, 4]
        assert engine.most_active == max(1, threads)


def test_pixels_go_as_soon_as_a_page_is_read():
    """At most as many pages are in memory as threads read them."""
    alive = []

    def watch(pixels, check):
        alive.append(sum(page() is not None for page in engine.pages))
        return ("a line",)

    engine = TinyEngine(watch)
    read(image_pdf([PAPER] * 8), engine=engine)
    gc.collect()

    assert max(alive) <= 3
    assert [page() for page in engine.pages] == [None] * 8


MEMORY_PROBE = """
from pathlib import Path
import numpy as np
from chalicelib.engines.memory import bound_memory
from tests.services.predictions.test_documents import PICTURE, TinyEngine, read

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20

def hungry(pixels, check):
    blocks = [(np.ones(2 * 2**20, np.uint8), np.ones(99_999, np.uint8)) for _ in range(100)]
    kept.extend(small for _, small in blocks)
    most.append(held())
    return ("a line",)

bound_memory()
kept, most = [], []
read(PICTURE)
before = held()
read(PICTURE, engine=TinyEngine(hungry))
print(max(most) - before, held() - before)
"""


def test_memory_is_returned_after_each_document():
    """Memory that the networks used for a page is returned after the document."""
    answer = subprocess.run(
        [sys.executable, "-c", MEMORY_PROBE],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )

    most, left = map(int, answer.stdout.split())
    assert most > 150
    assert left < 40


def test_end_of_the_time_names_the_page(monkeypatch):
    """A document that cannot be finished in time reports its progress and leaves no thread."""
    done, late = [], [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + late[0])
    monkeypatch.setattr(page_work, "time", clock)

    def stuck_at_fourth(pixels, check):
        done.append(pixels)
        while len(done) > 3:
            late[0] = 3_600.0
            check()
        return ()

    before = threading.active_count()
    engine = TinyEngine(stuck_at_fourth)
    with pytest.raises(TimedOut, match=r"within 25 seconds: page \d of 8 was reached"):
        read(image_pdf([PAPER] * 8), engine=engine, seconds=600.0)

    assert_threads_end(before)


def test_answer_does_not_wait_for_a_page_that_never_checks():
    """The error is returned even if a page's thread never checks the time."""
    release = threading.Event()
    before = threading.active_count()
    engine = TinyEngine(lambda pixels, check: (release.wait(300), ("late",))[1])

    with pytest.raises(TimedOut, match="page 1 of 1"):
        read(PICTURE, engine=engine, seconds=0.2)

    release.set()
    assert_threads_end(before)


def test_engine_that_vanishes_is_not_installed():
    """An engine whose files disappear while a page is read is reported as not installed."""

    def gone(pixels, check):
        raise OcrNotInstalled("ppocr")

    with pytest.raises(PrebuiltNotInstalled, match="OCRModel"):
        read(PICTURE, engine=TinyEngine(gone))


def test_pdf_without_time():
    """If time is up before the PDF is opened, the call ends at once with a timeout."""
    with pytest.raises(TimedOut, match="in the time that was left"):
        read(text_pdf(["a page"]), seconds=0.0)


def test_failure_of_one_page_ends_the_others():
    """The first failing page ends the call; waiting pages are not started."""

    def fails(pixels, check):
        if len(engine.pages) == 2:
            raise RuntimeError("broken")
        while True:  # until the check reports that another page has failed
            check()
            time.sleep(0.001)

    engine = TinyEngine(fails)
    with pytest.raises(RuntimeError, match="broken"):
        read(image_pdf([PAPER] * 8), engine=engine)

    assert len(engine.pages) == 2


def test_calls_share_the_memory_of_a_process():
    """Two calls per process read pages at a time; others wait."""
    service = a_service(engine := TinyEngine(lambda pixels, check: (time.sleep(0.02), ("x",))[1]))
    content, answers = image_pdf([PAPER] * 4), []

    def ask():
        answers.append(service.read(MODEL, Sample(content=content), TEXT, lambda: 60.0).findings)

    callers = [threading.Thread(target=ask) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()

    assert [len(answer) for answer in answers] == [4] * 6
    assert engine.most_active <= 4


def test_field_is_taken_from_its_best_page():
    """A value wins over an empty one on an earlier page; each entity is returned once."""
    template = FormTemplate((TemplateKey("total", ("Total amount",)), TemplateKey("x", ("Zip",))))
    first, second = (["The first page of two", "Total amount:"], ["Total amount: 42.50", "Its end"])
    content = text_pdf(first, second)

    found = read(content, OcrRequest("form", template))

    assert [(each.item.entity, each.item.value_text) for each in found] == [("total", "42.50")]
    assert found[0].page_number == 2


def ruled_pdf(*tables):
    """Return a PDF with a ruled table on each page, cells 150 x 30 points."""
    sheets = []
    for rows in tables:
        content = []
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                x, y = 60 + 150 * column, 700 - 30 * row
                content += [b"%d %d 150 30 re S\n" % (x, y), words(text, x + 8, y + 9)]
        sheets.append(Sheet(b"".join(content)))
    return pdf(sheets)


@pytest.mark.parametrize("wants_tables", [True, False])
def test_tables_of_a_form(wants_tables):
    """Tables are read if the template requests them, and named by its header cells."""
    rows = [("Item", "Price"), ("Pencil", "2.50"), ("Ink", "4.75"), ("Paper", "11.00")]
    headers = (HeaderCell("cost", ("Price",), "shop"),)
    template = FormTemplate((TemplateKey("a", ("Total",)),), headers, wants_tables)

    found = read(ruled_pdf(rows), OcrRequest("form", template))

    tables = [each.item.table for each in found if isinstance(each.item, TableBlock)]
    assert [table.name for table in tables] == (["shop"] if wants_tables else [])
    for table in tables:
        assert [cell.text for cell in table.table.cells] == [text for row in rows for text in row]
        assert table.column_entities == {1: "Item", 2: "cost"}


@pytest.mark.parametrize("links", [True, False])
def test_table_over_two_pages(links):
    """Only with `linkTables` do parts of a table share number, names and row count."""
    first = [("Item", "Price"), *[(f"Pen {n}", f"{n}.50") for n in range(1, 20)]]
    content = ruled_pdf(first, [("Item", "Price"), ("Ink", "4.75"), ("Paper", "11.00")])

    answer = read(content, OcrRequest("table", links_tables=links))

    # Items come by probability, which the parts do not share.
    found = sorted(answer, key=lambda each: each.page_number)
    second = found[1].item
    assert [each.item.number for each in found] == ([1, 1] if links else [1, 2])
    assert [each.page_number for each in found] == [1, 2]
    rows = [(cell.row, cell.text) for cell in second.table.table.cells if cell.column == 1]
    assert rows == ([(21, "Ink"), (22, "Paper")] if links else
                    [(1, "Item"), (2, "Ink"), (3, "Paper")])  # fmt: skip
    assert second.table.column_entities == {1: "Item", 2: "Price"}


def test_templates():
    """A template is sent or named; both is an error."""
    key = {"entity": "a", "keyVariations": ["A b"]}
    sent = {"version": "1.0", "keys": [{"key": key}], "tableRecognition": False}

    assert OcrService.template(sent, None).keys[0].entity == "a"
    assert OcrService.template(json.dumps(sent).encode(), None).keys[0].entity == "a"
    assert OcrService.template(None, "w2").keys
    with pytest.raises(MissingParameter):
        OcrService.template(None, None)
    with pytest.raises(BadRequest, match="has both"):
        OcrService.template(sent, "w2")
    with pytest.raises(InvalidParameter, match="a text is not one of 1040"):
        OcrService.template(None, "w\x00")


def test_layout_counts_through_the_document():
    """Block, line and order continue across pages; the text has the pages in order."""
    pages = text_pdf(["The first line of the page", "and its second line"], ["Another page begins"])

    found = read_whole(pages, OcrRequest("text", layout=True, output="text"))

    by_order = sorted(found.findings, key=lambda each: each.place.order)
    assert [each.place.order for each in by_order] == [1, 2, 3]
    assert [each.place.line for each in by_order] == [1, 2, 3]
    assert by_order[2].place.block == by_order[1].place.block + 1
    assert found.text.split() == " ".join(each.item.text for each in by_order).split()
    assert found.unread == ()


def test_places_that_were_not_read():
    """Unread regions are listed by page, without text, and only with `layout`."""
    engine = TinyEngine(lambda pixels, check: ("one", "", ""))

    found = read_whole(image_pdf([PAPER, PAPER]), OcrRequest("text", layout=True), engine)

    assert [place.page_number for place in found.unread] == [1, 1, 2, 2]
    assert texts(found.findings) == [(1, "one"), (2, "one")]
    assert read_whole(image_pdf([PAPER]), TEXT, engine).unread is None


def a_column(name, x, count, width=30):
    """Return the lines of a PDF column, whose words begin with the column's name."""
    line = " ".join([f"{name}word"] * (width // 6))
    return b"".join(words(f"{name}{n} {line}", x, 760 - 14 * n, 10) for n in range(count))


def test_columns_of_a_text_layer():
    """A PDF's text layer gets the reading order of an image's text, with headers and footers."""
    head = words("A heading over both columns of it", 150, 790, 16)
    foot = words("17", 300, 30, 10)
    page = pdf([Sheet(head + a_column("a", 50, 20) + a_column("b", 320, 25) + foot)])

    found = read_whole(page, OcrRequest("text", output="markdown"))

    heading, left, right, number = found.text.split("\n\n")
    assert heading == "# A heading over both columns of it"
    assert [word for word in left.split() if word[1:].isdigit()] == [f"a{n}" for n in range(20)]
    assert [word for word in right.split() if word[1:].isdigit()] == [f"b{n}" for n in range(25)]
    assert number == "17"


@pytest.mark.parametrize("output", ["text", "markdown"])
def test_5_000_words_are_written_soon(output):
    """A page of 5,000 words in ten columns is written within seconds."""
    rows = [
        words(" ".join(["word"] * 10), 10 + 57 * (n % 10), 820 - 16 * (n // 10), 2)
        for n in range(500)
    ]
    began = time.process_time()

    found = read_whole(pdf([Sheet(b"".join(rows))]), OcrRequest("text", layout=True, output=output))

    assert found.text.replace("|", " ").count("word") == 5_000
    assert time.process_time() - began < 10

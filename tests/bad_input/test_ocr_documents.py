"""Documents that are broken, hostile, too large or none at all, asked to be read.

Each is answered soon, and delays no other caller.
"""

from __future__ import annotations

import base64
import random
import time
import zlib
from dataclasses import replace

import pytest
from PIL import Image

from chalicelib.domain.documents.characters import CHARACTERS
from tests.bad_input.pictures import BOMBS, BROKEN, FOREIGN, JPEG, PNG
from tests.bad_input.watch import watched_health
from tests.formats.drawn import encoded
from tests.live import TIMEOUT_SECONDS, Live
from tests.papers import foreign_paper, paper
from tests.pdfs import (
    Lock,
    Sheet,
    Writer,
    add_sheets,
    flat_image,
    image_pdf,
    image_sheet,
    pdf,
    text_pdf,
    text_sheet,
    words,
)

OCR = "/v2/vision/ocr"
LIMIT = 10 * 1024 * 1024


@pytest.fixture(scope="module", autouse=True)
def ready(live):
    """The networks are loaded before anything is timed."""
    sample = base64.b64encode(PNG).decode()
    fields = {"modelId": "OCRModel", "task": "table", "sampleBase64Content": sample}
    live.owner.json("POST", OCR, fields).ok()


@pytest.fixture(autouse=True)
def health(live: Live):
    """Nothing of this file keeps the service from answering others."""
    with watched_health(live):
        yield


def ask(live, content, name="page.png", seconds=TIMEOUT_SECONDS, **fields):
    """Read a document; an answer later than the gateway's timeout fails the test."""
    caller = replace(live.owner, seconds=seconds)
    sent = {"modelId": "OCRModel", **fields}
    scalars = [(key, value.encode(), None) for key, value in sent.items()]
    for _ in range(6):
        answer = caller.form("POST", OCR, *scalars, ("sampleContent", content, name))
        if answer.status != 503:
            break
        # Other work left no processor to it, which says nothing of the document.
        time.sleep(float(answer.headers["retry-after"]))
    return answer


def labels(answer):
    """Texts of a success."""
    return [item["label"] for item in answer.ok()["probabilities"]]


@pytest.mark.parametrize(("content", "said"), FOREIGN)
def test_other_type_is_a_415(live, content, said):
    """A file that is not PNG, JPEG or PDF by its bytes is a 415, whatever its name."""
    answer = ask(live, content, "page.pdf")

    answer.refused(415, said, "PNG, JPEG and PDF are supported")


@pytest.mark.parametrize(("content", "said"), BROKEN)
def test_broken_picture_is_a_400(live, content, said):
    """A PNG or JPEG that is broken, cut, or over a limit of pixels says so."""
    ask(live, content, task="table").refused(400, said)


@pytest.mark.parametrize("head", [PNG, JPEG, text_pdf(["Some words of a whole page"])])
def test_document_over_10_mb_is_a_413(live, head):
    """One byte more than the limit is refused, naming both, as a file and as base64."""
    content = head + bytes(LIMIT + 1 - len(head))

    ask(live, content).refused(413, str(LIMIT + 1), str(LIMIT))
    fields = {"modelId": "OCRModel", "sampleBase64Content": base64.b64encode(content).decode()}
    live.owner.json("POST", OCR, fields).refused(413, str(LIMIT + 1), str(LIMIT))


@pytest.mark.parametrize("make", BOMBS)
def test_bombs_are_bounded(live, make):
    """A small picture that is large to decode is answered or refused in bounded time."""
    # Six seconds on a calm machine, and more than the gateway waits on a busy one.
    answer = ask(live, make(), seconds=100, task="table")

    assert answer.status in (200, 400), answer


GOOD = text_pdf(["The first page of all these pages"], ["and the second one of them too"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (text_pdf(["a secret page of words"], lock=Lock(user=b"secret")), "password"),
        (pdf([]), "no pages"),
        (text_pdf(*[["page"]] * 1000), "1000 pages; at most 8"),
        (GOOD[: len(GOOD) // 3], "cannot be read"),
        (b"%PDF-1.7\n", "cannot be read"),
        (b"%PDF-1.7\n%%EOF\n" + bytes(1000), "cannot be read"),
        (b"%PDF-1.7\n<!doctype html><title>404</title>", "cannot be read"),
    ],
)
@pytest.mark.parametrize("task", ["text", "table"])
def test_pdf_that_cannot_be_read_is_a_400(live, content, said, task):
    """The reason is named."""
    ask(live, content, "page.pdf", task=task).refused(400, said)


def test_more_cards_than_allowed(live):
    """Business cards have five pages, one to a page."""
    ask(live, text_pdf(*[["card"]] * 6), task="contact").refused(400, "6 pages; at most 5")


def test_pdf_with_a_script_is_read(live):
    """JavaScript is never run, and does no harm."""
    root = b"/OpenAction << /S /JavaScript /JS (while \\(1\\) {}) >>"

    answer = ask(live, pdf([text_sheet(["Words that are next to a script"])], root=root))

    assert labels(answer) == ["Words that are next to a script"]


def test_broken_cross_reference_table(live):
    """A table that is wrong is rebuilt, or the document refused."""
    for content in (GOOD.replace(b" 00000 n", b" 00099 n"), GOOD[: GOOD.rindex(b"xref")]):
        answer = ask(live, content)
        assert answer.status in (200, 400), answer
        if answer.status == 200:
            assert "The first page of all these pages" in labels(answer)


def paths():
    """Make a page of 300,000 paths."""
    return pdf([Sheet(b"".join(b"%d %d m %d %d l S\n" % (n % 595, n % 842, n % 59, n % 84)
                               for n in range(300_000)))])  # fmt: skip


def huge_page():
    """Make a page of 100 m."""
    side = 100 / 0.0254 * 72
    return pdf([Sheet(words("far away", 72, 72, 48), media=(0, 0, side, side))])


def huge_picture():
    """Make a page that shows an image of 20,000 x 20,000 pixels."""
    writer = Writer()
    image = flat_image(writer, 20_000, 20_000, zlib.compress(bytes(20_000 * 20_000), 1))
    return writer.finish(add_sheets(writer, [image_sheet(image, 500, 500)]))


def letters():
    """Make a page of 60,000 letters, each a separate text."""
    return pdf([Sheet(b"".join(words("x", n * 7 % 590, n * 11 % 840, 3) for n in range(60_000)))])


def scattered():
    """Make a page of 900 words, scattered and on top of each other."""
    texts = ("Total", "Elm Street", "AZ 85001", "a@b.co", "602 555 0100", "Dana Reyes", "Name:")
    places = random.Random(1)
    return pdf([Sheet(b"".join(
        words(places.choice(texts), places.random() * 590, places.random() * 840, 2)
        for _ in range(900)))])  # fmt: skip


def graph_paper():
    """Make a page with rules everywhere, and a text in some cells."""
    rules = b"".join(b"%d 0 m %d 842 l S 0 %d m 595 %d l S\n" % (at, at, at, at)
                     for at in range(0, 842, 6))  # fmt: skip
    texts = b"".join(words(f"Name {n}", n * 97 % 560, n * 61 % 830, 4) for n in range(200))
    return pdf([Sheet(rules + texts)])


def cells():
    """Make a ruled table of 5,000 cells."""
    rules = b"".join(b"%d 0 m %d 800 l S\n" % (x, x) for x in range(0, 551, 11))
    rules += b"".join(b"0 %d m 550 %d l S\n" % (y, y) for y in range(0, 801, 8))
    texts = (words(str(n), 11 * (n % 50) + 2, 8 * (n // 50) + 2, 4) for n in range(5_000))
    return pdf([Sheet(rules + b"".join(texts))])


def one_cell():
    """Make a table of one cell."""
    return pdf([Sheet(b"100 100 200 60 re S\n" + words("alone", 120, 120, 12))])


def nonsense_zone():
    """Rows of a machine-readable zone whose characters mean nothing."""
    return text_pdf(["P<<<<9XXQ" + "<7Z" * 12, "Q0" * 22] * 20)


@pytest.mark.parametrize(
    ("make", "task"),
    [
        (paths, "text"),
        (huge_page, "table"),
        (huge_picture, "text"),
        (letters, "text"),
        (letters, "contact"),
        (scattered, "contact"),
        (scattered, "form"),
        (scattered, "table"),
        (graph_paper, "form"),
        (graph_paper, "table"),
        (cells, "table"),
        (one_cell, "table"),
        (nonsense_zone, "form"),
    ],
)
def test_hostile_pages_are_bounded(live, make, task):
    """Each hostile page is answered in time or refused with the cause."""
    fields = {"formType": "passport"} if task == "form" else {}
    answer = ask(live, make(), "page.pdf", task=task, **fields)

    assert answer.status in (200, 400), answer
    if answer.status == 400:
        answer.refused(400, "PDF")


def test_form_of_too_many_cells_is_a_400(live):
    """A page of 5,000 cells is refused as a form: limit, value and remedy are named."""
    answer = ask(live, cells(), "page.pdf", task="form", formType="w2")

    answer.refused(400, "lines of text; at most 1000 are allowed", "Send the part that matters")


@pytest.mark.parametrize(
    ("kind", "task"), [("PNG", "text"), ("JPEG", "table"), ("PDF", "contact"), ("PNG", "form")]
)
def test_blank_page_is_an_empty_list(live, kind, task):
    """A page without text is an empty answer, not an error, in every format and task."""
    blank = Image.new("RGB", (400, 500), "white")
    content = image_pdf([blank]) if kind == "PDF" else encoded(blank, kind)
    fields = {"formType": "dl"} if task == "form" else {}

    answer = ask(live, content, task=task, **fields)

    assert answer.ok() == {"task": task, "probabilities": [], "object": "predictresponse"}


def test_picture_of_too_many_words(live):
    """More than 600 words are refused with their count; a PDF of them is read."""
    image = paper([" ".join(["of"] * 32)] * 20, 18)

    answer = ask(live, encoded(image, "PNG"))

    answer.refused(400, "words; at most 600 are allowed in an image", "PDF")
    assert 600 < int(answer.message.split(" words")[0].rsplit(" ", 1)[1]) < 680
    text = text_pdf([" ".join(["of"] * 28)] * 25)
    assert len(" ".join(labels(ask(live, text))).split()) == 700


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_turned_text_is_read(live, degrees):
    """Text rotated by 90 or 180 degrees is read, with boxes on the displayed page."""
    lines = ["Turn the page around", "before you read it", "or read it as it is"]
    image = paper(lines, 30).rotate(degrees, expand=True)

    answer = ask(live, encoded(image, "PNG"))

    assert set(" ".join(labels(answer)).split()) >= set(" ".join(lines).split())
    for item in answer.json["probabilities"]:
        box = item["boundingBox"]
        assert 0 <= box["minX"] < box["maxX"] <= image.width
        assert 0 <= box["minY"] < box["maxY"] <= image.height


def test_other_alphabets_in_a_picture(live):
    """What is answered stays within the documented characters."""
    image = foreign_paper(["ДЖИША ШИФЦ", "ΩΣΛΞ ΨΔΠ", "中市田木"])

    found = "".join(labels(ask(live, encoded(image, "PNG"))))

    assert not set(found) - set(CHARACTERS)


def test_other_alphabets_in_a_text_layer(live):
    """The text layer of a PDF is answered in valid text, without control characters."""
    pairs = b"\n".join(b"<%02X> <%04X>" % (code, 0x400 + code) for code in range(0x41, 0x5B))
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n26 beginbfchar\n" + pairs +
        b"\nendbfchar endcmap end end"
    )  # fmt: skip
    writer = Writer()
    table = writer.add(b"", cmap)
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode %d 0 R >>" % table
    sheet = Sheet(words("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 72, 700, font="F9"))
    content = writer.finish(add_sheets(writer, [sheet])).replace(
        b"/Font << /F1", b"/Font << /F9 " + font + b" /F1"
    )

    for task in ("text", "contact", "table"):
        found = "".join(labels(ask(live, content, "page.pdf", task=task)))
        assert found.isprintable(), found


@pytest.mark.parametrize("trap", ["missing", "empty", "nonsense", "short"])
def test_addresses_that_give_no_document(live, trap):
    """One that cannot be read is a 400."""
    fields = {"modelId": "OCRModel", "sampleLocation": live.tricks.url(f"/{trap}.pdf")}

    live.owner.json("POST", OCR, fields).refused(400)


@pytest.mark.parametrize(
    ("trap", "status"), [("page", 415), ("honest", 415), ("huge", 413), ("endless", 413)]
)
def test_what_an_address_gives_is_judged_like_a_file(live, trap, status):
    """By its bytes and its size."""
    fields = {"modelId": "OCRModel", "sampleLocation": live.tricks.url(f"/{trap}.pdf")}

    live.owner.json("POST", OCR, fields).refused(status)

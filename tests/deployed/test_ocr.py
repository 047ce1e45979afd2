"""Documents read by the packaged engines: pictures, and PDFs by their child process."""

from __future__ import annotations

from typing import Any

from tests.deployed.client import StageClient
from tests.flows.client import VISION
from tests.flows.test_batches import compare_files, papers
from tests.formats.drawn import encoded
from tests.papers import grid, paper
from tests.pdfs import image_pdf, text_pdf

LINES = ["Dana Reyes", "dana@orchid.test", "Phone: 602 555 0100"]
OCR = f"{VISION}/ocr"


def read(client: StageClient, content: bytes, model: str = "OCRModel", **fields: str) -> Any:
    """Read a document and return what was found."""
    file = {"sampleContent": ("page", content)}
    return client.multipart("POST", OCR, {"modelId": model, **fields}, file).ok["probabilities"]


def words(found: Any) -> set[str]:
    """Every word of what was found."""
    return {word for item in found for word in item["label"].split()}


def test_picture(client: StageClient):
    """Every word of a PNG, sent as multipart."""
    found = words(read(client, encoded(paper(LINES), "PNG")))

    assert set(" ".join(LINES).split()) <= found


def test_pdf_with_text(client: StageClient):
    """PDFium runs in its child process of the function; each page's own text is given."""
    found = read(client, text_pdf(LINES, ["The second page of it all"]))

    assert set(" ".join(LINES).split()) | {"second", "page"} <= words(found)
    assert {item["attributes"]["pageNumber"] for item in found} == {1, 2}


def test_pdf_of_pictures(client: StageClient):
    """A scanned page is drawn by the child and read by the networks."""
    found = words(read(client, image_pdf([paper(LINES)])))

    assert {"Dana", "Reyes", "602", "555", "0100"} <= found


def test_table(client: StageClient):
    """Cells of a table, with the network that finds its structure."""
    rows = [["Item", "Price"], ["Pencil", "2.50"], ["Paper", "11.00"]]
    picture = encoded(grid(rows), "JPEG", quality=92)
    found = read(client, picture, "tabulatev2", task="table")

    assert {"Item", "Price", "Pencil", "2.50", "Paper", "11.00"} <= words(found)


def test_contact(client: StageClient):
    """Names, addresses of mail and numbers of phones, with the tagger of addresses."""
    found = read(client, encoded(paper(LINES), "PNG"), task="contact")

    kinds = {item["attributes"].get("tag") or item["label"] for item in found}
    assert len(kinds) > 1


def test_damaged_pdf(client: StageClient):
    """A PDF that is none is the caller's mistake, not the service's."""
    file = {"sampleContent": ("page.pdf", b"%PDF-1.7\n" + b"garbage " * 50)}

    answer = client.multipart("POST", OCR, {"modelId": "OCRModel"}, file)

    assert answer.status in (400, 415), answer
    assert list(answer.data)[:2] == ["message", "code"]


def test_batch_is_read_by_the_queue(client: StageClient):
    """Pictures and PDFs of an archive are read to the byte as one by one."""
    files = {**papers(2), "page.png": encoded(paper(LINES), "PNG")}
    compare_files(client, "ocr", files, 900, modelId="OCRModel", task="text")

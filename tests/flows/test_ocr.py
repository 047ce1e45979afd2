"""Documents read by the real networks over HTTP: tasks, ways to send, parallel calls."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from tests.bad_input.watch import watched_health
from tests.flows.client import VISION, Client
from tests.flows.crowd import run_crowd
from tests.flows.world import World
from tests.formats.drawn import encoded
from tests.local_stack import LocalStack
from tests.papers import grid, paper
from tests.pdfs import image_pdf, text_pdf

OCR = f"{VISION}/ocr"
CARD = encoded(
    paper(["Dana Reyes", "Orchid Labs Inc.", "dana@orchid.test", "Phone: 602 555 0100"]), "PNG"
)
ROWS = [["Item", "Price"], ["Pencil", "2.50"], ["Paper", "11.00"]]
TABLE = encoded(grid(ROWS), "JPEG", quality=92)
FORM = encoded(
    paper(["Issued: 09/13/2021", "12 Elm Street, Phoenix, AZ 85001", "Invoice No.: 1735"]),
    "PNG",
)
TEMPLATE = {
    "version": "1.0",
    "keys": [
        {"key": {"entity": "number", "keyVariations": ["Invoice #", "Invoice No."]}},
        {"key": {"entity": "date", "keyVariations": ["Issued"], "entityTypes": ["DATE"]}},
        {"key": {"entity": "home", "keyVariations": ["address"], "entityTypes": []}},
        {"key": {"entity": "nowhere", "keyVariations": ["Passenger"], "entityTypes": []}},
    ],
    "headerCells": [],
    "tableRecognition": False,
}


@pytest.fixture
def client(world) -> Client:
    """A new caller of the calls below /vision."""
    return world.photographer()


def ask(client, content, **fields):
    """Read a document."""
    sent = {"modelId": "OCRModel", **fields}
    return client.multipart("POST", OCR, sent, {"sampleContent": ("page", content)})


def texts(answer):
    """Return the labels of a successful answer in reading order."""
    items = answer.ok["probabilities"]
    values = [item["probability"] for item in items]
    assert values == sorted(values, reverse=True)

    def place(item):
        box = item["boundingBox"]
        return item["attributes"]["pageNumber"], box["minY"] // 10, box["minX"]

    return [item["label"] for item in sorted(items, key=place)]


def memory_bytes(pid):
    """Return the present memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def test_text(client):
    """Every word of an image is read; the default task is text."""
    found = texts(ask(client, CARD))

    words = "Dana Reyes Orchid Labs Inc. dana@orchid.test Phone: 602 555 0100"
    assert " ".join(found) == words
    assert texts(ask(client, CARD, task="text")) == found


def test_contact(client):
    """A business card gives its entities with their tags."""
    items = ask(client, CARD, task="contact").ok["probabilities"]

    found = {item["attributes"]["tag"]: item["label"] for item in items}
    assert found == {
        "PERSON": "Dana Reyes",
        "ORG": "Orchid Labs Inc.",
        "EMAIL": "dana@orchid.test",
        "PHONE": "602 555 0100",
    }


@pytest.mark.parametrize("model_id", ["OCRModel", "tabulatev2"])
def test_table(client, model_id):
    """Each cell has its text, position and headers, from a JPEG, with either model."""
    [item] = ask(client, TABLE, task="table", modelId=model_id).ok["probabilities"]

    cells = item["attributes"]["cells"]
    assert item["label"] == "Item Price Pencil 2.50 Paper 11.00"
    assert [cell["text"] for cell in cells] == [text for row in ROWS for text in row]
    places = [(c["cellLocation"]["rowIndex"], c["cellLocation"]["colIndex"]) for c in cells]
    assert places == [(row, column) for row in (1, 2, 3) for column in (1, 2)]
    assert cells[0]["cellType"] == "columnHeader"
    assert cells[5]["colCellLocation"] == {"index": 2, "entity": "Price"}
    assert item["attributes"]["tableCount"] == "1"


def test_form(client):
    """The template's keys get values, one of them virtual, and an address is split."""
    answer = client.multipart(
        "POST",
        OCR,
        {"modelId": "OCRModel", "task": "form", "sampleId": "f"},
        {
            "sampleContent": ("form.png", FORM),
            "formTemplate": ("t.json", json.dumps(TEMPLATE).encode()),
        },
    ).ok

    found = {item["attributes"]["value"]["entity"]: item["attributes"] for item in
             answer["probabilities"]}  # fmt: skip
    assert {name: part["value"]["text"] for name, part in found.items()} == {
        "number": "1735",
        "date": "09/13/2021",
        "home": "12 Elm Street, Phoenix, AZ 85001",
    }
    assert sorted(part["blockId"] for part in found.values()) == [1, 2, 3]
    nowhere = {"minX": 1, "minY": 1, "maxX": 1, "maxY": 1}
    assert found["home"]["key"] == {"entity": "home", "text": "", "boundingBox": nowhere}
    assert json.loads(found["home"]["normalizedText"]) == {
        "Street": "12 Elm Street",
        "City": "Phoenix",
        "State": "AZ",
        "ZipCode": "85001",
    }
    assert answer["sampleId"] == "f"


def test_standard_form(client):
    """With a form type the shipped template is used."""
    lines = ["DRIVER LICENSE", "LN SAMPLE", "FN ANDREW", "DOB 09/13/1981"]

    items = ask(client, encoded(paper(lines), "PNG"), task="form", formType="dl").ok[
        "probabilities"
    ]

    assert "09/13/1981" in [item["attributes"]["value"]["text"] for item in items]


def test_pdf(client):
    """Text in a digital PDF is read exactly, with boxes in pixels at 200 dpi."""
    pages = [["Invoice 1735 of this year", "Total: 42.50"], ["The second page of the invoice"]]
    answer = ask(client, text_pdf(*pages))

    items = answer.ok["probabilities"]
    assert [(item["attributes"]["pageNumber"], item["label"]) for item in items] == [
        (1, "Invoice 1735 of this year"),
        (1, "Total: 42.50"),
        (2, "The second page of the invoice"),
    ]
    assert {item["probability"] for item in items} == {1.0}
    assert items[0]["boundingBox"]["minX"] == pytest.approx(72 * 200 / 72, abs=5)


def test_scanned_pdf(client):
    """Scanned PDF pages are read like images."""
    pages = [paper([f"This is page {word}"], 40) for word in ("one", "two", "three")]

    found = ask(client, image_pdf(pages)).ok["probabilities"]

    for number, word in enumerate(("one", "two", "three"), 1):
        said = [item["label"] for item in found if item["attributes"]["pageNumber"] == number]
        assert word in " ".join(said)


def test_every_way_to_send_a_document(client, files):
    """File, URL and Base64, as form and as JSON, give the same answer."""
    url, packed = files.add("card.png", CARD), base64.b64encode(CARD).decode()
    fields = {"modelId": "OCRModel", "task": "contact", "sampleId": " my card "}

    answers = [
        client.multipart("POST", OCR, fields, {"sampleContent": ("a.gif", CARD)}),
        client.multipart("POST", OCR, {**fields, "sampleLocation": url}),
        client.multipart("POST", OCR, {**fields, "sampleBase64Content": packed}),
        client.json("POST", OCR, {**fields, "sampleLocation": url}),
        client.json("POST", OCR, {**fields, "sampleBase64Content": packed}),
        client.json(
            "POST", OCR, {**fields, "sampleBase64Content": f"data:image/png;base64,{packed}"}
        ),
    ]

    assert [answer.ok for answer in answers] == [answers[0].ok] * len(answers)
    assert answers[0].data["sampleId"] == " my card "


def test_nothing_is_counted(client):
    """OCR calls are not counted and have no rate-limit headers."""
    before = client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"]

    answer = ask(client, CARD)

    assert answer.status == 200
    assert not [name for name in answer.headers if "ratelimit" in name]
    assert client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"] == before


@pytest.mark.parametrize("model_id", ["OCRModel", "tabulatev2"])
def test_cards(client, model_id):
    """OCR cards name the engine and its limits; no account owns the models."""
    card = client.get(f"{VISION}/models/{model_id}/card").ok

    assert (card["modelId"], card["object"]) == (model_id, "card")
    assert card["limits"]
    assert client.delete(f"{VISION}/models/{model_id}").status == 404


def test_health_names_the_engine(client):
    """Health lists the OCR engine."""
    assert client.get("/v2/health").ok["engines"]["ocr"] == "ppocr"


def test_four_callers_at_a_time(client):
    """Four simultaneous callers get their own answers, and health stays responsive."""
    client.get("/v2/health")
    samples = [encoded(paper([f"Number {n} of four", f"Code {n * 1111}"]), "PNG") for n in range(4)]
    expected = [ask(client, sample).ok for sample in samples]

    def read(clients, number):
        mine = clients.setdefault(0, client.clone())
        assert ask(mine, samples[number % 4]).ok == expected[number % 4]

    with watched_health(client, 3.0):
        problems = run_crowd(4, 16, read)

    assert problems == []


def test_memory_is_given_back(client, stack):
    """After a large document and further calls memory has grown by less than 100 MB."""
    front, crop = stack.processes["front"], encoded(paper(["A crop of some words"], 30), "PNG")
    for _ in range(3):
        ask(client, crop).ok  # noqa: B018
    before = memory_bytes(front)

    ask(client, image_pdf([paper(["A large page"], 60).resize((1654, 2339))] * 2)).ok  # noqa: B018
    for _ in range(12):
        ask(client, crop).ok  # noqa: B018

    assert memory_bytes(front) - before < 100 * 2**20


def test_end_of_the_time_names_the_page(tmp_path):
    """A document that takes too long is a 504 with its progress; the next one is read."""
    with LocalStack(environment={"PRESAGE_SYNC_SECONDS": "2"}) as stack:
        world = World(stack, tmp_path)
        try:
            client = world.photographer()
            assert client.get("/v2/health").status == 200
            # The first document loads what reads documents, which alone may take the time.
            ask(client, text_pdf(["What is first may be slow"]))
            page = paper(["Many words stand on this page"] * 30, 30)

            answer = read_in_time(client, image_pdf([page] * 8))

            assert answer.status == 504, answer
            assert answer.data["code"] == "timed_out"
            assert "within 2 seconds: page " in answer.data["message"]
            assert " of 8 was reached" in answer.data["message"]
            assert int(answer.headers["retry-after"]) > 0
            assert read_in_time(client, text_pdf(["What is quick is still read"])).status == 200
        finally:
            world.close()


def read_in_time(client, content):
    """Read a document, and repeat if other work left no time to open it."""
    for _ in range(10):
        answer = ask(client, content)
        if "not opened in the time" not in answer.body.decode():
            break
    return answer

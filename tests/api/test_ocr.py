"""The OCR call: ways to send document and template, order of checks, and errors."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from chalicelib.domain.documents.form_template import FORM_TYPES
from chalicelib.domain.documents.sample import Sample
from chalicelib.formats.pdf import frames
from chalicelib.formats.pdf.process import PdfProcess
from chalicelib.services.predictions import documents
from tests.api.prepared import MODEL_ID, PREDICTIONS, raising
from tests.pdfs import FormField, Sheet, form_pdf, pdf, text_pdf, words
from tests.pictures import draw

URL = "/v2/vision/ocr"
BYTES = draw(size=(100, 60))
ENCODED = base64.b64encode(BYTES).decode()
GOOD = {"sampleBase64Content": ENCODED}
AS_FORM = {**GOOD, "task": "form"}
TEMPLATE = {
    "version": "1.0",
    "keys": [{"key": {"entity": "total", "keyVariations": ["Total"], "entityTypes": []}}],
    "headerCells": [],
    "tableRecognition": True,
}
TICKED = {
    "version": "1.0",
    "keys": [{"key": {"entity": "club", "keyVariations": ["A form"], "entityTypes": []}}],
    "headerCells": [],
    "tableRecognition": False,
}
BOX = {"minX": 5, "minY": 0, "maxX": 95, "maxY": 12}


def part(name, value, file_name=None):
    """Write a part of a form."""
    return name, value if isinstance(value, bytes) else value.encode(), file_name


def asked(reading):
    """Return the last call of the service: model, sample, request."""
    _, model, sample, request, seconds_left = reading[-1]
    assert 20 < seconds_left() <= 25
    return model.model_id, sample, request


def test_text_is_the_default(call, reading, world):
    """The default task is text; forms of old clients, with file names on fields, are accepted."""
    answer = call.form(
        "POST",
        URL,
        part("modelId", " OCRModel ", "modelId"),
        part("sampleContent", BYTES, "/home/me/scan.txt"),
        part("sampleId", " tag ", "sampleId"),
        part("task", ""),
        part("numResults", "unknown fields are ignored"),
    )

    assert answer.json == {
        "task": "text",
        "probabilities": [
            {
                "probability": 0.99,
                "label": "EXIT",
                "boundingBox": BOX,
                "attributes": {"pageNumber": 1, "language": "English"},
            }
        ],
        "object": "predictresponse",
        "sampleId": " tag ",
    }
    assert list(answer.json) == ["task", "probabilities", "object", "sampleId"]
    model_id, sample, request = asked(reading)
    assert (model_id, sample, request.task, request.template) == (
        "OCRModel",
        Sample(content=BYTES, account_id=world.account.account_id),
        "text",
        None,
    )


def test_no_prediction_is_counted(call, world):
    """OCR calls are not counted and have no rate-limit headers, whether they succeed or not."""
    for fields in ({"sampleBase64Content": ENCODED}, {}):
        answer = call.json("POST", URL, modelId="OCRModel", **fields)
        assert not [name for name in answer.headers if "ratelimit" in name.lower()]
    assert world.used(PREDICTIONS) == 10


@pytest.mark.parametrize("model_id", ["OCRModel", "tabulatev2"])
@pytest.mark.parametrize("task", ["text", "table", "contact", "form"])
def test_models_and_tasks_are_not_paired(call, world, reading, model_id, task):
    """Both models answer every task; JSON has a URL or Base64."""
    fields = {"formType": "w2"} if task == "form" else {}
    url = world.tricks.url("/picture.png")

    answer = call.json(
        "POST", URL, modelId=model_id, task=task, sampleLocation=url, sampleId="é", **fields
    )

    assert (answer.status, answer.json["task"], answer.json["sampleId"]) == (200, task, "é")
    assert asked(reading)[:2] == (
        model_id,
        Sample(location=url, account_id=world.account.account_id),
    )
    encoded = call.json(
        "POST", URL, modelId=model_id, task=task, sampleBase64Content=ENCODED, **fields
    )
    assert encoded.status == 200
    assert asked(reading)[1] == Sample(content=BYTES, account_id=world.account.account_id)


@pytest.mark.parametrize("file_name", [None, "template.json", "/a/b/formTemplate"])
@pytest.mark.parametrize("text", [json.dumps(TEMPLATE), "\ufeff" + json.dumps(TEMPLATE, indent=2)])
def test_template_in_a_form(call, reading, file_name, text):
    """The template may be a file or text; only the name of its part matters."""
    answer = call.form(
        "POST",
        URL,
        part("modelId", "OCRModel"),
        part("task", " form "),
        part("sampleContent", BYTES, "x.pdf"),
        part("formTemplate", text, file_name),
    )

    assert answer.status == 200, answer
    template = asked(reading)[2].template
    assert [key.entity for key in template.keys] == ["total"]
    assert template.finds_tables


@pytest.mark.parametrize("sent", [TEMPLATE, json.dumps(TEMPLATE), json.dumps(TEMPLATE, indent=1)])
def test_template_in_json(call, reading, sent):
    """In JSON the template is an object or a text."""
    answer = call.json(
        "POST", URL, modelId="OCRModel", task="form", sampleBase64Content=ENCODED, formTemplate=sent
    )

    assert answer.status == 200, answer
    assert asked(reading)[2].template.keys[0].variations == ("Total",)


@pytest.mark.parametrize("form_type", [*FORM_TYPES, 1040])
def test_standard_forms(call, reading, form_type):
    """There are six built-in templates, whose names may be sent as numbers."""
    answer = call.json(
        "POST",
        URL,
        modelId="OCRModel",
        task="form",
        sampleBase64Content=ENCODED,
        formType=form_type,
    )

    assert answer.status == 200, answer
    assert asked(reading)[2].template.keys


@pytest.mark.parametrize("task", ["text", "table", "contact"])
def test_other_tasks_ignore_what_belongs_to_forms(call, reading, task):
    """Other tasks ignore the form type, which old clients always send."""
    answer = call.json(
        "POST",
        URL,
        modelId="OCRModel",
        task=task,
        sampleBase64Content=ENCODED,
        formType="nonsense",
        formTemplate="{",
    )

    assert answer.status == 200
    assert asked(reading)[2].template is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "One of sampleContent, sampleLocation, sampleBase64Content is required."),
        ({"sampleLocation": "https://a.test/", "sampleBase64Content": "AA=="}, "exactly one of"),
        ({"sampleBase64Content": "no base64!"}, "it is not base64 text"),
        ({**GOOD, "task": "Text"}, "'Text' is not one of text, table, contact, form."),
        ({**GOOD, "task": 5}, "is not one of text, table, contact, form."),
        (AS_FORM, "either the 'formType' or the 'formTemplate'"),
        (
            {**AS_FORM, "formType": "w2", "formTemplate": TEMPLATE},
            "Send either 'formType' or 'formTemplate'; the call has both.",
        ),
        ({**AS_FORM, "formType": "w3"}, "'w3' is not one of 1040, dl,"),
        ({**AS_FORM, "formType": True}, "formType"),
        ({**AS_FORM, "formTemplate": "{"}, "formTemplate"),
        ({**AS_FORM, "formTemplate": []}, "formTemplate"),
        ({**AS_FORM, "formTemplate": {"keys": []}}, "formTemplate"),
        ({**GOOD, "sampleId": 5}, "expected a text, got 5."),
        ({"sampleLocation": 5}, "expected a text, got 5."),
    ],
)
def test_wrong_fields_are_named(call, world, reading, fields, words):
    """A 400 names field, value and remedy before the document is read."""
    answer = call.json("POST", URL, modelId="OCRModel", **fields)

    assert answer.status == 400, answer
    assert words in answer.json["message"]
    assert reading == world.engine.pages == []


def test_order_of_the_checks(call, reading):
    """401 comes before 404, 404 before 400, 400 before the work."""

    def status(**fields):
        return call.json("POST", URL, **fields).status

    gif = base64.b64encode(b"GIF89a" + bytes(20)).decode()
    assert call("POST", URL, b"{}", "application/json", authorization="").status == 401
    assert status(modelId="A" * 26) == 404
    assert status(modelId="Nothing") == 404
    assert status(modelId="../x") == 404
    assert status() == 400
    assert status(modelId="OCRModel") == 400
    assert status(modelId=5, sampleBase64Content=ENCODED) == 400
    assert reading == []
    assert status(modelId="OCRModel", sampleBase64Content=gif) == 415
    assert len(reading) == 1


def test_model_of_another_type(call):
    """A trained model cannot be used for this call."""
    answer = call.json("POST", URL, modelId=MODEL_ID, sampleBase64Content=ENCODED)

    assert answer.status == 400
    assert f"model {MODEL_ID} is of type text-intent" in answer.json["message"]
    assert "type ocr" in answer.json["message"]


def test_end_of_the_time(call, world, monkeypatch):
    """A timeout is a 504 that names the page reached and has Retry-After."""

    def read(pixels, check):
        """Work until the time is up."""
        while True:
            check()

    world.reads(read)
    monkeypatch.setattr(world.container, "settings", replace(world.settings, sync_seconds=0.2))
    answer = call.json("POST", URL, modelId="OCRModel", sampleBase64Content=ENCODED)

    assert (answer.status, answer.json["code"]) == (504, "timed_out")
    assert "page 1 of 1" in answer.json["message"]
    assert int(answer.headers["Retry-After"]) > 0


def test_answer_that_no_function_could_return(call, monkeypatch):
    """An answer too large for the function's response is refused with the remedy."""
    monkeypatch.setattr("chalicelib.routes.predictions.documents.MAX_ANSWER_BYTES", 100)

    answer = call.json("POST", URL, modelId="OCRModel", sampleBase64Content=ENCODED)

    assert (answer.status, answer.json["code"]) == (400, "answer_too_large")
    assert "at most 100" in answer.json["message"]


def test_only_below_vision(call):
    """OCR exists only below /vision and only as POST."""
    assert call.json("POST", "/v2/language/ocr", modelId="OCRModel").status == 404
    assert call("GET", URL).status == 405
    assert call.json("POST", f"{URL}/", modelId="OCRModel").status in (400, 404)


def test_busy_storage(call, world, storage_down, monkeypatch):
    """If storage does not answer, the call is a 503 with Retry-After."""
    monkeypatch.setattr(world.stores.sample_files, "content", raising(storage_down()))

    answer = call.json("POST", URL, modelId="OCRModel", sampleBase64Content=ENCODED)

    assert (answer.status, answer.headers["Retry-After"]) == (503, "2")


@pytest.mark.parametrize(
    ("processor", "clock", "status", "code", "retry_after"),
    [(0, 1000, 503, "machine_busy", "10"), (1000, 1000, 400, "document_too_slow", None)],
)
def test_pages_limit_counts_processor_time(
    call, monkeypatch, processor, clock, status, code, retry_after
):
    """A PDF that was starved of processor time can be retried; one that used its time cannot."""
    passed = {"processor": 0, "clock": 0}

    def processor_seconds(process):
        """Advance both clocks at each check and return the processor time."""
        passed["clock"] += clock
        passed["processor"] += processor
        return passed["processor"]

    now = SimpleNamespace(monotonic=lambda: time.monotonic() + passed["clock"])
    monkeypatch.setattr(PdfProcess, "processor_seconds", processor_seconds)
    monkeypatch.setattr(frames, "time", now)
    sample = base64.b64encode(text_pdf(["a line"])).decode()
    answer = call.json("POST", URL, modelId="OCRModel", sampleBase64Content=sample)

    assert (answer.status, answer.json["code"]) == (status, code)
    assert answer.headers.get("Retry-After") == retry_after


def test_failed_download(call, world):
    """A URL that cannot be read is a 400 whose detail says why."""
    url = world.tricks.url("/missing.pdf")
    answer = call.json("POST", URL, modelId="OCRModel", sampleLocation=url)

    assert answer.json == {
        "message": "Failed to download the document from the public URL.",
        "code": "download_failed",
        "detail": "The server answered with status 404.",
    }


@pytest.mark.parametrize("task", ["text", "table", "contact", "form"])
@pytest.mark.parametrize(("sent", "links"), [("true", True), ("false", False), (None, False)])
def test_linked_tables(call, reading, task, sent, links):
    """Any task accepts `linkTables`, a text in forms or a boolean in JSON; it is off by default."""
    fields = {"task": task, **GOOD, **({"formType": "w2"} if task == "form" else {})}
    switch = {} if sent is None else {"linkTables": sent}
    parts = [part(*each) for each in {"modelId": "OCRModel", **fields, **switch}.items()]

    assert call.form("POST", URL, *parts).status == 200
    assert asked(reading)[2].links_tables == links
    answer = call.json("POST", URL, modelId="OCRModel", **fields, linkTables=links)
    assert answer.status == 200
    assert asked(reading)[2].links_tables == links


@pytest.mark.parametrize("value", ["maybe", 2, []])
def test_linked_tables_are_true_or_false(call, value):
    """Another value of `linkTables` is refused with the field and its allowed values."""
    answer = call.json("POST", URL, modelId="OCRModel", task="table", linkTables=value, **GOOD)

    assert answer.status == 400
    assert "linkTables" in answer.json["message"]
    assert "true or false" in answer.json["message"]


@pytest.mark.parametrize("task", ["text", "table", "contact", "form"])
@pytest.mark.parametrize("alphabet", ["documented", "latin", None])
def test_alphabet(call, reading, world, task, alphabet):
    """Any task accepts an alphabet and passes it to the engine; the default is `documented`."""
    fields = {"task": task, **GOOD, **({"formType": "w2"} if task == "form" else {})}
    sent = {} if alphabet is None else {"alphabet": alphabet}

    assert call.json("POST", URL, modelId="OCRModel", **fields, **sent).status == 200
    assert asked(reading)[2].alphabet == (alphabet or "documented")
    assert world.engine.alphabets == (["latin"] if alphabet == "latin" else [])


@pytest.mark.parametrize("value", ["greek", 2, []])
def test_unknown_alphabet(call, world, value):
    """An unknown alphabet is refused with the allowed values before the document is read."""
    answer = call.json("POST", URL, modelId="OCRModel", alphabet=value, **GOOD)

    assert answer.status == 400
    assert "alphabet" in answer.json["message"]
    assert "documented, latin" in answer.json["message"]
    assert world.engine.pages == []


def test_layout_of_a_text(call, world):
    """Items have block, line and order, and the answer lists unreadable regions."""
    world.reads(lambda pixels, check: ("one", "", "two"))

    answer = call.json("POST", URL, modelId="OCRModel", layout=True, **GOOD)

    assert [(item["label"], item["attributes"]) for item in answer.json["probabilities"]] == [
        (
            "one",
            {
                "pageNumber": 1,
                "language": "English",
                "block": 1,
                "line": 1,
                "order": 1,
                "role": "heading",
            },
        ),
        (
            "two",
            {
                "pageNumber": 1,
                "language": "English",
                "block": 2,
                "line": 2,
                "order": 2,
                "role": "body",
            },
        ),
    ]
    box = {"minX": 5, "minY": 20, "maxX": 95, "maxY": 32}
    assert answer.json["unread"] == [{"boundingBox": box, "pageNumber": 1}]
    assert "document" not in answer.json
    (note,) = answer.json["pageNotes"]
    assert (note["pageNumber"], note["code"]) == (1, "unreadInk")


@pytest.mark.parametrize(("output", "text"), [("text", "2 * <b>"), ("markdown", "2 * \\<b>")])
def test_document_of_a_text(call, world, output, text):
    """The whole text is one string; Markdown is escaped."""
    world.reads(lambda pixels, check: ("2 * <b>",))

    answer = call.json("POST", URL, modelId="OCRModel", output=output, **GOOD)

    assert answer.json["document"] == text
    assert "unread" not in answer.json
    assert "order" not in answer.json["probabilities"][0]["attributes"]


def test_layout_and_document_of_an_empty_page(call, world):
    """On a blank page, `layout` and `output` return empty lists and an empty text."""
    world.reads(lambda pixels, check: ())

    for output in ("text", "markdown"):
        answer = call.json("POST", URL, modelId="OCRModel", layout=True, output=output, **GOOD)
        assert answer.status == 200
        assert answer.json["unread"] == answer.json["probabilities"] == []
        assert answer.json["document"] == ""


@pytest.mark.parametrize("task", ["table", "contact", "form"])
def test_output_belongs_to_text(call, task):
    """Other tasks ignore `output`; only contacts also ignore `layout`."""
    fields = {"modelId": "OCRModel", "task": task, **GOOD, "formType": "w2"}
    plain = call.json("POST", URL, **fields).json

    assert call.json("POST", URL, **fields, output="markdown").json == plain
    answer = call.json("POST", URL, **fields, layout=True).json
    assert ("pageNotes" in answer) == (task != "contact")
    assert "pageNotes" not in plain


def letter(pages=2):
    """Return a report of several pages with a running head, a bold heading and page numbers."""
    sheets = [
        Sheet(
            words("Annual report of the club", 72, 800, size=9)
            + words(f"Opening hours {number}", 72, 700, size=12, font="F2")
            + words("The house is open every day from nine to five except on Mondays,", 72, 684)
            + words("and tickets are sold at the entrance until half past four.", 72, 668)
            + words(f"Page {number} of {pages}", 260, 40, size=9)
        )
        for number in range(1, pages + 1)
    ]
    return base64.b64encode(pdf(sheets)).decode()


def test_roles_of_items(call):
    """With `layout`, running heads, page numbers and bold headings of a PDF have roles."""
    fields = {"modelId": "OCRModel", "sampleBase64Content": letter()}

    answer = call.json("POST", URL, **fields, layout=True)

    roles = {item["label"]: item["attributes"]["role"] for item in answer.json["probabilities"]}
    assert roles["Annual report of the club"] == "pageHeader"
    assert roles["Page 2 of 2"] == "pageFooter"
    assert roles["Opening hours 1"] == "heading"
    assert roles["and tickets are sold at the entrance until half past four."] == "body"
    assert answer.json["pageNotes"] == []
    plain = call.json("POST", URL, **fields).json
    assert all("role" not in item["attributes"] for item in plain["probabilities"])


def test_page_furniture(call):
    """Markdown includes page furniture only with `pageFurniture`; plain text always does."""
    fields = {"modelId": "OCRModel", "sampleBase64Content": letter()}

    bare = call.json("POST", URL, **fields, output="markdown").json["document"]
    whole = call.json("POST", URL, **fields, output="markdown", pageFurniture=True)

    assert bare.startswith("# Opening hours 1\n\nThe house")
    assert "Annual" not in bare
    assert "Page 1" not in bare
    assert whole.json["document"].count("Annual report of the club") == 2
    assert "Page 1 of 2" in call.json("POST", URL, **fields, output="text").json["document"]


def test_notes_on_pages(call, world):
    """Hidden text and blank pages are reported per page."""
    world.reads(lambda pixels, check: ())
    shown = words("The amount is due within thirty days of delivery", 72, 700)
    hidden = shown + b"1 1 1 rg 60 690 400 30 re f 0 g " + words("A new line is visible", 72, 600)
    content = base64.b64encode(pdf([Sheet(hidden), Sheet(b"")])).decode()

    for task in ("text", "table", "form"):
        fields = {"modelId": "OCRModel", "task": task, "formType": "w2", "layout": True}
        answer = call.json("POST", URL, **fields, sampleBase64Content=content)
        codes = [(note["pageNumber"], note["code"]) for note in answer.json["pageNotes"]]
        assert codes == [(1, "hiddenText"), (2, "empty")]
        assert all(note["message"].endswith(".") for note in answer.json["pageNotes"])


def test_tick_boxes_of_a_form(call):
    """With `formFields`, a form value that is a PDF check box has its state."""
    tick = FormField(b"/FT /Btn /T (member) /V /Yes /AS /Yes", (116, 768, 128, 780), ticks=("Yes",))
    content = base64.b64encode(form_pdf([tick])).decode()
    fields = {"modelId": "OCRModel", "task": "form", "sampleBase64Content": content}

    answer = call.json("POST", URL, **fields, formTemplate=TICKED, formFields=True)

    (pair,) = answer.json["probabilities"]
    assert pair["attributes"]["value"]["checked"] is True
    plain = call.json("POST", URL, **fields, formTemplate=TICKED).json["probabilities"]
    assert all("checked" not in one["attributes"]["value"] for one in plain)


def test_drawn_tick_boxes(call):
    """Of a list of boxes that a PDF draws, the ticked text is the value, with its state."""
    drawing = b"150 700 10 10 re 220 700 10 10 re S 222 702 m 228 708 l S 222 708 m 228 702 l S "
    texts = ((72, "Smoker:"), (164, "Yes"), (234, "No"))
    shown = drawing + b"".join(words(text, x, 701) for x, text in texts)
    content = base64.b64encode(pdf([Sheet(shown + words("A form of the club", 72, 760))])).decode()
    keys = [{"key": {"entity": "smoker", "keyVariations": ["Smoker"], "entityTypes": []}}]
    fields = {"modelId": "OCRModel", "task": "form", "formTemplate": {**TICKED, "keys": keys}}

    answer = call.json("POST", URL, **fields, sampleBase64Content=content, formFields=True)

    (pair,) = answer.json["probabilities"]
    assert pair["attributes"]["value"]["text"] == "No"
    assert pair["attributes"]["value"]["checked"] is True
    assert answer.json["formFields"] == []


@pytest.mark.parametrize("task", ["text", "table", "contact", "form"])
def test_form_fields_of_a_pdf(call, task):
    """With `formFields`, every task returns the fields of the PDF's form with their boxes."""
    name = FormField(b"/FT /Tx /T (name) /V (Ana Torres)", (72, 720, 216, 738))
    tick = FormField(b"/FT /Btn /T (member) /V /Yes /AS /Yes", (72, 684, 84, 696), ticks=("Yes",))
    content = base64.b64encode(form_pdf([name, tick])).decode()
    fields = {"modelId": "OCRModel", "task": task, "formType": "w2"}

    answer = call.json("POST", URL, **fields, sampleBase64Content=content, formFields=True)

    assert answer.json["formFields"] == [
        {
            "name": "name",
            "type": "text",
            "value": "Ana Torres",
            "pageNumber": 1,
            "boundingBox": {"minX": 200, "minY": 289, "maxX": 600, "maxY": 339},
        },
        {
            "name": "member",
            "type": "checkbox",
            "value": "Yes",
            "checked": True,
            "pageNumber": 1,
            "boundingBox": {"minX": 200, "minY": 406, "maxX": 233, "maxY": 439},
        },
    ]


def test_image_has_no_form_fields(call):
    """For an image, `formFields` returns an empty list; without the option it is absent."""
    fields = {"modelId": "OCRModel", **GOOD}

    assert call.json("POST", URL, **fields, formFields=True).json["formFields"] == []
    assert "formFields" not in call.json("POST", URL, **fields).json


def test_too_many_form_fields_are_refused(call, monkeypatch):
    """A PDF with more form fields than an answer may list is refused with limit and remedy."""
    monkeypatch.setattr(documents, "MAX_FORM_WIDGETS", 3)
    many = [FormField(b"/FT /Tx /T (f%d)" % number, (10, 10, 20, 20)) for number in range(4)]
    content = base64.b64encode(form_pdf(many)).decode()

    answer = call.json(
        "POST", URL, modelId="OCRModel", sampleBase64Content=content, formFields=True
    )

    assert answer.status == 400
    assert "more than 3 fields" in answer.json["message"]
    assert "Split it" in answer.json["message"]


@pytest.mark.parametrize("task", ["text", "table", "contact", "form"])
def test_pages_of_a_document(call, task):
    """With `pages`, every task returns each page's size in the pixels that boxes use."""
    fields = {"modelId": "OCRModel", "task": task, **GOOD, "formType": "w2"}

    answer = call.json("POST", URL, **fields, pages=True)

    size = {"pageNumber": 1, "width": 100, "height": 60}
    assert answer.json == {**call.json("POST", URL, **fields).json, "pages": [size]}


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("output", "html", "text, markdown"),
        ("output", 1, "text, markdown"),
        ("layout", "2", "true"),
    ],
)
def test_unknown_layout_or_output(call, world, field, value, words):
    """Unknown values of `layout` or `output` are refused before the document is read."""
    answer = call.json("POST", URL, modelId="OCRModel", **{field: value}, **GOOD)

    assert answer.status == 400
    assert field in answer.json["message"]
    assert words in answer.json["message"]
    assert world.engine.pages == []

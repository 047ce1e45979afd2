"""Fields of the OCR call that are wrong: addresses, templates, tasks, models, samples."""

from __future__ import annotations

import base64
import json

import pytest

from tests.bad_input.addresses import FORBIDDEN
from tests.bad_input.pictures import PNG
from tests.live import multipart

OCR = "/v2/vision/ocr"
SAMPLE = {"sampleBase64Content": base64.b64encode(PNG).decode()}
KEY = {"key": {"entity": "total", "keyVariations": ["Total"], "entityTypes": []}}
GOOD = {"version": "1.0", "keys": [KEY], "headerCells": [], "tableRecognition": False}


@pytest.fixture(scope="module", autouse=True)
def ready(live):
    """The networks are loaded, and the owner has a model, before anything is timed."""
    assert live.model_id
    ask(live, **SAMPLE).ok()


def ask(live, **fields):
    """Read an image."""
    return live.owner.json("POST", OCR, {"modelId": "OCRModel", **fields})


@pytest.mark.parametrize("url", FORBIDDEN)
def test_forbidden_address_is_a_400(live, url):
    """No spelling of a private address is reached, and a text that is not a URL is refused."""
    answer = ask(live, sampleLocation=url)

    assert answer.refused(400, "Failed to download the document from the public URL.")
    assert len(answer.message) < 250


@pytest.mark.parametrize("target", ["http://127.0.0.1:22/", "file:///etc/passwd", "//0x7f.1/", ""])
def test_redirect_to_a_forbidden_address_is_a_400(live, target):
    """Every step of a redirect is checked like the first."""
    ask(live, sampleLocation=live.tricks.redirect(target)).refused(400, "public URL")


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("", ("either the 'formType' or the 'formTemplate'",)),
        ("{", ("formTemplate",)),
        ("[]", ("formTemplate",)),
        ("null", ("formTemplate",)),
        ("5", ("formTemplate",)),
        ('"text"', ("formTemplate",)),
        ("[" * 100_000, ("formTemplate",)),
        ("{}", ("formTemplate", "keys")),
        (json.dumps({**GOOD, "keys": []}), ("formTemplate", "keys")),
        (json.dumps({**GOOD, "keys": None}), ("formTemplate", "keys")),
        (json.dumps({**GOOD, "keys": [KEY, KEY]}), ('"total"', "keys[0]")),
        (json.dumps({**GOOD, "version": "4.0"}), ("version", "4.0", "1.0, 2.0, 3.0")),
        (
            json.dumps({**GOOD, "keys": [{"key": {"entity": "a", "keyVariations": []}}]}),
            ("keyVariations",),
        ),
        (
            json.dumps({**GOOD, "keys": [{"key": {"entity": "a", "keyVariations": [""]}}]}),
            ("keyVariations",),
        ),
        (json.dumps({**GOOD, "padding": "x" * 1_100_000}), ("formTemplate", "1")),
    ],
)
def test_wrong_template_is_a_400(live, template, said):
    """In a form and in JSON, the text names the place and the remedy."""
    scalars = [("modelId", b"OCRModel", None), ("task", b"form", None)]
    sample = ("sampleContent", PNG, "page.png")
    body = multipart(*scalars, sample, ("formTemplate", template.encode(), "template.json"))

    sent = live.owner("POST", OCR, body, "multipart/form-data; boundary=B")

    sent.refused(400, *said)
    ask(live, task="form", formTemplate=template, **SAMPLE).refused(400, *said)


def test_template_of_bytes_that_are_not_text(live):
    """A picture in the template's place is refused."""
    scalars = [("modelId", b"OCRModel", None), ("task", b"form", None)]
    parts = [("sampleContent", PNG, "a.png"), ("formTemplate", PNG, "b.png")]

    live.owner.form("POST", OCR, *scalars, *parts).refused(400, "formTemplate")


@pytest.mark.parametrize("template", [5, True, [], [GOOD]])
def test_template_of_another_kind_in_json(live, template):
    """Neither an object nor a text."""
    ask(live, task="form", formTemplate=template, **SAMPLE).refused(400, "formTemplate")


@pytest.mark.parametrize("form_type", ["W2", "driving licence", "../dl", "dl\n", 1041, {}, ["dl"]])
def test_unknown_form_type_is_a_400(live, form_type):
    """The standard forms are named."""
    answer = ask(live, task="form", formType=form_type, **SAMPLE)

    if form_type == "dl\n":
        answer.ok()
    else:
        answer.refused(400, "formType")


def test_both_or_neither(live):
    """A form needs exactly one of type and template; other tasks need none."""
    both = ask(live, task="form", formType="dl", formTemplate=GOOD, **SAMPLE)
    neither = ask(live, task="form", **SAMPLE)
    null = ask(live, task="form", formType=None, formTemplate=None, **SAMPLE)

    both.refused(400, "either 'formType' or 'formTemplate'", "both")
    for answer in (neither, null):
        answer.refused(400, "either the 'formType' or the 'formTemplate'")
    ask(live, task="text", formType="nothing", formTemplate="{", **SAMPLE).ok()


@pytest.mark.parametrize("task", ["Text", "tables", "text ,", 5, ["text"], {"task": "text"}])
def test_unknown_task_names_the_four(live, task):
    """A task is one of four words."""
    ask(live, task=task, **SAMPLE).refused(400, "task", "text, table, contact, form")


@pytest.mark.parametrize(
    ("model_id", "status"),
    [
        (None, 400),
        ("", 400),
        (5, 400),
        ("OCRmodel", 404),
        ("tabulatev3", 404),
        ("A" * 26, 404),
        ("a" * 70, 404),
        ("../OCRModel", 404),
        ("CommunitySentiment", 400),
        ("SceneClassifier", 400),
    ],
)
def test_wrong_models(live, model_id, status):
    """An unknown model is a 404; a model of another type or an invalid id is a 400."""
    answer = live.owner.json("POST", OCR, {"modelId": model_id, **SAMPLE})

    answer.refused(
        status, *(["one of type ocr"] if model_id and status == 400 and model_id != 5 else [])
    )


def test_own_model_of_another_type(live):
    """A trained model of texts reads nothing, and another account's does not exist."""
    mine = live.owner.json("POST", OCR, {"modelId": live.model_id, **SAMPLE})
    foreign = live.stranger.json("POST", OCR, {"modelId": live.model_id, **SAMPLE})

    mine.refused(400, live.model_id, "text-intent", "one of type ocr")
    foreign.refused(404, live.model_id)


def test_models_that_read_predict_nothing_else(live):
    """OCR models are refused by every other call."""
    fields = {"modelId": "OCRModel", **SAMPLE}

    live.owner.json("POST", "/v2/vision/predict", fields).refused(400, "type ocr")
    live.owner.json("POST", "/v2/vision/detect", fields).refused(400, "type ocr")
    text = {"modelId": "OCRModel", "document": "hello"}
    live.owner.json("POST", "/v2/language/intent", text).refused(400, "type ocr")


@pytest.mark.parametrize(
    ("sample", "status", "words"),
    [
        ({}, 400, "sampleContent"),
        ({"sampleBase64Content": ""}, 400, "sample"),
        ({"sampleBase64Content": "%%%"}, 400, "base64"),
        ({"sampleBase64Content": base64.b64encode(b"GIF89a").decode()}, 415, "GIF"),
        ({"sampleBase64Content": 5}, 400, "sampleBase64Content"),
        ({"sampleContent": "abc"}, 400, "sampleContent"),
        ({"sampleLocation": "http://127.0.0.1:1/", **SAMPLE}, 400, "exactly"),
    ],
)
def test_wrong_samples(live, sample, status, words):
    """A sample that is missing, doubled or unreadable is refused."""
    ask(live, **sample).refused(status, words)


@pytest.mark.parametrize("kind", ["text/plain", "image/png", "application/pdf", ""])
def test_other_content_types_are_a_415(live, kind):
    """A document is a part of a form, not the body itself."""
    live.owner("POST", OCR, b"modelId=OCRModel", kind or None).refused(415, "multipart/form-data")

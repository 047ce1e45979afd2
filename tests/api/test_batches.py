"""Batches through the gateway."""

from __future__ import annotations

import json

import pytest

from tests.api.prepared import ALBUM_ID, DATASET_ID, IMAGE_MODEL_ID, MODEL_ID, USED
from tests.formats.templates.test_form_template import WHOLE
from tests.pdfs import text_pdf
from tests.pictures import draw, make_zip

URL = "/v2/language/batches"
PICTURES_URL = "/v2/vision/batches"
PICTURE_MODEL = ("modelId", IMAGE_MODEL_ID.encode(), None)
FILE = ("data", b"id,text\na,where is it\nb,money back\n", "t.csv")
MODEL = ("modelId", MODEL_ID.encode(), None)


def test_a_batch_is_created_and_downloaded(call, world):
    """A batch is RUNNING first, then has a result URL with the same answers as single calls."""
    made = call.form("POST", URL, FILE, MODEL).json
    assert list(made) == [
        "id", "name", "modelId", "kind", "format", "status", "progress", "counts", "createdAt",
        "updatedAt", "expiresAt", "object",
    ]  # fmt: skip
    assert (made["status"], made["kind"], made["object"]) == ("RUNNING", "intent", "batch")
    assert made["counts"] == {"total": 2, "done": 0, "failed": 0}
    assert call("GET", "/v2/apiusage").json["data"][0]["predictionsUsed"] == USED + 2
    world.work()

    found = call("GET", f"{URL}/{made['id']}").json
    assert (found["status"], found["progress"], found["counts"]["done"]) == ("SUCCEEDED", 1, 2)
    assert "X-Amz-Expires=1800" in found["resultUrl"]
    assert f"{made['name']}-classified.jsonl" in found["resultUrl"]
    listed = call("GET", URL).json["data"]
    assert [one["id"] for one in listed] == [made["id"]]
    [key] = world.objects(f"batches/{made['id']}/")
    content = world.stores.artifacts.get(key)
    assert len(content) == found["resultBytes"]
    single = call.json("POST", "/v2/language/intent", modelId=MODEL_ID, document="where is it")
    first = content.splitlines()[0].decode()
    assert (
        first
        == '{"id":"a","probabilities":'
        + single.text.partition(":")[2].partition(',"object"')[0]
        + "}"
    )

    gone = call("DELETE", f"{URL}/{made['id']}")
    assert (gone.status, gone.json["status"]) == (200, "SUCCEEDED")
    assert call("GET", f"{URL}/{made['id']}").status == 404
    assert world.objects("batches/") == []


def test_a_dataset_is_answered(call, world):
    """A JSON body may name a dataset, whose uploaded texts are predicted."""
    made = call.json("POST", URL, modelId=MODEL_ID, datasetId=DATASET_ID, numResults=1).json
    world.work()
    found = call("GET", f"{URL}/{made['id']}").json

    assert (made["status"], found["status"]) == ("QUEUED", "SUCCEEDED")
    assert found["counts"] == {"total": 12, "done": 12, "failed": 0}


def test_a_file_at_a_url_is_answered(call, world):
    """A URL is read in the background; an invalid file fails the batch with the cause."""
    asked = {"modelId": MODEL_ID, "path": world.tricks.url("/honest.csv")}
    ids = [
        call.json("POST", URL, **asked, **more).json["id"]
        for more in ({"textColumn": 1}, {"textColumn": "no"})
    ]
    world.work()
    good, bad = (call("GET", f"{URL}/{one}").json for one in ids)

    assert (good["status"], good["name"]) == ("SUCCEEDED", "honest")
    assert (bad["status"], "names no column 'no'" in bad["failureMsg"]) == ("FAILED", True)


@pytest.mark.parametrize(
    ("fields", "status", "text"),
    [
        ({}, 400, "'modelId'"),
        ({"modelId": MODEL_ID}, 400, "One of data, path, datasetId is required"),
        ({"modelId": MODEL_ID, "datasetId": DATASET_ID, "path": "http://x/"}, 400, "exactly one"),
        ({"modelId": MODEL_ID, "datasetId": DATASET_ID, "kind": "detect"}, 400, "'kind'"),
        ({"modelId": MODEL_ID, "datasetId": DATASET_ID, "kind": "sentiment"}, 400, "text-intent"),
        ({"modelId": MODEL_ID, "datasetId": DATASET_ID, "format": "ods"}, 400, "'format'"),
        ({"modelId": MODEL_ID, "datasetId": DATASET_ID, "numResults": 0}, 400, "'numResults'"),
        ({"modelId": MODEL_ID, "datasetId": DATASET_ID, "name": "x" * 181}, 400, "'name'"),
        ({"modelId": MODEL_ID, "datasetId": DATASET_ID, "textColumn": 0}, 400, "from 1"),
        ({"modelId": IMAGE_MODEL_ID, "datasetId": DATASET_ID}, 400, "of type image"),
        ({"modelId": "A" * 26, "datasetId": DATASET_ID}, 404, "Unable to find model"),
        ({"modelId": MODEL_ID, "datasetId": ALBUM_ID}, 404, "Unable to find dataset"),
        ({"modelId": MODEL_ID, "path": "presage:upload/" + "A" * 26}, 400, "Failed to download"),
        ({"modelId": MODEL_ID, "path": "http://169.254.169.254/x"}, 400, "Failed to download"),
    ],
)
def test_wrong_batches(call, world, fields, status, text):
    """Missing, invalid and unknown fields are refused by name, and nothing is stored."""
    answer = call.json("POST", URL, **fields)

    assert (answer.status, text in answer.text) == (status, True), answer.text
    assert world.objects("batches/") == []
    assert call("GET", "/v2/apiusage").json["data"][0]["predictionsUsed"] == USED


def test_unknown_batches(call):
    """Unknown ids and batches of the other family are a 404."""
    made = call.form("POST", URL, FILE, MODEL).json["id"]
    for method in ("GET", "DELETE"):
        for family in ("language", "vision"):
            for batch_id in ("A" * 26, "%00", "x"):
                assert call(method, f"/v2/{family}/batches/{batch_id}").status == 404
        assert call(method, f"{PICTURES_URL}/{made}").status == 404


def test_pictures_are_asked_for_and_fetched(call, world):
    """Each file of an image archive is counted; result lines equal the answers of single calls."""
    files = {"a.png": draw("square", "red"), "b/c.png": b"none"}
    sent = ("data", make_zip(files), "shots.zip")
    made = call.form("POST", PICTURES_URL, sent, PICTURE_MODEL, ("numResults", b"1", None)).json
    assert (made["status"], made["kind"], made["name"]) == ("RUNNING", "predict", "shots")
    assert made["counts"] == {"total": 2, "done": 0, "failed": 0}
    world.work()

    found = call("GET", f"{PICTURES_URL}/{made['id']}").json
    assert (found["status"], found["counts"]) == (
        "SUCCEEDED",
        {"total": 2, "done": 2, "failed": 1},
    )
    [key] = world.objects(f"batches/{made['id']}/")
    first, second = world.stores.artifacts.get(key).decode().splitlines()
    single = call.form(
        "POST",
        "/v2/vision/predict",
        ("sampleContent", files["a.png"], "a.png"),
        PICTURE_MODEL,
        ("numResults", b"1", None),
    )
    body = single.text.partition(":")[2].partition(',"object"')[0]
    assert first == '{"id":"a.png","probabilities":' + body + "}"
    assert '"id":"b/c.png","error":{"code":"unsupported_image_type"' in second
    assert call("GET", PICTURES_URL).json["data"][0]["id"] == made["id"]
    assert call("GET", URL).json["data"] == []


def test_pictures_of_a_dataset_are_answered(call, world):
    """A JSON body may name a dataset, whose uploaded images are predicted."""
    asked = {"modelId": IMAGE_MODEL_ID, "datasetId": ALBUM_ID}
    made = call.json("POST", PICTURES_URL, **asked).json
    world.work()
    found = call("GET", f"{PICTURES_URL}/{made['id']}").json
    assert (made["status"], found["status"]) == ("QUEUED", "SUCCEEDED")
    assert found["counts"]["failed"] == 0
    assert found["counts"]["total"] > 1


def test_forms_are_read_with_the_template_that_was_sent(call, world):
    """Documents do not count as predictions; the sent template and options apply to each."""
    template = WHOLE
    pages = {"a.pdf": text_pdf(["Total 20.00"]), "b.pdf": text_pdf(["Total 30.00"])}
    fields = (
        ("task", b"form", None),
        ("pages", b"true", None),
        ("formTemplate", json.dumps(template).encode(), None),
    )
    sent = ("data", make_zip(pages), "forms.zip")
    model = ("modelId", b"OCRModel", None)
    made = call.form("POST", PICTURES_URL, sent, model, *fields)
    assert made.status == 200, made.text
    world.work()

    found = call("GET", f"{PICTURES_URL}/{made.json['id']}").json
    assert (found["status"], found["kind"]) == ("SUCCEEDED", "ocr"), found
    [key] = world.objects(f"batches/{made.json['id']}/")
    for line, content in zip(
        world.stores.artifacts.get(key).decode().splitlines(), pages.values(), strict=True
    ):
        single = call.form(
            "POST", "/v2/vision/ocr", ("sampleContent", content, "a.pdf"), model, *fields
        )
        assert line.partition(",")[2] == single.text.replace('"object":"predictresponse",', "")[1:]
    assert call("GET", "/v2/apiusage").json["data"][0]["predictionsUsed"] == USED


@pytest.mark.parametrize(
    ("fields", "status", "text"),
    [
        ({}, 400, "'modelId'"),
        ({"modelId": IMAGE_MODEL_ID}, 400, "One of data, path, datasetId is required"),
        ({"modelId": IMAGE_MODEL_ID, "datasetId": ALBUM_ID, "kind": "intent"}, 400, "'kind'"),
        ({"modelId": IMAGE_MODEL_ID, "datasetId": ALBUM_ID, "kind": "detect"}, 400, "type image"),
        ({"modelId": IMAGE_MODEL_ID, "datasetId": ALBUM_ID, "kind": "ocr"}, 400, "type image"),
        ({"modelId": MODEL_ID, "datasetId": ALBUM_ID}, 400, "a batch of images takes"),
        ({"modelId": "OCRModel", "datasetId": ALBUM_ID, "format": "csv"}, 400, "jsonl"),
        ({"modelId": "OCRModel", "datasetId": ALBUM_ID, "task": "poem"}, 400, "'task'"),
        ({"modelId": "OCRModel", "datasetId": ALBUM_ID, "task": "form"}, 400, "'formType'"),
        (
            {"modelId": "OCRModel", "datasetId": ALBUM_ID, "task": "form", "formType": "w9"},
            400,
            "w9",
        ),
        ({"modelId": IMAGE_MODEL_ID, "datasetId": DATASET_ID}, 404, "Unable to find dataset"),
        ({"modelId": "A" * 26, "datasetId": ALBUM_ID}, 404, "Unable to find model"),
    ],
)
def test_wrong_batches_of_pictures(call, world, fields, status, text):
    """Missing, invalid and unknown fields are refused by name, and nothing is stored."""
    answer = call.json("POST", PICTURES_URL, **fields)

    assert (answer.status, text in answer.text) == (status, True), answer.text
    assert world.objects("batches/") == []


def test_a_batch_is_cancelled(call, world):
    """A cancelled batch is CANCELLED at once, and unused predictions are released."""
    made = call.form("POST", URL, FILE, MODEL).json
    assert call("DELETE", f"{URL}/{made['id']}").json["status"] == "CANCELLED"
    world.work()

    found = call("GET", f"{URL}/{made['id']}").json
    assert (found["status"], "resultUrl" in found) == ("CANCELLED", False)
    assert call("GET", "/v2/apiusage").json["data"][0]["predictionsUsed"] == USED


def test_too_few_predictions_are_a_429(call, world):
    """The error has both numbers, the time of the reset, and a remedy."""
    limit = call("GET", "/v2/apiusage").json["data"][0]["predictionsMax"]
    lines = "\n".join(json.dumps({"text": "a"}) for _ in range(limit - USED + 1)).encode()
    refused = call.form("POST", URL, ("data", lines, "t.jsonl"), MODEL)

    assert refused.status == 429
    assert f"has {limit - USED + 1} lines, and {limit - USED} of" in refused.json["message"]
    assert "partial=true" in refused.json["message"]
    assert int(refused.headers["Retry-After"]) > 0

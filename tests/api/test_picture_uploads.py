"""Uploads below /vision, and feedback in bulk: fields, sources, order of the checks."""

from __future__ import annotations

import json

import pytest

from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    DatasetNotYetAvailable,
    DownloadFailed,
    StorageUnavailable,
    TooLarge,
    TooManyOpen,
    UnsupportedType,
)

URL = "/v2/vision/datasets/upload"
BULK = "/v2/vision/bulkfeedback"
MODEL_ID = "7JYVH57NDS3MB7HS76ZPVQQXJA"
FILE = ("data", b"PK\x05\x06", "/home/me/pets.zip")
MODEL = ("modelId", MODEL_ID.encode(), "model.txt")
NO_SOURCE = "Uploading a dataset requires either the 'data' field or the 'path' field."
DUPLICATED = "The 'data' parameter cannot be duplicated, nor sent along with the 'path' parameter."
REFUSALS = [
    (BadRequest("no"), 400),
    (DatasetNotYetAvailable(), 400),
    (DownloadFailed("It redirects."), 400),
    (DatasetBeingDeleted(7), 409),
    (TooLarge("no"), 413),
    (UnsupportedType("no"), 415),
    (TooManyOpen("no", 10), 429),
    (StorageUnavailable(), 503),
]


@pytest.mark.parametrize("url", [URL, f"{URL}/sync", f"{URL}/"])
def test_archive_is_handed_on(call, services, url):
    """Bytes, base name and fields reach the service; type may be left out."""
    answer = call.form("POST", url, FILE, ("name", b" pets ", None), ("language", b"de", None))

    family, source, fields = services.calls[-1][1][1:4]
    assert (family, source.content, source.file_name) == ("vision", FILE[1], "pets.zip")
    assert (fields.type, fields.name, fields.language) == (None, "pets", None)
    assert answer.json["statusMsg"] == "UPLOADING"


def test_type_is_handed_on(call, services):
    """The type reaches the service as it was sent, in a JSON body too."""
    call.json("POST", URL, path="https://x.example.test/a.zip", type="image-detection")

    source, fields = services.calls[-1][1][2:4]
    assert (source.path, fields.type) == ("https://x.example.test/a.zip", "image-detection")


def test_synchronous_upload_knows_its_time(call, services):
    """The service is told how long the gateway still waits."""
    call.form("POST", f"{URL}/sync", FILE)

    assert 24 < services.calls[-1][1][-1] <= 25


@pytest.mark.parametrize(
    ("method", "url", "more"),
    [("POST", URL, ()), ("POST", f"{URL}/sync", ()), ("PUT", BULK, MODEL)],
)
def test_source_must_be_one(call, method, url, more):
    """Two files, a file and an address, or none of both have the documented texts."""
    more = (more,) if more else ()
    twice = call.form(method, url, FILE, FILE, *more)
    both = call.form(method, url, FILE, ("path", b"https://x.example.test", None), *more)
    none = call.form(method, url, ("name", b"n", None), *more)
    empty = call.form(method, url, ("data", b"", "a.zip"), *more)

    assert [(a.status, a.json["message"]) for a in (twice, both)] == [(400, DUPLICATED)] * 2
    assert [(a.status, a.json["message"]) for a in (none, empty)] == [(400, NO_SOURCE)] * 2


@pytest.mark.parametrize(("refusal", "status"), REFUSALS)
@pytest.mark.parametrize(("method", "url"), [("POST", URL), ("POST", f"{URL}/sync"), ("PUT", BULK)])
def test_every_refusal_has_its_status(call, services, method, url, refusal, status):
    """What the service refuses becomes the answer, which the document names."""
    services.failure = refusal
    answer = call.form(method, url, FILE, MODEL)

    document = json.loads(call("GET", "/v2/openapi.json").text)
    described = document["paths"][url][method.lower()]["responses"]
    assert (answer.status, answer.json["message"]) == (status, refusal.message)
    assert str(status) in described or (status == 409 and url != BULK)


def test_feedback_is_handed_on(call, services):
    """The located model and the archive reach the service; the answer is UPLOADING."""
    answer = call.form("PUT", BULK, FILE, MODEL)

    model, source = services.calls[-1][1][1:3]
    assert (model.model_id, source.content) == (MODEL_ID, FILE[1])
    assert answer.json["statusMsg"] == "UPLOADING"


def test_feedback_by_address(call, services):
    """The archive may lie at an address."""
    call.json("PUT", BULK, modelId=MODEL_ID, path="https://x.example.test/a.zip")

    assert services.calls[-1][1][2].path == "https://x.example.test/a.zip"


def test_order_of_the_checks_of_feedback(call):
    """401 comes before 404, that before 400 and 415."""
    unknown = ("modelId", b"A" * 26, None)
    assert call("PUT", BULK, b"x", "text/plain", authorization="").status == 401
    assert call.form("PUT", BULK, unknown).status == 404
    assert call.form("PUT", BULK, MODEL).status == 400
    assert call.form("PUT", BULK, FILE).json["message"] == "The 'modelId' parameter is required."
    assert call("PUT", BULK, b"x", "text/plain").status == 415
    assert call.form("POST", BULK, FILE, MODEL).status == 405


def test_document_names_the_fields_of_each_family(call):
    """Below /vision the type may be left out and there is no language."""
    paths = json.loads(call("GET", "/v2/openapi.json").text)["paths"]
    form = "multipart/form-data"

    def schema(path: str, method: str) -> dict:
        """Schema of a form."""
        return paths[path][method]["requestBody"]["content"][form]["schema"]

    pictures, texts = schema(URL, "post"), schema(URL.replace("vision", "language"), "post")
    assert pictures["properties"]["type"]["enum"] == [
        "image",
        "image-detection",
        "image-multi-label",
    ]
    assert set(pictures["properties"]) == {"type", "path", "name", "data"}
    assert not pictures["required"]
    assert texts["required"] == ["type"]
    assert schema(BULK, "put")["required"] == ["modelId"]
    assert set(schema(BULK, "put")["properties"]) == {"modelId", "path", "data"}
    assert "/v2/language/bulkfeedback" not in paths

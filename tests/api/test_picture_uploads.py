"""Uploads below /vision, and bulk feedback: fields, sources, order of checks."""

from __future__ import annotations

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
from tests.api.prepared import (
    BOX_MODEL_ID,
    NEXT_ID,
    SCENES_ID,
    raising,
)
from tests.pictures import detection_files, label_folders, make_zip

URL = "/v2/vision/datasets/upload"
BULK = "/v2/vision/bulkfeedback"
FILE = ("data", make_zip(label_folders({"cat": 1, "dog": 1})), "/home/me/pets.zip")
MODEL = ("modelId", BOX_MODEL_ID.encode(), "model.txt")
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
def test_archive_is_handed_on(call, world, url):
    """Bytes, base name and fields reach the service; `type` is optional."""
    answer = call.form("POST", url, FILE, ("name", b" pets ", None), ("language", b"de", None))
    is_sync = url.endswith("sync")
    if not is_sync:
        assert world.contents(f"datasets/{NEXT_ID}/raw") == [FILE[1]]
    world.work()

    found = call("GET", f"/v2/vision/datasets/{NEXT_ID}").json
    assert answer.json["statusMsg"] == ("SUCCEEDED" if is_sync else "UPLOADING")
    assert (found["type"], found["name"], found["language"]) == ("image", "pets", "N/A")
    assert [label["name"] for label in found["labelSummary"]["labels"]] == ["cat", "dog"]


def test_base_name_is_handed_on(call):
    """Without `name` the dataset gets the archive's file name without folders."""
    assert call.form("POST", URL, FILE).json["name"] == "pets"


def test_type_is_handed_on(call, world):
    """The type reaches the service as it was sent, in a JSON body too."""
    path = world.tricks.url("/archive.zip")
    answer = call.json("POST", URL, path=path, type="image-detection")

    assert (answer.json["type"], answer.json["statusMsg"]) == ("image-detection", "UPLOADING")
    assert world.tricks.paths[-1] == "/archive.zip"


def test_synchronous_upload_knows_its_time(call, ingested):
    """The service gets the remaining time of the gateway."""
    call.form("POST", f"{URL}/sync", FILE)

    [(_, _, seconds)] = ingested
    assert 24 < seconds <= 25


@pytest.mark.parametrize(
    ("method", "url", "more"),
    [("POST", URL, ()), ("POST", f"{URL}/sync", ()), ("PUT", BULK, MODEL)],
)
def test_source_must_be_one(call, method, url, more):
    """Two files, a file and a URL, or no source at all get the documented errors."""
    more = (more,) if more else ()
    twice = call.form(method, url, FILE, FILE, *more)
    both = call.form(method, url, FILE, ("path", b"https://x.example.test", None), *more)
    none = call.form(method, url, ("name", b"n", None), *more)
    empty = call.form(method, url, ("data", b"", "a.zip"), *more)

    assert [(a.status, a.json["message"]) for a in (twice, both)] == [(400, DUPLICATED)] * 2
    assert [(a.status, a.json["message"]) for a in (none, empty)] == [(400, NO_SOURCE)] * 2


@pytest.mark.parametrize(("refusal", "status"), REFUSALS)
@pytest.mark.parametrize(("method", "url"), [("POST", URL), ("POST", f"{URL}/sync"), ("PUT", BULK)])
def test_every_refusal_has_its_status(
    call, world, paths, monkeypatch, method, url, refusal, status
):
    """Each error of the service becomes an answer with its documented status."""
    monkeypatch.setattr(world.stores.capacity, "reserve_upload", raising(refusal))
    answer = call.form(method, url, FILE, MODEL)

    described = paths[url][method.lower()]["responses"]
    assert (answer.status, answer.json["message"]) == (status, refusal.message)
    assert str(status) in described or (status == 409 and url != BULK)


def test_feedback_is_handed_on(call, world):
    """Model and archive reach the service; the answer is UPLOADING."""
    archive = make_zip(detection_files(1, ("red",), salt=1))
    answer = call.form("PUT", BULK, ("data", archive, "boxes.zip"), MODEL)
    assert (answer.json["id"], answer.json["statusMsg"]) == (SCENES_ID, "UPLOADING")
    assert world.contents(f"datasets/{SCENES_ID}/raw") == [archive]
    world.work()

    url = f"/v2/vision/datasets/{SCENES_ID}/examples?source=feedback"
    assert [item["name"] for item in call("GET", url).json["data"]] == ["scene-1-0.jpg"]


def test_feedback_by_address(call, world):
    """The archive may be a URL."""
    answer = call.json("PUT", BULK, modelId=BOX_MODEL_ID, path=world.tricks.url("/archive.zip"))

    assert answer.json["statusMsg"] == "UPLOADING"
    assert world.tricks.paths[-1] == "/archive.zip"


def test_order_of_the_checks_of_feedback(call):
    """401 comes before 404, 404 before 400 and 415."""
    unknown = ("modelId", b"A" * 26, None)
    assert call("PUT", BULK, b"x", "text/plain", authorization="").status == 401
    assert call.form("PUT", BULK, unknown).status == 404
    assert call.form("PUT", BULK, MODEL).status == 400
    assert call.form("PUT", BULK, FILE).json["message"] == "The 'modelId' parameter is required."
    assert call("PUT", BULK, b"x", "text/plain").status == 415
    assert call.form("POST", BULK, FILE, MODEL).status == 405


def test_document_names_the_fields_of_each_family(paths):
    """Below /vision the document makes `type` optional and has no `language`."""
    form = "multipart/form-data"

    def schema(path: str, method: str) -> dict:
        """Return the schema of a form."""
        return paths[path][method]["requestBody"]["content"][form]["schema"]

    pictures, texts = schema(URL, "post"), schema(URL.replace("vision", "language"), "post")
    assert pictures["properties"]["type"]["enum"] == [
        "image",
        "image-detection",
        "image-multi-label",
    ]
    assert set(pictures["properties"]) == {
        "type",
        "path",
        "name",
        "data",
        "format",
        "encoding",
        "strict",
        "shrink",
        "labelSeparator",
    }
    assert not pictures["required"]
    assert texts["required"] == ["type"]
    assert schema(BULK, "put")["required"] == ["modelId"]
    assert set(schema(BULK, "put")["properties"]) == {"modelId", "path", "data"}
    assert "/v2/language/bulkfeedback" not in paths

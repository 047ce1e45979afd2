"""Files too large for a call: form, upload, notification and use over real HTTP."""

from __future__ import annotations

import http.client
import json
import time
from pathlib import Path
from urllib.parse import urlsplit

from infra.local.testing import LocalStack
from tests.flows.client import LANGUAGE, Answer, Client, encode_multipart
from tests.pictures import draw, make_zip

EXAMPLE = Path(__file__).parents[1] / "spec" / "examples" / "upload.json"
CSV = b"".join(b"text number %d,label%d\n" % (n, n % 3) for n in range(60))


def form(client: Client, name: str = "mine.csv") -> dict:
    """Ask for a form."""
    return client.json("POST", "/v2/uploads", {"name": name}).ok


def post(issued: dict, content: bytes, **changes: str) -> int:
    """Send a file by a form; return the bucket's status."""
    fields = {**issued["fields"], **changes}
    kind, body = encode_multipart(fields.items(), {"file": ("x", content)})
    place = urlsplit(issued["url"])
    connection = http.client.HTTPConnection(place.netloc, timeout=60)
    connection.request("POST", place.path, body, {"Content-Type": kind})
    status = connection.getresponse().status
    connection.close()
    return status


def dataset(client: Client, path: str, kind: str = "text-intent") -> Answer:
    """Make a data set of an uploaded file."""
    base = LANGUAGE if kind.startswith("text") else "/v2/vision"
    return client.json("POST", f"{base}/datasets/upload/sync", {"path": path, "type": kind})


def test_a_form_looks_as_documented(client: Client):
    """Members, their order and kinds are those of the contract's example."""
    issued, wanted = form(client), json.loads(EXAMPLE.read_text())

    assert list(issued) == list(wanted)
    assert set(wanted["fields"]) <= set(issued["fields"])
    assert (issued["maxBytes"], issued["object"]) == (wanted["maxBytes"], "upload")
    assert issued["path"].startswith("presage:upload/")
    assert len(issued["expiresAt"]) == len(wanted["expiresAt"])


def test_a_file_becomes_a_dataset(client: Client):
    """Sent by the form and named by its path, a file is read as if it came in the call."""
    issued = form(client)

    assert dataset(client, issued["path"]).status == 400
    assert post(issued, CSV) == 204
    made = dataset(client, issued["path"]).ok

    assert (made["name"], made["totalExamples"]) == ("mine", 60)
    again = dataset(client, issued["path"])
    assert (again.status, "used already" in again.data["detail"]) == (400, True)


def test_an_archive_becomes_a_dataset(client: Client):
    """A zip goes the same way."""
    issued = form(client, "shapes.zip")
    files = {f"{label}/{n}.png": draw(salt=n) for n, label in enumerate(("a", "b", "a"))}

    assert post(issued, make_zip(files)) == 204

    assert dataset(client, issued["path"], "image").ok["totalExamples"] == 3


def test_another_account_has_no_use_of_a_path(world, client: Client):
    """A path that leaks is worth nothing."""
    issued = form(client)
    assert post(issued, CSV) == 204

    stranger = dataset(world.caller(), issued["path"])

    assert (stranger.status, "There is no upload" in stranger.data["detail"]) == (400, True)
    assert dataset(client, issued["path"]).status == 200


def test_a_form_takes_nothing_else(client: Client):
    """Another place, another type and an empty file are refused by the bucket."""
    issued = form(client)
    other = issued["fields"]["key"].replace("incoming/", "datasets/")

    assert post(issued, CSV, key=other) == 403
    assert post(issued, CSV, **{"Content-Type": "text/html"}) == 403
    assert post(issued, b"") >= 400
    assert post(issued, CSV, policy=issued["fields"]["policy"][::-1]) >= 400


def test_a_sample_goes_by_its_path(client: Client):
    """A prediction reads an uploaded picture as its sampleLocation, once."""
    issued = form(client, "shape.png")
    assert post(issued, draw("circle", size=(64, 64))) == 204
    ask = {"modelId": "GeneralImageClassifier", "sampleLocation": issued["path"]}

    answer = client.json("POST", "/v2/vision/predict", ask)

    assert answer.ok["object"] == "predictresponse"
    assert client.json("POST", "/v2/vision/predict", ask).status == 400


def test_the_notification_marks_the_file(stack: LocalStack, client: Client):
    """The bucket tells the service what has arrived."""
    issued = form(client)
    assert post(issued, CSV) == 204
    upload_id = issued["path"].rpartition("/")[2]

    def is_received() -> bool:
        rows = stack.client("dynamodb").scan(TableName="presage-incoming")["Items"]
        mine = next(row for row in rows if row["upload_id"]["S"] == upload_id)
        return mine["status"]["S"] == "RECEIVED"

    deadline = time.monotonic() + 20
    while not is_received() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert is_received()

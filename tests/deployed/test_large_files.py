"""Files too large for a call: a presigned form, the bucket's notification, the path used once."""

from __future__ import annotations

import http.client
import time
from typing import Any
from urllib.parse import urlsplit

from tests.deployed.client import SECONDS, StageClient
from tests.deployed.stage import Deployment
from tests.flows.client import LANGUAGE, encode_multipart

CSV = b"".join(b"text number %d,label%d\n" % (n, n % 3) for n in range(60))


def send(issued: dict[str, Any], content: bytes) -> int:
    """Send a file by a form; return the bucket's status."""
    kind, body = encode_multipart(issued["fields"].items(), {"file": ("x", content)})
    place = urlsplit(issued["url"])
    connection = http.client.HTTPConnection(place.netloc, timeout=SECONDS)
    try:
        connection.request("POST", place.path, body, {"Content-Type": kind})
        with connection.getresponse() as answer:
            return answer.status
    finally:
        connection.close()


def status(stage: Deployment, upload_id: str) -> str:
    """Read the row of an upload."""
    rows = stage.client("dynamodb").scan(TableName=f"{stage.name}-incoming")["Items"]
    return str(next(row for row in rows if row["upload_id"]["S"] == upload_id)["status"]["S"])


def test_a_large_file_becomes_a_dataset(stage: Deployment, client: StageClient):
    """Sent by the form, marked by the function that the bucket's notification starts, read."""
    issued = client.json("POST", "/v2/uploads", {"name": "large.csv"}).ok
    upload_id = issued["path"].rpartition("/")[2]

    assert send(issued, CSV) == 204
    deadline = time.monotonic() + SECONDS
    while status(stage, upload_id) != "RECEIVED":
        assert time.monotonic() < deadline
        time.sleep(0.3)
    fields = {"path": issued["path"], "type": "text-intent"}
    made = client.json("POST", f"{LANGUAGE}/datasets/upload", fields).ok
    ended = client.wait_dataset(made["id"])

    assert (ended["statusMsg"], ended["totalExamples"]) == ("SUCCEEDED", 60)
    again = client.json("POST", f"{LANGUAGE}/datasets/upload", fields)
    assert (again.status, "used already" in again.data["detail"]) == (400, True)

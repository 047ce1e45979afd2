"""Uploads: sources, fields, and the messages of the contract."""

from __future__ import annotations

import pytest

from tests.api.prepared import DATASET_ID, NEXT_ID
from tests.tricks import ROWS

URL = "/v2/language/datasets/upload"
FILE = ("data", b"a,b\n", "/home/me/shop.csv")


@pytest.mark.parametrize("url", [URL, URL + "/sync"])
def test_file_is_handed_on(call, world, url):
    """Bytes, base name and fields reach the service; the answer is UPLOADING and empty.

    A synchronous upload answers what was read, unless its time runs out.
    """
    answer = call.form("POST", url, FILE, ("type", b"text-intent", None))

    shown = answer.json["statusMsg"], answer.json["labelSummary"]["labels"]
    if url == URL:
        assert (*shown, answer.json["totalExamples"]) == ("UPLOADING", [], 0)
        assert world.contents(f"datasets/{NEXT_ID}/raw") == [FILE[1]]
        [job] = world.sent()
        assert (job.family, job.dataset_id) == ("language", NEXT_ID)
    else:
        assert (shown[0], answer.json["totalExamples"]) == ("SUCCEEDED", 1)
        assert [label["name"] for label in shown[1]] == ["b"]
    assert (answer.json["type"], answer.json["name"]) == ("text-intent", "shop")


def test_address_is_handed_on(call, world):
    """A JSON body may name a URL in `path`."""
    url = world.tricks.url("/honest.csv")
    made = call.json("POST", URL, path=url, type="text-intent", name="n").json
    world.work()

    found = call("GET", f"/v2/language/datasets/{made['id']}").json
    assert (made["name"], found["statusMsg"]) == ("n", "SUCCEEDED")
    assert found["totalExamples"] == ROWS.count(b"\n")


@pytest.mark.parametrize(
    "parts",
    [
        (FILE, FILE),
        (FILE, ("path", b"https://x.example.test", None)),
    ],
)
def test_source_must_be_one(call, parts):
    """Two files, or a file and a URL, are refused with the documented message."""
    answer = call.form("POST", URL, *parts)

    text = "The 'data' parameter cannot be duplicated, nor sent along with the 'path' parameter."
    assert (400, text) == (answer.status, answer.json["message"])


@pytest.mark.parametrize("parts", [(("type", b"text-intent", None),), (("data", b"", "a.csv"),)])
def test_source_must_be_there(call, parts):
    """A missing or empty source is refused with the documented message."""
    answer = call.form("POST", URL, *parts)

    text = "Uploading a dataset requires either the 'data' field or the 'path' field."
    assert (400, text, "missing_parameter") == (
        answer.status,
        answer.json["message"],
        answer.json["code"],
    )


def test_synchronous_upload_knows_its_time(call, ingested):
    """The service gets the remaining time of the gateway."""
    call.form("POST", URL + "/sync", FILE, ("type", b"text-intent", None))

    [(_, _, seconds)] = ingested
    assert 24 < seconds <= 25


def test_more_data_is_added(call, world):
    """PUT passes the located dataset and the file to the service."""
    answer = call.form("PUT", f"/v2/language/datasets/{DATASET_ID}/upload", FILE)
    world.work()

    labels = call("GET", f"/v2/language/datasets/{DATASET_ID}").json["labelSummary"]["labels"]
    assert (answer.status, answer.json["id"]) == (200, DATASET_ID)
    assert [(label["name"], label["numExamples"]) for label in labels][2:] == [("b", 1)]


def test_name_without_control_characters(call):
    """NUL and control characters in names are refused."""
    answer = call.json("POST", URL, path="https://x.example.test", name="a\x00b")

    assert answer.status == 400
    assert "'name' parameter is not valid: it holds control characters" in answer.text

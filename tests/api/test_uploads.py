"""Uploads: one source, its fields, and the texts of the contract."""

from __future__ import annotations

import pytest

URL = "/v2/language/datasets/upload"
FILE = ("data", b"a,b\n", "/home/me/shop.csv")


@pytest.mark.parametrize("url", [URL, URL + "/sync"])
def test_file_is_handed_on(call, services, url):
    """Bytes, base name and fields reach the service; the answer is UPLOADING and empty."""
    answer = call.form("POST", url, FILE, ("type", b"text-intent", None))

    family, source, fields = services.calls[-1][1][1:4]
    assert (
        family,
        source.content,
        source.file_name,
        source.path,
    ) == ("language", b"a,b\n", "shop.csv", None)
    assert (fields.type, fields.name) == ("text-intent", None)
    assert (
        answer.json["statusMsg"],
        answer.json["labelSummary"]["labels"],
        answer.json["totalExamples"],
    ) == ("UPLOADING", [], 0)


def test_address_is_handed_on(call, services):
    """A JSON body may name a path."""
    call.json("POST", URL, path="https://x.example.test/a.csv", type="text-intent", name="n")

    source, fields = services.calls[-1][1][2:4]
    assert (source.path, source.content, fields.name) == ("https://x.example.test/a.csv", None, "n")


@pytest.mark.parametrize(
    "parts",
    [
        (FILE, FILE),
        (FILE, ("path", b"https://x.example.test", None)),
    ],
)
def test_source_must_be_one(call, parts):
    """Two files, or a file and an address, are refused with the documented text."""
    answer = call.form("POST", URL, *parts)

    text = "The 'data' parameter cannot be duplicated, nor sent along with the 'path' parameter."
    assert (400, text) == (answer.status, answer.json["message"])


@pytest.mark.parametrize("parts", [(("type", b"text-intent", None),), (("data", b"", "a.csv"),)])
def test_source_must_be_there(call, parts):
    """No source, or an empty one, is refused with the documented text."""
    answer = call.form("POST", URL, *parts)

    text = "Uploading a dataset requires either the 'data' field or the 'path' field."
    assert (400, text, "missing_parameter") == (
        answer.status,
        answer.json["message"],
        answer.json["code"],
    )


def test_synchronous_upload_knows_its_time(call, services):
    """The service is told how long the gateway still waits."""
    call.form("POST", URL + "/sync", FILE)

    assert 24 < services.calls[-1][1][-1] <= 25


def test_more_data_is_added(call, services):
    """PUT hands the located dataset and the file on."""
    assert call.form("PUT", "/v2/language/datasets/7/upload", FILE).status == 200
    assert services.calls[-1][1][1].dataset.dataset_id == 7


def test_name_without_control_characters(call):
    """NUL and control characters in names are refused."""
    answer = call.json("POST", URL, path="https://x.example.test", name="a\x00b")

    assert answer.status == 400
    assert "'name' parameter is not valid: it holds control characters" in answer.text

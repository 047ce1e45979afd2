"""Requests of the old clients still work, byte for byte."""

from __future__ import annotations

import socket
import urllib.parse

import pytest

from tests.flows.client import LANGUAGE
from tests.flows.world import weather

B = "----clientBoundary7MA4YWxk"


def part(name, value, *lines, file_name=None):
    """Return one form part as the client writes it."""
    head = f'Content-Disposition: form-data; name="{name}"'
    if file_name is not None:
        head += f'; filename="{file_name}"'
    return "\r\n".join([f"--{B}", head, *lines, "", value, ""])


def form(*parts, end="\r\n"):
    """Return a multipart body."""
    return ("".join(parts) + f"--{B}--" + end).encode()


def post(client, path, body, kind=f"multipart/form-data; boundary={B}"):
    """Send a body as it is."""
    return client.send("POST", f"{LANGUAGE}/{path}", body, {"Content-Type": kind})


def question(model_id, **options):
    """Return the parts of a prediction."""
    return (
        part("document", "is it raining", **options),
        part("modelId", model_id, **options),
    )


def test_scalars_with_a_file_name(owner, weather_model):
    """Text fields sent with a file name are read as text."""
    answer = post(owner, "intent", form(*question(weather_model, file_name="blob")))

    assert answer.ok["probabilities"][0]["label"] == "current-weather"


def test_absolute_file_names(owner):
    """A file name with a path gives the dataset only its last segment as name."""
    names = ["/home/someone/data/weather.csv", "C:\\\\Users\\\\someone\\\\weather.csv"]
    for name in names:
        content = weather().decode()
        body = form(part("type", "text-intent"), part("data", content, file_name=name))
        done = owner.wait_dataset(post(owner, "datasets/upload", body).ok["id"])
        assert (done["name"], done["totalExamples"]) == ("weather", 73)


@pytest.mark.parametrize(
    "kind",
    [
        f'multipart/form-data; boundary="{B}"',
        f"multipart/form-data;boundary={B}",
        f"multipart/form-data; charset=UTF-8; boundary={B}",
        f"Multipart/Form-Data; Boundary={B}",
    ],
)
def test_boundary_in_every_notation(owner, weather_model, kind):
    """The boundary is found if it is quoted, follows a charset, or has no space before it."""
    assert post(owner, "intent", form(*question(weather_model)), kind).status == 200


def test_body_that_ends_without_line_end(owner):
    """A final delimiter without CRLF does not truncate the last file."""
    last = part("data", "good,one\r\nbad,two", file_name="weather.csv")
    answer = post(owner, "datasets/upload/sync", form(part("type", "text-intent"), last, end=""))

    names = [item["name"] for item in answer.ok["labelSummary"]["labels"]]
    assert names == ["one", "two"]


def test_part_headers_and_padding(owner, weather_model):
    """Part headers are ignored, scalars are trimmed, empty parts count as absent."""
    lines = ("Content-Type: text/plain; charset=UTF-8", "Content-Transfer-Encoding: 8bit")
    body = form(
        part("modelId", f"  {weather_model} \n", *lines, "Content-Length: 26"),
        part("document", "is it raining", *lines),
        part("numResults", ""),
        part("sampleId", ""),
    )
    answer = post(owner, "intent", body).ok

    assert len(answer["probabilities"]) == 3
    assert "sampleId" not in answer


def test_chunked_upload(owner):
    """A chunked upload without Content-Length arrives complete."""
    content = part("data", weather().decode(), file_name="weather.csv")
    body = form(part("type", "text-intent"), content)
    pieces = iter([body[at : at + 500] for at in range(0, len(body), 500)])
    answer = post(owner, "datasets/upload/sync", pieces)

    assert answer.ok["totalExamples"] == 73


def test_expect_continue(owner, weather_model):
    """A client that waits for 100 Continue gets it, and then its answer."""
    body = form(*question(weather_model))
    host, port = urllib.parse.urlsplit(owner.url).netloc.split(":")
    head = (
        f"POST {LANGUAGE}/intent HTTP/1.1\r\nHost: {host}:{port}\r\n"
        f"Authorization: Bearer {owner.token}\r\nContent-Length: {len(body)}\r\n"
        f"Content-Type: multipart/form-data; boundary={B}\r\n"
        "Expect: 100-continue\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(head.encode())
        first = connection.recv(1000)
        connection.sendall(body)
        rest = b""
        while block := connection.recv(65536):
            rest += block

    assert first.startswith(b"HTTP/1.1 100 ")
    assert rest.startswith(b"HTTP/1.1 200 ")
    assert b"current-weather" in rest


def test_trailing_slash(owner, weather_model):
    """Every path works with a trailing slash."""
    assert owner.get(f"{LANGUAGE}/train/{weather_model}/").status == 200
    assert owner.get("/v2/health/").status == 200
    assert post(owner, "intent/", form(*question(weather_model))).status == 200


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (f"multipart/form-data; boundary={B}", None),
        (f"multipart/form-data; boundary={B}", form(part("a", "b"))),
        ("multipart/form-data", None),
        ("application/json", b"{}"),
        ("text/plain", b"anything"),
    ],
)
def test_get_and_delete_with_a_content_type(owner, weather_model, kind, body):
    """GET and DELETE ignore content type and body."""
    headers = {"Content-Type": kind}

    got = owner.send("GET", f"{LANGUAGE}/train/{weather_model}", body, headers)
    deleted = owner.send("DELETE", f"{LANGUAGE}/models/{'A' * 26}", body, headers)

    assert (got.status, deleted.status) == (200, 404)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"anything"),
        (f"multipart/form-data; boundary={B}", b""),
        (f"multipart/form-data; boundary={B}", form(part("document", "x"))[:-30]),
        ("application/json", b'{"document": '),
        ("application/json", b'{"document": 7, "modelId": []}'),
        ("application/json", b"\xff\xfe"),
    ],
)
def test_broken_body_is_a_400(owner, kind, body):
    """A body that cannot be read is a 400 with a message, never a 500."""
    answer = post(owner, "intent", body, kind)

    assert answer.status == 400
    assert answer.data["message"]


def test_numbers_as_texts(owner, weather_id):
    """Numbers may be decimal strings in forms, and strings or numbers in JSON."""
    for fields in ({"datasetId": str(weather_id), "epochs": "3"}, {"datasetId": weather_id}):
        posted = owner.json("POST", f"{LANGUAGE}/train", {"name": "n", **fields}).ok
        assert owner.wait_model(posted["modelId"])["status"] == "SUCCEEDED"
    fields = {"name": "n", "datasetId": f" {weather_id} ", "trainParams": "{}"}
    posted = owner.multipart("POST", f"{LANGUAGE}/datasets/train", fields).ok
    assert owner.wait_model(posted["modelId"])["status"] == "SUCCEEDED"

"""Bodies that are broken, nested, huge or of another kind than they say."""

from __future__ import annotations

import http.client
import json
import socket

import pytest

from tests.live import INTENT, SYNC, TRAIN, Answer, multipart, talk

FORM = "multipart/form-data; boundary=B"
JSON = "application/json"
WHOLE = multipart(("type", b"text-intent", None), ("data", b"a,b\n", "a.csv"))
DEEP = 100_000


@pytest.mark.parametrize(
    ("content_type", "body", "words"),
    [
        ("multipart/form-data", WHOLE, ("boundary",)),
        ("multipart/form-data; boundary=", WHOLE, ("boundary",)),
        ("multipart/form-data; boundary=" + "B" * 300, WHOLE, ("300", "200")),
        ("multipart/form-data; boundary=C", WHOLE, ("multipart",)),
        (FORM, b"", ("multipart", "boundary")),
        (FORM, b"--B--\r\n", ("no part",)),
        (FORM, WHOLE[:-9], ("last boundary", "again")),
        (FORM, WHOLE[:60], ("last boundary",)),
        (FORM, b"--B\r\n\r\nvalue\r\n--B--\r\n", ("name",)),
        (FORM, b"--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--\r\n", ("name",)),
        (FORM, b"\x00" * 1000, ("multipart",)),
        (FORM, multipart(*[("type", b"x", None)] * 10_000), ("100 parts",)),
        (JSON, b"", ("JSON",)),
        (JSON, b"{", ("JSON",)),
        (JSON, b'{"type": "text-intent"', ("JSON",)),
        (JSON, b"\xff{}", ("JSON",)),
        (JSON, b'{"type": NaN}', ("JSON",)),
        (JSON, b'{"type": 1e99999}', ()),
        (JSON, b"[]", ("object",)),
        (JSON, b"null", ("object",)),
        (JSON, b'"text"', ("object",)),
        (JSON, b"12", ("object",)),
        (JSON, b"[" * DEEP, ("JSON",)),
        (JSON, b'{"a":' * DEEP + b"1" + b"}" * DEEP, ("JSON",)),
        (JSON, b'{"type":' + b"[" * DEEP + b"]" * DEEP + b"}", ("JSON",)),
        (JSON, b'{"type": ' + b"9" * 10_000 + b"}", ("JSON", "out of range")),
    ],
)
@pytest.mark.parametrize("path", [SYNC, INTENT])
def test_broken_bodies_are_a_400(victim, path, content_type, body, words):
    """An unreadable body is a 400 with the cause and the remedy."""
    answer = victim("POST", path, body, content_type)

    answer.refused(400, *words)


@pytest.mark.parametrize("path", [SYNC, "/v2/oauth2/token"])
@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "image/png", "a/b; c", "multipart/mixed"]
)
def test_other_content_types_are_a_415(victim, path, kind):
    """An unsupported content type is a 415 that lists the supported ones."""
    victim("POST", path, b"x", kind).refused(415, "multipart/form-data", JSON)


def test_body_without_content_type_is_a_415(victim):
    """A body without a content type is a 415."""
    victim("POST", TRAIN, b"x=1").refused(415, "missing", "multipart/form-data")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\xff\xfe", ("'type'", "UTF-8")), (b"t" * 1_048_577, ("'type'", "1048577", "1048576"))],
)
def test_scalar_that_cannot_be_read_is_a_400(victim, content, words):
    """A field that is not text, or is too long, is a 400."""
    victim.form("POST", SYNC, ("type", content, None)).refused(400, *words)


def test_file_part_twice_is_a_400(victim):
    """Two files in one call are a 400."""
    parts = [("type", b"text-intent", None), *[("data", b"a,b\n", "a.csv")] * 2]

    victim.form("POST", SYNC, *parts).refused(400, "'data'", "duplicated")


def test_file_and_path_together_are_a_400(live, victim):
    """A file together with a URL is a 400."""
    path = live.tricks.url("/honest.csv").encode()
    parts = [("type", b"text-intent", None), ("data", b"a,b\n", "a.csv"), ("path", path, None)]

    victim.form("POST", SYNC, *parts).refused(400, "'data'", "'path'")


def test_scalar_twice_is_answered(victim):
    """A repeated field is refused with two values and accepted with equal ones."""
    parts = [("modelId", b"A" * 26, None), ("modelId", b"B" * 26, None), ("document", b"x", None)]

    victim.form("POST", INTENT, *parts).refused(400, "'modelId'", "twice")
    victim.form("POST", INTENT, *parts[1:2], *parts[1:]).refused(404, "B" * 26)


def test_part_of_200_mb_is_refused_early(live, victim):
    """A file far over the limit is refused before it is sent, naming limit and alternative."""
    head = WHOLE.partition(b"a,b\n")[0]
    size = 200 * 1024 * 1024

    answer = talk(
        live.url,
        f"POST {SYNC} HTTP/1.1\r\nHost:\r\nContent-Type: {FORM}\r\nContent-Length: {size}\r\n"
        f"Authorization: Bearer {victim.token}\r\n\r\n".encode()
        + head,
    )

    answer.refused(413, "54525952", str(size), "POST /v2/uploads")


def test_chunks_of_200_mb_are_refused_early(live, victim):
    """A chunked body of 200 MB is refused early."""
    chunk = b"100000\r\n" + bytes(0x100000) + b"\r\n"

    answer = talk(
        live.url,
        f"POST {SYNC} HTTP/1.1\r\nHost:\r\nContent-Type: {FORM}\r\n"
        f"Transfer-Encoding: chunked\r\nAuthorization: Bearer {victim.token}\r\n\r\n".encode(),
        *[chunk] * 200,
    )

    answer.refused(413, "54525952")


@pytest.mark.parametrize("expect", ["", "Expect: 100-continue\r\n"])
def test_content_length_of_5_gb_is_a_413(live, victim, expect):
    """A declared size of 5 GB is refused at once."""
    answer = talk(
        live.url,
        f"POST {TRAIN} HTTP/1.1\r\nHost:\r\nContent-Type: {JSON}\r\n{expect}"
        "Content-Length: 5368709120\r\n\r\n".encode(),
    )

    answer.refused(413, "5368709120", "54525952")


@pytest.mark.parametrize("length", ["-1", "1.5", "ten", "0x10", "1 2", "+5", ""])
def test_strange_content_lengths_are_a_400(live, length):
    """A length that is not a number of bytes is not valid HTTP."""
    answer = talk(
        live.url,
        f"POST {TRAIN} HTTP/1.1\r\nHost:\r\nContent-Length: {length}\r\n"
        "Connection: close\r\n\r\n".encode(),
    )

    assert answer.status in ((400, 401) if not length else (400,))


def test_body_that_stops_does_not_hang(live, victim):
    """A client that stops in the middle of a body is disconnected."""
    host, port = live.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(
            f"POST {TRAIN} HTTP/1.1\r\nHost:\r\nContent-Type: {JSON}\r\n"
            f"Content-Length: 100\r\nAuthorization: Bearer {victim.token}\r\n\r\n{{".encode()
        )
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(4096) == b""


def test_get_ignores_its_body(live, victim):
    """A GET may carry whatever its client sends along."""
    shop = f"/v2/language/datasets/{live.shop['id']}"

    for body, kind in ((b"", "multipart/form-data"), (b"junk", FORM), (b"{", JSON)):
        assert victim("GET", shop, body, kind).ok()["id"] == live.shop["id"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/", 404),
        ("GET", "/v2", 404),
        ("GET", "/v2/language/datasets/1/2/3", 404),
        ("GET", "/v2/audio/datasets", 404),
        ("PATCH", "/v2/language/datasets", 404),
        ("TRACE", "/v2/health", 404),
        ("PUT", "/v2/language/train", 404),
        ("GET", "/v2/language/datasets/%2e%2e/x", 404),
        ("GET", "/v2/" + "a" * 8000, 404),
        ("GET", "/v2/health?" + "a=b&" * 8000, 200),
    ],
)
def test_unknown_paths_and_methods(victim, method, path, status):
    """An unknown operation is a 404 whose body echoes nothing; odd queries do no harm."""
    answer = victim(method, path)

    assert answer.status == status
    assert b"aaaa" not in answer.body
    if status == 404:
        answer.refused(404)


def test_many_headers_are_answered(live):
    """A thousand headers get an answer, whether refused or served."""
    lines = "".join(f"X-{n}: {n}\r\n" for n in range(1000))

    answer = talk(
        live.url, f"GET /v2/health HTTP/1.1\r\nHost:\r\n{lines}Connection: close\r\n\r\n".encode()
    )

    assert answer.status in (200, 431)


def test_one_connection_survives_errors(live, victim):
    """After a refused body the connection serves the next call."""
    connection = http.client.HTTPConnection(live.url.removeprefix("http://"), timeout=60)
    headers = {"Authorization": f"Bearer {victim.token}", "Content-Type": JSON}
    found = []
    for body in (b"{", json.dumps({"name": "x"}).encode(), b"[]"):
        connection.request("POST", TRAIN, body, headers)
        answer = connection.getresponse()
        found.append(Answer(answer.status, {}, answer.read()).status)
    connection.close()

    assert found == [400, 400, 400]

"""The whole service answers raw requests of RFC 9110, 9112, 2046, 2047 and 5987, byte by byte.

tests/local/http/test_rfc_9112.py sends about 120 others to the front alone, mostly malformed ones.
"""

from __future__ import annotations

import json

import pytest

from tests.flows.client import Client
from tests.flows.world import World, csv_file, made_rows
from tests.local.wire import RawAnswer, talk

READ = "/v2/language/datasets"
WRITE = "POST /v2/language/intent HTTP/1.1|H|A|Content-Type: application/json"
JSON = b'{"modelId":"none","document":"a"}'  # of an unknown model, so that nothing is predicted
CHUNKED = b"%x;a=b\r\n%s\r\n0\r\nX-Trailer: y\r\n\r\n" % (len(JSON), JSON)

REQUESTS = [
    # Targets: RFC 9112, 3.2; RFC 3986, 6.2.2.
    (200, f"GET {READ} HTTP/1.1|H|A"),
    (200, f"GET http://127.0.0.1{READ} HTTP/1.1|H|A"),
    (200, "GET /v2/language/%64atasets HTTP/1.1|H|A"),
    (200, f"GET {READ}? HTTP/1.1|H|A"),
    (200, f"GET {READ}?%63ount=%31 HTTP/1.1|H|A"),
    (400, f"GET {READ}?count=1&count=x HTTP/1.1|H|A"),
    (404, f"GET /{READ} HTTP/1.1|H|A"),
    (404, "GET /v2/language%2Fdatasets HTTP/1.1|H|A"),
    (404, f"GET {READ}/%31 HTTP/1.1|H|A"),
    (404, f"GET {READ}%00 HTTP/1.1|H|A"),
    (404, "GET /v2/language/dat%zzsets HTTP/1.1|H|A"),
    (404, f"GET {READ}% HTTP/1.1|H|A"),
    (404, f"GET {READ}/../../whoami HTTP/1.1|H|A"),
    (404, "GET /v2/%C3%A9 HTTP/1.1|H|A"),
    (421, f"GET {READ} HTTP/1.1|Host: presage.example|A"),
    # Methods: RFC 9110, 9.
    (200, f"HEAD {READ} HTTP/1.1|H|A"),
    (404, f"HEAD {READ}/1 HTTP/1.1|H|A"),
    (401, f"HEAD {READ} HTTP/1.1|H"),
    (302, "HEAD / HTTP/1.1|H"),
    (200, "HEAD /v2/health HTTP/1.1|H"),
    (204, f"OPTIONS {READ} HTTP/1.1|H"),
    (400, f"get {READ} HTTP/1.1|H|A"),
    (404, f"PATCH {READ} HTTP/1.1|H|A"),
    (404, f"TRACE {READ} HTTP/1.1|H|A"),
    (404, f"{'M' * 300} {READ} HTTP/1.1|H|A"),
    # Authentication: RFC 9110, 11.
    (401, f"GET {READ} HTTP/1.1|H"),
    (401, f"GET {READ} HTTP/1.1|H|Authorization: Basic YTpi"),
    (401, f"GET {READ} HTTP/1.1|H|Authorization: Bearer"),
    (401, f"GET {READ} HTTP/1.1|H|Authorization: TOKEN"),
    (401, f"GET {READ} HTTP/1.1|H|Authorization: Bearer TOKEN x"),
    (401, f"GET {READ} HTTP/1.1|H|A|Authorization: Bearer x"),
    (401, f"GET {READ} HTTP/1.1|H|Proxy-Authorization: Bearer TOKEN"),
    (401, f"GET {READ}?access_token=TOKEN HTTP/1.1|H"),
    (200, f"GET {READ} HTTP/1.1|H|AUTHORIZATION:bEARER TOKEN"),
    # Fields that ask for what the service does not offer are ignored: RFC 9110, 12 to 14.
    (200, f"GET {READ} HTTP/1.1|H|A|Range: bytes=0-1"),
    (200, f"GET {READ} HTTP/1.1|H|A|Accept: image/png"),
    (200, f"GET {READ} HTTP/1.1|H|A|Accept-Encoding: br;q=1, *;q=0"),
    (200, f"GET {READ} HTTP/1.1|H|A|Accept-Language: xx"),
    (200, f'GET {READ} HTTP/1.1|H|A|If-None-Match: "x"'),
    (200, f"GET {READ} HTTP/1.1|H|A|If-Modified-Since: never"),
    (200, f"GET {READ} HTTP/1.1|H|A|TE: trailers, deflate;q=0.5"),
    (200, f"GET {READ} HTTP/1.1|H|A|Upgrade: h2c|HTTP2-Settings: AAMAAABk"),
    (200, f"GET {READ} HTTP/1.1|H|A|Max-Forwards: 0|Via: 1.1 a|Forwarded: host=evil.example"),
    (200, f"GET {READ} HTTP/1.1|H|A|X-Latin: caf\xe9"),
    (200, "|".join([f"GET {READ} HTTP/1.1|H|A", *(f"X-{n}: a" for n in range(300))])),
    (431, f"GET {READ} HTTP/1.1|H|A|X-A: {'a' * 300_000}"),
    (431, f"GET {READ}?{'a' * 300_000} HTTP/1.1|H|A"),
    # Codings of a body: RFC 9110, 8.4.
    *((415, f"{WRITE}|Content-Encoding: {coding}|L", JSON) for coding in (
        "gzip", "deflate", "br", "zstd", "compress", "GZIP", "x-gzip", "identity, gzip", "gzip,gzip"
    )),
    (404, f"{WRITE}|Content-Encoding: identity|L", JSON),
    (404, f"{WRITE}|Content-Encoding: utf-8|L", JSON),
    (200, f"GET {READ} HTTP/1.1|H|A|Content-Encoding: gzip"),
    (404, f"DELETE {READ}/1 HTTP/1.1|H|A|Content-Encoding: gzip"),
    # Types of a body: RFC 9110, 8.3.
    (404, "POST /v2/language/intent HTTP/1.1|H|A|Content-Type: APPLICATION/Json;charset=utf-8|L",
     JSON),
    (415, "POST /v2/language/intent HTTP/1.1|H|A|Content-Type: text/json|L", JSON),
    (415, "POST /v2/language/intent HTTP/1.1|H|A|Content-Type: application/json-seq|L", JSON),
    (415, "POST /v2/language/intent HTTP/1.1|H|A|L", JSON),
    # Framing of a body: RFC 9112, 6 and 7.
    (404, f"{WRITE}|L", JSON),
    (404, f"{WRITE}|Transfer-Encoding: chunked", CHUNKED),
    (404, f"{WRITE}|Transfer-Encoding: CHUNKED", CHUNKED.replace(b";a=b", b"")),
    (200, f"GET {READ} HTTP/1.1|H|A|L", b"hello"),
    (200, f"GET {READ} HTTP/1.1|H|A|Transfer-Encoding: chunked", b"1\r\na\r\n0\r\n\r\n"),
    (400, f"{WRITE}|Content-Length: 0"),
    (400, f"{WRITE}|Content-Length: 1_0", JSON),
    (400, f"{WRITE}|Content-Length: \xb2", JSON),
    (400, f"{WRITE}|Transfer-Encoding: \x0bchunked", CHUNKED),
    (413, f"{WRITE}|Content-Length: 99999999999999999999", b""),
]  # fmt: skip


def ask(client: Client, text: str, body: bytes = b"") -> RawAnswer:
    """Send a request whose lines are parted by |; H, A and L are its usual header lines."""
    lines = {
        "H": "Host: localhost",
        "A": "Authorization: Bearer TOKEN",
        "L": f"Content-Length: {len(body)}",
    }
    written = [lines.get(line, line) for line in (*text.split("|"), "Connection: close", "", "")]
    head = "\r\n".join(written).replace("TOKEN", client.token or "")
    return talk(client.url, head.encode("latin-1") + body, seconds=60)


@pytest.mark.parametrize(("status", "request_text", "body"), [(*one, b"")[:3] for one in REQUESTS])
def test_raw_requests(owner: Client, status: int, request_text: str, body: bytes) -> None:
    """Every request has one answer with its status, of known length, and the connection closes."""
    answer = ask(owner, request_text, body)

    assert (answer.status, answer.headers["connection"].lower()) == (status, "close")
    if status == 204 or request_text.startswith("HEAD "):
        assert answer.body == b""
        return
    assert int(answer.headers["content-length"]) == len(answer.body)
    if status >= 400:
        assert {"message", "code"} <= set(json.loads(answer.body))


def test_refused_token_names_its_scheme(owner: Client) -> None:
    """RFC 9110, 11.6.1: a 401 has a challenge, for HEAD too."""
    for method in ("GET", "HEAD"):
        answer = ask(owner, f"{method} {READ} HTTP/1.1|H")
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_options_name_the_methods(owner: Client) -> None:
    """RFC 9110, 9.3.7: Allow names the methods of a path, HEAD among them."""
    allowed = ask(owner, f"OPTIONS {READ} HTTP/1.1|H").headers["allow"]

    assert {"GET", "HEAD", "POST", "OPTIONS"} <= set(allowed.replace(" ", "").split(","))


FORM = "multipart/form-data; boundary=b"
NAMES = [
    ('name="data"; filename="one.csv"', "one"),
    ('name="data"; filename="x.csv"; filename*=UTF-8\'\'caf%C3%A9.csv', "café"),
    ("name=\"data\"; filename*=utf-8'de'%e2%82%ac.csv", "€"),
    ("name=\"data\"; filename*=ISO-8859-1''%A3.csv", "£"),
    ("filename*=UTF-8''a%20b.csv; name=\"data\"", "a b"),
    ("name=\"data\"; FILENAME*=UTF-8''%c3%bc.csv", "ü"),
    ('name="data"; filename*=KOI8-X\'\'%zz.csv; filename="ok.csv"', "ok"),
    ('name="data"; filename="=?UTF-8?B?w7wuY3N2?="', "ü"),
    ('name="data"; filename="=?utf-8?q?caf=C3=A9.csv?="', "café"),
    ('name="data"; filename="naïve.csv"', "naïve"),
    ("name=data; filename=bare.csv", "bare"),
    ('name="data"; filename="a\\"b.csv"', 'a"b'),
    ('name="data"; filename="semi;colon.csv"', "semi;colon"),
    ('NAME="data"; Filename="case.csv"', "case"),
    ('name="data";filename="C:\\\\x\\\\path.csv"', "path"),
]
FRAMES = [
    (200, {"line": "--b \t"}),
    (200, {"before": "preamble\r\n"}),
    (200, {"after": "\r\nepilogue"}),
    (200, {"after": ""}),
    (200, {"kind": 'multipart/form-data; boundary="b"'}),
    (200, {"kind": 'Multipart/Form-Data; charset=utf-8; BOUNDARY="b"; x=y'}),
    (200, {"kind": 'multipart/form-data; boundary="a \'b"', "boundary": "a 'b"}),
    (200, {"kind": 'multipart/form-data; boundary="(x)+_,-./:=?"', "boundary": "(x)+_,-./:=?"}),
    (200, {"kind": f"multipart/form-data; boundary={'x' * 70}", "boundary": "x" * 70}),
    (200, {"part_type": ""}),
    (400, {"kind": "multipart/form-data"}),
    (400, {"kind": "multipart/form-data; boundary="}),
    (400, {"kind": "multipart/form-data; boundary=zzz"}),
    (400, {"disposition": 'filename="x.csv"'}),
    (400, {"line": "--c"}),
    (400, {"end": ""}),
    (415, {"kind": "multipart/mixed; boundary=b"}),
]


def upload(
    client: Client,
    disposition: str = 'name="data"; filename="file.csv"',
    *,
    kind: str = FORM,
    boundary: str = "b",
    line: str | None = None,
    part_type: str = "Content-Type: text/csv\r\n",
    before: str = "",
    after: str = "\r\n",
    end: str | None = None,
) -> RawAnswer:
    """Upload a file in a form that is written by hand."""
    head = f"{line or f'--{boundary}'}\r\nContent-Disposition: form-data; {disposition}\r\n"
    tail = f'\r\n--{boundary}\r\nContent-Disposition: form-data; name="type"\r\n\r\ntext-intent\r\n'
    closing = f"--{boundary}--" if end is None else end
    body = f"{before}{head}{part_type}\r\n".encode() + csv_file(made_rows(12))
    body += f"{tail}{closing}{after}".encode()
    return ask(client, f"POST {READ}/upload HTTP/1.1|H|A|Content-Type: {kind}|L", body)


@pytest.mark.parametrize(("disposition", "name"), NAMES)
def test_names_of_files(world: World, disposition: str, name: str) -> None:
    """RFC 5987, 2047, 6266: the dataset is named after the file, whatever form its name has."""
    answer = upload(world.caller(), disposition)

    assert (answer.status, json.loads(answer.body)["name"]) == (200, name)


@pytest.mark.parametrize(("status", "form"), FRAMES)
def test_frames_of_forms(world: World, status: int, form: dict[str, str]) -> None:
    """RFC 2046, 5.1: boundaries of every valid form are found, others are refused."""
    assert upload(world.caller(), **form).status == status

"""Probes of HTTP/1.1 as RFC 9110 and 9112 have it, byte by byte over real sockets."""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import Iterator

import pytest

from infra.local.http import server
from tests.local.wire import RawAnswer, talk

ECHO = b"POST /v2/echo HTTP/1.1\r\nHost:\r\nConnection: close\r\nContent-Type: text/plain\r\n"
CHUNKED = ECHO + b"Transfer-Encoding: chunked\r\n\r\n"
GET = b"GET /v2/nothing HTTP/1.1\r\nConnection: close\r\n"


def echoed(answer: RawAnswer) -> bytes:
    """Return the body that arrived."""
    assert answer.status == 200, answer.body
    return base64.b64decode(json.loads(answer.body)["body"])


def assert_refused(answer: RawAnswer, status: int = 400) -> None:
    """Check that a request was refused in the service's shape, and its connection closed."""
    assert (answer.status, answer.headers["connection"]) == (status, "close")
    assert answer.headers["content-type"] == "application/json"
    assert set(json.loads(answer.body)) == {"message", "code"}


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        b"content-length: 15\r\ntransfer-encoding: Chunked\r\n",
        b"Transfer-Encoding: chunked, chunked\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Content-Length: 5, 5\r\n",
        b"Content-Length: -5\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Length: 0x5\r\n",
        b"Content-Length: 5.0\r\n",
        b"Content-Length:\r\n",
        b"Content-Length: five\r\n",
        b"Content-Length : 5\r\n",
        b"Transfer-Encoding : chunked\r\n",
    ],
)
def test_ambiguous_framing_is_refused(stack, framing):
    """A request with ambiguous framing is a 400, and the connection is closed."""
    assert_refused(talk(stack.url, ECHO + framing + b"\r\n5\r\nhello\r\n0\r\n\r\n"))


def test_nothing_after_ambiguous_framing_is_answered(stack):
    """Data after ambiguous framing is not parsed as a request."""
    smuggled = b"GET /v2/nothing HTTP/1.1\r\nHost:\r\n\r\n"
    head = ECHO.replace(b"Connection: close\r\n", b"")
    framing = b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n" % (5 + len(smuggled))
    answer = talk(stack.url, head + framing + b"0\r\n\r\n" + smuggled)

    assert_refused(answer)
    assert b"nothing" not in answer.body


def test_http_1_0_has_no_transfer_encoding(stack):
    """RFC 9112, 6.1: such a message is faulty."""
    head = ECHO.replace(b"HTTP/1.1", b"HTTP/1.0")
    assert_refused(talk(stack.url, head + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"))


@pytest.mark.parametrize("coding", [b"gzip", b"gzip, chunked", b"chunked, gzip", b"identity"])
def test_other_transfer_codings_are_not_implemented(stack, coding):
    """RFC 9112, 6.1: a coding that is not understood is a 501."""
    assert_refused(talk(stack.url, ECHO + b"Transfer-Encoding: " + coding + b"\r\n\r\n"), 501)


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", b"hello"),
        (b"00005\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"a\r\n0123456789\r\n000\r\n\r\n", b"0123456789"),
        (b"5;name=value\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b'5;name="a value"\r\nhello\r\n0;last\r\n\r\n', b"hello"),
        (b"5\r\nhello\r\n0\r\nTrailer-Field: x\r\n\r\n", b"hello"),
        (b"0\r\n\r\n", b""),
    ],
)
def test_chunks_are_read(stack, body, content):
    """RFC 9112, 7.1: sizes in either case, extensions and trailers are read, or passed over."""
    assert echoed(talk(stack.url, CHUNKED + body)) == content


@pytest.mark.parametrize(
    "body",
    [
        b"-5\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"g\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhelloworld\r\n0\r\n\r\n",
        b"3\r\nhello\r\n0\r\n\r\n",
        b"5;\x00\r\nhello\r\n0\r\n\r\n",
        b"5\nhello\n0\n\n\r\n",
    ],
)
def test_broken_chunks_are_refused(stack, body):
    """RFC 9112, 7.1: invalid chunk sizes and wrong chunk lengths are refused."""
    assert_refused(talk(stack.url, CHUNKED + body))


@pytest.mark.parametrize("size", [b"f" * 16, b"7" + b"f" * 30])
def test_enormous_chunk_is_not_waited_for(stack, size):
    """A chunk size beyond any integer neither overflows nor hangs: its stream is cut."""
    answer = talk(stack.url, CHUNKED + size + b"\r\nhello", is_half_closed=True)

    assert answer.status in (0, 400, 413)


@pytest.mark.parametrize(
    "hosts",
    [
        b"",
        b"Host: a\r\nHost: b\r\n",
        b"Host: a\r\nHost: a\r\n",
        b"Host: a, b\r\n",
        b"Host: a b\r\n",
        b"Host: a/b\r\n",
        b"Host: user@a\r\n",
        b"Host: a:port\r\n",
        b"Host: [::1\r\n",
        b"Host : a\r\n",
    ],
)
def test_unclear_host_is_refused(stack, hosts):
    """RFC 9112, 3.2: HTTP/1.1 needs exactly one Host header, with a valid value."""
    assert_refused(talk(stack.url, GET + hosts + b"\r\n"))


@pytest.mark.parametrize(
    "hosts",
    [
        b"Host: LOCALHOST\r\n",
        b"host:127.0.0.1:8000\r\n",
        b"Host: [::1]:80\r\n",
        b"HOST: \r\n",
        b"Host: a.localhost.:\r\n",
    ],
)
def test_clear_host_is_served(stack, hosts):
    """Names of this machine, with any port, and the empty host are valid."""
    assert talk(stack.url, GET + hosts + b"\r\n").status == 200


@pytest.mark.parametrize(
    "host", [b"attacker.example", b"localhost.attacker.example:80", b"1.1.1.1"]
)
def test_foreign_host_is_refused(stack, host):
    """Without PRESAGE_PUBLIC_URL, a page that rebinds its own name to this machine gets a 421."""
    answer = talk(stack.url, GET + b"Host: " + host + b"\r\n\r\n")

    assert (answer.status, json.loads(answer.body)["code"]) == (421, "unknown_host")


def test_http_1_0_needs_no_host(stack):
    """RFC 9112, 3.2: the rule is HTTP/1.1's; two hosts are wrong in both."""
    old = GET.replace(b"HTTP/1.1", b"HTTP/1.0")

    assert talk(stack.url, old + b"\r\n").status == 200
    assert_refused(talk(stack.url, old + b"Host: a\r\nHost: b\r\n\r\n"))


@pytest.mark.parametrize("version", [b"HTTP/2.0", b"HTTP/3.0", b"HTTP/0.9", b"HTTP/1.2"])
def test_other_versions_are_not_spoken(stack, version):
    """RFC 9110, 15.6.6: a version that is not spoken is a 505."""
    assert_refused(talk(stack.url, b"GET /v2/nothing " + version + b"\r\nHost:\r\n\r\n"), 505)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /v2/nothing\r\n\r\n",
        b"GET /v2/nothing HTTP/1.1 \r\n x\r\nHost:\r\n\r\n",
        b"GET  /v2/nothing HTTP/1.1\r\nHost:\r\n\r\n",
        b"GET /v2/no thing HTTP/1.1\r\nHost:\r\n\r\n",
        b"GET\t/v2/nothing\tHTTP/1.1\r\nHost:\r\n\r\n",
        b"GET /v2/nothing HTTP/11\r\nHost:\r\n\r\n",
        b"GET /v2/nothing http/1.1\r\nHost:\r\n\r\n",
        b"G(T /v2/nothing HTTP/1.1\r\nHost:\r\n\r\n",
        b"GET /v2/nothing HTTP/1.1\r\n Host:\r\n\r\n",
        b"GET /v2/nothing HTTP/1.1\r\nHost:\r\nX-A: a\x00b\r\n\r\n",
        b"GET /v2/nothing HTTP/1.1\r\nHost:\r\nX-A: a\rb\r\n\r\n",
        b"GET /v2/nothing HTTP/1.1\r\nHost:\r\nX A: a\r\n\r\n",
        b"GET /v2/nothing HTTP/1.1\r\nHost:\r\nX-A\r\n\r\n",
        b"GET /v2/nothing HTTP/1.1\r\nHost:\r\n: a\r\n\r\n",
        b"GET /v2/nothing HTTP/1.1\r\nHost:\r\nX-A[]: a\r\n\r\n",
    ],
)
def test_malformed_heads_are_refused(stack, request_bytes):
    """RFC 9112, 3 and 5: request lines and header lines that are none, and spaces around names."""
    assert_refused(talk(stack.url, request_bytes, is_half_closed=True))


def test_empty_lines_before_a_request_are_passed_over(stack):
    """RFC 9112, 2.2: a client may send an empty line after a body."""
    assert talk(stack.url, b"\r\n\r\n" + GET + b"Host:\r\n\r\n").status == 200


def test_optional_white_space_around_values_is_none_of_them(stack):
    """RFC 9112, 5.1: spaces and tabs around a value are not part of it."""
    answer = talk(stack.url, ECHO + b"Content-Length: \t 5 \t\r\n\r\nhello")

    assert echoed(answer) == b"hello"


@pytest.mark.parametrize(
    "target",
    [
        b"/v2/nothing",
        b"/v2/%6eothing",
        b"/v2/%6Eothing",
        b"/%76%32/nothing",
        b"/v2/nothing/",
        b"/v2/nothing?",
        b"/v2/nothing?a=%6e",
        b"/v2/nothing#part",
        b"http://x/v2/nothing",
        b"http://elsewhere.example/v2/nothin%67",
    ],
)
def test_equal_targets_are_one_path(stack, target):
    """RFC 3986, 6.2.2: unreserved characters mean the same when they are encoded."""
    head = GET.replace(b"/v2/nothing", target)

    assert talk(stack.url, head + b"Host:\r\n\r\n").status == 200


@pytest.mark.parametrize(
    "target",
    [b"/v2%2Fnothing", b"/v2/nothing%2F", b"/v2/nothing%3Fa", b"/v2/%256eothing", b"/v2/%6", b"*"],
)
def test_reserved_characters_stay_encoded(stack, target):
    """RFC 3986, 2.2: an encoded slash or question mark divides nothing, and is decoded once."""
    head = GET.replace(b"/v2/nothing", target)

    assert talk(stack.url, head + b"Host:\r\n\r\n").status == 404


@pytest.mark.parametrize(
    ("sent", "arrived"), [(b"%7E%41%2d", "~A-"), (b"a%2Fb", "a%2Fb"), (b"%2541", "%2541")]
)
def test_variables_of_paths_are_decoded_once(stack, sent, arrived):
    """Unreserved characters arrive decoded, everything else as it was sent."""
    head = ECHO.replace(b"/v2/echo", b"/v2/who/" + sent).replace(b"text/plain", b"application/json")
    answer = talk(stack.url, head + b'Content-Length: 9\r\n\r\n{"who":1}')

    assert json.loads(answer.body)["path"] == arrived


@pytest.mark.parametrize("method", [b"HEAD", b"TRACE", b"CONNECT", b"PATCH", b"BREW"])
def test_other_methods_are_unknown_routes(stack, method):
    """As at the gateway, a method that a path does not have is a 404."""
    head = GET.replace(b"GET", method) + b"Host:\r\n\r\n"

    assert talk(stack.url, head).status == 404


@pytest.mark.parametrize(
    "request_bytes",
    [b"HEAD /v2/nothing HTTP/1.1\r\n\r\n", b"HEAD / HTTP/3.0\r\nHost:\r\n\r\n"],
)
def test_refusals_of_head_have_no_body(stack, request_bytes):
    """RFC 9110, 9.3.2: whatever the status, no body follows; the length is that of GET's."""
    answer = talk(stack.url, request_bytes)

    assert (answer.status in (400, 505), answer.body) == (True, b"")
    assert int(answer.headers["content-length"]) > 0


def test_pipelined_requests_are_answered_in_order(stack):
    """RFC 9112, 9.3.2: answers come in the order of the requests."""
    keeping = ECHO.replace(b"Connection: close\r\n", b"") + b"Content-Length: 1\r\n\r\n"
    closing = ECHO + b"Content-Length: 1\r\n\r\n"
    answer = talk(stack.url, keeping + b"1" + keeping + b"2" + closing + b"3")

    parts = answer.body.split(b'"body":"')[1:]
    assert [base64.b64decode(part.split(b'"')[0]) for part in parts] == [b"1", b"2", b"3"]


def test_old_client_that_wants_to_go_on_is_allowed_to(stack):
    """RFC 9112, C.2.2: HTTP/1.0 with keep-alive has an answer with a length, and another."""
    keeping = b"GET /v2/nothing HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    answer = talk(stack.url, keeping + b"GET /v2/nothing HTTP/1.0\r\n\r\n")

    assert answer.headers["connection"].lower() == "keep-alive"
    assert answer.body.count(b'{"object":"nothing"}') == 2


@pytest.mark.parametrize(
    ("version", "options", "closes"),
    [
        (b"1.1", b"Connection: TE, close\r\n", True),
        (b"1.1", b"Connection: Upgrade\r\nConnection: Close\r\n", True),
        (b"1.1", b"Connection: close-not, te\r\n", False),
        (b"1.0", b"Connection: Keep-Alive,\tTE\r\n", False),
        (b"1.0", b"Connection: keep-alive, close\r\n", True),
    ],
)
def test_options_of_the_connection_are_a_list(stack, version, options, closes):
    """RFC 9110, 7.6.1: `close` and `keep-alive` are found among other options."""
    first = b"GET /v2/nothing HTTP/" + version + b"\r\nHost:\r\n" + options + b"\r\n"
    answer = talk(stack.url, first + GET + b"Host:\r\n\r\n")

    assert answer.body.count(b'{"object":"nothing"}') == (1 if closes else 2)


class Silent:
    """An application that is never reached."""

    def kind_of(self, request: object) -> None:
        """Return no kind: no request waits for another one."""


@pytest.fixture(scope="module")
def impatient() -> Iterator[str]:
    """A server in this process that refuses what does not arrive within a fraction of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "STALLED_SECONDS", 0.2)
        listener = socket.create_server(("127.0.0.1", 0))
        running = server.make_server(Silent(), listener, 1_000_000, {})
        thread = threading.Thread(target=running.run)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        running.close()
        thread.join()
        running.task_dispatcher.shutdown()


@pytest.mark.parametrize(
    "part",
    [
        b"G",
        b"GET / HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\nHost:\r\n",
        b"POST / HTTP/1.1\r\nHost:\r\nContent-Length: 5\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost:\r\nContent-Length: 5\r\n\r\nhell",
        b"POST / HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"POST / HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ],
)
def test_stalled_request_is_refused(impatient, part):
    """RFC 9110, 15.5.9: a head or body that stops arriving is a 408, and the connection closes."""
    answer = talk(impatient, part)

    assert_refused(answer, 408)
    assert json.loads(answer.body)["code"] == "request_timeout"


def test_expectation_is_met_before_the_body(stack):
    """RFC 9110, 10.1.1: 100 comes first, whatever the case it was asked for in."""
    head = ECHO + b"Expect: 100-Continue\r\nContent-Length: 5\r\n\r\n"
    answer = talk(stack.url, head, b"hello")

    assert (answer.status, b"HTTP/1.1 200" in answer.body) == (100, True)


def test_refusal_comes_in_place_of_continue(stack):
    """A request that is refused is not asked for its body."""
    head = ECHO + b"Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n"

    assert_refused(talk(stack.url, head, is_half_closed=True), 413)

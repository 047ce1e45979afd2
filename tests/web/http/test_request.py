"""Bodies become fields and files; broken ones are a 400 with a message."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.common.limits import MAX_BODY_BYTES
from chalicelib.errors import (
    BadRequest,
    InvalidParameter,
    ServiceError,
    TooLarge,
)
from chalicelib.web.http.request import (
    MAX_SCALAR_BYTES,
    URLENCODED,
    ApiRequest,
    BodyFields,
    UnsupportedEncoding,
    read_fields,
)
from chalicelib.web.http.responses import error_headers

FILES = ("data", "sampleContent", "formTemplate")
KNOWN = ("a", "b", "c", "name", "label", "document", "sampleId")


def request(body: object, content_type: str = "application/json") -> ApiRequest:
    """Build a request with a body."""
    headers = {"content-type": content_type} if content_type else {}
    return ApiRequest("POST", "/", "/", {}, {}, headers, body, False, "")


def read(body: object, content_type: str = "application/json") -> BodyFields:
    """Read a body."""
    return read_fields(request(body, content_type), KNOWN)


def form(name: str, content: bytes) -> ApiRequest:
    """Build a form with one field."""
    head = f'--B\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode()
    return request(head + content + b"\r\n--B--", "multipart/form-data; boundary=B")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[1]",
        b'"x"',
        b"null",
        b'{"a":1}x',
        b'{"a":NaN}',
        b'{"a":"\xff"}',
        b'{"a":1e999}',
        b'{"a":' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a":' + b"[" * 64 + b"]" * 64 + b"}",
        b"\xef\xbb\xbf",
        b"\xff\xfe{\x00}\x00",
        5,
    ],
)
def test_broken_json_is_refused(body):
    """Invalid, non-object and too deeply nested JSON is a 400."""
    with pytest.raises(BadRequest):
        read(body)


@pytest.mark.parametrize("text", ['"\\ud800"', '"\\udc00x"', '{"deep": ["\\ud83d"]}'])
def test_half_of_a_surrogate_pair_names_its_field(text):
    """A lone surrogate is a 400 that names its field."""
    with pytest.raises(InvalidParameter, match=r"'document'.*surrogate"):
        read(b'{"document": ' + text.encode() + b"}")


def test_whole_surrogate_pairs_are_read():
    """A surrogate pair is one character."""
    assert read(b'{"document": "\\ud83d\\ude00"}').values == {"document": "😀"}


def test_empty_members_are_absent():
    """Null and empty members count as absent; scalars are trimmed."""
    body = json.dumps({"a": None, "b": "", "c": " x ", "document": " y ", "sampleId": " z "})

    assert read(body.encode()).values == {"c": "x", "document": " y ", "sampleId": " z "}


def test_byte_order_mark_is_skipped():
    """A byte order mark before the object is skipped."""
    assert read(b'\xef\xbb\xbf{"a":1}').values == {"a": 1}


def test_body_without_content_type_has_no_fields():
    """No type and no body is a request without fields."""
    assert read(None, "") == BodyFields()


@pytest.mark.parametrize("name", ["gzip", "x-gzip", "deflate", "br", "zstd", "compress", "GZip"])
@pytest.mark.parametrize("header", ["{}", "identity, {}", "{} , identity"])
def test_compressed_body_is_refused_by_its_coding(name, header):
    """A compressed body is refused with its encoding, and that none is accepted (RFC 9110)."""
    sent = replace(request(b'{"a":1}'), headers={"content-encoding": header.format(name)})

    with pytest.raises(UnsupportedEncoding, match=f"Content-Encoding '{name}'") as caught:
        read_fields(sent, KNOWN)
    assert error_headers(caught.value) == {"Accept-Encoding": "identity"}


@pytest.mark.parametrize("value", ["", "identity", "utf-8", "aws-chunked", "none", "gzipped"])
def test_other_encodings_change_nothing(value):
    """Other encoding headers are ignored if the body can be read."""
    headers = {"content-type": "application/json", "content-encoding": value}
    sent = replace(request(b'{"a":1}'), headers=headers)

    assert read_fields(sent, KNOWN).values == {"a": 1}


def test_encoding_of_no_body_is_none():
    """The encoding header of an empty body is ignored."""
    sent = replace(request(b"", ""), headers={"content-encoding": "gzip"})

    assert read_fields(sent, KNOWN) == BodyFields()


def test_body_is_limited():
    """A body over the limit is refused with limit, size and remedy."""
    with pytest.raises(TooLarge, match=f"{MAX_BODY_BYTES + 1} bytes; at most {MAX_BODY_BYTES}"):
        read(b"x" * (MAX_BODY_BYTES + 1))


def test_scalar_is_limited():
    """A text field over its limit is refused with field, limit and size."""
    with pytest.raises(InvalidParameter, match=f"'name'.*{MAX_SCALAR_BYTES + 1} bytes"):
        read_fields(form("name", b"x" * (MAX_SCALAR_BYTES + 1)), KNOWN)


@pytest.mark.parametrize("name", FILES)
def test_files_are_known_by_their_field(name):
    """A part is a file by its field name, with or without a file name."""
    fields = read_fields(form(name, b"\xff"), FILES)

    assert (fields.files[name].content, fields.values) == (b"\xff", {})


@pytest.mark.parametrize(
    ("name", "accepted"),
    [("name", False), ("label", False), ("document", True), ("sampleId", True)],
)
def test_control_characters(name, accepted):
    """Control characters are refused in names and accepted in texts and `sampleId`."""
    if accepted:
        assert read_fields(form(name, b"a\x00b"), KNOWN).values == {name: "a\x00b"}
    else:
        with pytest.raises(InvalidParameter, match=name):
            read_fields(form(name, b"a\x00b"), KNOWN)


@pytest.mark.parametrize("name", ["", "other", "data", "x" * 500])
def test_unknown_parts_are_ignored(name):
    """An unknown field is ignored, whatever it contains."""
    assert read_fields(form(name, b"\xff\x00"), KNOWN) == BodyFields()


def test_unknown_members_are_ignored():
    """Unknown JSON members are ignored."""
    assert read(b'{"other": "\\u0000", "": {"deep": [1]}, "a": 1}').values == {"a": 1}


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data; boundary=ž",
        'multipart/form-data; boundary="',
        "multipart/form-data; boundary*=utf-8''B",
        "multipart/form-data;;;=;boundary",
        "application/json; charset=\x00",
        ";",
        "ž/ž",
    ],
)
def test_odd_content_types_have_an_answer(content_type):
    """A damaged content type is a 400 or 415."""
    with pytest.raises(ServiceError) as caught:
        read(b"--B\r\nx", content_type)

    assert caught.value.status in (400, 415)


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=B", URLENCODED])
def test_repeated_field_must_say_the_same(kind):
    """A field sent twice is accepted only with equal values."""

    def twice(*values):
        if kind == URLENCODED:
            return "&".join(f"name={value}&other={value}" for value in values).encode()
        head = b'--B\r\nContent-Disposition: form-data; name="name"\r\n\r\n'
        return b"".join(head + value.encode() + b"\r\n" for value in values) + b"--B--"

    def values(*sent):
        return read_fields(request(twice(*sent), kind), KNOWN, takes_urlencoded=True).values

    assert values("same", "same") == {"name": "same"}
    with pytest.raises(BadRequest, match="'name' parameter was sent twice"):
        values("first", "last")


def test_json_of_very_many_members_is_refused_before_it_is_parsed():
    """JSON with more than 100,000 members is refused before it is parsed."""
    few = json.dumps({"name": "a", "more": [0] * 99_000, "text": ",[{" * 50_000}).encode()
    assert read(few, "application/json").values["name"] == "a"

    for many in (b'{"name":[' + b"0," * 100_000 + b"0]}", b'{"a":[' + b"[]," * 60_000 + b"[]]}"):
        with pytest.raises(BadRequest, match="more than 100,000 members"):
            read(many, "application/json")


@given(
    st.binary(max_size=200),
    st.sampled_from(["application/json", "multipart/form-data; boundary=B", "", "x/y"]),
)
def test_any_body_has_an_answer(body, content_type):
    """Any body is read or refused with a documented error."""
    status = 200
    try:
        read(body, content_type)
    except ServiceError as error:
        status = error.status

    assert status in (200, 400, 415)


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            st.lists,
            max_leaves=10,  # larger trees teach the reader nothing and take most of the time
        ),
        max_size=4,
    )
)
def test_any_json_object_is_read(members: dict[str, Any]):
    """Every JSON object is read, unless a name or text has control characters."""
    try:
        fields = read(json.dumps(members).encode())
    except InvalidParameter:
        return
    assert set(fields.values) <= set(members)

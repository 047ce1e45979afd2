"""Multipart names and boundaries as in RFC 2046, 2047, 5987 and 6266."""

from __future__ import annotations

import pytest

from chalicelib.web.http.multipart import FormPart, read_parts

TYPE = "multipart/form-data; boundary=B"


def only_part(disposition: str) -> FormPart:
    """Read a body with one part that has this Content-Disposition."""
    head = f"--B\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode()
    [part] = read_parts(head + b"x\r\n--B--\r\n", TYPE)
    return part


@pytest.mark.parametrize(
    ("parameters", "file_name"),
    [
        ("filename*=UTF-8''caf%C3%A9.csv", "café.csv"),
        ("filename*=utf-8'fr'caf%c3%a9.csv", "café.csv"),
        ("FileName*=UTF-8''a.csv", "a.csv"),
        ("filename*=ISO-8859-1''caf%E9.csv", "café.csv"),
        ("filename*=iso-8859-1'en'%A3%20rates.csv", "£ rates.csv"),
        ("filename*=UTF-8''%e2%82%ac%20rates.csv", "€ rates.csv"),
        ("filename* = UTF-8''a.csv", "a.csv"),
        ("filename=\"cafe.csv\"; filename*=UTF-8''caf%C3%A9.csv", "café.csv"),
        ("filename*=UTF-8''caf%C3%A9.csv; filename=cafe.csv", "café.csv"),
        ("filename*=UTF-8''dir%2Fa.csv", "a.csv"),
        ("filename*=UTF-8''C%3A%5Cx%5Ca.csv", "a.csv"),
        ("filename=plain.csv; filename*=koi8-r''%C1", "plain.csv"),
        ("filename=plain.csv; filename*=broken", "plain.csv"),
        ("filename=plain.csv; filename*=UTF-8''", "plain.csv"),
        ("filename=\"a; filename*=UTF-8''b\"", "a; filename*=UTF-8''b"),
        ("filename*=UTF-8''%FF.csv", "\ufffd.csv"),
    ],
)
def test_extended_file_names(parameters, file_name):
    """RFC 5987: an extended file name that can be decoded wins over the plain one."""
    assert only_part(f'name="data"; {parameters}').file_name == file_name


@pytest.mark.parametrize(
    ("written", "file_name"),
    [
        ("=?UTF-8?B?Y2Fmw6kuY3N2?=", "café.csv"),
        ("=?utf-8?b?Y2Fmw6kuY3N2?=", "café.csv"),
        ("=?UTF-8?Q?caf=C3=A9_a.csv?=", "café a.csv"),
        ("=?ISO-8859-1?Q?caf=E9.csv?=", "café.csv"),
        ("=?UTF-8?Q?caf=C3=A9?= =?UTF-8?Q?s.csv?=", "cafés.csv"),
        ("=?x-none?Q?a?=", "=?x-none?Q?a?="),
        ("=?UTF-8?B?x?=", "=?UTF-8?B?x?="),
        ("=?UTF-8?X?a?=", "=?UTF-8?X?a?="),
        ("what=?.csv", "what=?.csv"),
    ],
)
def test_encoded_words_in_file_names(written, file_name):
    """RFC 2047: encoded words are decoded; broken ones stay as sent."""
    assert only_part(f'name="data"; filename="{written}"').file_name == file_name


@pytest.mark.parametrize(
    "written",
    ['name="=?UTF-8?Q?data?="', 'name="=?UTF-8?B?ZGF0YQ==?="', "name*=UTF-8''d%61ta", "name=data"],
)
def test_field_names_are_read_in_every_form(written):
    """Field names may use the same encodings as file names."""
    assert only_part(written).name == "data"


@pytest.mark.parametrize("padding", [b" ", b"\t", b" \t  "])
def test_white_space_after_boundaries(padding):
    """RFC 2046, 5.1.1: white space after a boundary is ignored."""
    line = b"--B" + padding + b"\r\n"
    part = b"Content-Disposition: form-data; name=%s\r\n\r\n%s\r\n"
    body = line + part % (b"a", b"1") + line + part % (b"b", b"2") + b"--B--" + padding + b"\r\n"

    assert [(found.name, found.text()) for found in read_parts(body, TYPE)] == [
        ("a", "1"),
        ("b", "2"),
    ]


@pytest.mark.parametrize(
    "content", [b"x--B \r\ny", b"--Bx \r\n", b"--B", b"\n--B \r\n", b"\r\n--Bx\r\n"]
)
def test_what_only_looks_like_a_boundary_stays(content):
    """White space in a file is removed only on a boundary's own line."""
    head = b'--B\r\nContent-Disposition: form-data; name="data"\r\n\r\n'
    [part] = read_parts(head + b"x" + content + b"\r\n--B--\r\n", TYPE)

    assert part.content() == b"x" + content

"""Multipart bodies of real clients, and broken ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.errors import BadRequest, InvalidParameter
from chalicelib.web.http.multipart import MAX_PARTS, base_name, boundary_of, read_parts

TYPE = "multipart/form-data; boundary=B"


def body(*parts: tuple[str, bytes], end: bytes = b"--B--\r\n") -> bytes:
    """Write parts given as (headers, content)."""
    text = b"".join(
        b"--B\r\n" + head.encode() + b"\r\n\r\n" + content + b"\r\n" for head, content in parts
    )
    return text + end


def named(name: str, *more: str) -> str:
    """Build a part's headers."""
    return "\r\n".join([f'Content-Disposition: form-data; name="{name}"', *more])


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data; boundary=B",
        'multipart/form-data; boundary="B"',
        "multipart/form-data;boundary=B",
        "multipart/form-data; charset=utf-8; boundary=B",
        'multipart/form-data;charset=UTF-8;boundary="B"; x=y',
        "Multipart/Form-Data; Boundary=B",
    ],
)
def test_boundary_is_found(content_type):
    """The boundary is found quoted or not, with or without a space, around a charset."""
    assert boundary_of(content_type) == "B"


@pytest.mark.parametrize(
    "preamble",
    [b"This is a message in several parts.\r\n", b"\r\n", b"two\r\nlines\r\n", b"--Bogus\r\n"],
)
def test_text_before_the_first_boundary_is_skipped(preamble):
    """Text before the first boundary, which RFC 2046 allows, is skipped."""
    [part] = read_parts(preamble + body((named("a"), b"1")), TYPE)

    assert (part.name, part.text()) == ("a", "1")


def test_body_without_its_boundary_is_refused():
    """A body that never contains its boundary is refused."""
    with pytest.raises(BadRequest):
        list(read_parts(b"text\r\n--C\r\n\r\nx\r\n--C--\r\n", TYPE))


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        'multipart/form-data; boundary=""',
        "multipart/form-data; boundary=" + "b" * 300,
    ],
)
def test_boundary_must_be_there(content_type):
    """A missing or too long boundary is a 400."""
    with pytest.raises(BadRequest, match="boundary"):
        boundary_of(content_type)


@pytest.mark.parametrize(
    "end", [b"--B--\r\n", b"--B--", b"--B----B--", b"--B--\r\nepilogue", b"--B--\r\n\r\n"]
)
def test_last_boundary_may_be_odd(end):
    """A final delimiter without CRLF, doubled, or followed by text leaves the file intact."""
    content = b"\x00\xff\r\n--A\r\n--"

    (part,) = read_parts(body((named("data"), content), end=end), TYPE)

    assert part.content() == content


@pytest.mark.parametrize("cut", [1, 3, 6, 9, 30, 60])
def test_truncated_bodies_are_refused(cut):
    """A truncated body is a 400, however much is missing."""
    whole = body((named("document"), b"where is my parcel"), end=b"--B--")

    with pytest.raises(BadRequest):
        list(read_parts(whole[:-cut], TYPE))


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"--B--\r\n",
        b"nothing",
        b"\r\n",
        b"--C\r\n\r\n--C--",
        b"--B\r\nbad header\r\n\r\nx\r\n--B--",
    ],
)
def test_bodies_without_parts_are_refused(junk):
    """Empty bodies, and bodies in another format, are a 400."""
    with pytest.raises(BadRequest):
        list(read_parts(junk, TYPE))


def test_part_must_have_a_name():
    """A part without a field name is a 400."""
    with pytest.raises(BadRequest, match="no name"):
        list(read_parts(body(("Content-Type: text/plain", b"x")), TYPE))


def test_number_of_parts_is_limited():
    """Too many parts are a 400 that names the limit; exactly the limit is accepted."""
    parts = [(named(f"f{i}"), b"x") for i in range(MAX_PARTS)]

    assert len(list(read_parts(body(*parts), TYPE))) == MAX_PARTS
    with pytest.raises(BadRequest, match="more than 100 parts"):
        list(read_parts(body(*parts, (named("one more"), b"x")), TYPE))


@pytest.mark.parametrize("header", ["X: " + "y" * 5000, "\r\n".join(f"X{i}: y" for i in range(20))])
def test_part_headers_are_limited(header):
    """Too long part headers are a 400."""
    with pytest.raises(BadRequest):
        list(read_parts(body((named("a", header), b"x")), TYPE))


@pytest.mark.parametrize(
    ("headers", "content"),
    [
        (["Content-Length: 3", "Content-Transfer-Encoding: binary"], b"a=b"),
        (["Content-Transfer-Encoding: 8bit"], b"a=b"),
        (["Content-Transfer-Encoding: BASE64"], b"YT\r\n1i"),
        (["Content-Transfer-Encoding: quoted-printable"], b"a=3Db"),
    ],
)
def test_transfer_encodings_are_undone(headers, content):
    """Transfer encodings of parts are decoded."""
    (part,) = read_parts(body((named("data", *headers), content)), TYPE)

    assert part.content() == b"a=b"


@pytest.mark.parametrize(
    ("encoding", "content"), [("base64", b"%%%"), ("base64", b"YQ"), ("gzip", b"x")]
)
def test_broken_transfer_encodings_are_refused(encoding, content):
    """A damaged or unknown transfer encoding is a 400 that names the field."""
    head = named("data", f"Content-Transfer-Encoding: {encoding}")
    (part,) = read_parts(body((head, content)), TYPE)

    with pytest.raises(InvalidParameter, match="'data'"):
        part.content()


@pytest.mark.parametrize(
    ("charset", "content"),
    [("utf-8", "é".encode()), ("ISO-8859-1", b"\xe9"), ("latin1", b"\xe9"), ("x", "é".encode())],
)
def test_character_sets_of_fields(charset, content):
    """Fields are UTF-8 unless the part declares Latin-1."""
    head = named("document", f"Content-Type: text/plain; charset={charset}")
    (part,) = read_parts(body((head, content)), TYPE)

    assert part.text() == "é"


def test_text_must_be_utf8():
    """Text that is not in its character set is a 400 that names the field."""
    (part,) = read_parts(body((named("document"), b"\xff")), TYPE)

    with pytest.raises(InvalidParameter, match=r"'document'.*UTF-8"):
        part.text()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/me/a.csv", "a.csv"),
        ("C:\\Users\\me\\a.csv", "a.csv"),
        ("a.csv", "a.csv"),
        ("../../etc/passwd", "passwd"),
        ("dir/", ""),
    ],
)
def test_base_name(path, name):
    """Folders are cut off a file name, with slashes of any system."""
    assert base_name(path) == name


def test_names_may_be_unicode():
    """UTF-8 file names are accepted; a Windows path keeps its last segment."""
    head = 'Content-Disposition: form-data; name="data"; filename="C:\\x\\größe.csv"'

    (part,) = read_parts(body((head, b"x")), TYPE)

    assert (part.name, part.file_name) == ("data", "größe.csv")


@given(st.binary(max_size=300))
def test_any_content_comes_through(content):
    """A file's bytes arrive unchanged unless they contain the boundary."""
    if b"--B" in content:
        return
    (part,) = read_parts(body((named("data"), content)), TYPE)

    assert part.content() == content


@given(st.binary(max_size=400))
def test_any_junk_is_a_400(junk):
    """No body makes the reader fail except with a 400."""
    try:
        for part in read_parts(b"--B\r\n" + junk, TYPE):
            part.text()
    except BadRequest:
        pass

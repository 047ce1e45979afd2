"""Reads multipart/form-data as real clients send it. Contract section 1, Multipart.

A part is a file only by its field name; whatever else carries a `filename` is a scalar. The
parser is python-multipart's: the standard library's corrupts a file that ends `--B----B--`.
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, MultipartState, parse_options_header

from chalicelib.errors import BadRequest, InvalidParameter

MAX_PARTS = 100
"""Parts of one body."""
MAX_BOUNDARY = 200
"""Characters of a boundary; RFC 2046 allows 70."""
TRUNCATED = "The multipart body ends before its last boundary; send it again, whole."


@dataclass
class FormPart:
    """One part, as it was sent."""

    headers: dict[str, str] = field(default_factory=dict)
    """Values by lower-case name."""
    chunks: list[bytes] = field(default_factory=list)
    """Pieces of the content, still encoded for the transfer."""
    name: str = ""
    """Field name."""
    file_name: str = ""
    """Base name of the file, empty when none was given."""
    charset: str = "utf-8"
    """Character set of the content, when it is text."""

    def content(self) -> bytes:
        """Join the content and undo its transfer encoding.

        Raises:
            InvalidParameter: the transfer encoding is unknown or the content breaks it.
        """
        raw = self.chunks[0] if len(self.chunks) == 1 else b"".join(self.chunks)
        encoding = self.headers.get("content-transfer-encoding", "binary").strip().lower()
        if encoding in ("binary", "8bit", "7bit", ""):
            return raw
        if encoding == "quoted-printable":
            return quopri.decodestring(raw)
        if encoding != "base64":
            raise InvalidParameter(
                self.name, f"its Content-Transfer-Encoding is {encoding[:40]}; send it as binary."
            )
        try:
            return base64.b64decode(b"".join(raw.split()), validate=True)
        except binascii.Error as problem:
            raise InvalidParameter(self.name, "its content is not valid Base64.") from problem

    def text(self) -> str:
        """Decode the content of a scalar.

        Raises:
            InvalidParameter: the bytes are not of the named character set.
        """
        charset = self.charset.lower().replace("_", "-")
        codec = "latin-1" if charset in ("iso-8859-1", "latin-1", "latin1") else "utf-8"
        try:
            return self.content().decode(codec)
        except UnicodeDecodeError as problem:
            raise InvalidParameter(self.name, "it is not valid UTF-8 text.") from problem


class _Reader:
    """Collects what the parser finds."""

    def __init__(self) -> None:
        self.parts: list[FormPart] = []
        self._name = b""
        self._value = b""

    def begin(self) -> None:
        """Start a part."""
        if len(self.parts) == MAX_PARTS:
            raise BadRequest(
                f"The body has more than {MAX_PARTS} parts; send at most {MAX_PARTS} fields."
            )
        self.parts.append(FormPart())

    def header_name(self, data: bytes, start: int, end: int) -> None:
        """Add to a header's name."""
        self._name += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        """Add to a header's value."""
        self._value += data[start:end]

    def header_end(self) -> None:
        """Keep a header."""
        value = self._value.decode("utf-8", "replace").strip()
        self.parts[-1].headers[self._name.decode("latin-1").lower()] = value
        self._name = self._value = b""

    def data(self, data: bytes, start: int, end: int) -> None:
        """Add to a part's content."""
        self.parts[-1].chunks.append(data[start:end])


def read_parts(body: bytes, content_type: str) -> Iterator[FormPart]:
    """Yield the named parts of a multipart body.

    Raises:
        BadRequest: no boundary, no part, too many parts, or a body that is cut off.
    """
    reader = _Reader()
    try:
        boundary = boundary_of(content_type)
        parser = _parser(boundary, reader)
        parser.write(_without_preamble(body, boundary))
    except FormParserError as problem:
        raise BadRequest(f"The multipart body cannot be read: {problem}.") from problem
    if parser.state != MultipartState.END:
        raise BadRequest(TRUNCATED)
    if not reader.parts:
        raise BadRequest("The multipart body has no part; send the fields as its parts.")
    for part in reader.parts:
        _name(part)
        yield part


def boundary_of(content_type: str) -> str:
    """Find the boundary, quoted or not, before or after other parameters.

    Raises:
        BadRequest: there is none, or it cannot be one.
    """
    _, options = parse_options_header(_encodable(content_type))
    boundary = options.get(b"boundary", b"").decode("latin-1").strip()
    if not boundary:
        raise BadRequest(
            "The Content-Type multipart/form-data has no boundary; let the HTTP client set it."
        )
    if len(boundary) > MAX_BOUNDARY:
        raise BadRequest(
            f"The boundary of the multipart body has {len(boundary)} characters; "
            f"at most {MAX_BOUNDARY} are allowed."
        )
    return boundary


def base_name(path: str) -> str:
    """Cut folders off a file name, whichever system wrote it."""
    return path.replace("\\", "/").rsplit("/", 1)[-1].strip()


def _without_preamble(body: bytes, boundary: str) -> bytes:
    """Cut off what stands before the first boundary, which is for readers of mail. RFC 2046."""
    delimiter = b"--" + boundary.encode("latin-1")
    found = re.search(rb"(?:^|\n)(?P<line>" + re.escape(delimiter) + rb"(?:--)?[ \t]*\r?\n)", body)
    return body[found.start("line") :] if found else body


def _parser(boundary: str, reader: _Reader) -> MultipartParser:
    """Connect the parser to its reader."""
    return MultipartParser(
        boundary,
        {
            "on_part_begin": reader.begin,
            "on_header_field": reader.header_name,
            "on_header_value": reader.header_value,
            "on_header_end": reader.header_end,
            "on_part_data": reader.data,
        },
    )


def _name(part: FormPart) -> None:
    """Read a part's own headers into its name, file name and character set."""
    _, options = parse_options_header(_encodable(part.headers.get("content-disposition", "")))
    name = options.get(b"name")
    if name is None:
        raise BadRequest("A part of the multipart body has no name; name every field.")
    part.name = name.decode("utf-8", "replace")
    part.file_name = base_name(_decoded(options.get(b"filename", b"").decode("latin-1")))
    _, kind = parse_options_header(_encodable(part.headers.get("content-type", "")))
    part.charset = kind.get(b"charset", b"utf-8").decode("latin-1")


def _encodable(value: str) -> str:
    """Carry a UTF-8 header value through a reader that knows Latin-1 only."""
    return value.encode("utf-8").decode("latin-1")


def _decoded(value: str) -> str:
    """Undo `_encodable`."""
    return value.encode("latin-1").decode("utf-8", "replace")

"""Parses multipart/form-data as real clients send it. See contract, section 1, Multipart.

Whether a field is a file depends on its name, not on its `filename`. The parser is
python-multipart, because the standard library's parser damages files that end like a boundary.
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from urllib.parse import unquote_to_bytes

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, MultipartState, parse_options_header

from chalicelib.errors import BadRequest, InvalidParameter

# Maximum number of parts of one body.
MAX_PARTS = 100
# Maximum length of a boundary. RFC 2046 allows 70 characters.
MAX_BOUNDARY = 200
TRUNCATED = "The multipart body ends before its last boundary; send it again, whole."
_ENCODED_WORD = re.compile(r"=\?[^?\s]+\?[bBqQ]\?[^?\s]*\?=")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_EXTENDED = re.compile(
    r";\s*(?P<name>name|filename)\*\s*=\s*(?P<charset>utf-8|iso-8859-1)'[A-Za-z0-9\-]*'"
    r"(?P<value>[^\s\";]*)",
    re.IGNORECASE,
)


@dataclass
class FormPart:
    """One part of a multipart body."""

    headers: dict[str, str] = field(default_factory=dict)
    """Header values by name in lower case."""
    chunks: list[bytes] = field(default_factory=list)
    """Content in several chunks, in its transfer encoding."""
    name: str = ""
    """Name of the field."""
    file_name: str = ""
    """Base name of the file; empty if none was sent."""
    charset: str = "utf-8"
    """Character set of the content if it is text."""

    def content(self) -> bytes:
        """Return the decoded content; raise InvalidParameter if it cannot be decoded."""
        # Not joined if there is one chunk: that would copy a file of many megabytes.
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
        """Return the content as text; raise InvalidParameter if it cannot be decoded."""
        charset = self.charset.lower().replace("_", "-")
        codec = "latin-1" if charset in ("iso-8859-1", "latin-1", "latin1") else "utf-8"
        try:
            return self.content().decode(codec)
        except UnicodeDecodeError as problem:
            raise InvalidParameter(self.name, "it is not valid UTF-8 text.") from problem


class _Reader:
    """Collects the parts of a body. The parser calls the methods while it reads the body."""

    def __init__(self) -> None:
        self.parts: list[FormPart] = []
        self._name = b""
        self._value = b""

    def begin(self) -> None:
        if len(self.parts) == MAX_PARTS:
            raise BadRequest(
                f"The body has more than {MAX_PARTS} parts; send at most {MAX_PARTS} fields."
            )
        self.parts.append(FormPart())

    def header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def header_end(self) -> None:
        value = self._value.decode("utf-8", "replace").strip()
        self.parts[-1].headers[self._name.decode("latin-1").lower()] = value
        self._name = self._value = b""

    def data(self, data: bytes, start: int, end: int) -> None:
        self.parts[-1].chunks.append(data[start:end])


def read_parts(body: bytes, content_type: str) -> Iterator[FormPart]:
    """Yield the named parts of a multipart body; raise BadRequest if it is malformed."""
    reader = _Reader()
    try:
        boundary = boundary_of(content_type)
        parser = _parser(boundary, reader)
        parser.write(_without_padding(_without_preamble(body, boundary), boundary))
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
    """Return the boundary in a content type; raise BadRequest if there is none."""
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
    """Return a file name without its folders, whatever their separator."""
    return path.replace("\\", "/").rsplit("/", 1)[-1].strip()


def _without_preamble(body: bytes, boundary: str) -> bytes:
    """Return a body without the text before its first boundary."""
    # RFC 2046 allows a preamble, which the parser does not expect.
    delimiter = b"--" + boundary.encode("latin-1")
    found = re.search(rb"(?:^|\n)(?P<line>" + re.escape(delimiter) + rb"(?:--)?[ \t]*\r?\n)", body)
    return body[found.start("line") :] if found else body


def _without_padding(body: bytes, boundary: str) -> bytes:
    """Remove white space after boundaries. RFC 2046 allows it, but the parser does not."""
    # The pattern begins with the boundary, so that a large body is searched fast.
    delimiter = b"--" + boundary.encode("latin-1")
    padded = re.compile(b"(" + re.escape(delimiter) + rb"(?:--)?)[ \t]+(?=\r\n)")

    def trim(match: re.Match[bytes]) -> bytes:
        start = match.start()
        is_line = start == 0 or body[max(0, start - 2) : start] == b"\r\n"
        return match[1] if is_line else match[0]

    return padded.sub(trim, body)


def _parser(boundary: str, reader: _Reader) -> MultipartParser:
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
    """Set name, file name and character set of a part from the headers of the part."""
    disposition = part.headers.get("content-disposition", "")
    _, options = parse_options_header(_encodable(disposition))
    extended = _extended_parameters(disposition)
    name = extended.get("name") or _parameter(options, b"name")
    if name is None:
        raise BadRequest("A part of the multipart body has no name; name every field.")
    part.name = name
    # RFC 6266: the extended form is the exact one, where both are sent.
    part.file_name = base_name(extended.get("filename") or _parameter(options, b"filename") or "")
    _, kind = parse_options_header(_encodable(part.headers.get("content-type", "")))
    part.charset = kind.get(b"charset", b"utf-8").decode("latin-1")


def _parameter(options: dict[bytes, bytes], name: bytes) -> str | None:
    """Return the value of a header parameter; None if it is missing.

    The value may be UTF-8 or encoded words of RFC 2047.
    """
    raw = options.get(name)
    if raw is None:
        return None
    text = raw.decode("utf-8", "replace")
    if not _ENCODED_WORD.search(text):
        return text
    try:
        return str(make_header(decode_header(text)))
    except (HeaderParseError, LookupError, UnicodeError):
        return text


def _extended_parameters(disposition: str) -> dict[str, str]:
    """Return the parameters in the notation of RFC 5987, such as `filename*=UTF-8''caf%C3%A9`."""
    found = {}
    # A quoted text may hold what looks like a parameter.
    for match in _EXTENDED.finditer(_QUOTED.sub('""', disposition)):
        codec = "latin-1" if match["charset"].lower() == "iso-8859-1" else "utf-8"
        text = unquote_to_bytes(match["value"]).decode(codec, "replace")
        found[match["name"].lower()] = text
    return found


def _encodable(value: str) -> str:
    """Return a UTF-8 header value in a form that a parser for Latin-1 can read."""
    return value.encode("utf-8").decode("latin-1")

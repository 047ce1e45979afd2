"""Reads a request's body into named fields and files. Contract section 1, Bodies.

Whether the content type fits is decided here, so that GET and DELETE are never a 415.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from chalicelib.domain.common.limits import MAX_BODY_BYTES
from chalicelib.errors import BadRequest, InvalidParameter, TooLarge, UnsupportedType
from chalicelib.formats.texts.json_depth import MAX_DEPTH, is_too_deep
from chalicelib.web.event import Incoming
from chalicelib.web.multipart import MAX_PARTS, Part, read_parts

MULTIPART = "multipart/form-data"
JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
FILE_FIELDS = ("data", "sampleContent", "formTemplate")
"""Fields that are files when they come as a part."""
UNTRIMMED = ("document", "sampleId")
"""Fields whose white space belongs to them."""
ENCODED = "sampleBase64Content"
"""The field that holds a file as text, with or without line breaks."""
UNCHECKED = (*UNTRIMMED, "trainParams", "formTemplate", ENCODED)
"""Fields that may hold control characters."""
MAX_SCALAR_BYTES = 1_048_576
"""Bytes of a field that is no file."""
MAX_ENCODED_BYTES = 15 * 1_048_576
"""Bytes of a field that holds a file as text: 10 MB, a third more in base64, and line breaks."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
DUPLICATED = "The 'data' parameter cannot be duplicated, nor sent along with the 'path' parameter."


@dataclass(frozen=True)
class SentFile:
    """A file that came in the call."""

    content: bytes
    """Its bytes."""
    name: str
    """Its base name, empty when none was given."""


@dataclass(frozen=True)
class Fields:
    """A body by field name; what is empty is not there."""

    values: dict[str, Any] = field(default_factory=dict)
    """Texts of a form, or members of a JSON object."""
    files: dict[str, SentFile] = field(default_factory=dict)
    """Files of a form."""


def read_fields(
    request: Incoming, known: Collection[str], *, takes_urlencoded: bool = False
) -> Fields:
    """Read a write's body.

    Args:
        request: the request.
        known: names of the fields and files that the operation declares; others are ignored,
            whatever they hold.
        takes_urlencoded: whether a form in the shape of a query is read too.

    Raises:
        BadRequest: it is broken.
        TooLarge: it is over the limit.
        UnsupportedType: it is of no type that is read.
    """
    body = request.raw_body()
    if len(body) > MAX_BODY_BYTES:
        raise TooLarge(
            f"The body has {len(body)} bytes; at most {MAX_BODY_BYTES} are allowed in a call. "
            "Send a larger file by POST /v2/uploads, and its path in this call."
        )
    content_type = request.header("content-type")
    kind = content_type.split(";")[0].strip().lower()
    if kind == MULTIPART:
        return _from_parts(body, content_type, known)
    if kind == JSON:
        return _checked(_json_object(body), known)
    if kind == URLENCODED and takes_urlencoded:
        return _checked(_urlencoded(body), known)
    if not kind and not body:
        return Fields()
    raise _unsupported(kind, takes_urlencoded)


def _unsupported(kind: str, takes_urlencoded: bool) -> UnsupportedType:
    """Name the content types that are read."""
    allowed = f"{MULTIPART} or {JSON}"
    if takes_urlencoded:
        allowed = f"{URLENCODED}, {allowed}"
    return UnsupportedType(
        f"The Content-Type '{kind[:100]}' is not supported here; send {allowed}."
        if kind
        else f"The Content-Type is missing; send {allowed}."
    )


def _from_parts(body: bytes, content_type: str, known: Collection[str]) -> Fields:
    """Merge the parts of a form by name."""
    fields = Fields()
    for part in read_parts(body, content_type):
        if part.name not in known:
            continue
        if part.name in FILE_FIELDS:
            _add_file(fields, part)
        else:
            _add_scalar(fields, part)
    return Fields(_checked(fields.values, known).values, fields.files)


def _add_file(fields: Fields, part: Part) -> None:
    """Keep a file part, unless it is empty."""
    content = part.content()
    if not content:
        return
    if part.name in fields.files:
        raise BadRequest(
            DUPLICATED if part.name == "data" else f"The '{part.name}' parameter is duplicated.",
            "duplicated_parameter",
        )
    fields.files[part.name] = SentFile(content, _without_controls(part.file_name))


def _add_scalar(fields: Fields, part: Part) -> None:
    """Keep a text part, unless it is empty."""
    size = sum(map(len, part.chunks))
    limit = MAX_ENCODED_BYTES if part.name == ENCODED else MAX_SCALAR_BYTES
    if size > limit:
        raise InvalidParameter(
            part.name, f"it has {size} bytes; at most {limit} are allowed. Send less."
        )
    text = part.text()
    if part.name not in UNTRIMMED:
        text = text.strip()
    if text:
        fields.values[part.name] = text


def _json_object(body: bytes) -> dict[str, Any]:
    """Decode a JSON body; members that are null are absent."""
    if is_too_deep(body):
        raise BadRequest(
            f"The JSON body is nested too deeply, in more than {MAX_DEPTH} arrays and objects.",
            "invalid_json",
        )
    try:
        decoded = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except UnicodeDecodeError as problem:
        raise BadRequest("The JSON body is no valid UTF-8 text.", "invalid_json") from problem
    except msgspec.MsgspecError as problem:
        raise _invalid_json(body, problem) from problem
    if not isinstance(decoded, dict):
        raise BadRequest("The JSON body must be an object with the fields.", "invalid_json")
    members = ((str(name), _trimmed(str(name), value)) for name, value in decoded.items())
    return {name: value for name, value in members if value is not None and value != ""}


def _trimmed(name: str, value: object) -> object:
    """Strip a text as a form's would be."""
    return value.strip() if isinstance(value, str) and name not in UNTRIMMED else value


def _invalid_json(body: bytes, problem: Exception) -> BadRequest:
    """Say what is wrong with a JSON body, as closely as it can be told.

    The decoder calls a lone half of a surrogate pair a truncated input; the lenient one of the
    standard library shows which field holds it.
    """
    try:
        lenient = json.loads(body.decode())
    except ValueError:
        return BadRequest(f"The body is not valid JSON: {problem}.", "invalid_json")
    for name, value in lenient.items() if isinstance(lenient, dict) else ():
        if _SURROGATE.search(json.dumps([name, value], ensure_ascii=False)):
            return InvalidParameter(
                _SURROGATE.sub("?", name)[:100], "it holds half of a surrogate pair."
            )
    return BadRequest(f"The body is not valid JSON: {problem}.", "invalid_json")


def _urlencoded(body: bytes) -> dict[str, Any]:
    """Decode a form in the shape of a query; of a repeated field the last counts."""
    try:
        pairs = parse_qsl(body.decode("utf-8"), errors="strict", max_num_fields=MAX_PARTS)
    except UnicodeDecodeError as problem:
        raise BadRequest("The form is no valid UTF-8 text.") from problem
    except ValueError as problem:
        raise BadRequest(f"The form has more than {MAX_PARTS} fields; send fewer.") from problem
    return {name: value.strip() for name, value in pairs if value.strip()}


def _checked(values: Mapping[str, Any], known: Collection[str]) -> Fields:
    """Keep the known fields; only texts to classify and JSON texts may hold control characters."""
    kept = {name: value for name, value in values.items() if name in known}
    for name, value in kept.items():
        if name not in UNCHECKED and isinstance(value, str) and _CONTROL.search(value):
            raise InvalidParameter(name, "it holds control characters; leave them out.")
    return Fields(kept)


def _without_controls(text: str) -> str:
    """Drop control characters."""
    return _CONTROL.sub("", text)

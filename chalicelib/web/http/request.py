"""Parses requests: the event of API Gateway, and bodies as named fields and files.

A malformed event gets the status 4xx, never 500. Content types are checked only for calls
with a body, so GET and DELETE never get 415. See contract, section 1, Bodies.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

import msgspec

from chalicelib.domain.common.limits import MAX_BODY_BYTES
from chalicelib.errors import (
    BadRequest,
    InvalidParameter,
    TooLarge,
    UnsupportedType,
)
from chalicelib.formats.texts.json_limits import excess_of
from chalicelib.web.http.multipart import MAX_PARTS, FormPart, read_parts

# A host that does not match is not repeated in links.
_HOST = re.compile(r"[A-Za-z0-9.\-_]+(:[0-9]{1,5})?|\[[0-9a-fA-F:.]+\](:[0-9]{1,5})?")

VERSION_1, VERSION_2 = "/v1", "/v2"
# Paths of version 1.0, with the answers of version 2.0. See contract, section 1, Prefix.
OLD_PATHS = (f"{VERSION_1}/vision/", f"{VERSION_1}/apiusage")


@dataclass(frozen=True)
class ApiRequest:
    """One request."""

    method: str
    """GET, POST, PUT or DELETE."""
    template: str
    """Path of the route, with its variables in braces."""
    path: str
    """Path as the caller wrote it, including the stage of the gateway."""
    parameters: Mapping[str, str]
    """Values of the path variables, URL-decoded once."""
    query: Mapping[str, str]
    """Query parameters. If a parameter is repeated, its last value counts."""
    headers: Mapping[str, str]
    """Header values by name in lower case."""
    body: object
    """Body as the event contains it."""
    is_base64: bool
    """Whether the body is Base64."""
    request_id: str
    """Id that the gateway gave the request."""
    version: str = VERSION_2
    """Prefix of the path: `/v1` for version 1.0 of the API, otherwise `/v2`."""
    domain: str = ""
    """Host name by which the gateway was reached."""

    def header(self, name: str) -> str:
        """Return the value of a header; "" if it is missing."""
        return self.headers.get(name.lower(), "")

    @property
    def base_url(self) -> str:
        """Return scheme and host as the caller used them; "" if the host is malformed."""
        host = self.header("host")
        if not _HOST.fullmatch(host):
            return ""
        scheme = "https" if self.header("x-forwarded-proto").lower() == "https" else "http"
        return f"{scheme}://{host}"

    def raw_body(self) -> bytes:
        """Return the bytes of the body; raise BadRequest if its Base64 is malformed."""
        body = self.body
        if body is None:
            return b""
        if not isinstance(body, str | bytes):
            raise BadRequest("The body of the request cannot be read; send it again.")
        raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        if not self.is_base64:
            return raw
        try:
            return base64.b64decode(raw, validate=True)
        except binascii.Error as problem:
            raise BadRequest(
                "The body of the request is damaged: its Base64 cannot be decoded. Send it again."
            ) from problem


def whole_event(event: object) -> dict[str, Any]:
    """Return a copy of an event with all members that Chalice requires."""
    source: dict[str, Any] = dict(event) if isinstance(event, Mapping) else {}
    context = source.get("requestContext")
    context = dict(context) if isinstance(context, Mapping) else {}
    context["httpMethod"] = str(context.get("httpMethod") or source.get("httpMethod") or "GET")
    context["resourcePath"] = str(context.get("resourcePath") or source.get("resource") or "")
    return {
        **source,
        "requestContext": context,
        "headers": _texts(source.get("headers")),
        "pathParameters": _texts(source.get("pathParameters")),
        "multiValueQueryStringParameters": _query(source),
        "stageVariables": source.get("stageVariables"),
        "body": source.get("body"),
        "isBase64Encoded": source.get("isBase64Encoded") is True,
    }


def read_request(event: Mapping[str, Any]) -> ApiRequest:
    """Return the request in an event."""
    context = event["requestContext"]
    template = context["resourcePath"]
    return ApiRequest(
        method=context["httpMethod"],
        template=template,
        path=str(context.get("path") or event.get("path") or context["resourcePath"]),
        # The event has the values encoded once, so they are decoded once.
        parameters={name: unquote(value) for name, value in event["pathParameters"].items()},
        query={name: values[-1] for name, values in _query(event).items()},
        headers={name.lower(): value for name, value in event["headers"].items()},
        body=event["body"],
        is_base64=event["isBase64Encoded"],
        request_id=str(context.get("requestId") or ""),
        version=VERSION_1 if template.startswith(OLD_PATHS) else VERSION_2,
        domain=str(context.get("domainName") or ""),
    )


def _texts(members: object) -> dict[str, str]:
    if not isinstance(members, Mapping):
        return {}
    return {
        str(name): _without_surrogates(value)
        for name, value in members.items()
        if isinstance(value, str)
    }


def _without_surrogates(text: str) -> str:
    """Replace unpaired surrogates in a text, because an answer with them cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _query(event: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return all values of each query parameter in an event."""
    many = event.get("multiValueQueryStringParameters")
    if not isinstance(many, Mapping):
        return {name: [value] for name, value in _texts(event.get("queryStringParameters")).items()}
    return {
        str(name): [_without_surrogates(str(value)) for value in values]
        for name, values in many.items()
        if isinstance(values, list | tuple) and values
    }


MULTIPART = "multipart/form-data"
JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
# Fields that are files in a multipart body.
FILE_FIELDS = ("data", "sampleContent", "formTemplate")
SAMPLE_ID = "sampleId"
# Fields that are not trimmed: their white space is content.
UNTRIMMED = ("document", SAMPLE_ID)
# The field of a file as Base64 text, with or without line breaks.
ENCODED = "sampleBase64Content"
# Fields that may have control characters.
UNCHECKED = (*UNTRIMMED, "trainParams", "formTemplate", ENCODED)
# Maximum size of a field that is not a file, in bytes.
MAX_SCALAR_BYTES = 1_048_576
# Maximum size of a file as Base64 text, in bytes: 10 MB, a third more, and line breaks.
MAX_ENCODED_BYTES = 15 * 1_048_576

# Content codings that are refused. Other values of the header are ignored, because clients send,
# for example, `utf-8` with bodies that are not encoded.
COMPRESSED = ("gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
DUPLICATED = "The 'data' parameter cannot be duplicated, nor sent along with the 'path' parameter."


class UnsupportedEncoding(UnsupportedType):
    """The body is compressed."""


@dataclass(frozen=True)
class SentFile:
    """A file that a form contains."""

    content: bytes
    name: str
    """Base name; empty if none was sent."""


@dataclass(frozen=True)
class BodyFields:
    """The fields of a body by name. Empty fields are left out."""

    values: dict[str, Any] = field(default_factory=dict)
    """Texts of a form, or members of a JSON object."""
    files: dict[str, SentFile] = field(default_factory=dict)
    """Files of a form."""


def read_fields(
    request: ApiRequest, names: Collection[str], *, takes_urlencoded: bool = False
) -> BodyFields:
    """Parse the body of a request into fields.

    Fields and files whose names are not in `names` are ignored.

    Raises:
        BadRequest: the body cannot be parsed.
        TooLarge: the body is over the limit.
        UnsupportedType: the content type of the body is not accepted.
    """
    body = request.raw_body()
    if body:
        _check_encoding(request.header("content-encoding"))
    if len(body) > MAX_BODY_BYTES:
        raise TooLarge(
            f"The body has {len(body)} bytes; at most {MAX_BODY_BYTES} are allowed in a call. "
            "Send a larger file with POST /v2/uploads, and its path in this call."
        )
    content_type = request.header("content-type")
    kind = content_type.split(";")[0].strip().lower()
    if kind == MULTIPART:
        return _from_parts(body, content_type, names)
    if kind == JSON:
        return _checked(_json_object(body), names)
    if kind == URLENCODED and takes_urlencoded:
        return _checked(_urlencoded(body, names), names)
    # A write without a body fails later, with the name of the first missing field.
    if not kind and not body:
        return BodyFields()
    raise _unsupported(kind, takes_urlencoded)


def _check_encoding(header: str) -> None:
    """Raise an error if a Content-Encoding header says that the body is compressed."""
    for name in header.split(","):
        if name.strip().lower() in COMPRESSED:
            raise UnsupportedEncoding(
                f"The Content-Encoding '{name.strip()}' is not supported; send the body "
                "uncompressed, without this header."
            )


def _unsupported(kind: str, takes_urlencoded: bool) -> UnsupportedType:
    allowed = f"{MULTIPART} or {JSON}"
    if takes_urlencoded:
        allowed = f"{URLENCODED}, {allowed}"
    return UnsupportedType(
        f"The Content-Type '{kind[:100]}' is not supported here; send {allowed}."
        if kind
        else f"The Content-Type is missing; send {allowed}."
    )


def _from_parts(body: bytes, content_type: str, names: Collection[str]) -> BodyFields:
    fields = BodyFields()
    for part in read_parts(body, content_type):
        if part.name not in names:
            continue
        if part.name in FILE_FIELDS:
            _add_file(fields, part)
        else:
            _add_scalar(fields, part)
    return BodyFields(_checked(fields.values, names).values, fields.files)


def _add_file(fields: BodyFields, part: FormPart) -> None:
    """Add a part that is a file, unless the file is empty."""
    content = part.content()
    if not content:
        return
    if part.name in fields.files:
        raise BadRequest(
            DUPLICATED if part.name == "data" else f"The '{part.name}' parameter is duplicated.",
            "duplicated_parameter",
        )
    fields.files[part.name] = SentFile(content, _without_controls(part.file_name))


def _add_scalar(fields: BodyFields, part: FormPart) -> None:
    """Add a part that is a text, unless the text is empty."""
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
        _add_text(fields.values, part.name, text)


def _add_text(values: dict[str, Any], name: str, text: str) -> None:
    """Add a field; raise BadRequest if it was sent before with another value."""
    if values.setdefault(name, text) != text:
        raise BadRequest(
            f"The '{name[:100]}' parameter was sent twice with different values; send it once.",
            "duplicated_parameter",
        )


def _json_object(body: bytes) -> dict[str, Any]:
    """Return the members of a JSON body, without members that are null or empty."""
    excess = excess_of(body)
    if excess:
        raise BadRequest(f"The JSON body {excess}", "invalid_json")
    try:
        decoded = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except UnicodeDecodeError as problem:
        raise BadRequest("The JSON body is not valid UTF-8 text.", "invalid_json") from problem
    except msgspec.MsgspecError as problem:
        raise _invalid_json(body, problem) from problem
    if not isinstance(decoded, dict):
        raise BadRequest("The JSON body must be an object with the fields.", "invalid_json")
    members = ((str(name), _trimmed(str(name), value)) for name, value in decoded.items())
    return {
        name: value
        for name, value in members
        # An empty `sampleId` is echoed. Any other field with an empty text counts as absent.
        if value is not None and (value != "" or name == SAMPLE_ID)
    }


def _trimmed(name: str, value: object) -> object:
    """Remove white space around a text. Other values, and fields in UNTRIMMED, do not change."""
    return value.strip() if isinstance(value, str) and name not in UNTRIMMED else value


def _invalid_json(body: bytes, problem: Exception) -> BadRequest:
    """Return the error for a body that is not valid JSON, with the position if possible."""
    # The decoder reports an unpaired surrogate as truncated input. The lenient decoder of the
    # standard library finds the field that has it.
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


def _urlencoded(body: bytes, names: Collection[str]) -> dict[str, Any]:
    try:
        pairs = parse_qsl(body.decode("utf-8"), errors="strict", max_num_fields=MAX_PARTS)
    except UnicodeDecodeError as problem:
        raise BadRequest("The form is not valid UTF-8 text.") from problem
    except ValueError as problem:
        raise BadRequest(f"The form has more than {MAX_PARTS} fields; send fewer.") from problem
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in names and value.strip():
            _add_text(values, name, value.strip())
    return values


def _checked(values: Mapping[str, Any], names: Collection[str]) -> BodyFields:
    """Return the fields in `names`; raise InvalidParameter if a field has control characters."""
    fields = {name: value for name, value in values.items() if name in names}
    for name, value in fields.items():
        if name not in UNCHECKED and isinstance(value, str) and _CONTROL.search(value):
            raise InvalidParameter(name, "it holds control characters; leave them out.")
    return BodyFields(fields)


def _without_controls(text: str) -> str:
    return _CONTROL.sub("", text)

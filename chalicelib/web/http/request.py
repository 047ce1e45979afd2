"""A request: the gateway's event made whole, its facts, and its body as named fields and files.

A damaged event becomes an ordinary answer, never a 500. Whether a content type fits is decided
here, so that GET and DELETE are never a 415. Contract section 1, Bodies.
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
from chalicelib.errors import BadRequest, InvalidParameter, TooLarge, UnsupportedType
from chalicelib.formats.texts.json_limits import excess_of
from chalicelib.web.http.multipart import MAX_PARTS, FormPart, read_parts

_HOST = re.compile(r"[A-Za-z0-9.\-_]+(:[0-9]{1,5})?|\[[0-9a-fA-F:.]+\](:[0-9]{1,5})?")

VERSION_1, VERSION_2 = "/v1", "/v2"
OLD_PATHS = (f"{VERSION_1}/vision/", f"{VERSION_1}/apiusage")
"""Paths of version 1.0, which answer like those of version 2.0. Contract section 1, Prefix."""


@dataclass(frozen=True)
class ApiRequest:
    """One request, as operations read it."""

    method: str
    """GET, POST, PUT or DELETE."""
    template: str
    """Path of the route, with its variables in braces."""
    path: str
    """Path as the caller wrote it, a gateway's stage included."""
    parameters: Mapping[str, str]
    """Variables of the path, decoded once."""
    query: Mapping[str, str]
    """Query parameters; of a repeated one the last."""
    headers: Mapping[str, str]
    """Header values by lower-case name."""
    body: object
    """Body as the event holds it."""
    is_base64: bool
    """True when the body is Base64."""
    request_id: str
    """The gateway's id of the request."""
    version: str = VERSION_2
    """Prefix of the path: `/v1` on a path of version 1.0, otherwise `/v2`."""
    domain: str = ""
    """Host by which the gateway was reached, as the gateway says it, not the caller."""

    def header(self, name: str) -> str:
        """Return a header's value, empty when it is absent."""
        return self.headers.get(name.lower(), "")

    @property
    def base_url(self) -> str:
        """Scheme and host that the caller used; empty when the host cannot be trusted."""
        host = self.header("host")
        if not _HOST.fullmatch(host):
            return ""
        scheme = "https" if self.header("x-forwarded-proto").lower() == "https" else "http"
        return f"{scheme}://{host}"

    def raw_body(self) -> bytes:
        """Return the body's bytes.

        Raises:
            BadRequest: the Base64 that carries the body is damaged.
        """
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
    """Fill in every member that Chalice reads without asking whether it is there."""
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
    """Read the facts of a request from a whole event."""
    context = event["requestContext"]
    template = context["resourcePath"]
    return ApiRequest(
        method=context["httpMethod"],
        template=template,
        path=str(context.get("path") or event.get("path") or context["resourcePath"]),
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
    """Keep the members that are texts."""
    if not isinstance(members, Mapping):
        return {}
    return {str(name): _sound(value) for name, value in members.items() if isinstance(value, str)}


def _sound(text: str) -> str:
    """Replace halves of surrogate pairs, which no answer could repeat."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _query(event: Mapping[str, Any]) -> dict[str, list[str]]:
    """Read the query parameters, whichever of the two forms the gateway filled."""
    many = event.get("multiValueQueryStringParameters")
    if not isinstance(many, Mapping):
        return {name: [value] for name, value in _texts(event.get("queryStringParameters")).items()}
    return {
        str(name): [_sound(str(value)) for value in values]
        for name, values in many.items()
        if isinstance(values, list | tuple) and values
    }


MULTIPART = "multipart/form-data"
JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
FILE_FIELDS = ("data", "sampleContent", "formTemplate")
"""BodyFields that are files when they come as a part."""
SAMPLE_ID = "sampleId"
UNTRIMMED = ("document", SAMPLE_ID)
"""BodyFields whose white space belongs to them."""
ENCODED = "sampleBase64Content"
"""The field that holds a file as text, with or without line breaks."""
UNCHECKED = (*UNTRIMMED, "trainParams", "formTemplate", ENCODED)
"""BodyFields that may hold control characters."""
MAX_SCALAR_BYTES = 1_048_576
"""Bytes of a field that is not a file."""
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
class BodyFields:
    """A body by field name; what is empty is not there."""

    values: dict[str, Any] = field(default_factory=dict)
    """Texts of a form, or members of a JSON object."""
    files: dict[str, SentFile] = field(default_factory=dict)
    """Files of a form."""


def read_fields(
    request: ApiRequest, known: Collection[str], *, takes_urlencoded: bool = False
) -> BodyFields:
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
        return _checked(_urlencoded(body, known), known)
    if not kind and not body:
        return BodyFields()
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


def _from_parts(body: bytes, content_type: str, known: Collection[str]) -> BodyFields:
    """Merge the parts of a form by name."""
    fields = BodyFields()
    for part in read_parts(body, content_type):
        if part.name not in known:
            continue
        if part.name in FILE_FIELDS:
            _add_file(fields, part)
        else:
            _add_scalar(fields, part)
    return BodyFields(_checked(fields.values, known).values, fields.files)


def _add_file(fields: BodyFields, part: FormPart) -> None:
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


def _add_scalar(fields: BodyFields, part: FormPart) -> None:
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
        _add_text(fields.values, part.name, text)


def _add_text(values: dict[str, Any], name: str, text: str) -> None:
    """Keep a field; one that was sent twice must say the same twice.

    Raises:
        BadRequest: it has two values.
    """
    if values.setdefault(name, text) != text:
        raise BadRequest(
            f"The '{name[:100]}' parameter was sent twice with different values; send it once.",
            "duplicated_parameter",
        )


def _json_object(body: bytes) -> dict[str, Any]:
    """Decode a JSON body; members that are null are absent."""
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
        # An empty `sampleId` is echoed; of other fields the empty text means that they are absent.
        if value is not None and (value != "" or name == SAMPLE_ID)
    }


def _trimmed(name: str, value: object) -> object:
    """Strip a text as a form's would be."""
    return value.strip() if isinstance(value, str) and name not in UNTRIMMED else value


def _invalid_json(body: bytes, problem: Exception) -> BadRequest:
    """Return the error of a JSON body, as precisely as possible.

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


def _urlencoded(body: bytes, known: Collection[str]) -> dict[str, Any]:
    """Decode a form in the shape of a query."""
    try:
        pairs = parse_qsl(body.decode("utf-8"), errors="strict", max_num_fields=MAX_PARTS)
    except UnicodeDecodeError as problem:
        raise BadRequest("The form is not valid UTF-8 text.") from problem
    except ValueError as problem:
        raise BadRequest(f"The form has more than {MAX_PARTS} fields; send fewer.") from problem
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in known and value.strip():
            _add_text(values, name, value.strip())
    return values


def _checked(values: Mapping[str, Any], known: Collection[str]) -> BodyFields:
    """Keep the known fields; only texts to classify and JSON texts may hold control characters."""
    fields = {name: value for name, value in values.items() if name in known}
    for name, value in fields.items():
        if name not in UNCHECKED and isinstance(value, str) and _CONTROL.search(value):
            raise InvalidParameter(name, "it holds control characters; leave them out.")
    return BodyFields(fields)


def _without_controls(text: str) -> str:
    """Drop control characters."""
    return _CONTROL.sub("", text)

"""Checks S3's presigned URLs and POST forms. Moto accepts even expired and forged requests.

A request without a signature or policy is refused, as on a private bucket. Signatures in a header
are checked by signatures.py.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Data, Field, File, MultipartDecoder, NeedData

from infra.local.aws.bodies import SPOOL_BYTES
from infra.local.aws.signatures import WRONG_KEY, KeyPair, header_value

# Longest validity of a presigned URL.
MAX_EXPIRES_SECONDS = 7 * 24 * 3600
TIMESTAMP = "%Y%m%dT%H%M%SZ"
# Form fields that need no condition.
FREE_FIELDS = frozenset(("file", "policy", "x-amz-signature"))

# The fields of a form, which come before its file.
FIELDS_BYTES = 64 * 1024
Spool = tempfile.SpooledTemporaryFile[bytes]


class Refused(Exception):
    """S3 refuses the request."""

    def __init__(self, message: str, code: str = "AccessDenied", status: str = "403 Forbidden"):
        super().__init__(message)
        self.code = code
        self.status = status

    @property
    def body(self) -> bytes:
        """Return the body of S3's error response, as XML."""
        text = f"<Code>{self.code}</Code><Message>{escape(str(self))}</Message>"
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{text}</Error>'.encode()


@dataclass(frozen=True)
class Form:
    """A form that was sent to a bucket."""

    bucket: str
    fields: dict[str, str]
    """Fields by lower-case name, without the file."""
    file: Spool
    """The file, which the caller must close."""
    size: int
    """Size of the file, in bytes."""


class S3Access:
    """Checks requests to S3 that have no Authorization header."""

    def __init__(self, keys: KeyPair) -> None:
        self._keys = keys

    def check(self, environ: dict[str, Any]) -> Form | None:
        """Accept or refuse a request. Return its form if the request is an upload, otherwise None.

        Until the signature is accepted, at most FIELDS_BYTES of the body are read.

        Raises:
            Refused: the signature, its time or the form's policy does not allow the request.
        """
        if _is_form(environ):
            begun = environ["wsgi.input"].fill(FIELDS_BYTES)[:FIELDS_BYTES]
            fields = begun_fields(environ["CONTENT_TYPE"], begun)
            check_policy(fields | {"bucket": _bucket(environ)}, None, self._keys)
            environ["wsgi.input"].load(environ)
            return check_form(environ, self._keys)
        self.check_url(environ)
        environ["wsgi.input"].load(environ)
        return None

    def check_url(self, environ: dict[str, Any]) -> None:
        """Check the time and the signature of a presigned URL; raise Refused if they are wrong."""
        found = parse_qs(environ["QUERY_STRING"], keep_blank_values=True)
        query = {name: values[0] for name, values in found.items()}
        if "X-Amz-Signature" not in query:
            raise Refused("Access Denied")
        try:
            signed_at = datetime.strptime(query["X-Amz-Date"], TIMESTAMP).replace(tzinfo=UTC)
            seconds = int(query["X-Amz-Expires"])
            key_id, _, region, service, _ = query["X-Amz-Credential"].split("/")
            names = query["X-Amz-SignedHeaders"].split(";")
        except (KeyError, ValueError) as error:
            code = "AuthorizationQueryParametersError"
            raise Refused("A signing parameter is wrong.", code, "400 Bad Request") from error
        age = datetime.now(UTC) - signed_at
        life = timedelta(seconds=max(0, min(seconds, MAX_EXPIRES_SECONDS)))
        if not timedelta(minutes=-15) <= age <= life:
            raise Refused("Request has expired")
        check_key_id(self._keys, key_id)
        signer = S3SigV4QueryAuth(Credentials(key_id, self._keys.secret), service, region)
        expected = _signature(signer, environ, names, query["X-Amz-Date"])
        if not hmac.compare_digest(expected.encode(), query["X-Amz-Signature"].encode()):
            raise Refused("The request signature does not match.", "SignatureDoesNotMatch")


def check_key_id(keys: KeyPair, key_id: str) -> None:
    """Raise Refused if a request does not have the access key id of the stack."""
    if not keys.is_id(key_id):
        raise Refused(WRONG_KEY, "InvalidAccessKeyId")


def _is_form(environ: dict[str, Any]) -> bool:
    # Other requests are refused: with a valid form as body, moto would write or delete any object.
    is_bucket = "/" not in environ["PATH_INFO"].strip("/") and not environ["QUERY_STRING"]
    is_multipart = str(environ.get("CONTENT_TYPE", "")).startswith("multipart/form-data")
    return environ["REQUEST_METHOD"] == "POST" and is_bucket and is_multipart


def check_form(environ: dict[str, Any], keys: KeyPair) -> Form:
    """Check an uploaded form and return it; the body can be read again.

    Args:
        environ: WSGI environment with a body that can be rewound.
        keys: key pair that must have signed the policy.

    Raises:
        Refused: the signature is wrong, the policy has expired, or a condition is not met.
    """
    form = _read_form(environ)
    try:
        check_policy({**form.fields, "bucket": form.bucket}, form.size, keys)
    except Refused:
        form.file.close()
        raise
    return form


def check_policy(fields: dict[str, str], size: int | None, keys: KeyPair) -> None:
    """Check a form against its own policy.

    Args:
        fields: fields by lower-case name, with the bucket and without the file.
        size: size of the file, in bytes; None if it is not known yet.
        keys: key pair that must have signed the policy.

    Raises:
        Refused: the signature is wrong, the policy has expired, or a condition is not met.
    """
    policy_text, credential = fields.get("policy", ""), fields.get("x-amz-credential", "")
    check_key_id(keys, credential.partition("/")[0])
    expected = _policy_signature(policy_text, credential, keys.secret)
    if not hmac.compare_digest(expected.encode(), fields.get("x-amz-signature", "").encode()):
        raise Refused("The policy's signature does not match.", "SignatureDoesNotMatch")
    try:
        policy = json.loads(base64.b64decode(policy_text))
        expiration = datetime.fromisoformat(policy["expiration"])
        conditions = list(policy["conditions"])
    except (KeyError, TypeError, ValueError) as error:
        message = "The policy cannot be read."
        raise Refused(message, "InvalidPolicyDocument", "400 Bad Request") from error
    if datetime.now(UTC) > expiration:
        raise Refused("Invalid according to Policy: Policy expired.")
    _check_conditions(conditions, fields, size)


def begun_fields(content_type: str, head: bytes) -> dict[str, str]:
    """Return the fields of a form that come before the file, by lower-case name.

    Args:
        content_type: type of the form, with its boundary.
        head: the first FIELDS_BYTES of the form, or the whole form if it is shorter.

    Raises:
        Refused: this is not the beginning of a form with a file.
    """
    kind, options = parse_options_header(content_type)
    boundary = options.get("boundary", "").encode("utf-8", "replace")
    if kind != "multipart/form-data" or not boundary:
        raise Refused("Send the fields and the file as multipart/form-data.")
    decoder = MultipartDecoder(boundary, FIELDS_BYTES)
    fields: dict[str, bytes] = {}
    name = ""
    try:
        decoder.receive_data(head)
        while not isinstance(event := decoder.next_event(), NeedData):
            if isinstance(event, File) or (isinstance(event, Field) and event.name == "file"):
                return {field: value.decode("utf-8") for field, value in fields.items()}
            if isinstance(event, Field):
                name = _new_name(event, fields)
            elif isinstance(event, Data):
                fields[name] += event.data
    except (ValueError, RequestEntityTooLarge) as error:
        raise Refused("The form cannot be read.") from error
    raise Refused(f"The first {FIELDS_BYTES} bytes of the form do not reach its file.")


def _new_name(event: Field, fields: dict[str, bytes]) -> str:
    """Add an empty field and return its name in lower case."""
    name = str(event.name).lower()
    # Two parsers might use different values of the same field.
    if name in fields:
        raise Refused(f"The form has the field {name!r} twice.")
    fields[name] = b""
    return name


def _read_form(environ: dict[str, Any]) -> Form:
    """Read a form; a large file is stored on disk."""
    stream = environ["wsgi.input"]
    parser = FormDataParser(stream_factory=_spool, max_form_memory_size=SPOOL_BYTES)
    try:
        _, form, files = parser.parse_from_environ({**environ, "wsgi.input_terminated": True})
    except RequestEntityTooLarge as error:
        message = "A form field is too long; send the file with a file name."
        raise Refused(message, "MaxPostPreDataLengthExceeded", "400 Bad Request") from error
    stream.seek(0)
    fields = {name.lower(): value for name, value in form.items()}
    upload = files.get("file")
    if upload is None:
        file = _spool()
        file.write(fields.get("file", "").encode("utf-8"))
    else:
        file = cast(Spool, upload.stream)
        fields["key"] = fields.get("key", "").replace("${filename}", upload.filename or "")
    return Form(_bucket(environ), fields, file, file.seek(0, 2))


def _bucket(environ: dict[str, Any]) -> str:
    return str(environ["PATH_INFO"]).strip("/").partition("/")[0]


def _spool(*_: object, **__: object) -> Spool:
    return tempfile.SpooledTemporaryFile(SPOOL_BYTES)


def _policy_signature(policy_text: str, credential: str, secret_key: str) -> str:
    """Return the SigV4 signature of a policy, for the scope that the form names."""
    key = f"AWS4{secret_key}".encode()
    for part in credential.split("/")[1:]:
        key = hmac.new(key, part.encode("utf-8"), hashlib.sha256).digest()
    return hmac.new(key, policy_text.encode("utf-8"), hashlib.sha256).hexdigest()


def _check_conditions(conditions: list[Any], fields: dict[str, str], size: int | None) -> None:
    """Check that every condition is met, and that the policy has a condition for every field."""
    covered = set(FREE_FIELDS)
    for condition in conditions:
        operator, name, value = _read_condition(condition)
        if operator == "content-length-range":
            _check_size(size, int(name), int(value))
            continue
        covered.add(name)
        actual = fields.get(name, "")
        holds = actual.startswith(value) if operator == "starts-with" else actual == value
        if not holds:
            raise Refused(f"Invalid according to Policy: Policy Condition failed: {condition}")
    extra = {name for name in fields if not name.startswith("x-ignore-")} - covered - {"bucket"}
    if extra:
        message = f"Invalid according to Policy: Extra input fields: {', '.join(sorted(extra))}"
        raise Refused(message)


def _read_condition(condition: Any) -> tuple[str, str, str]:
    if isinstance(condition, dict) and len(condition) == 1:
        name, value = next(iter(condition.items()))
        return "eq", str(name).lower(), str(value)
    if isinstance(condition, list) and len(condition) == 3:
        operator, name, value = condition
        return str(operator).lower(), str(name).lower().removeprefix("$"), str(value)
    raise Refused("A condition cannot be read.", "InvalidPolicyDocument", "400 Bad Request")


def _check_size(size: int | None, smallest: int, largest: int) -> None:
    if size is None:
        return
    if size > largest:
        message = "Your proposed upload exceeds the maximum allowed size"
        raise Refused(message, "EntityTooLarge", "400 Bad Request")
    if size < smallest:
        message = "Your proposed upload is smaller than the minimum allowed size"
        raise Refused(message, "EntityTooSmall", "400 Bad Request")


def _signature(
    signer: S3SigV4QueryAuth, environ: dict[str, Any], names: list[str], timestamp: str
) -> str:
    """Return the correct signature of a presigned request."""
    path = environ["RAW_URI"].partition("?")[0]
    kept = "&".join(
        pair for pair in environ["QUERY_STRING"].split("&") if "X-Amz-Signature=" not in pair
    )
    headers = {name: header_value(environ, name) for name in names}
    url = f"http://{environ['HTTP_HOST']}{path}?{kept}"
    request = AWSRequest(environ["REQUEST_METHOD"], url, headers)
    request.context["timestamp"] = timestamp
    text = signer.string_to_sign(request, signer.canonical_request(request))
    return str(signer.signature(text, request))

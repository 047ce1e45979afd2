"""Checks an S3 form upload against its policy: signature, expiry, size, key and bucket."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser

FREE_FIELDS = frozenset(("file", "policy", "x-amz-signature"))
"""Form fields that need no condition."""


class PolicyBroken(Exception):
    """The form is not what the policy allows."""

    def __init__(self, message: str, code: str = "AccessDenied", status: str = "403 Forbidden"):
        super().__init__(message)
        self.code = code
        self.status = status


SPOOL_BYTES = 16 * 1024 * 1024
"""A file above this size waits on disk."""
Spool = tempfile.SpooledTemporaryFile[bytes]


@dataclass(frozen=True)
class Form:
    """A form that was sent to a bucket."""

    bucket: str
    """Where it was sent."""
    fields: dict[str, str]
    """Fields, names in small letters; without the file."""
    file: Spool
    """The file; whoever holds the form closes it."""
    size: int
    """Size of the file, in bytes."""


def check_form(environ: dict[str, Any], secret_key: str) -> Form:
    """Check a form upload and return it; the body can be read again afterwards.

    Args:
        environ: WSGI environment with a body that can be rewound.
        secret_key: secret access key that signed the policy.

    Raises:
        PolicyBroken: signature, expiry or a condition does not hold.
    """
    form = _read_form(environ)
    try:
        _check_policy(form, secret_key)
    except PolicyBroken:
        form.file.close()
        raise
    return form


def _check_policy(form: Form, secret_key: str) -> None:
    """Check a form against the policy in it."""
    fields = form.fields
    policy_text = fields.get("policy", "")
    expected = _signature(policy_text, fields.get("x-amz-credential", ""), secret_key)
    if not hmac.compare_digest(expected, fields.get("x-amz-signature", "")):
        raise PolicyBroken("The policy's signature does not match.", "SignatureDoesNotMatch")
    try:
        policy = json.loads(base64.b64decode(policy_text))
        expiration = datetime.fromisoformat(policy["expiration"])
        conditions = list(policy["conditions"])
    except (KeyError, TypeError, ValueError) as error:
        message = "The policy cannot be read."
        raise PolicyBroken(message, "InvalidPolicyDocument", "400 Bad Request") from error
    if datetime.now(UTC) > expiration:
        raise PolicyBroken("Invalid according to Policy: Policy expired.")
    _check_conditions(conditions, {**fields, "bucket": form.bucket}, form.size)


def _read_form(environ: dict[str, Any]) -> Form:
    """Read a form; only its fields and a small file are held in memory."""
    stream = environ["wsgi.input"]
    parser = FormDataParser(stream_factory=_spool, max_form_memory_size=SPOOL_BYTES)
    try:
        _, form, files = parser.parse_from_environ({**environ, "wsgi.input_terminated": True})
    except RequestEntityTooLarge as error:
        message = "A form field is too long; send the file with a file name."
        raise PolicyBroken(message, "MaxPostPreDataLengthExceeded", "400 Bad Request") from error
    stream.seek(0)
    fields = {name.lower(): value for name, value in form.items()}
    upload = files.get("file")
    if upload is None:
        file = _spool()
        file.write(fields.get("file", "").encode("utf-8"))
    else:
        file = cast(Spool, upload.stream)
        fields["key"] = fields.get("key", "").replace("${filename}", upload.filename or "")
    bucket = environ["PATH_INFO"].strip("/").partition("/")[0]
    return Form(bucket, fields, file, file.seek(0, 2))


def _spool(*_: object, **__: object) -> Spool:
    return tempfile.SpooledTemporaryFile(SPOOL_BYTES)


def _signature(policy_text: str, credential: str, secret_key: str) -> str:
    """Sign a policy as SigV4 does; the scope is the one that the form names."""
    key = f"AWS4{secret_key}".encode()
    for part in credential.split("/")[1:]:
        key = hmac.new(key, part.encode("utf-8"), hashlib.sha256).digest()
    return hmac.new(key, policy_text.encode("utf-8"), hashlib.sha256).hexdigest()


def _check_conditions(conditions: list[Any], fields: dict[str, str], size: int) -> None:
    """Check every condition, and that every field has one."""
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
            raise PolicyBroken(f"Invalid according to Policy: Policy Condition failed: {condition}")
    extra = {name for name in fields if not name.startswith("x-ignore-")} - covered - {"bucket"}
    if extra:
        message = f"Invalid according to Policy: Extra input fields: {', '.join(sorted(extra))}"
        raise PolicyBroken(message)


def _read_condition(condition: Any) -> tuple[str, str, str]:
    if isinstance(condition, dict) and len(condition) == 1:
        name, value = next(iter(condition.items()))
        return "eq", str(name).lower(), str(value)
    if isinstance(condition, list) and len(condition) == 3:
        operator, name, value = condition
        return str(operator).lower(), str(name).lower().removeprefix("$"), str(value)
    raise PolicyBroken("A condition cannot be read.", "InvalidPolicyDocument", "400 Bad Request")


def _check_size(size: int, smallest: int, largest: int) -> None:
    if size > largest:
        message = "Your proposed upload exceeds the maximum allowed size"
        raise PolicyBroken(message, "EntityTooLarge", "400 Bad Request")
    if size < smallest:
        message = "Your proposed upload is smaller than the minimum allowed size"
        raise PolicyBroken(message, "EntityTooSmall", "400 Bad Request")

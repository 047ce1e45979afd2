"""The image or document that a prediction call sends. See contract section 5."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from chalicelib.errors import InvalidParameter

_DATA_URL = re.compile(r"data:[a-z0-9.+/-]*(?:;[a-z0-9=.+-]+)*;base64,", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Sample:
    """The sample of a call. Exactly one of `content` and `location` is set."""

    content: bytes | None = None
    location: str | None = None
    """URL of the file, or `path` of a file that was sent with a presigned form."""
    account_id: str = ""


def decode_base64(text: str) -> bytes:
    """Decode a sample that was sent as Base64 text; line breaks and a `data:` prefix are ignored.

    Raises:
        InvalidParameter: the text is not Base64.
    """
    head = text[:200].lstrip()
    found = _DATA_URL.match(head)
    if found is not None:
        text = text.lstrip()[found.end() :]
    packed = _SPACE.sub("", text).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError) as problem:
        raise InvalidParameter(
            "sampleBase64Content", "it is not base64 text. Encode the file's bytes as base64."
        ) from problem

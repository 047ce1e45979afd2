"""Takes the picture or document that a call sends as a file, an address or encoded text."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.documents.sample import Sample, decode_base64
from chalicelib.errors import BadRequest, MissingParameter
from chalicelib.web.call import Call

SAMPLES = ("sampleContent", "sampleLocation", "sampleBase64Content")
FORM_RULES: dict[str, Any] = {"oneOf": [{"required": [name]} for name in SAMPLES]}
"""Completes the schema of a form: exactly one sample."""
JSON_RULES: dict[str, Any] = {"oneOf": [{"required": [name]} for name in SAMPLES[1:]]}
"""The same of a JSON body, which cannot hold a file."""


def sample_of(call: Call) -> Sample:
    """Take the file, the address or the encoded text, exactly one of which must be there.

    The form of the call has the members `sample_location` and `sample_base64_content`.

    Raises:
        BadRequest: there is more than one.
        MissingParameter: there is none.
        InvalidParameter: the text is no base64.
    """
    sent = call.fields.files.get("sampleContent")
    location, encoded = call.form.sample_location, call.form.sample_base64_content
    count = sum(item is not None for item in (sent, location, encoded))
    if count > 1:
        raise BadRequest(
            f"Send exactly one of {', '.join(SAMPLES)}; the call has {count} of them.",
            "duplicated_parameter",
        )
    if sent is not None:
        return Sample(content=sent.content)
    if location is not None:
        return Sample(location=location, account_id=call.account.account_id)
    if encoded is not None:
        return Sample(content=decode_base64(encoded))
    raise MissingParameter("sampleContent", f"One of {', '.join(SAMPLES)} is required.")

"""Returns the files of a call: an upload, an image to add, or a sample to predict."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.example import PictureFile
from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.datasets.upload_format import (
    FAMILY_KINDS,
    RECOGNISED,
    ReadingOptions,
    checked_column,
    checked_delimiter,
    checked_encoding,
    checked_format,
    checked_header,
    checked_separator,
)
from chalicelib.domain.documents.sample import Sample, decode_base64
from chalicelib.errors import BadRequest, MissingParameter
from chalicelib.web.http.request import DUPLICATED
from chalicelib.web.operations.operation import Call

NO_SOURCE = "Uploading a dataset requires either the 'data' field or the 'path' field."


def upload_source(call: Call) -> UploadSource:
    """Return the source of an upload: either the file `data` or the URL `path`."""
    sent, path = call.fields.files.get("data"), call.form.path
    if sent is not None and path is not None:
        raise BadRequest(DUPLICATED, "duplicated_parameter")
    options = reading_options(call)
    if sent is not None:
        return UploadSource(content=sent.content, file_name=sent.name, options=options)
    if path is None:
        raise MissingParameter("data", NO_SOURCE)
    return UploadSource(path=path, options=options)


SOURCES = ("data", "path", "datasetId")


def one_source(
    call: Call, view: DatasetView | None, options: ReadingOptions = RECOGNISED
) -> UploadSource | DatasetView:
    """Return the source of a call, which must be exactly one of a file, a URL and a dataset."""
    sent, path = call.fields.files.get("data"), call.form.path
    # Several sources are refused, because an ignored one might be the right one.
    count = sum(one is not None for one in (sent, path, view))
    if count > 1:
        raise BadRequest(
            f"Send exactly one of {', '.join(SOURCES)}; the call has {count} of them.",
            "duplicated_parameter",
        )
    if view is not None:
        return view
    if sent is not None:
        return UploadSource(content=sent.content, file_name=sent.name, options=options)
    if path is None:
        raise MissingParameter("data", f"One of {', '.join(SOURCES)} is required.")
    return UploadSource(path=path, options=options)


def reading_options(call: Call) -> ReadingOptions:
    """Return the reading options of a call. Some forms lack some of these options."""
    form = call.form
    return ReadingOptions(
        format=checked_format(getattr(form, "format", None), FAMILY_KINDS[call.family]),
        delimiter=checked_delimiter(getattr(form, "delimiter", None)),
        text_column=checked_column(getattr(form, "text_column", None), "textColumn"),
        label_column=checked_column(getattr(form, "label_column", None), "labelColumn"),
        header=checked_header(getattr(form, "header", None)),
        encoding=checked_encoding(getattr(form, "encoding", None)),
        sheet=checked_column(getattr(form, "sheet", None), "sheet"),
        label_separator=checked_separator(getattr(form, "label_separator", None)),
        strict=bool(getattr(form, "strict", False)),
        shrink=bool(getattr(form, "shrink", False)),
    )


def sent_picture(call: Call, name: str | None) -> PictureFile:
    """Return the image `data` of a form."""
    sent = call.fields.files.get("data")
    if sent is None:
        raise MissingParameter(
            "data",
            "The 'data' parameter is required: send the image as a file of multipart/form-data.",
        )
    return PictureFile(sent.content, sent.name, name or "")


SAMPLES = ("sampleContent", "sampleLocation", "sampleBase64Content")
# Completes the schema of a form: exactly one of the samples.
FORM_RULES: dict[str, Any] = {"oneOf": [{"required": [name]} for name in SAMPLES]}
# The same for a JSON body, which cannot hold a file.
JSON_RULES: dict[str, Any] = {"oneOf": [{"required": [name]} for name in SAMPLES[1:]]}


def sample_of(call: Call) -> Sample:
    """Return the sample of a call, which must be exactly one of a file, a URL and Base64 text."""
    sent = call.fields.files.get("sampleContent")
    location, encoded = call.form.sample_location, call.form.sample_base64_content
    # Two samples are refused, because an ignored one might be the right one.
    count = sum(item is not None for item in (sent, location, encoded))
    if count > 1:
        raise BadRequest(
            f"Send exactly one of {', '.join(SAMPLES)}; the call has {count} of them.",
            "duplicated_parameter",
        )
    account_id = call.account.account_id
    if sent is not None:
        return Sample(content=sent.content, account_id=account_id)
    if location is not None:
        return Sample(location=location, account_id=account_id)
    if encoded is not None:
        return Sample(content=decode_base64(encoded), account_id=account_id)
    raise MissingParameter("sampleContent", f"One of {', '.join(SAMPLES)} is required.")

"""Uploads: files that become datasets or are added to them. Contract section 5."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from chalicelib.domain.dataset import LANGUAGE
from chalicelib.domain.upload import UploadFields, UploadSource
from chalicelib.errors import BadRequest, MissingParameter
from chalicelib.web import describe, records
from chalicelib.web.call import Call
from chalicelib.web.fields import Language, Name, TextType, Url
from chalicelib.web.locate import dataset_in_path
from chalicelib.web.operation import Operation
from chalicelib.web.request import DUPLICATED

NO_SOURCE = "Uploading a dataset requires either the 'data' field or the 'path' field."


class UploadForm(msgspec.Struct):
    """Fields of an upload, besides the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = {
        "required": ["type"],
        "oneOf": [{"required": ["data"]}, {"required": ["path"]}],
    }
    json_rules: ClassVar[dict[str, Any]] = {"required": ["type", "path"]}

    type: TextType | None = None
    path: Url | None = None
    name: Name | None = None
    language: Language | None = None


class AddForm(msgspec.Struct):
    """Fields of an upload that adds to a dataset, besides the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = {
        "oneOf": [{"required": ["data"]}, {"required": ["path"]}]
    }
    json_rules: ClassVar[dict[str, Any]] = {"required": ["path"]}

    path: Url | None = None


def upload_dataset(call: Call) -> records.DatasetRecord:
    """Accept a file as a dataset, to be read in the background. Spec: Other operations."""
    source, fields = _source(call, call.form.path), _fields(call.form)
    return describe.dataset(
        call.container.uploads.create(call.account, call.family, source, fields)
    )


def upload_dataset_sync(call: Call) -> records.DatasetRecord:
    """Accept a file as a dataset and read it within the call. Spec: Other operations."""
    source, fields = _source(call, call.form.path), _fields(call.form)
    view = call.container.uploads.create_sync(
        call.account, call.family, source, fields, call.seconds_left
    )
    return describe.dataset(view)


def add_to_dataset(call: Call) -> records.DatasetRecord:
    """Accept a file whose examples are added to a dataset. Spec: Other operations."""
    source = _source(call, call.form.path)
    return describe.dataset(call.container.uploads.add(call.account, call.located, source))


def _source(call: Call, path: str | None) -> UploadSource:
    """Take the file or the address, exactly one of which must be there."""
    sent = call.fields.files.get("data")
    if sent is not None and path is not None:
        raise BadRequest(DUPLICATED, "duplicated_parameter")
    if sent is not None:
        return UploadSource(content=sent.content, file_name=sent.name)
    if path is None:
        raise MissingParameter("data", NO_SOURCE)
    return UploadSource(path=path)


def _fields(form: UploadForm) -> UploadFields:
    """Hand the optional fields on."""
    return UploadFields(name=form.name, type=form.type, language=form.language)


OPERATIONS = (
    Operation(
        name="upload_dataset",
        method="POST",
        path="/v2/:family/datasets/upload",
        families=(LANGUAGE,),
        view=upload_dataset,
        summary="Upload a file as a dataset; it is read in the background.",
        form=UploadForm,
        files=("data",),
        answer=records.DatasetRecord,
        statuses=(429,),
    ),
    Operation(
        name="upload_dataset_sync",
        method="POST",
        path="/v2/:family/datasets/upload/sync",
        families=(LANGUAGE,),
        view=upload_dataset_sync,
        summary="Upload a file as a dataset, and wait until it is read.",
        form=UploadForm,
        files=("data",),
        answer=records.DatasetRecord,
        statuses=(429,),
    ),
    Operation(
        name="add_to_dataset",
        method="PUT",
        path="/v2/:family/datasets/{dataset_id}/upload",
        families=(LANGUAGE,),
        view=add_to_dataset,
        locate=dataset_in_path,
        summary="Upload a file whose examples are added to a dataset.",
        form=AddForm,
        files=("data",),
        answer=records.DatasetRecord,
        statuses=(409, 429),
    ),
)

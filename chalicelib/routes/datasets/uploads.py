"""Uploads: files that become datasets or are added to them. Contract section 5."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from chalicelib.domain.accounts.rates import UPLOADS
from chalicelib.domain.datasets.dataset import LANGUAGE, VISION
from chalicelib.domain.datasets.upload import UploadFields
from chalicelib.web.operations.fields import Language, Name, PictureType, TextType, Url
from chalicelib.web.operations.files import upload_source
from chalicelib.web.operations.locate import dataset_in_path
from chalicelib.web.operations.operation import BOTH, Call, Operation
from chalicelib.web.records import describe, records

QUEUED = "/v2/:family/datasets/upload"
SYNC = f"{QUEUED}/sync"
ONE_SOURCE = {"oneOf": [{"required": ["data"]}, {"required": ["path"]}]}


class UploadForm(msgspec.Struct):
    """Fields of an upload of texts, besides the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = {"required": ["type"], **ONE_SOURCE}
    json_rules: ClassVar[dict[str, Any]] = {"required": ["type", "path"]}

    type: TextType | None = None
    path: Url | None = None
    name: Name | None = None
    language: Language | None = None


class PictureUploadForm(msgspec.Struct):
    """Fields of an upload of pictures, besides the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = ONE_SOURCE
    json_rules: ClassVar[dict[str, Any]] = {"required": ["path"]}

    type: PictureType | None = None
    path: Url | None = None
    name: Name | None = None


class AddForm(msgspec.Struct):
    """Fields of an upload that adds to a dataset, besides the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = ONE_SOURCE
    json_rules: ClassVar[dict[str, Any]] = {"required": ["path"]}

    path: Url | None = None


def upload_dataset(call: Call) -> records.DatasetRecord:
    """Accept a file of texts as a dataset, to be read in the background."""
    return _created(call, UploadFields(call.form.name, call.form.type, call.form.language))


def upload_pictures(call: Call) -> records.DatasetRecord:
    """Accept an archive of pictures as a dataset, to be read in the background."""
    return _created(call, UploadFields(call.form.name, call.form.type))


def upload_dataset_sync(call: Call) -> records.DatasetRecord:
    """Accept a file of texts as a dataset and read it within the call."""
    return _finished(call, UploadFields(call.form.name, call.form.type, call.form.language))


def upload_pictures_sync(call: Call) -> records.DatasetRecord:
    """Accept an archive of pictures as a dataset and read it within the call."""
    return _finished(call, UploadFields(call.form.name, call.form.type))


def add_to_dataset(call: Call) -> records.DatasetRecord:
    """Accept a file whose examples are added to a dataset. Spec: Other operations."""
    source = upload_source(call)
    return describe.dataset(call.container.uploads.add(call.account, call.located, source))


def _created(call: Call, fields: UploadFields) -> records.DatasetRecord:
    """Accept a file. Spec: Other operations."""
    source = upload_source(call)
    return describe.dataset(
        call.container.uploads.create(call.account, call.family, source, fields)
    )


def _finished(call: Call, fields: UploadFields) -> records.DatasetRecord:
    """Accept a file and read it, as far as time allows. Spec: Other operations."""
    source = upload_source(call)
    view = call.container.uploads.create_sync(
        call.account, call.family, source, fields, call.seconds_left
    )
    return describe.dataset(view)


def _operation(family: str, name: str, path: str, view: Any, summary: str) -> Operation:
    """Declare one of the calls that make a dataset of a file, which differ in little."""
    return Operation(
        name=name,
        method="POST",
        path=path,
        families=(family,),
        view=view,
        cost=UPLOADS,
        summary=summary,
        form=UploadForm if family == LANGUAGE else PictureUploadForm,
        takes_data=True,
        files=("data",),
        answer=records.DatasetRecord,
        statuses=(429,),
    )


OPERATIONS = (
    _operation(
        LANGUAGE,
        "upload_dataset",
        QUEUED,
        upload_dataset,
        "Upload a file as a dataset; it is read in the background.",
    ),
    _operation(
        VISION,
        "upload_pictures",
        QUEUED,
        upload_pictures,
        "Upload a zip archive as a dataset; it is read in the background.",
    ),
    _operation(
        LANGUAGE,
        "upload_dataset_sync",
        SYNC,
        upload_dataset_sync,
        "Upload a file as a dataset, and wait until it is read.",
    ),
    _operation(
        VISION,
        "upload_pictures_sync",
        SYNC,
        upload_pictures_sync,
        "Upload a zip archive as a dataset, and wait until it is read.",
    ),
    Operation(
        name="add_to_dataset",
        method="PUT",
        path="/v2/:family/datasets/{dataset_id}/upload",
        families=BOTH,
        view=add_to_dataset,
        locate=dataset_in_path,
        cost=UPLOADS,
        summary="Upload a file whose examples are added to a dataset.",
        form=AddForm,
        takes_data=True,
        files=("data",),
        answer=records.DatasetRecord,
        statuses=(409, 429),
    ),
)

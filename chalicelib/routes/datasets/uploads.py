"""Uploads: files that become or extend datasets. See contract, section 5."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import msgspec

from chalicelib.domain.accounts.rates import UPLOADS
from chalicelib.domain.common.clock import date_text
from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.datasets.dataset import DELETION_PENDING, LANGUAGE, VISION
from chalicelib.domain.datasets.upload import UploadFields
from chalicelib.errors import DatasetNotFound, InvalidUpload
from chalicelib.web.http.request import VERSION_1
from chalicelib.web.operations.fields import (
    AnyKind,
    Column,
    Delimiter,
    DescriptionsField,
    Encoding,
    Language,
    Name,
    PictureKind,
    PictureType,
    Separator,
    TextKind,
    TextType,
    Url,
    sent_descriptions,
)
from chalicelib.web.operations.files import upload_source
from chalicelib.web.operations.locate import created_dataset, dataset_in_path
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records, describe

QUEUED = "/v2/:family/datasets/upload"
SYNC = f"{QUEUED}/sync"
# Completes the schema: exactly one of the file and its URL, which types cannot express.
ONE_SOURCE = {"oneOf": [{"required": ["data"]}, {"required": ["path"]}]}


class UploadForm(msgspec.Struct, rename="camel"):
    """Fields of an upload of texts, sent next to the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = {"required": ["type"], **ONE_SOURCE}
    # A JSON body cannot hold a file, so it must have a URL.
    json_rules: ClassVar[dict[str, Any]] = {"required": ["type", "path"]}

    type: TextType | None = None
    path: Url | None = None
    name: Name | None = None
    language: Language | None = None
    format: TextKind | None = None
    delimiter: Delimiter | None = None
    text_column: Column | None = None
    label_column: Column | None = None
    header: bool | int | None = None
    encoding: Encoding | None = None
    sheet: Column | None = None
    label_separator: Separator | None = None
    strict: bool = False
    label_descriptions: DescriptionsField = None


class PictureUploadForm(msgspec.Struct, rename="camel"):
    """Fields of an upload of images, sent next to the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = ONE_SOURCE
    json_rules: ClassVar[dict[str, Any]] = {"required": ["path"]}

    # Optional, because archives have a default type.
    type: PictureType | None = None
    path: Url | None = None
    name: Name | None = None
    format: PictureKind | None = None
    encoding: Encoding | None = None
    label_separator: Separator | None = None
    strict: bool = False
    shrink: bool = False


class ValidateForm(UploadForm, rename="camel"):
    """Fields of a validation of texts, sent next to the file `data`."""

    preview: bool = False


class PictureValidateForm(PictureUploadForm, rename="camel"):
    """Fields of a validation of images, sent next to the file `data`."""

    preview: bool = False


class AddForm(msgspec.Struct, rename="camel"):
    """Fields of an upload to an existing dataset, sent next to the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = ONE_SOURCE
    json_rules: ClassVar[dict[str, Any]] = {"required": ["path"]}

    path: Url | None = None
    format: AnyKind | None = None
    delimiter: Delimiter | None = None
    text_column: Column | None = None
    label_column: Column | None = None
    header: bool | int | None = None
    encoding: Encoding | None = None
    sheet: Column | None = None
    label_separator: Separator | None = None
    strict: bool = False
    shrink: bool = False
    label_descriptions: DescriptionsField = None


class OldChangesForm(AddForm, rename="camel"):
    """Fields of the old PUT call. A file adds examples. A name without a file is the new name."""

    form_rules: ClassVar[dict[str, Any]] = {}
    json_rules: ClassVar[dict[str, Any]] = {}

    name: Name | None = None


def recover_dataset(call: Call, keyed: KeyedCall) -> dataset_records.DatasetRecord:
    """Return the dataset that an earlier attempt at the call created.

    If the file is not read yet, a worker reads it.
    """
    return describe.dataset(created_dataset(call, keyed))


# The common declaration of all calls that store a file as a new dataset.
_stores = partial(
    Operation,
    "POST",
    cost=UPLOADS,
    creates="datasets",
    recover=recover_dataset,
    takes_data=True,
    files=("data",),
    statuses=(429,),
)
# A validation stores nothing, so it may be repeated without a key.
_validates = partial(
    Operation,
    "POST",
    "/v2/:family/datasets/validate",
    cost=UPLOADS,
    files=("data",),
    statuses=(429, 504),
)


@_stores(QUEUED, families=(LANGUAGE,), form=UploadForm)
def upload_dataset(call: Call) -> dataset_records.DatasetRecord:
    """Upload a file as a dataset; it is read in the background."""
    return _created(call, _text_fields(call))


@_stores(QUEUED, families=(VISION,), form=PictureUploadForm)
def upload_pictures(call: Call) -> dataset_records.DatasetRecord:
    """Upload a zip archive as a dataset; it is read in the background."""
    return _created(call, UploadFields(call.form.name, call.form.type))


@_stores(SYNC, families=(LANGUAGE,), form=UploadForm)
def upload_dataset_sync(call: Call) -> dataset_records.DatasetRecord:
    """Upload a file as a dataset, and wait until it is read."""
    return _finished(call, _text_fields(call))


@_stores(SYNC, families=(VISION,), form=PictureUploadForm)
def upload_pictures_sync(call: Call) -> dataset_records.DatasetRecord:
    """Upload a zip archive as a dataset, and wait until it is read."""
    return _finished(call, UploadFields(call.form.name, call.form.type))


@_validates(families=(LANGUAGE,), form=ValidateForm)
def validate_dataset(call: Call) -> dataset_records.ValidationRecord:
    """Check a file as an upload would, without storing anything."""
    return _validated(call, _text_fields(call))


@_validates(families=(VISION,), form=PictureValidateForm)
def validate_pictures(call: Call) -> dataset_records.ValidationRecord:
    """Check a zip archive as an upload would, without storing anything."""
    return _validated(call, UploadFields(call.form.name, call.form.type))


def recover_addition(call: Call, keyed: KeyedCall) -> dataset_records.DatasetRecord | None:
    """Return the dataset that the path names if an earlier attempt at the call added the file."""
    # The id of the receipt was reserved with the key, so it identifies the attempt.
    found = call.container.uploads.find_accepted(dataset_in_path(call).dataset, keyed.object_id)
    return None if found is None else describe.dataset(found)


# The common declaration of the calls that add a file to a dataset.
_adds = partial(
    Operation,
    "PUT",
    locate=dataset_in_path,
    cost=UPLOADS,
    recover=recover_addition,
    takes_data=True,
    files=("data",),
    statuses=(409, 429),
)


@_adds("/v2/:family/datasets/{dataset_id}/upload", form=AddForm)
def add_to_dataset(call: Call) -> dataset_records.DatasetRecord:
    """Upload a file whose examples are added to a dataset."""
    return _added(call)


# Clients of version 1.0 add a file with this PUT. Below /v2, the same PUT renames the dataset.
@_adds("/v2/vision/datasets/{dataset_id}", versions=(VERSION_1,), form=OldChangesForm)
def put_dataset(call: Call) -> dataset_records.DatasetRecord:
    """Upload a file whose examples are added to a dataset."""
    form: OldChangesForm = call.form
    if form.name is None or form.path is not None or "data" in call.fields.files:
        return _added(call)
    if call.target.dataset.status == DELETION_PENDING:
        raise DatasetNotFound(call.target.dataset.dataset_id)
    return describe.dataset(call.container.corrections.rename_dataset(call.target, form.name))


def _added(call: Call) -> dataset_records.DatasetRecord:
    source, view = upload_source(call), call.target
    described = sent_descriptions(call.form.label_descriptions, call.family, view.dataset.type)

    def describe_labels() -> None:
        if described:
            call.container.datasets.descriptions.replace(view, described)

    return describe.dataset(call.container.uploads.add(call.account, view, source, describe_labels))


def _text_fields(call: Call) -> UploadFields:
    form: UploadForm = call.form
    described = sent_descriptions(form.label_descriptions, call.family, form.type)
    return UploadFields(form.name, form.type, form.language, described)


def _created(call: Call, fields: UploadFields) -> dataset_records.DatasetRecord:
    source = upload_source(call)
    return describe.dataset(
        call.container.uploads.create(call.account, call.family, source, fields)
    )


def _finished(call: Call, fields: UploadFields) -> dataset_records.DatasetRecord:
    source = upload_source(call)
    view = call.container.uploads.create_sync(
        call.account, call.family, source, fields, call.seconds_left
    )
    return describe.dataset(view)


def _validated(call: Call, fields: UploadFields) -> dataset_records.ValidationRecord:
    source, preview = upload_source(call), call.form.preview
    try:
        found = call.container.uploads.validate(
            call.account, call.family, source, fields, call.seconds_left, shows_rows=preview
        )
    except InvalidUpload as refusal:
        if preview and refusal.preview is not None:
            refusal.detail = describe.preview(refusal.preview)
        raise
    return describe.validation(found)


class IssueForm(msgspec.Struct):
    """Fields of a request for a presigned form."""

    name: Name | None = None


@Operation("POST", "/v2/uploads", cost=UPLOADS, form=IssueForm, takes_key=True, takes_data=True)
def issue_upload(call: Call) -> dataset_records.UploadRecord:
    """Get a form to upload a file that is too large for a call, up to 2 GB."""
    form: IssueForm = call.form
    issued = call.container.upload_forms.issue(call.account, form.name)
    return dataset_records.UploadRecord(
        url=issued.url,
        fields=issued.fields,
        path=issued.path,
        expires_at=date_text(issued.expires_at),
        max_bytes=issued.max_bytes,
    )

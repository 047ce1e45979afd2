"""Batches: predictions for many texts, images or documents. See beyond.md, section 4.

A ranking, which selects what to label next (section 7), is a batch as well.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from chalicelib.domain.accounts.rates import UPLOADS
from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.datasets.dataset import DELETION_PENDING, LANGUAGE, VISION, DatasetView
from chalicelib.domain.datasets.upload_format import (
    ReadingOptions,
    checked_column,
    checked_delimiter,
    checked_encoding,
    checked_header,
)
from chalicelib.domain.documents.characters import DOCUMENTED
from chalicelib.domain.documents.ocr import FORM, TEXT
from chalicelib.domain.jobs.batch import BATCHES_PAGE, INPUT, JSONL, RANK, READ, Batch
from chalicelib.domain.jobs.batch_table import MAX_TABLE_LABELS
from chalicelib.domain.jobs.ranking import MAX_RANKED, RANKED_DEFAULT
from chalicelib.domain.models.model import OCR, ServedModel
from chalicelib.errors import (
    BatchNotFound,
    DatasetNotFound,
    InvalidParameter,
)
from chalicelib.services.batches.requests import BatchOptions
from chalicelib.web.http.paging import ListAnswer, list_answer
from chalicelib.web.operations.document_fields import (
    Alphabet,
    FormFields,
    FormType,
    Layout,
    LinkTables,
    Output,
    PageFurniture,
    Pages,
    Task,
    Template,
    sent_template,
)
from chalicelib.web.operations.fields import (
    Column,
    Count,
    Delimiter,
    Encoding,
    ModelId,
    ModelVersionNumber,
    Name,
    Url,
)
from chalicelib.web.operations.files import SOURCES, one_source
from chalicelib.web.operations.locate import dataset_in_body, served_in_body, text_id
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, model_records

RankedCount = Annotated[int, msgspec.Meta(ge=1, le=MAX_RANKED)]


class InputFields(msgspec.Struct, rename="camel"):
    """Fields of a batch, sent next to its files."""

    form_rules: ClassVar[dict[str, Any]] = {"oneOf": [{"required": [one]} for one in SOURCES]}
    # Without `data`: a JSON body cannot hold a file.
    json_rules: ClassVar[dict[str, Any]] = {"oneOf": [{"required": [one]} for one in SOURCES[1:]]}

    model_id: ModelId
    model_version: ModelVersionNumber | None = None
    path: Url | None = None
    dataset_id: int | None = None
    kind: str | None = None
    num_results: Count | None = None
    name: Name | None = None
    format: Annotated[Literal["jsonl", "csv", "xlsx"], msgspec.Meta(examples=["xlsx"])] = "jsonl"
    columns: Annotated[Literal["answer", "input"], msgspec.Meta(examples=["input"])] = "answer"
    review_below: Annotated[float, msgspec.Meta(ge=0, le=1, examples=[0.6])] | None = None
    partial: bool = False


class BatchForm(InputFields, rename="camel"):
    """Fields of a batch of texts, sent next to the file `data`."""

    kind: Literal["intent", "sentiment"] | None = None
    text_column: Column | None = None
    delimiter: Delimiter | None = None
    header: bool | int | None = None
    sheet: Column | None = None
    encoding: Encoding | None = None


class PictureBatchForm(InputFields, rename="camel"):
    """Fields of a batch of images or documents, sent next to the files."""

    kind: Literal["predict", "detect", "ocr"] | None = None
    task: Task = TEXT
    form_type: FormType | None = None
    form_template: Template | None = None
    link_tables: LinkTables = False
    alphabet: Alphabet = DOCUMENTED
    layout: Layout = False
    output: Output | None = None
    pages: Pages = False
    form_fields: FormFields = False
    page_furniture: PageFurniture = False


class PictureRankingForm(msgspec.Struct, rename="camel"):
    """Fields of a ranking of images, sent next to the file `data`."""

    form_rules: ClassVar[dict[str, Any]] = InputFields.form_rules
    json_rules: ClassVar[dict[str, Any]] = InputFields.json_rules

    model_id: ModelId
    model_version: ModelVersionNumber | None = None
    path: Url | None = None
    dataset_id: int | None = None
    count: RankedCount = RANKED_DEFAULT
    name: Name | None = None
    format: Annotated[Literal["jsonl", "csv"], msgspec.Meta(examples=["jsonl"])] = "jsonl"
    partial: bool = False


class RankingForm(PictureRankingForm, rename="camel"):
    """Fields of a ranking of texts, sent next to the file `data`."""

    text_column: Column | None = None


def locate_input(call: Call) -> tuple[ServedModel | None, DatasetView | None]:
    """Return the model and the dataset in the body; None for each that the body does not name."""
    view = dataset_in_body(call)
    if view is not None and view.dataset.status == DELETION_PENDING:
        raise DatasetNotFound(view.dataset.dataset_id)
    return served_in_body(call), view


def recover_batch(call: Call, keyed: KeyedCall) -> model_records.BatchRecord:
    """Return the batch that an earlier attempt at the call created."""
    batches = call.container.batches
    return _described(call, batches.get(call.account, call.family, keyed.object_id))


# The common declaration of all calls that create a batch.
_creates = partial(
    Operation,
    method="POST",
    locate=locate_input,
    cost=UPLOADS,
    recover=recover_batch,
    # Input and result are stored, so batches are refused while saving fails.
    takes_data=True,
    statuses=(409, 429),
)


@_creates(path="/v2/:family/batches", families=(LANGUAGE,), form=BatchForm, files=("data",))
def create_batch(call: Call) -> model_records.BatchRecord:
    """Predict many texts in the background."""
    form: BatchForm = call.form
    file = ReadingOptions(
        text_column=checked_column(form.text_column, "textColumn"),
        delimiter=checked_delimiter(form.delimiter),
        header=checked_header(form.header),
        sheet=checked_column(form.sheet, "sheet"),
        encoding=checked_encoding(form.encoding),
    )
    return _created(call, replace(_options(form), file=file))


@_creates(
    path="/v2/:family/batches",
    families=(VISION,),
    form=PictureBatchForm,
    files=("data", "formTemplate"),
)
def create_picture_batch(call: Call) -> model_records.BatchRecord:
    """Predict many images, or read many documents, in the background."""
    form: PictureBatchForm = call.form
    # The prebuilt OCR models have only this kind.
    kind = form.kind or (READ if call.target[0].type == OCR else None)
    options = replace(_options(form), kind=kind)
    if kind == READ:
        template = _template(call) if form.task == FORM else None
        options = replace(options, reading=_reading(form), template=template)
    return _created(call, options)


@_creates(path="/v2/:family/rankings", families=(LANGUAGE,), form=RankingForm, files=("data",))
def create_ranking(call: Call) -> model_records.BatchRecord:
    """Select the texts that are most worth labelling, in the background."""
    form: RankingForm = call.form
    return _ranking(call, form, checked_column(form.text_column, "textColumn"))


@_creates(path="/v2/:family/rankings", families=(VISION,), form=PictureRankingForm, files=("data",))
def create_picture_ranking(call: Call) -> model_records.BatchRecord:
    """Select the images that are most worth labelling, in the background."""
    return _ranking(call, call.form)


def _ranking(
    call: Call, form: PictureRankingForm, text_column: str = ""
) -> model_records.BatchRecord:
    options = BatchOptions(
        kind=RANK,
        count=form.count,
        name=form.name,
        format=form.format,
        is_partial=form.partial,
        file=ReadingOptions(text_column=text_column),
    )
    return _created(call, options)


def _created(call: Call, options: BatchOptions) -> model_records.BatchRecord:
    (model, view), batches = call.target, call.container.batches
    made = batches.create(call.account, call.family, model, one_source(call, view), options)
    return _described(call, made)


def _options(form: InputFields) -> BatchOptions:
    return BatchOptions(
        kind=form.kind,
        count=form.num_results,
        name=form.name,
        format=form.format,
        columns=_columns(form),
        review_below=form.review_below,
        is_partial=form.partial,
    )


def _columns(form: InputFields) -> str:
    """Return the columns of the result; raise an error for columns that JSON lines do not have."""
    if form.format == JSONL:
        remedy = "send format=csv or format=xlsx, or leave it out."
        if form.columns == INPUT:
            raise InvalidParameter("columns", f"jsonl has only the answers; {remedy}")
        if form.review_below is not None:
            raise InvalidParameter("reviewBelow", f"jsonl has no column for reviews; {remedy}")
    if form.columns == INPUT and (form.num_results or 1) > MAX_TABLE_LABELS:
        raise InvalidParameter(
            "numResults",
            f"it is {form.num_results:,}; a result with columns=input has at most "
            f"{MAX_TABLE_LABELS:,} labels a row. Send less, or columns=answer with jsonl.",
        )
    return form.columns


def _reading(form: PictureBatchForm) -> dict[str, object]:
    """Return the fields of the request that apply to each document."""
    if form.format != JSONL:
        raise InvalidParameter(
            "format", f"{form.format} is for labels; use jsonl for batches that read documents."
        )
    return {
        "task": form.task,
        "form_type": None if form.form_type is None else str(form.form_type),
        "links_tables": form.link_tables,
        "alphabet": form.alphabet,
        "layout": form.layout,
        "output": form.output,
        "has_pages": form.pages,
        "form_fields": form.form_fields,
        "page_furniture": form.page_furniture,
    }


def _template(call: Call) -> bytes | None:
    """Check the form template of the call; return its bytes, or None if none was sent."""
    form: PictureBatchForm = call.form
    source = sent_template(call)
    # Validated within the call, so that a bad template does not fail the batch later.
    call.container.ocr.template(source, None if form.form_type is None else str(form.form_type))
    if source is None or isinstance(source, bytes):
        return source
    return source.encode() if isinstance(source, str) else msgspec.json.encode(source)


@Operation("GET", "/v2/:family/batches", families=(LANGUAGE, VISION), page_size=BATCHES_PAGE)
def list_batches(call: Call) -> ListAnswer[model_records.BatchRecord]:
    """List the batches of the account, the newest first."""
    asked, batches = call.window, call.container.batches
    page = batches.list(call.account, call.family, asked.offset, asked.count)
    return list_answer(page, lambda batch: _described(call, batch), asked)


def locate_batch(call: Call) -> Batch:
    """Return the batch that the path names."""
    batch_id = text_id(call.request.parameters["batch_id"], BatchNotFound)
    return call.container.batches.get(call.account, call.family, batch_id)


@Operation(
    "GET", "/v2/:family/batches/{batch_id}", families=(LANGUAGE, VISION), locate=locate_batch
)
def get_batch(call: Call) -> model_records.BatchRecord:
    """Return the status of a batch and the URL of its result."""
    return _described(call, call.target)


@Operation(
    "DELETE", "/v2/:family/batches/{batch_id}", families=(LANGUAGE, VISION), locate=locate_batch
)
def delete_batch(call: Call) -> model_records.BatchRecord:
    """Cancel a batch, or delete a finished one with its result."""
    return describe.batch(call.container.batches.delete(call.target))


def _described(call: Call, batch: Batch) -> model_records.BatchRecord:
    return describe.batch(batch, call.container.batches.url(batch))

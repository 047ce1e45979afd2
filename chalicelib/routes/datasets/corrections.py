"""Corrects datasets: their names, labels and examples, one by one or in bulk."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, ClassVar

import msgspec

from chalicelib.domain.common.limits import RECEIPTS_PAGE
from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.datasets.corrections import (
    MAX_CORRECTIONS,
    MINIMUM_CONFIDENCE,
    Correction,
    CorrectionResult,
    ExampleNotFound,
)
from chalicelib.domain.datasets.dataset import DatasetView, Label
from chalicelib.domain.documents.picture import Box
from chalicelib.domain.models.model import Model
from chalicelib.errors import InvalidParameter, LabelNotFound, MissingParameter, ModelNotFound
from chalicelib.formats.texts.json_limits import is_too_deep
from chalicelib.services.datasets.boxes import MAX_BOXES, SentBox
from chalicelib.web.http.paging import ListAnswer, list_answer
from chalicelib.web.http.request import JSON, VERSION_2
from chalicelib.web.operations import locate
from chalicelib.web.operations.fields import DescriptionsField, Document, Name, sent_descriptions
from chalicelib.web.operations.forms import convert
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records, describe


class DatasetChangesForm(msgspec.Struct, rename="camel"):
    """Changes to a dataset: a new name, descriptions of labels, or both."""

    form_rules: ClassVar[dict[str, Any]] = {
        "anyOf": [{"required": ["name"]}, {"required": ["labelDescriptions"]}]
    }
    json_rules: ClassVar[dict[str, Any]] = form_rules

    name: Name | None = None
    label_descriptions: DescriptionsField = None

    def __post_init__(self) -> None:
        """Raise an error if the request changes nothing."""
        if self.name is None and self.label_descriptions is None:
            raise MissingParameter("name", "The 'name' parameter is required.")


class LabelChangesForm(msgspec.Struct, rename="camel"):
    """Changes to a label: a new name, or the label to merge it into."""

    form_rules: ClassVar[dict[str, Any]] = {
        "oneOf": [{"required": ["name"]}, {"required": ["mergeInto"]}]
    }
    json_rules: ClassVar[dict[str, Any]] = form_rules

    name: Name | None = None
    merge_into: Annotated[
        int | None,
        msgspec.Meta(
            description="Id of the label to merge it into; that label gets its examples and names."
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise an error if fields were sent that exclude each other."""
        if self.name is None and self.merge_into is None:
            raise MissingParameter("name", "Either 'name' or 'mergeInto' is required.")
        if self.name is not None and self.merge_into is not None:
            raise InvalidParameter("mergeInto", "send 'name' or 'mergeInto', one of them.")


Side = Annotated[float, msgspec.Meta(description="Pixels of the image as displayed.")]


class BoxItem(msgspec.Struct, rename="camel"):
    """A box with the name or the id of its label."""

    x: Side
    y: Side
    width: Annotated[Side, msgspec.Meta(extra_json_schema={"exclusiveMinimum": 0})]
    height: Annotated[Side, msgspec.Meta(extra_json_schema={"exclusiveMinimum": 0})]
    label_id: int | None = None
    label: Name | None = None


BoxList = Annotated[list[BoxItem], msgspec.Meta(extra_json_schema={"maxItems": MAX_BOXES})]
BoxText = Annotated[str, msgspec.Meta(extra_json_schema={"contentMediaType": "application/json"})]


class BoxesText(msgspec.Struct):
    """Boxes that were sent as JSON text."""

    boxes: list[BoxItem]


class ExampleChangesForm(msgspec.Struct, rename="camel"):
    """Changes to an example: another label, a new text, or new boxes."""

    form_rules: ClassVar[dict[str, Any]] = {
        "anyOf": [
            {"required": ["labelId"]},
            {"required": ["label"]},
            {"required": ["document"]},
            {"required": ["boxes"]},
        ]
    }
    json_rules: ClassVar[dict[str, Any]] = form_rules

    label_id: int | None = None
    label: Name | None = None
    document: Document | None = None
    boxes: Annotated[
        # A form has no lists, so it sends the boxes as JSON text.
        BoxList | BoxText | None,
        msgspec.Meta(
            description="Detection: the new list of all boxes of the example's image. A box that "
            "exists already keeps its id; an empty list removes all boxes.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise an error if fields were sent that exclude each other."""
        # Boxes belong to the image, and the other fields to one of its examples.
        if self.boxes is not None and any((self.label, self.label_id, self.document)):
            raise InvalidParameter("boxes", "send it alone; each box names its label.")


class CorrectionItem(msgspec.Struct, rename="camel"):
    """The correction of one example: a label, or `remove`."""

    example_id: Annotated[int, msgspec.Meta(description="Id of the example.")]
    label_id: int | None = None
    label: Name | None = None
    remove: Annotated[bool, msgspec.Meta(description="Whether to remove it from the dataset.")] = (
        False
    )


class CorrectionsForm(msgspec.Struct, rename="camel"):
    """Corrections of examples, or a model whose suggestions are applied."""

    json_rules: ClassVar[dict[str, Any]] = {
        "oneOf": [{"required": ["corrections"]}, {"required": ["fromReportOf"]}]
    }
    media_types: ClassVar[tuple[str, ...]] = (JSON,)

    corrections: Annotated[
        list[CorrectionItem] | None,
        msgspec.Meta(
            description="Each example at most once.",
            extra_json_schema={"minItems": 1, "maxItems": MAX_CORRECTIONS},
        ),
    ] = None
    from_report_of: Annotated[
        str | None,
        msgspec.Meta(
            description="Id of a model of this dataset whose last training suggests the "
            "corrections. List them with `browse` and `suspectsOf`.",
            extra_json_schema={"pattern": "^[A-Za-z0-9]{1,64}$"},
        ),
    ] = None
    minimum_confidence: Annotated[
        float,
        msgspec.Meta(
            ge=0, le=1, description="Minimum confidence of a suggestion; others are skipped."
        ),
    ] = MINIMUM_CONFIDENCE

    def __post_init__(self) -> None:
        """Raise an error if fields were sent that exclude each other."""
        if self.corrections is None and self.from_report_of is None:
            raise MissingParameter(
                "corrections", "Either 'corrections' or 'fromReportOf' is required."
            )
        if self.corrections is not None and self.from_report_of is not None:
            raise InvalidParameter(
                "fromReportOf", "send 'corrections' or 'fromReportOf', one of them."
            )
        # Checked here and not by the type, so that the error says how to send the rest.
        count = 1 if self.corrections is None else len(self.corrections)
        if not 1 <= count <= MAX_CORRECTIONS:
            raise InvalidParameter(
                "corrections",
                f"there are {count}, and 1 to {MAX_CORRECTIONS} are allowed; send the rest with "
                "another call.",
            )


@Operation(
    "PUT",
    "/v2/:family/datasets/{dataset_id}",
    # Below /v1 the same call adds a file: chalicelib/routes/datasets/uploads.py.
    versions=(VERSION_2,),
    locate=locate.readable_dataset,
    takes_key=True,
    form=DatasetChangesForm,
    statuses=(409,),
)
def rename_dataset(call: Call) -> dataset_records.DatasetRecord:
    """Rename a dataset, or describe its labels."""
    view, form, container = call.target, call.form, call.container
    # Checked before the first change, so that a refused call changes nothing.
    described = sent_descriptions(form.label_descriptions, call.family, view.dataset.type)
    if described:
        view = container.datasets.descriptions.replace(view, described)
    if form.name is not None:
        view = container.corrections.rename_dataset(view, form.name)
    return describe.dataset(view)


def changed_label(call: Call) -> tuple[DatasetView, Label, Label | None]:
    """Return the dataset, the label in the path, and the label to merge it into, if any."""
    view, label = locate.label_in_path(call)
    into = locate.sent_number_id(call.fields.values, "mergeInto", LabelNotFound)
    merge_target = None if into is None else view.label(into)
    # An unknown label in the body is a 404 like one in the path.
    if into is not None and merge_target is None:
        raise LabelNotFound(into)
    return view, label, merge_target


def recover_label(call: Call, keyed: KeyedCall) -> dataset_records.ChangedLabelRecord | None:
    """Return the merge target if an earlier attempt at the call merged the label in the path."""
    into = locate.sent_number_id(call.fields.values, "mergeInto", LabelNotFound)
    # The label of the path no longer exists after a merge. Renaming may simply be repeated.
    found = None if into is None else locate.find_earlier_correction(call, keyed)
    label = found[0].label(into) if found and into is not None else None
    return describe.changed_label(label, found[1]) if found and label else None


@Operation(
    "PUT",
    "/v2/:family/datasets/{dataset_id}/labels/{label_id}",
    locate=changed_label,
    recover=recover_label,
    form=LabelChangesForm,
    statuses=(409,),
)
def change_label(call: Call) -> dataset_records.ChangedLabelRecord:
    """Rename a label, or merge it into another one.

    Trained models keep the old names, and later uploads and feedback with an old name get the new
    label.
    """
    (view, label, merge_target), corrections = call.target, call.container.corrections
    if merge_target is None:
        return describe.changed_label(
            corrections.rename_label(view, label, call.form.name), CorrectionResult()
        )
    done = corrections.remove_label(view, label, merge_target)
    # Read again, because the merge has changed the counts of the other label.
    left = call.container.datasets.get(
        call.account.account_id, call.family, merge_target.dataset_id
    )
    return describe.changed_label(left.label(merge_target.label_id) or merge_target, done)


@Operation(
    "DELETE",
    "/v2/:family/datasets/{dataset_id}/labels/{label_id}",
    locate=locate.label_in_path,
    statuses=(400, 409),
)
def remove_label(call: Call) -> dataset_records.CorrectionRecord:
    """Remove a label with its examples."""
    view, label = call.target
    return _described(call, view, call.container.corrections.remove_label(view, label))


def example_in_path(call: Call) -> tuple[DatasetView, int]:
    """Return the dataset in the path, and the example id in the path."""
    view = locate.readable_dataset(call)
    example_id = locate.number_id(call.request.parameters["example_id"], ExampleNotFound)
    call.container.corrections.find_example(view, example_id)
    return view, example_id


def recover_example(call: Call, keyed: KeyedCall) -> dataset_records.CorrectionRecord | None:
    """Return the correction that an earlier attempt at the call made; None if there is none."""
    example_id = locate.number_id(call.request.parameters["example_id"], ExampleNotFound)
    found = locate.find_earlier_correction(call, keyed, example_id)
    return None if found is None else _described(call, *found)


@Operation(
    "PUT",
    "/v2/:family/datasets/{dataset_id}/examples/{example_id}",
    locate=example_in_path,
    recover=recover_example,
    form=ExampleChangesForm,
    takes_data=True,
    statuses=(409,),
)
def change_example(call: Call) -> dataset_records.CorrectionRecord:
    """Change the label or the text of an example, or the boxes of its image.

    The example keeps its id.
    """
    (view, example_id), form = call.target, call.form
    if form.boxes is not None:
        boxes = [_sent_box(one) for one in _box_items(form.boxes)]
        return _described(call, view, call.container.boxes.replace(view, example_id, boxes))
    change = Correction(example_id, form.label_id, form.label)
    done = call.container.corrections.change_example(view, change, form.document)
    return _described(call, view, done)


def recover_corrections(call: Call, keyed: KeyedCall) -> dataset_records.CorrectionRecord | None:
    """Return the corrections that an earlier attempt at the call made; None if there are none."""
    found = locate.find_earlier_correction(call, keyed)
    return None if found is None else _described(call, *found)


def _box_items(boxes: list[BoxItem] | str) -> list[BoxItem]:
    """Return boxes that were sent as a list or as JSON text."""
    if not isinstance(boxes, str):
        return boxes
    # The decoder recurses, so deep nesting would exhaust the stack.
    if is_too_deep(boxes):
        raise InvalidParameter("boxes", "the JSON text is nested too deeply.")
    try:
        found = msgspec.json.decode(boxes)
    except (msgspec.MsgspecError, UnicodeError) as problem:
        raise InvalidParameter("boxes", "it is not valid JSON text.") from problem
    return convert({"boxes": found}, BoxesText).boxes


def _sent_box(item: BoxItem) -> SentBox:
    box = Box(item.x, item.y, item.width, item.height)
    return SentBox(box, item.label_id, item.label)


@Operation(
    "DELETE",
    "/v2/:family/datasets/{dataset_id}/examples/{example_id}",
    locate=example_in_path,
    statuses=(400, 409),
)
def remove_example(call: Call) -> dataset_records.CorrectionRecord:
    """Remove an example from a dataset."""
    view, example_id = call.target
    return _described(call, view, call.container.corrections.remove_example(view, example_id))


def corrected_dataset(call: Call) -> tuple[DatasetView, Model | None]:
    """Return the dataset in the path, and the model in the body if the body names one."""
    view = locate.readable_dataset(call)
    sent = locate.sent_text_id(call.fields.values, "fromReportOf")
    if sent is None:
        return view, None
    model_id = locate.text_id(sent, ModelNotFound)
    return view, call.container.models.get(call.account.account_id, model_id)


@Operation(
    "POST",
    "/v2/:family/datasets/{dataset_id}/corrections",
    locate=corrected_dataset,
    recover=recover_corrections,
    form=CorrectionsForm,
    takes_data=True,
    statuses=(409,),
)
def correct_dataset(call: Call) -> dataset_records.CorrectionRecord:
    """Move or remove up to 10,000 examples, all or none, or apply a model's suggestions."""
    (view, model), corrections = call.target, call.container.corrections
    form: CorrectionsForm = call.form
    if model is not None:
        done = corrections.correct_from_report(view, model, form.minimum_confidence)
    else:
        sent = [
            Correction(one.example_id, one.label_id, one.label, one.remove)
            for one in form.corrections or ()
        ]
        done = corrections.correct(view, sent)
    # A bulk correction shows no examples, even if it changed only one.
    return _described(call, view, replace(done, examples=()))


@Operation(
    "GET",
    "/v2/:family/datasets/{dataset_id}/corrections",
    locate=locate.dataset_in_path,
    page_size=RECEIPTS_PAGE,
)
def list_corrections(call: Call) -> ListAnswer[dataset_records.CorrectionRecord]:
    """List the corrections and other changes of a dataset, the newest first."""
    view, asked = call.target, call.window
    page = call.container.receipts.corrections(view, asked.offset, asked.count)
    dataset_id = view.dataset.dataset_id
    return list_answer(page, lambda done: describe.correction(dataset_id, done, ()), asked)


def _described(
    call: Call, view: DatasetView, result: CorrectionResult
) -> dataset_records.CorrectionRecord:
    """Return the record of a correction, with the examples that it changed."""
    shown = call.container.corrections.show(view, result)
    return describe.correction(view.dataset.dataset_id, result, shown)

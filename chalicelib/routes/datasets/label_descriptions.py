"""Lists the labels of a dataset with their descriptions. See beyond.md, section 15."""

from __future__ import annotations

from chalicelib.domain.common.limits import LABELS_PAGE
from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.label_descriptions import LabelDescription
from chalicelib.web.http.paging import ListAnswer, list_answer
from chalicelib.web.operations.locate import readable_dataset
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records


@Operation(
    "GET",
    "/v2/language/datasets/{dataset_id}/labels",
    locate=readable_dataset,
    page_size=LABELS_PAGE,
)
def list_label_descriptions(call: Call) -> ListAnswer[dataset_records.LabelDescriptionRecord]:
    """List the labels of a dataset with their descriptions."""
    view: DatasetView = call.target
    asked = call.window
    found = call.container.datasets.descriptions.list(view)
    part = found[asked.offset : asked.offset + asked.count]
    has_more = len(found) > asked.offset + asked.count
    page = ListPage(tuple(part), asked.offset, has_more=has_more)
    return list_answer(page, _record, asked)


def _record(item: LabelDescription) -> dataset_records.LabelDescriptionRecord:
    return dataset_records.LabelDescriptionRecord(item.name, item.description, item.examples)

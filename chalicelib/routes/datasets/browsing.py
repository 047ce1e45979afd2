"""Browses the examples of a dataset for review."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import msgspec

from chalicelib.domain.common.limits import EXAMPLES_PAGE
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.errors import LabelNotFound, ModelNotFound
from chalicelib.services.datasets.browsing import BrowsedList
from chalicelib.web.http.paging import ListAnswer, scan_answer
from chalicelib.web.operations import locate
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import dataset_records, describe

# A page may be short of `count`, so callers cannot compute the next offset themselves.
NEXT_OFFSET = {
    "nextOffset": {
        "type": "integer",
        "description": "`offset` of the next call, as in `Link`; absent at the end.",
        "examples": [1000],
    }
}


class BrowseQuery(msgspec.Struct, rename="camel"):
    """Filters of the examples."""

    label_id: Annotated[
        int | None, msgspec.Meta(description="Only the examples of this label.", examples=[1000007])
    ] = None
    source: Annotated[
        Literal["upload", "feedback", "all"] | None,
        msgspec.Meta(
            description="Origin of the examples. Default: uploads, or with `labelId` or "
            "`suspectsOf` all."
        ),
    ] = None
    suspects_of: Annotated[
        str | None,
        msgspec.Meta(
            description="Id of a model: only examples whose labels its training flagged and that "
            "were not changed since, the most suspicious first.",
            extra_json_schema={"pattern": "^[A-Za-z0-9]{1,64}$"},
        ),
    ] = None
    contains: Annotated[
        str,
        msgspec.Meta(
            description="Only texts, or file names, that contain this, in any case. One call "
            "searches for two seconds and returns in `nextOffset` where to continue.",
            max_length=200,
            examples=["parcel"],
        ),
    ] = ""


def locate_browsed(call: Call) -> tuple[DatasetView, BrowsedList]:
    """Return the dataset that the path names, and the list of examples that the query selects."""
    view = locate.readable_dataset(call)
    # The raw query: an unknown id is a 404 before the 400 of another parameter.
    query = call.request.query
    label_id = locate.sent_number_id(query, "labelId", LabelNotFound)
    label = None if label_id is None else view.label(label_id)
    if label_id is not None and label is None:
        raise LabelNotFound(label_id)
    model = None
    if model_id := query.get("suspectsOf"):
        model_id = locate.text_id(model_id, ModelNotFound)
        model = call.container.models.get(call.account.account_id, model_id)
    return view, BrowsedList(label, suspects_of=model)


@Operation(
    "GET",
    "/v2/:family/datasets/{dataset_id}/browse",
    locate=locate_browsed,
    query=BrowseQuery,
    page_size=EXAMPLES_PAGE,
    list_members=NEXT_OFFSET,
    statuses=(409, 429),
)
def browse_examples(call: Call) -> ListAnswer[dataset_records.BrowsedExampleRecord]:
    """Browse the examples of a dataset, or those whose labels a model flagged.

    Calls do not count against the monthly limit of example lists.
    """
    (view, located), asked = call.target, call.window
    query: BrowseQuery = call.query
    # `locate` has found label and model; the other filters are valid only now.
    wanted = replace(located, source=query.source, contains=query.contains)
    page = call.container.browsing.browse(call.account, view, wanted, asked.offset, asked.count)
    # The next offset is a position of the report, because corrected suspects leave gaps.
    positions = [item.position for item in page.items]
    return scan_answer(page.items, positions, page.next_offset, describe.browsed, asked)

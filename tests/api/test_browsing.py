"""Browsing examples through the gateway: records, links and errors."""

from __future__ import annotations

import pytest

from tests.api.prepared import (
    BOX_MODEL_ID,
    DATASET_ID,
    DELIVERY,
    EXAMPLES,
    MODEL_ID,
    SCENES_ID,
)

URL = f"/v2/language/datasets/{DATASET_ID}/browse"


def test_examples_are_shown_for_review(call, world):
    """A browsed record has the members of a listed one and its source; no call is counted."""
    answer = call("GET", f"{URL}?labelId={DELIVERY}&count=2")

    first = answer.json["data"][0]
    assert list(first) == ["id", "name", "location", "createdAt", "label", "source", "object"]
    assert (first["label"]["id"], first["source"]) == (DELIVERY, "upload")
    assert first["object"] == "browsedexample"
    assert answer.json["nextOffset"] == 2
    assert "offset=2" in answer.headers["Link"]
    assert world.used(EXAMPLES) == 0


def test_the_last_page_has_no_offset(call):
    """The last page has neither `nextOffset` nor a link."""
    answer = call("GET", f"{URL}?contains=REFUND&offset=3")

    assert (len(answer.json["data"]), list(answer.json)) == (3, ["object", "data"])
    assert "Link" not in answer.headers


def test_boxes_are_shown(call):
    """Examples of a detection dataset have their box in the format of annotations."""
    record = call("GET", f"/v2/vision/datasets/{SCENES_ID}/browse").json["data"][0]

    assert list(record["box"]) == ["x", "y", "width", "height"]
    assert record["location"].startswith("http")


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ("labelId=1", 404, "Unable to find label 1."),
        ("labelId=x", 400, "'labelId'"),
        (f"suspectsOf={'A' * 26}", 404, "Unable to find model"),
        ("suspectsOf=CommunitySentiment", 404, "prebuilt"),
        (f"suspectsOf={BOX_MODEL_ID}", 400, "was trained from dataset"),
        ("source=both", 400, "'source'"),
        ("contains=" + "a" * 201, 400, "'contains'"),
        ("count=0", 400, "'count'"),
    ],
)
def test_wrong_filters(call, query, status, text):
    """Unknown ids are a 404, invalid values a 400 with the name of the field."""
    answer = call("GET", f"{URL}?{query}")

    assert (answer.status, text in answer.json["message"]) == (status, True), answer.text


def test_suspects_are_listed(call):
    """A trained model has a report, even if it flags nothing."""
    answer = call("GET", f"{URL}?suspectsOf={MODEL_ID}")

    assert (answer.status, answer.json) == (200, {"object": "list", "data": []})


def test_a_dataset_being_deleted_is_not_browsed(call):
    """A dataset being deleted has no examples to browse."""
    call("DELETE", f"/v2/language/datasets/{DATASET_ID}")

    assert call("GET", URL).status == 404

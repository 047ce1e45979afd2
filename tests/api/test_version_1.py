"""Reads and writes of typed version 1.0 clients, which are served only below `/v1`."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.fields import MAX_NAME_CHARACTERS
from chalicelib.routes import OPERATIONS
from chalicelib.web.http.request import VERSION_1, VERSION_2
from infra.template.functions import API
from infra.template.routing import function_of
from tests.api.prepared import ALBUM_ID, DATASET_ID, EXAMPLES, MODEL_ID, PICTURE
from tests.pictures import label_folders, make_zip

OLD = f"/v1/vision/datasets/{ALBUM_ID}"
NEW = f"/v2/vision/datasets/{ALBUM_ID}"
LABEL = ["id", "datasetId", "name", "numExamples"]
EXAMPLE = ["id", "name", "location", "createdAt", "label", "object"]


def folders(counts):
    """Write an archive of label folders."""
    return make_zip(label_folders(counts))


def dataset_labels(call):
    """Return the labels of the dataset's record."""
    return call("GET", NEW).json["labelSummary"]["labels"]


def test_labels_are_listed_as_the_dataset_has_them(call):
    """The list holds the dataset's label records in order; each can be read by its id."""
    labels = dataset_labels(call)

    assert call("GET", f"{OLD}/labels").json == {"object": "list", "data": labels}
    for label in labels:
        assert call("GET", f"{OLD}/labels/{label['id']}").json == label
        assert list(label) == LABEL


def test_an_example_is_that_of_the_list_and_counts(call, world):
    """A single example equals its list record, has a fresh URL, and counts as an example call."""
    listed = call("GET", f"{NEW}/examples").json["data"][0]
    answer = call("GET", f"{OLD}/examples/{listed['id']}").json

    assert (list(answer), answer["object"]) == (EXAMPLE, "example")
    without = ("location",)
    assert {name: answer[name] for name in answer if name not in without} == {
        name: listed[name] for name in listed if name not in without
    }
    assert answer["location"].startswith("http")
    assert world.used(EXAMPLES) == 2
    world.use(EXAMPLES, 30)
    assert call("GET", f"{OLD}/examples/{listed['id']}").status == 429
    assert call("HEAD", f"{OLD}/examples/{listed['id']}").status == 429


def test_unknown_objects_are_a_404_and_cost_nothing(call, world):
    """Unknown ids, ids of the other family and malformed ids are a 404 and cost nothing."""
    for url in (
        f"{OLD}/labels/7",
        f"{OLD}/labels/x",
        f"{OLD}/examples/7",
        f"{OLD}/examples/x",
        f"/v1/vision/datasets/{DATASET_ID}/labels",
        "/v1/vision/datasets/7/labels",
        "/v1/vision/datasets/7/examples/7",
    ):
        assert call("GET", url).status == 404, url
    assert world.used(EXAMPLES) == 0


@pytest.mark.parametrize("is_form", [False, True])
def test_a_label_is_added_once(call, is_form):
    """A new label is last and empty; adding an existing name returns that label."""

    def add(name):
        if is_form:
            return call.form("POST", f"{OLD}/labels", ("name", name.encode(), None))
        return call.json("POST", f"{OLD}/labels", name=name)

    made = add(" green ")
    assert (made.status, list(made.json)) == (200, LABEL)
    assert (made.json["name"], made.json["numExamples"]) == ("green", 0)
    assert dataset_labels(call)[-1] == made.json
    assert add("green").json == made.json
    assert len(dataset_labels(call)) == 3
    picture = ("data", PICTURE, "a.png")
    named = ("labelId", str(made.json["id"]).encode(), None)
    assert call.form("POST", f"{NEW}/examples", picture, named).status == 200
    assert call("GET", f"{OLD}/labels/{made.json['id']}").json["numExamples"] == 1


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "The 'name' parameter is required."),
        ({"name": ""}, "The 'name' parameter is required."),
        ({"name": "x" * (MAX_NAME_CHARACTERS + 1)}, f"the limit is {MAX_NAME_CHARACTERS}"),
    ],
)
def test_wrong_labels_are_refused(call, fields, text):
    """A label's name is required and has the usual limits."""
    answer = call.json("POST", f"{OLD}/labels", **fields)

    assert (answer.status, text in answer.json["message"]) == (400, True), answer.text
    assert len(dataset_labels(call)) == 2


def test_a_label_waits_for_the_upload(call, world):
    """No label can be added while the dataset reads a file."""
    call.form("PUT", f"{NEW}/upload", ("data", folders({"red": 1}), "a.zip"))

    assert call.json("POST", f"{OLD}/labels", name="green").status == 400
    world.work()
    assert call.json("POST", f"{OLD}/labels", name="green").status == 200


def test_put_below_v1_adds_a_file(call, world):
    """Below /v1, PUT with a file adds it; below /v2, PUT needs `name` and ignores the file."""
    data = ("data", folders({"green": 2}), "more.zip")
    added = call.form("PUT", OLD, data)

    assert (added.status, added.json["statusMsg"]) == (200, "UPLOADING")
    assert not {"language", "numOfDuplicates"} & added.json.keys()
    world.work()
    assert [label["name"] for label in dataset_labels(call)] == ["red", "blue", "green"]
    refused = call.form("PUT", NEW, ("data", PICTURE, "more.zip"))
    assert (refused.status, "'name'" in refused.json["message"]) == (400, True)


def test_put_below_v1_takes_an_address(call, world):
    """`path` in PUT works as in an upload."""
    answer = call.json("PUT", OLD, path=world.tricks.url("/missing"))

    assert (answer.status, "public URL" in answer.json["message"]) == (400, True), answer.text


def test_put_below_v1_still_renames(call):
    """PUT with only a name renames; without any field it is an upload without a file."""
    assert call.json("PUT", OLD, name="old album").json["name"] == "old album"
    assert call.json("PUT", NEW, name="album").json["name"] == "album"
    refused = call.json("PUT", OLD)
    assert (refused.status, "either the 'data' field" in refused.json["message"]) == (400, True)


def test_they_are_below_v1_alone(call, paths):
    """Version 1.0 calls are served only below /v1, and the document does not list them."""
    old = [op for op in OPERATIONS if op.versions == (VERSION_1,)]

    assert {op.name for op in old} == {
        "list_labels", "get_label", "add_label", "get_example", "put_dataset",
    }  # fmt: skip
    assert [path for op in old for path in op.routes()] == []
    assert {path for op in old for _, path in op.served_paths()} & set(paths) == set()
    assert call("GET", f"{NEW}/labels").status in (404, 405)
    assert VERSION_2 not in str([path for op in old for _, path in op.served_paths()])
    assert function_of("PUT", "/v1/vision/datasets/{dataset_id}") == API
    assert call("GET", f"/v1/vision/models/{MODEL_ID}").status == 200

"""Image examples: their records and the errors of their files are as documented."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.datasets.dataset import Label
from chalicelib.domain.datasets.example import Example, ExampleView
from chalicelib.web.http.paging import Window, list_answer
from chalicelib.web.records import describe
from tests.formats.drawn import encoded, scene
from tests.live import Caller, Live
from tests.spec.test_endpoints import example, same_shape

EXAMPLES = Path(__file__).parent / "examples"
ADDED = datetime(2024, 3, 4, 10, 15, 4, tzinfo=UTC)


def test_records():
    """A record has its name and temporary URL, alone and in a list, as in the example."""
    text = (EXAMPLES / "example_list_vision.json").read_text()
    views = tuple(
        ExampleView(
            Example(item["id"], item["name"], ADDED, item["label"]["id"], "0" * 32),
            Label(
                item["label"]["id"],
                item["label"]["datasetId"],
                item["label"]["name"],
                item["label"]["numExamples"],
            ),
            item["location"],
        )
        for item in json.loads(text)["data"]
    )
    page = list_answer(ListPage(views, 0, has_more=False), describe.example, Window(0, 100))

    assert json.dumps(json.loads(text)) == json.dumps(json.loads(msgspec.json.encode(page.record)))
    first = json.loads(msgspec.json.encode(describe.example(views[0])))
    assert first == example("example_vision")
    assert list(first) == list(example("example_vision"))


@pytest.fixture(scope="module")
def own(live: Live) -> Caller:
    """A separate account for this file."""
    return live.caller("picture-examples")


@pytest.fixture(scope="module")
def album(own: Caller) -> int:
    """An image dataset."""
    fields = {"name": "album", "labels": "cat"}
    return int(own.json("POST", "/v2/vision/datasets", fields).ok()["id"])


def test_answers(own, album):
    """The answers of the running service have the documented members."""
    path = f"/v2/vision/datasets/{album}/examples"
    file = ("data", encoded(scene(), "PNG"), "cat.png")

    added = own.form("POST", path, ("label", b"cat", None), file).ok()

    same_shape(added, example("example_vision"))
    same_shape(own.get(path).ok(), example("example_list_vision"))


@pytest.mark.parametrize(
    ("content", "status", "code", "message"),
    [
        (
            encoded(scene(), "JPEG").ljust(1024 * 1024 + 1, b"\0"),
            413,
            "image_too_large",
            "The image has 1048577 bytes; at most 1048576 (1 MB) are allowed. "
            "Send a smaller image.",
        ),
        (
            b"GIF89a" + bytes(20),
            415,
            "unsupported_image_type",
            "The file is a GIF image; PNG and JPEG are supported.",
        ),
    ],
    ids=["413", "415"],
)
def test_errors(own, album, content, status, code, message):
    """Files that are too large or of another type get the documented errors."""
    path = f"/v2/vision/datasets/{album}/examples"

    answer = own.form("POST", path, ("label", b"cat", None), ("data", content, "cat.gif"))

    assert answer.refused(status) == code
    assert answer.message == message

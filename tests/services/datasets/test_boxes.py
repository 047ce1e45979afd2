"""All boxes of an image are replaced in one call."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.datasets.corrections import ExampleNotFound
from chalicelib.domain.datasets.dataset import SOURCES, DatasetView
from chalicelib.domain.datasets.example import Example
from chalicelib.domain.documents.picture import Box
from chalicelib.errors import DatasetNotYetAvailable, InvalidParameter, LabelNotFound
from chalicelib.services.datasets.boxes import MAX_BOXES, SentBox
from tests.builders import World, some_rows
from tests.pictures import detection_files

# The boxes of the first picture, which is 96 pixels wide and high.
CIRCLE, SQUARE = Box(4, 8, 30, 30), Box(44, 8, 30, 30)


@pytest.fixture
def view(world: World) -> DatasetView:
    """Three images with a circle and a square each."""
    files = detection_files(3)
    return world.once("boxes", lambda: world.pictures(files, "image-detection"))


def boxes_of(world: World, view: DatasetView, name: str = "scene-0-0.jpg") -> list[Example]:
    """Read the boxes of an image."""
    now = world.get(view).dataset
    found = (
        example
        for source in SOURCES
        for example in world.stores.examples.read_all(now.dataset_id, source, now.counts)
    )
    return sorted((e for e in found if e.name == name), key=lambda one: one.example_id)


def replace(world: World, view: DatasetView, example_id: int, *sent: SentBox) -> Any:
    """Replace the boxes of the picture of an example."""
    return world.container.boxes.replace(world.get(view), example_id, sent)


def shown(world: World, view: DatasetView) -> list[tuple[int, str, Box | None]]:
    """Return id, label and box of the first image's examples."""
    now = world.get(view)
    labels = {label.label_id: label.name for label in now.labels}
    return [(e.example_id, labels[e.label_id], e.box) for e in boxes_of(world, view)]


def counts(world: World, view: DatasetView) -> dict[str, int]:
    """Count the examples of each label."""
    return {label.name: label.examples for label in world.get(view).labels}


def test_an_unchanged_box_keeps_its_id(world: World, view: DatasetView) -> None:
    """Unchanged boxes keep their ids; other boxes are replaced; counts and bytes stay correct."""
    circle, square = boxes_of(world, view)
    before = world.get(view).dataset

    done = replace(
        world,
        view,
        square.example_id,
        SentBox(CIRCLE, label="circle"),
        SentBox(Box(50, 50, 10.5, 20), label="square"),
        SentBox(Box(60, 60, 10, 20), label="circle"),
    )

    assert (done.added, done.removed, done.moved, done.changed) == (2, 1, 0, 0)
    first, second, third = shown(world, view)
    assert first == (circle.example_id, "circle", CIRCLE)
    assert [second[1:], third[1:]] == [
        ("square", Box(50, 50, 10.5, 20)),
        ("circle", Box(60, 60, 10, 20)),
    ]
    assert [one.example_id for one in done.examples] == [first[0], second[0], third[0]]
    assert counts(world, view) == {"circle": 4, "square": 3}
    assert world.get(view).dataset.bytes == before.bytes
    assert len(boxes_of(world, view, "scene-0-1.jpg")) == 2


def test_a_box_under_another_label_moves(world: World, view: DatasetView) -> None:
    """A box with a new label keeps its id; a box sent twice is stored once."""
    circle, square = boxes_of(world, view)

    done = replace(
        world,
        view,
        circle.example_id,
        *[SentBox(SQUARE, label_id=view.labels[0].label_id)] * 2,
        SentBox(CIRCLE, label="circle"),
    )

    assert (done.added, done.removed, done.moved) == (0, 0, 1)
    assert shown(world, view) == [
        (circle.example_id, "circle", CIRCLE),
        (square.example_id, "circle", SQUARE),
    ]
    world.container.corrections.remove_example(world.get(view), square.example_id)
    assert counts(world, view) == {"circle": 3, "square": 2}


def test_the_same_boxes_change_nothing(world: World, view: DatasetView) -> None:
    """Sending equal boxes changes neither ids nor the dataset's date."""
    circle, _ = boxes_of(world, view)
    before = world.get(view).dataset
    world.clock.advance(minutes=1)

    done = replace(
        world,
        view,
        circle.example_id,
        SentBox(CIRCLE, label="circle"),
        SentBox(SQUARE, label="square"),
    )

    assert (done.added, done.removed, done.moved, len(done.examples)) == (0, 0, 0, 2)
    now = world.get(view).dataset
    assert (now.updated_at, now.counts) == (before.updated_at, before.counts)


def test_no_boxes_remove_all_and_then_the_picture(world: World, view: DatasetView) -> None:
    """Removing all boxes deletes the image's examples and its file, and no other file."""
    circle, _ = boxes_of(world, view)

    done = replace(world, view, circle.example_id)
    world.clock.advance(minutes=2)
    world.settle()

    assert (done.removed, boxes_of(world, view)) == (2, [])
    left = world.stores.pictures.stored(view.dataset.dataset_id)
    assert circle.picture not in left
    assert len(left) == 2
    assert counts(world, view) == {"circle": 2, "square": 2}
    with pytest.raises(ExampleNotFound):
        replace(world, view, circle.example_id)


def test_new_boxes_are_corrected_like_others(world: World, view: DatasetView) -> None:
    """New boxes can be found, moved and removed by id, and keep their ids if sent again."""
    circle, _ = boxes_of(world, view)
    replace(world, view, circle.example_id, SentBox(Box(1, 1, 9, 9), label="square"))
    [(number, _, box)] = shown(world, view)

    again = replace(world, view, number, SentBox(Box(1, 1, 9, 9), label="square"))
    assert (again.added, again.removed, again.examples[0].example_id) == (0, 0, number)
    assert box == Box(1, 1, 9, 9)
    world.container.corrections.remove_example(world.get(view), number)
    assert boxes_of(world, view) == []


def test_boxes_are_clipped_to_the_image(world: World, view: DatasetView) -> None:
    """Boxes whose centre is in the image are clipped, as in uploads."""
    circle, _ = boxes_of(world, view)

    replace(world, view, circle.example_id, SentBox(Box(-5, 80, 30, 30), label="circle"))

    assert [box for _, _, box in shown(world, view)] == [Box(0, 80, 25, 16)]


@pytest.mark.parametrize(
    ("box", "label", "text"),
    [
        (Box(200, 8, 30, 30), "circle", r"boxes\[1\].*centre outside of the image of 96 × 96"),
        (Box(4, 8, 0, 30), "circle", r"boxes\[1\].*must be above 0"),
        (Box(4, 8, 30, -1), "circle", r"boxes\[1\].*must be above 0"),
        (Box(float("nan"), 8, 30, 30), "circle", r"boxes\[1\].*\"x\""),
        (Box(4, 8, float("inf"), 30), "circle", r"boxes\[1\].*width"),
        (Box(4, 8, 30, 30), "triangle", r"boxes\[1\].label.*'triangle' is not a label"),
        (Box(4, 8, 30, 30), None, r"boxes\[1\].*'labelId' or 'label'"),
    ],
)
def test_one_bad_box_refuses_all(
    world: World, view: DatasetView, box: Box, label: str | None, text: str
) -> None:
    """One invalid box refuses the call with box and cause; nothing changes."""
    circle, _ = boxes_of(world, view)
    before = shown(world, view)

    with pytest.raises(InvalidParameter, match=text):
        replace(
            world,
            view,
            circle.example_id,
            SentBox(Box(1, 1, 9, 9), label="circle"),
            SentBox(box, label=label),
        )
    assert shown(world, view) == before


def test_what_cannot_have_boxes(world: World, view: DatasetView) -> None:
    """Unknown labels and examples, too many boxes, other types and busy datasets are refused."""
    circle, _ = boxes_of(world, view)
    texts = world.dataset(some_rows({"a": 5}))

    with pytest.raises(LabelNotFound):
        replace(world, view, circle.example_id, SentBox(CIRCLE, label_id=1))
    with pytest.raises(InvalidParameter, match=f"at most {MAX_BOXES}"):
        replace(
            world, view, circle.example_id, *[SentBox(CIRCLE, label="circle")] * (MAX_BOXES + 1)
        )
    with pytest.raises(InvalidParameter, match="text-intent; image-detection has boxes"):
        replace(world, texts, circle.example_id)
    with pytest.raises(ExampleNotFound):
        replace(world, view, 1)
    world.container.corrections.remove_label(world.get(view), view.labels[1])
    with pytest.raises(InvalidParameter, match="'square' is not a label"):
        replace(world, view, circle.example_id, SentBox(SQUARE, label="square"))
    reading = world.upload_pictures(detection_files(1, salt=1), "image-detection")
    with pytest.raises(DatasetNotYetAvailable):
        replace(world, reading, circle.example_id)


def test_a_training_that_began_before_learns_the_old_boxes(world: World, view: DatasetView) -> None:
    """A training uses the boxes of its start; replaced data is deleted after its end."""
    circle, _ = boxes_of(world, view)
    row = world.get(view).dataset
    world.train(view)

    replace(world, view, circle.example_id)
    world.clock.advance(minutes=2)
    world.container.traces.clear(row.account_id, row.family, row.dataset_id)

    old = world.stores.examples.read_all(row.dataset_id, "upload", row.counts)
    assert circle.example_id in [one.example_id for one in old]
    assert circle.picture in world.stores.pictures.stored(row.dataset_id)

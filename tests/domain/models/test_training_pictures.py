"""Examples become the pictures that each type of dataset learns from."""

from __future__ import annotations

from datetime import UTC, datetime

from chalicelib.domain.datasets.example import Example
from chalicelib.domain.documents.picture import Box
from chalicelib.domain.models.training_pictures import PictureGroups, TrainingPictures

NOW = datetime(2026, 11, 21, tzinfo=UTC)
LABELS = ["x", "y", "z"]


def _example(number: int, picture: str, name: str = "", box: Box | None = None) -> Example:
    """Make an image example whose digest is a repeated letter."""
    return Example(number, name or f"{number}.png", NOW, 1, picture * 32, box)


def _training(kind: str, *added: tuple[int, Example, int, bool]) -> TrainingPictures:
    """Group examples given as dataset, example, label and whether it is feedback."""
    groups = PictureGroups(kind)
    for dataset_id, example, label, is_feedback in added:
        groups.add(dataset_id, example, label, is_feedback=is_feedback)
    return groups.training(LABELS)


def test_image_is_one_picture_an_example() -> None:
    """The same file under two labels stays two pictures of one label each."""
    made = _training("image", (7, _example(1, "a"), 0, False), (7, _example(2, "a"), 1, True))

    assert [(p.labels, p.example_ids, p.is_feedback) for p in made.pictures] == [
        ((0,), (1,), False),
        ((1,), (2,), True),
    ]
    assert (made.labels, made.examples, made.feedback) == (LABELS, 2, 1)
    assert made.pictures[0].digest == bytes.fromhex("a" * 32)


def test_multi_label_is_one_picture_a_file() -> None:
    """All labels of a file are those of one picture, each once; datasets stay apart."""
    made = _training(
        "image-multi-label",
        (7, _example(1, "a", "first.png"), 0, False),
        (7, _example(2, "b"), 0, True),
        (7, _example(3, "a", "second.png"), 2, False),
        (7, _example(4, "a"), 0, True),
        (8, _example(5, "a"), 1, False),
    )

    assert [(p.dataset_id, p.name, p.labels, p.example_ids) for p in made.pictures] == [
        (7, "first.png", (0, 2), (1, 3)),
        (7, "2.png", (0,), (2,)),
        (8, "5.png", (1,), (5,)),
    ]
    assert [p.is_feedback for p in made.pictures] == [False, True, False]
    assert (made.examples, made.feedback) == (5, 2)


def test_detection_is_one_picture_a_file_and_name() -> None:
    """The boxes of a file are one picture's, unless the file was uploaded under two names."""
    box, other = Box(1, 2, 3, 4), Box(5, 6, 7, 8)
    made = _training(
        "image-detection",
        (7, _example(1, "a", "n.png", box), 0, False),
        (7, _example(2, "a", "m.png", box), 0, False),
        (7, _example(3, "a", "n.png", other), 1, False),
    )

    assert [[(b.label, b.box, b.example_id) for b in p.boxes] for p in made.pictures] == [
        [(0, box, 1), (1, other, 3)],
        [(0, box, 2)],
    ]
    assert all(p.labels == () and p.example_ids == () for p in made.pictures)
    assert made.examples == 3


def test_pictures_left_out() -> None:
    """What is kept has its own counts, and the same labels."""
    made = _training(
        "image-multi-label",
        (7, _example(1, "a"), 0, False),
        (7, _example(2, "a"), 1, False),
        (7, _example(3, "b"), 1, True),
    )

    kept = made.keep([1])

    assert [p.example_ids for p in kept.pictures] == [(3,)]
    assert (kept.labels, kept.examples, kept.feedback) == (LABELS, 1, 1)
    assert made.keep([0]).examples == 2

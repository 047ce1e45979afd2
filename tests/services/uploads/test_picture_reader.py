"""Reading archives: labels, duplicates, boxes, feedback, storage, attempts and leftovers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

import pytest

from chalicelib.domain.datasets import growth
from chalicelib.domain.datasets.dataset import FEEDBACK, UPLOAD
from chalicelib.domain.datasets.example import Example
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.domain.jobs.messages import encode_job, kind_of
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.tables import DatasetRow, LabelRow
from chalicelib.stores.examples import pictures as picture_writer
from chalicelib.stores.examples.pictures import PictureStore
from chalicelib.stores.jobs.queues import EMBED
from tests.builders import World, a_model, an_archive
from tests.pictures import (
    a_box,
    annotations,
    detection_files,
    draw,
    draw_scene,
    label_folders,
    make_zip,
)

PETS = label_folders({"cat": 3, "dog": 2})


def digest(content: bytes) -> str:
    """Return the storage name of an image."""
    return hashlib.sha256(content).hexdigest()[:32]


def labels(view: Any) -> list[tuple[str, int]]:
    """List the labels with their counts."""
    return [(label.name, label.examples) for label in view.labels]


def examples(world: World, view: Any, source: str = UPLOAD) -> list[Example]:
    """Read what is committed."""
    dataset = view.dataset
    return list(world.stores.examples.read_all(dataset.dataset_id, source, dataset.counts))


def stored(world: World, view: Any) -> set[str]:
    """List the image files in the bucket."""
    return set(world.stores.pictures.stored(view.dataset.dataset_id))


def receipt(world: World, view: Any) -> Any:
    """Return the newest receipt, whose counts must add up."""
    found = world.container.receipts.list(view, 0, 25).items[0]
    assert found.seen == found.kept + found.duplicates + found.rejected
    return found


def put(world: World, view: Any, files: Any) -> Any:
    """Add an archive to a dataset and read it."""
    world.clock.advance(seconds=1)
    source = files if isinstance(files, UploadSource) else an_archive(files)
    world.container.uploads.add(world.account, view, source)
    world.read_files()
    return world.get(view)


def test_folders_are_labels(world: World) -> None:
    """Each image becomes an example of its folder's label and is stored unchanged."""
    view = world.pictures(PETS)

    assert (view.dataset.status_message, view.dataset.available) == ("SUCCEEDED", True)
    assert labels(view) == [("cat", 3), ("dog", 2)]
    found = examples(world, view)
    assert [e.name for e in found] == [path.partition("/")[2] for path in PETS]
    assert [e.picture for e in found] == [digest(content) for content in PETS.values()]
    for content in PETS.values():
        assert world.stores.pictures.get(view.dataset.dataset_id, digest(content)) == content
    assert view.dataset.bytes == sum(map(len, PETS.values()))
    assert (receipt(world, view).seen, receipt(world, view).kept) == (5, 5)


def test_pictures_are_served_as_what_they_are(world: World) -> None:
    """The stored content type follows the bytes, not the file name."""
    png, jpeg = draw(), draw(kind="JPEG")
    view = world.pictures({"a/1.jpg": png, "b/2.png": jpeg})

    prefix = f"datasets/{view.dataset.dataset_id}/images/"
    types = {
        content: world.stores.clients.s3.head_object(
            Bucket=world.settings.bucket, Key=prefix + digest(content)
        )["ContentType"]
        for content in (png, jpeg)
    }
    assert types == {png: "image/png", jpeg: "image/jpeg"}


def test_features_are_requested_once(world: World) -> None:
    """One job is sent per 64 different images; an image in two folders counts once."""
    files = label_folders({"cat": 40, "dog": 40})
    twice = {"dog/again.png": files["cat/cat-0.png"]}
    world.upload_pictures({**files, **twice}, "image-multi-label")

    sent = world.read_files()

    assert [(queue, kind_of(job)) for queue, job in sent] == [(EMBED, "features")] * 2
    parts = [world.stores.parts.items(job.part) for _, job in sent]
    assert [len(part or ()) for part in parts] == [64, 16]
    waiting = [item for part in parts for item in part or ()]
    assert waiting == [digest(content) for content in files.values()]
    assert set(json.loads(encode_job(sent[0][1]))) == {
        "job",
        "account_id",
        "family",
        "dataset_id",
        "part",
    }


def test_same_picture_under_several_labels(world: World) -> None:
    """Multi-label: equal bytes in two folders are one image with two labels."""
    beach, hill = draw("circle"), draw("square")
    files = {"sea/1.png": beach, "sand/2.png": beach, "sea/3.png": hill, "sea/4.png": beach}

    view = world.pictures(files, "image-multi-label")

    assert labels(view) == [("sea", 2), ("sand", 1)]
    assert view.dataset.duplicates == 1
    assert stored(world, view) == {digest(beach), digest(hill)}
    assert view.dataset.bytes == len(beach) + len(hill)


def test_put_adds_a_label_to_a_picture(world: World) -> None:
    """Multi-label: a PUT of an existing image under a new label only adds the label."""
    beach = draw("circle")
    view = world.pictures({"sea/1.png": beach}, "image-multi-label")
    size = view.dataset.bytes

    more = an_archive({"sand/1.png": beach, "sea/1.png": beach, "sea/2.png": draw("square")})
    view = put(world, view, more)

    assert labels(view) == [("sea", 2), ("sand", 1)]
    assert view.dataset.duplicates == 1
    assert view.dataset.bytes == size + len(draw("square"))


def test_put_keeps_ids_and_counts_duplicates(world: World) -> None:
    """PUT keeps existing labels, appends new ones, and skips equal images."""
    view = world.pictures(PETS)
    old = [label.label_id for label in view.labels]

    view = put(world, view, {**label_folders({"cat": 4}), **label_folders({"bird": 1}, salt=9)})

    assert labels(view) == [("cat", 4), ("dog", 2), ("bird", 1)]
    assert [label.label_id for label in view.labels][:2] == old
    assert view.dataset.duplicates == 3
    found = receipt(world, view)
    assert (found.seen, found.kept, found.duplicates) == (5, 2, 3)


def test_boxes_are_examples(world: World) -> None:
    """Detection: each box is an example with image and position; equal boxes are duplicates."""
    scene = draw_scene([("circle", "red", (4, 4, 30, 30))])
    rows = [
        ("a.jpg", [a_box("can", 4, 4, 30, 30), a_box("can", 4.0, 4, 30, 30)]),
        ("b.jpg", [a_box("can", 4, 4, 30, 30), a_box("box", 80.5, 80, 30, 30)]),
        ("missing.jpg", [a_box("can", 1, 1, 2, 2)]),
    ]
    files = {"a.jpg": scene, "b.jpg": draw(size=(96, 96)), "annotations.csv": annotations(rows)}

    view = world.pictures(files, "image-detection")

    assert labels(view) == [("can", 2), ("box", 1)]
    assert view.dataset.duplicates == 1
    can, other, clipped = examples(world, view)
    assert (can.name, can.picture, can.box.corners) == ("a.jpg", digest(scene), (4, 4, 34, 34))
    assert other.box == can.box
    assert clipped.box.corners == (80.5, 80, 96, 96)
    found = receipt(world, view)
    assert (found.kept, found.duplicates, found.rejected) == (3, 1, 1)
    assert (found.rejections[0].row, found.rejections[0].file) == (4, "missing.jpg")


def feedback(world: World, view: Any, files: Any) -> Any:
    """Send an archive as feedback of a model and read it."""
    world.clock.advance(seconds=1)
    model = a_model(view)
    world.container.uploads.add_feedback(world.account, model, an_archive(files))
    world.read_files()
    return world.get(view)


def test_feedback_in_bulk(world: World) -> None:
    """Boxes become feedback; an unknown label or a used name rejects only its rows."""
    view = world.pictures(detection_files(2), "image-detection")
    scene, used = draw(size=(96, 96), salt=50), draw(size=(96, 96), salt=51)
    rows = [
        ("new.png", [a_box("circle", 1, 1, 9, 9), a_box("moon", 1, 1, 9, 9)]),
        ("scene-0-1.jpg", [a_box("circle", 2, 2, 9, 9)]),
        ("sub/new.png", [a_box("circle", 3, 3, 9, 9)]),
    ]
    files = {"new.png": scene, "scene-0-1.jpg": used, "sub/new.png": used}

    view = feedback(world, view, {**files, "annotations.csv": annotations(rows)})

    assert view.dataset.status_message == "SUCCEEDED"
    assert labels(view) == [("circle", 3), ("square", 2)]
    [added] = examples(world, view, FEEDBACK)
    assert (added.name, added.picture, added.box.x) == ("new.png", digest(scene), 1)
    assert len(examples(world, view, UPLOAD)) == 4
    assert digest(used) not in stored(world, view)
    found = receipt(world, view)
    assert (found.seen, found.kept, found.rejected) == (4, 1, 3)
    assert [("moon" in r.reason, r.row) for r in found.rejections] == [
        (True, 2),
        (False, 3),
        (False, 4),
    ]
    assert "file name already" in found.rejections[1].reason


def test_feedback_may_repeat_a_box_of_the_upload(world: World) -> None:
    """Duplicates are counted per source, so feedback may repeat an uploaded box."""
    files = detection_files(1)
    view = world.pictures(files, "image-detection")
    size = view.dataset.bytes
    rows = [("other.jpg", [a_box("circle", 4, 8, 30, 30)] * 2)]

    view = feedback(
        world, view, {"other.jpg": files["scene-0-0.jpg"], "annotations.csv": annotations(rows)}
    )

    assert len(examples(world, view, FEEDBACK)) == 1
    assert view.dataset.duplicates == 1
    assert view.dataset.bytes == size


def test_file_that_is_not_an_archive(world: World) -> None:
    """A broken archive fails with the documented text; the receipt adds the cause."""
    broken = make_zip(PETS)[:-30]

    view = world.pictures(broken)

    assert view.dataset.status_message == "FAILED: Invalid zip format provided for pictures"
    assert receipt(world, view).message.startswith(f"{view.dataset.message}: ")
    assert world.objects() == []


def test_receipt_of_failed_feedback_names_every_reason(world: World) -> None:
    """Bulk feedback without a usable box counts its boxes, each with a reason."""
    view = world.pictures(detection_files(2), "image-detection")
    rows = [("new.png", [a_box("moon", 1, 1, 9, 9), a_box("sun", 1, 1, 9, 9)])]
    files = {"new.png": draw(size=(96, 96), salt=50), "annotations.csv": annotations(rows)}

    found = receipt(world, feedback(world, view, files))

    assert (found.status, found.seen, found.rejected) == ("FAILED", 2, 2)
    assert ["moon" in found.rejections[0].reason, "sun" in found.rejections[1].reason] == [True] * 2


def test_failed_put_leaves_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Images of a refused archive are deleted; existing images stay."""
    view = world.pictures(PETS)
    before = world.objects()
    monkeypatch.setattr(growth, "MAX_LABELS", 3)

    view = put(world, view, label_folders({"a": 1, "b": 1}, salt=20))

    assert view.dataset.status_message.startswith("FAILED: The dataset would have")
    assert (view.dataset.available, view.dataset.total) == (True, 5)
    assert world.objects() == before


def test_archive_is_dropped_once_it_is_read(world: World) -> None:
    """The archive is deleted once its images are stored."""
    view = world.upload_pictures(PETS)
    assert [key for key in world.objects() if "/raw/" in key]

    world.read_files()

    assert not [key for key in world.objects() if "/raw/" in key]
    assert world.get(view).dataset.reserved_bytes == 0


def test_attempt_that_broke_is_repeated(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeated attempt stores only the images that are missing."""
    put_picture, calls = PictureStore.put, Counter()
    lost = digest(PETS["dog/dog-1.png"])

    def put_once_broken(self: PictureStore, dataset_id: int, name: str, *more: Any) -> None:
        """Fail once at the last image."""
        calls[name] += 1
        if name == lost and calls[name] == 1:
            raise StorageUnavailable
        put_picture(self, dataset_id, name, *more)

    monkeypatch.setattr(PictureStore, "put", put_once_broken)
    view = world.upload_pictures(PETS)
    [message] = world.messages()
    with pytest.raises(StorageUnavailable):
        world.deliver(message)
    assert world.get(view).dataset.status == "UPLOADING"
    world.deliver(message)

    assert labels(world.get(view)) == [("cat", 3), ("dog", 2)]
    assert calls == {**{digest(c): 1 for c in PETS.values()}, lost: 2}
    assert len(world.rows(LabelRow)) == 2


def test_upload_out_of_attempts_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three attempts the upload is FAILED with the cause, and its images are deleted."""

    def refuse(*args: object) -> None:
        """Fail always."""
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(world.stores.examples, "put_chunk", refuse)
    view = world.upload_pictures(PETS)
    [message] = world.messages()
    for _ in range(3):
        with pytest.raises(RuntimeError):
            world.deliver(message)

    assert "in 3 attempts (RuntimeError: the disk is full)" in world.get(view).dataset.message
    assert world.objects() == []


@pytest.mark.parametrize("max_labels", [1_000, 1])
def test_dataset_deleted_while_it_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch, max_labels: int
) -> None:
    """A worker that ends after the deletion of its dataset leaves nothing."""
    monkeypatch.setattr(growth, "MAX_LABELS", max_labels)
    view = world.upload_pictures(PETS)
    [message] = world.messages()
    dataset = view.dataset
    put_picture, number = PictureStore.put, iter(range(100))

    def put_after_deletion(self: PictureStore, *more: Any) -> None:
        """Delete the dataset before the second image is stored."""
        if next(number) == 1:
            world.container.deletions.delete_dataset(
                world.account, dataset.family, dataset.dataset_id
            )
            world.clock.advance(minutes=5)
            world.work()
        put_picture(self, *more)

    monkeypatch.setattr(picture_writer, "THREADS", 1)
    monkeypatch.setattr(picture_writer, "MAX_WAITING", 1)
    monkeypatch.setattr(PictureStore, "put", put_after_deletion)
    world.deliver(message)
    world.settle()

    assert world.objects() == []
    assert world.rows(DatasetRow) == []
    assert world.traces(dataset.dataset_id) == []


def test_synchronous_upload_that_runs_out_of_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A synchronous upload out of time answers UPLOADING; the queue stores no image again."""
    put_picture, calls = PictureStore.put, Counter()

    def put_slowly(self: PictureStore, dataset_id: int, name: str, *more: Any) -> None:
        """Take ten seconds for each image."""
        calls[name] += 1
        world.clock.advance(seconds=10)
        put_picture(self, dataset_id, name, *more)

    monkeypatch.setattr(picture_writer, "THREADS", 1)
    monkeypatch.setattr(picture_writer, "MAX_WAITING", 1)
    monkeypatch.setattr(PictureStore, "put", put_slowly)
    view = world.container.uploads.create_sync(
        world.account, "vision", an_archive(PETS), UploadFields(), 25
    )
    assert (view.dataset.status_message, view.dataset.type) == ("UPLOADING", "image")
    assert 0 < len(calls) < 5

    world.read_files()

    assert labels(world.get(view)) == [("cat", 3), ("dog", 2)]
    assert set(calls.values()) == {1}


def test_synchronous_upload_is_finished_with_the_call(world: World) -> None:
    """With enough time a synchronous upload returns the labels."""
    view = world.container.uploads.create_sync(
        world.account, "vision", an_archive(PETS), UploadFields("pets"), 25
    )

    assert (labels(view), view.dataset.name) == ([("cat", 3), ("dog", 2)], "pets")

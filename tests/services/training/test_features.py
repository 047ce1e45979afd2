"""Image features: computed once, stored with their dataset, reused by trainings."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chalicelib.domain.datasets.dataset import VISION, DatasetView
from chalicelib.domain.jobs.messages import kind_of
from chalicelib.domain.models.model import Model, TrainRequest
from chalicelib.engines.vision.backbone.pool import BackboneNotInstalled
from chalicelib.engines.vision.features.shards import dump_shard, read_shard
from chalicelib.engines.vision.features.stored import StoredFeatures
from chalicelib.errors import LeaseLost, StorageUnavailable, TimedOut
from chalicelib.stores.jobs.queues import EMBED
from tests.builders import Message, World
from tests.pictures import label_folders
from tests.tiny_vision import TinyExtractor, TinyVision

COUNTS = {"bike": 5, "car": 5}


def _folder(view: DatasetView, name: str = "features/") -> str:
    """Folder of a dataset's features."""
    return f"datasets/{view.dataset.dataset_id}/{name}"


def _uploaded(world: World, counts: dict[str, int] = COUNTS) -> tuple[DatasetView, list[Message]]:
    """Upload and read images; return the dataset and the messages of its parts."""
    view = world.upload_pictures(label_folders(counts))
    parts = world.read_files()
    return world.get(view), parts


def _collect(
    world: World,
    view: DatasetView,
    extractor: TinyExtractor,
    *,
    copies: int = 0,
    check: Callable[[int, int, int], None] = lambda *_: None,
) -> StoredFeatures:
    """Collect the features of a dataset as a training does."""
    model = Model(
        "1", "M", "m", 1, VISION, view.dataset.type, "N/A", "RUNNING", 0, world.clock(),
        world.clock(), TrainRequest(),
    )  # fmt: skip
    pictures = world.stores.training_examples.pictures(model, [view.dataset])
    return world.container.features.collect(
        pictures.pictures, extractor, copies=copies, is_default=True, check=check
    )


def _rows(features: StoredFeatures) -> list[list[list[float]]]:
    """Return all rows by index and view."""
    return [
        [features.row(place, view).tolist() for view in range(features.views(place))]
        for place in range(len(features.places))
    ]


def test_part_becomes_several_objects(world: World, tiny: TinyVision) -> None:
    """A part is computed at ingest, as objects of limited size, and then deleted."""
    view, parts = _uploaded(world)
    assert [kind_of(message[1]) for message in parts] == ["features"]
    assert len(world.objects(_folder(view, "parts/"))) == 1

    for message in parts:
        world.deliver(message)

    keys = world.objects(_folder(view))
    contents = [world.stores.artifacts.get(key) for key in keys]
    shards = [read_shard(content) for content in contents if content]
    assert [len(shard.entries) for shard in shards] == [4, 4, 2]
    assert all(e.size == (32, 32) and e.view == 0 for s in shards for e in s.entries)
    assert world.objects(_folder(view, "parts/")) == []
    assert len(tiny.extractor.calls) == 10
    world.deliver(parts[0])
    assert len(tiny.extractor.calls) == 10


def test_part_near_the_deadline_continues(world: World, tiny: TinyVision) -> None:
    """A part that runs out of time stores its rows and continues in the next function."""
    view, [message] = _uploaded(world)

    world.deliver(message, lambda: 30.0)

    assert len(world.objects(_folder(view))) == 1
    [continuation] = world.messages()
    assert continuation == message
    assert continuation[0] == EMBED
    world.deliver(continuation)
    assert len(tiny.extractor.calls) == 10
    assert world.objects(_folder(view, "parts/")) == []


def test_parts_beyond_the_space_are_left_to_the_training(
    world: World, tiny: TinyVision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ingest computes features up to a limit; the training computes the rest."""
    monkeypatch.setattr("chalicelib.stores.examples.parts.PART_PICTURES", 4)
    small = world.another(replace(world.settings, feature_bytes=tiny.extractor.row_bytes))
    view, parts = _uploaded(world)
    assert len(parts) == 3

    for queue, job in parts:
        assert queue == EMBED
        small.container.upload_parts.run(job, lambda: 900.0)

    assert len(tiny.extractor.calls) == 4
    assert world.objects(_folder(view, "parts/")) == []
    with closing(_collect(world, view, tiny.extractor)) as features:
        assert len(features.places) == 10


def test_picture_that_cannot_be_read(
    world: World, tiny: TinyVision, caplog: pytest.LogCaptureFixture
) -> None:
    """An unreadable image is logged and skipped; the others are used."""
    view, [message] = _uploaded(world)
    first, second, *_ = world.objects(_folder(view, "images/"))
    world.stores.artifacts.put(first, b"\x89PNG\r\n\x1a\n nothing")
    world.stores.artifacts.delete(second)

    world.deliver(message)
    with_ingest = _collect(world, view, tiny.extractor)

    assert (len(with_ingest.places), len(tiny.extractor.calls)) == (8, 8)
    assert sum("picture_left_out" in line for line in caplog.messages) == 4
    gone = {first.rpartition("/")[2], second.rpartition("/")[2]}
    assert gone.isdisjoint(digest.hex() for digest, _ in tiny.extractor.calls)
    with_ingest.close()


def test_part_of_a_deleted_dataset(
    world: World, tiny: TinyVision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Features computed during the deletion of their dataset are deleted."""
    view, [message] = _uploaded(world)
    other = world.another()
    extract = tiny.extractor.extract

    def extract_late(*args: Any) -> Any:
        """Delete the dataset while its part is computed."""
        monkeypatch.setattr(tiny.extractor, "extract", extract)
        dataset_id = view.dataset.dataset_id
        other.container.deletions.delete_dataset(world.account, VISION, dataset_id)
        other.settle()
        assert not world.objects()
        return extract(*args)

    monkeypatch.setattr(tiny.extractor, "extract", extract_late)
    world.deliver(message)

    assert not world.objects()
    world.deliver(message)
    assert not world.objects()


def test_missing_backbone_does_not_stop_the_queue(
    world: World, tiny: TinyVision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the networks an upload succeeds, and a training reports what is missing."""
    view, [message] = _uploaded(world)

    def extract(*args: Any) -> Any:
        """Fail."""
        raise BackboneNotInstalled("lite2")

    monkeypatch.setattr(tiny.extractor, "extract", extract)
    world.deliver(message)

    assert world.objects(_folder(view, "parts/")) == []
    with pytest.raises(BackboneNotInstalled):
        _collect(world, view, tiny.extractor)


def test_training_uses_what_exists(world: World, tiny: TinyVision) -> None:
    """A training reads the rows of the ingest, which match their images."""
    view, [message] = _uploaded(world)
    first = _collect(world, view, tiny.extractor)
    made = list(tiny.extractor.calls)
    for key in world.objects(_folder(view)):
        world.stores.artifacts.delete(key)
    world.stores.artifacts.put_json(message[1].part, [digest.hex() for digest, _ in sorted(made)])
    world.deliver(message)
    assert len(tiny.extractor.calls) == 20

    second = _collect(world, view, tiny.extractor)

    assert len(tiny.extractor.calls) == 20
    assert _rows(first) == _rows(second)
    assert len({tuple(row[0]) for row in _rows(first)}) == 10
    assert [second.size(place) for place in range(10)] == [(32, 32)] * 10
    first.close()
    second.close()


def test_training_starts_from_the_end(world: World, tiny: TinyVision) -> None:
    """A training starts with the last images, the ingest with the first."""
    view, [message] = _uploaded(world)
    progress: list[tuple[int, int, int]] = []
    digests = list(world.stores.parts.items(message[1].part) or [])

    def check(*shown: int) -> None:
        """Run the ingest after the training's first object."""
        progress.append((shown[0], shown[1], shown[2]))
        if shown[2] == 4 and len(progress) == 2:
            world.deliver(message, lambda: 30.0)

    features = _collect(world, view, tiny.extractor, check=check)

    called = [digest.hex() for digest, _ in tiny.extractor.calls]
    assert called == [*digests[6:10], *digests[:4], *digests[4:6]]
    assert [shown for shown in progress if shown[2]] == [(4, 10, 4), (10, 10, 6)]
    assert world.objects(_folder(view, "parts/")) == []
    features.close()


def test_views_are_made_and_kept(world: World, tiny: TinyVision) -> None:
    """With space for augmented views all exist; a later training without it reads none."""
    view, _ = _uploaded(world)
    features = _collect(world, view, tiny.extractor, copies=1_000)

    assert {features.views(place) for place in range(10)} == {3}
    assert len({str(row) for rows in _rows(features) for row in rows}) == 30
    assert sorted(tiny.extractor.calls) == sorted(
        {(digest, number) for digest, _ in tiny.extractor.calls for number in range(3)}
    )
    plain = _collect(world, view, tiny.extractor)
    again = _collect(world, view, tiny.extractor, copies=1_000)
    assert len(tiny.extractor.calls) == 30
    assert [rows[:1] for rows in _rows(again)] == _rows(plain)
    assert _rows(again) == _rows(features)
    for opened in (features, plain, again):
        opened.close()


def test_space_limits_altered_views_only(world: World, tiny: TinyVision) -> None:
    """If features need too much space, augmented views are dropped, never the originals."""
    view, _ = _uploaded(world)
    row = tiny.extractor.row_bytes
    counts = []
    for rows in (30, 29, 20, 5):
        small = world.another(replace(world.settings, feature_bytes=rows * row))
        features = _collect(small, view, tiny.extractor, copies=1_000)
        counts.append({features.views(place) for place in range(10)})
        features.close()

    assert counts == [{3}, {2}, {2}, {1}]


def test_the_requested_number_of_copies_is_made(world: World, tiny: TinyVision) -> None:
    """If fewer augmented copies are requested, they are spread evenly over all images."""
    view, _ = _uploaded(world)
    counts = []
    for copies in (0, 9, 10, 19, 20):
        features = _collect(world, view, tiny.extractor, copies=copies)
        counts.append({features.views(place) for place in range(10)})
        features.close()

    assert counts == [{1}, {1}, {2}, {2}, {3}]


@pytest.mark.parametrize("kept", [0, 7, 1_000])
def test_rows_beyond_the_file_come_from_the_bucket(
    world: World, tiny: TinyVision, kept: int
) -> None:
    """With features larger than its file, a training reads the same rows from the bucket."""
    view, [message] = _uploaded(world)
    world.deliver(message)
    whole = _collect(world, view, tiny.extractor, copies=1_000)
    limit = kept * tiny.extractor.row_bytes
    small = world.another(replace(world.settings, feature_file_bytes=limit))

    features = _collect(small, view, tiny.extractor, copies=1_000)

    assert _rows(features) == _rows(whole)
    assert len(tiny.extractor.calls) == 30
    whole.close()
    features.close()


def test_rows_made_before_a_stop_are_kept(world: World, tiny: TinyVision) -> None:
    """A training stopped between objects leaves its finished rows to the next one."""
    view, _ = _uploaded(world)

    def stop(done: int, total: int, made: int) -> None:
        """Stop after the first object."""
        if made:
            raise TimedOut("Enough.")

    rounds = 0
    while True:
        try:
            features = _collect(world, view, tiny.extractor, copies=1_000, check=stop)
        except TimedOut:
            rounds += 1
        else:
            break

    assert rounds == 8
    assert len(tiny.extractor.calls) == len(set(tiny.extractor.calls)) == 30
    features.close()


def test_damaged_object_is_made_again(world: World, tiny: TinyVision) -> None:
    """Rows of a damaged object, or of another width, are computed again."""
    view, [message] = _uploaded(world)
    world.deliver(message)
    whole = _collect(world, view, tiny.extractor)
    first, second, third = world.objects(_folder(view))
    content = world.stores.artifacts.get(first)
    assert content is not None
    world.stores.artifacts.put(first, content[:-40] + bytes(40))
    world.stores.artifacts.put(second, content[:300])
    shard = read_shard(content)
    world.stores.artifacts.put(third, dump_shard(shard.entries[:1], [np.zeros(5, np.float16)]))

    features = _collect(world, view, tiny.extractor)

    assert _rows(features) == _rows(whole)
    assert len(tiny.extractor.calls) == 20
    whole.close()
    features.close()


def test_equal_files_are_computed_once(world: World, tiny: TinyVision) -> None:
    """One image file with two labels has one row."""
    files = label_folders({"bike": 3, "car": 3})
    files["car/again.png"] = files["bike/bike-0.png"]
    view = world.pictures(files)
    features = _collect(world, view, tiny.extractor)

    assert (len(features.places), len(tiny.extractor.calls)) == (7, 6)
    rows = _rows(features)
    assert rows[0] == rows[6]
    features.close()


def test_lost_lease_closes_the_file(world: World, tiny: TinyVision) -> None:
    """A stopped collection closes its temporary file."""
    view, _ = _uploaded(world)

    def check(*_: int) -> None:
        """Stop."""
        raise LeaseLost

    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(LeaseLost):
            _collect(world, view, tiny.extractor, check=check)

    assert len(os.listdir("/proc/self/fd")) == before


def test_threads_change_nothing(world: World, tiny: TinyVision) -> None:
    """Several threads give the same objects."""
    view, [message] = _uploaded(world)
    world.one_call_at_a_time()
    world.deliver(message)
    keys = world.objects(_folder(view))
    first = [world.stores.artifacts.get(key) for key in keys]
    for key in keys:
        world.stores.artifacts.delete(key)
    world.stores.artifacts.put_json(message[1].part, [d.hex() for d, _ in tiny.extractor.calls])
    threaded = world.another(replace(world.settings, threads=4))
    threaded.one_call_at_a_time()

    threaded.deliver(message)

    assert [world.stores.artifacts.get(key) for key in keys] == first
    assert io.BytesIO(first[0] or b"").read(2) == b"PK"


def test_storage_that_does_not_answer(
    world: World, tiny: TinyVision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If images cannot be read now, the part stays and is retried."""
    view, [message] = _uploaded(world)
    get = world.stores.pictures.get

    def fail(*args: Any) -> Any:
        """Fail."""
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.pictures, "get", fail)
    with pytest.raises(StorageUnavailable):
        world.deliver(message)
    monkeypatch.setattr(world.stores.pictures, "get", get)
    world.deliver(message)

    assert len(world.objects(_folder(view))) == 3

"""Deletions of image datasets with valid URLs, and cards of their models afterwards."""

from __future__ import annotations

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, VISION, DatasetView
from chalicelib.domain.jobs.deletion import Deletion
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import DeletionRow
from chalicelib.stores.models.versions import CARD
from tests.builders import World, some_rows
from tests.pictures import label_folders

FILES = label_folders({"cat": 2, "dog": 1})


def _show(world: World, view: DatasetView) -> None:
    """Return the URLs of a dataset's images."""
    page = world.container.examples.list_dataset(world.account, world.get(view), "all", 0, 100)
    assert all("X-Amz-Expires" in item.location for item in page.items)


def _delete(world: World, view: DatasetView) -> Deletion:
    """Delete a dataset and run the worker."""
    row = view.dataset
    world.container.deletions.delete_dataset(world.account, row.family, row.dataset_id)
    world.work()
    return _state(world, view)


def _state(world: World, view: DatasetView) -> Deletion:
    """Return the deletion record by repeating the DELETE."""
    row = view.dataset
    return world.container.deletions.delete_dataset(world.account, row.family, row.dataset_id)


def test_pictures_leave_nothing(world: World) -> None:
    """Images, features, names and rows are deleted at once, even while URLs are valid."""
    view = world.pictures(FILES)
    prefix = f"datasets/{view.dataset.dataset_id}/"
    for name in ("features/lite2-x/0001", "names", "parts/x"):
        world.stores.artifacts.put(f"{prefix}{name}", b"derived")
    assert len(world.objects(f"{prefix}images/")) == 3
    _show(world, view)

    done = _delete(world, view)

    assert (done.status, done.progress) == ("SUCCEEDED_WAITING_FOR_CACHE_REMOVAL", 1)
    assert not world.traces(view.dataset.dataset_id)
    assert not world.objects()


def test_waits_until_the_last_url_is_dead(world: World) -> None:
    """The sweep ends the deletion once the last URL has expired, after 30 minutes."""
    view = world.pictures(FILES)
    _show(world, view)
    world.clock.advance(minutes=10)
    _show(world, view)
    world.clock.advance(minutes=29)
    states = [_delete(world, view).status]

    for step in ({"seconds": 59.9}, {"seconds": 0.1}, {"minutes": 1}):
        world.clock.advance(**step)
        swept = world.container.sweeping.run()
        states.append((swept, _state(world, view).status))

    waiting = "SUCCEEDED_WAITING_FOR_CACHE_REMOVAL"
    assert states == [waiting, (0, waiting), (1, "SUCCEEDED"), (0, "SUCCEEDED")]
    assert _state(world, view).progress == 1
    assert [row.open for row in world.rows(DeletionRow)] == [None]
    assert world.messages() == []


def test_nothing_to_wait_for(world: World) -> None:
    """Texts, and images without valid URLs, are deleted at once."""
    hidden, old = world.pictures(FILES), world.pictures(FILES)
    _show(world, old)
    world.clock.advance(minutes=30)
    texts = world.dataset(some_rows({"a": 2}))
    world.container.examples.list_dataset(world.account, texts, "all", 0, 100)
    empty = world.container.datasets.create(world.account, VISION, NewDataset("empty"))
    world.container.examples.list_dataset(world.account, empty, "all", 0, 100)

    for view in (hidden, old, texts, empty):
        assert _delete(world, view).status == "SUCCEEDED"


def test_job_that_arrives_again_keeps_waiting(world: World) -> None:
    """A second delivery of the job neither ends nor restarts the waiting."""
    view = world.pictures(FILES)
    _show(world, view)
    world.container.deletions.delete_dataset(world.account, VISION, view.dataset.dataset_id)
    [message] = world.messages()

    for _ in range(2):
        world.deliver(message)
        assert _state(world, view).status == "SUCCEEDED_WAITING_FOR_CACHE_REMOVAL"
    world.clock.advance(minutes=30)
    world.container.sweeping.run()
    world.deliver(message)
    assert _state(world, view).status == "SUCCEEDED"


def test_worker_that_died_after_deleting_the_row(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash the next worker finds no dataset but still waits for valid URLs."""
    view = world.pictures(FILES)
    _show(world, view)
    finish = world.stores.deletions.finish

    def die(_: object) -> None:
        """Kill the worker at its last step."""
        raise MemoryError

    monkeypatch.setattr(world.stores.deletions, "finish", die)
    with pytest.raises(MemoryError):
        _delete(world, view)
    assert not world.traces(view.dataset.dataset_id)
    monkeypatch.setattr(world.stores.deletions, "finish", finish)
    world.clock.advance(minutes=5)
    world.container.sweeping.run()
    world.work()

    assert _state(world, view).status == "SUCCEEDED_WAITING_FOR_CACHE_REMOVAL"


REPORT = {
    "likelyLabelErrors": [
        {"exampleId": 880101, "name": "cat-0.png", "label": "cat", "suggestedLabel": "dog"},
        {"exampleId": 880102, "name": "cat-1.png", "label": "cat", "probability": 0.875},
    ],
    "conflictingNearDuplicates": [
        {"exampleIds": [880101, 880103], "labels": ["cat", "dog"], "distance": 3},
        {"examples": [{"id": 1, "text": "where is it"}, {"id": 2, "text": "is it where"}]},
    ],
    "confusedLabels": [{"expected": "cat", "predicted": "dog", "count": 4}],
    "duplicatesAcrossSplit": 7,
}
REDACTED = {
    "likelyLabelErrors": [
        {"label": "cat", "suggestedLabel": "dog"},
        {"label": "cat", "probability": 0.875},
    ],
    "conflictingNearDuplicates": [
        {"labels": ["cat", "dog"], "distance": 3},
        {"examples": [{}, {}]},
    ],
    "confusedLabels": [{"expected": "cat", "predicted": "dog", "count": 4}],
    "duplicatesAcrossSplit": 7,
}


def test_examples_are_removed_from_cards(world: World) -> None:
    """Cards lose texts, names and ids of a deleted dataset; figures stay."""
    view = world.dataset(some_rows({"cat": 5, "dog": 5}))
    other = world.dataset(some_rows({"cat": 5, "dog": 5}))
    artifacts, keys = world.stores.artifacts, []
    for trained in (view, other):
        model = world.model(trained)
        for version in (model.version, "r0-0"):
            key = f"models/{model.model_id}/{version}/{CARD}"
            card = artifacts.get_json(key) or {"modelId": model.model_id}
            artifacts.put_json(key, {**card, "dataReport": REPORT})
            keys.append(key)
    before = [artifacts.get_json(key) for key in keys]

    assert _delete(world, view).status == "SUCCEEDED"

    after = [artifacts.get_json(key) for key in keys]
    assert [card["dataReport"] for card in after] == [REDACTED, REDACTED, REPORT, REPORT]
    assert after[0] == {**before[0], "dataReport": REDACTED}
    assert after[2:] == before[2:]


def test_file_names_are_removed_from_curves(world: World) -> None:
    """Learning curves keep labels and figures of a deleted dataset, but no file names."""
    view = world.dataset(some_rows({"cat": 5, "dog": 5}))
    model = world.model(view)
    result = {"exampleName": "anna.jpg-cat", "expectedLabel": "cat", "predictedLabel": "dog"}
    record = {"epoch": 1, "metricsData": {"testAccuracy": 0.5}, "object": "learningcurve"}
    key = f"models/{model.model_id}/curves/1/00000.json"
    several = {"cat": [{**result, "expectedLabel": "cat_positive"}], "dog": []}
    world.stores.artifacts.put_json(
        key, [{**record, "epochResults": [result]}, {**record, "epochResults": several}]
    )

    assert _delete(world, view).status == "SUCCEEDED"

    assert world.stores.artifacts.get_json(key) == [
        {**record, "epochResults": [{**result, "exampleName": "cat"}]},
        {
            **record,
            "epochResults": {
                "cat": [{**result, "exampleName": "cat_positive", "expectedLabel": "cat_positive"}],
                "dog": [],
            },
        },
    ]


def test_card_of_a_model_deleted_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A card that is written after the deletion of its model is deleted too."""
    view = world.dataset(some_rows({"cat": 5, "dog": 5}))
    model = world.model(view)
    key = f"models/{model.model_id}/{model.version}/{CARD}"
    world.stores.artifacts.put_json(key, {"dataReport": REPORT})
    put_json = world.stores.artifacts.put_json

    def put_late(place: str, value: object) -> None:
        """Write only after the whole model is gone."""
        world.container.deletions.delete_model(world.account, model.model_id)
        for message in world.messages():
            world.deliver(message)
        put_json(place, value)

    monkeypatch.setattr(world.stores.artifacts, "put_json", put_late)
    world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
    world.work()

    assert not world.objects()

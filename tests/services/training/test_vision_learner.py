"""Image trainings as a service: results, progress and failures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.accounts.account import GLOBAL_ACCOUNT_ID
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.example import PictureFile
from chalicelib.domain.models.model import FAILED, RUNNING, SUCCEEDED, TrainRequest
from chalicelib.engines.vision.backbone.pool import BackboneNotInstalled
from chalicelib.errors import StorageUnavailable
from tests.builders import World
from tests.pictures import detection_files, label_folders
from tests.services.training.vision_runs import REQUEST, artifact, asked, before_steps, current
from tests.tiny_vision import TinyTraining, TinyVision


def test_finished_training(world: World, album: DatasetView) -> None:
    """A SUCCEEDED model has statistics in images, metrics, a complete curve and a card."""
    model = world.model(album, TrainRequest(epochs=3, params={"trainSplitRatio": 0.75}))

    stats = model.stats
    assert stats is not None
    assert (model.status, model.progress, model.version) == (SUCCEEDED, 1, "r1-1")
    assert (stats.labels, stats.examples, stats.train_size, stats.test_size) == (2, 12, 9, 3)
    assert (stats.last_epoch, stats.early_stopping) == (3, False)
    assert stats.total_seconds >= stats.training_seconds + stats.load_seconds
    curve = world.container.models.curve(model, 0, 25)
    assert [record["epoch"] for record in curve.items] == [1, 2, 3]
    assert world.container.models.metrics(model).data["labels"] == ["bike", "car"]
    assert world.container.models.card(model.account_id, model.model_id)["object"] == "card"
    assert world.get(album).dataset.training == frozenset()
    assert world.objects(f"models/{model.model_id}/checkpoints/") == []


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (TrainRequest(), (30, 0.001, 0.9, False, "")),
        (
            TrainRequest(
                epochs=2, learning_rate=0.01, params={"trainSplitRatio": 0.5, "augmentData": True}
            ),
            (2, 0.01, 0.5, True, ""),
        ),
    ],
)
def test_options_reach_the_engine(
    world: World, tiny: TinyVision, album: DatasetView, request_: TrainRequest, expected: Any
) -> None:
    """Epochs, learning rate, ratio and augmentation are as requested, or the defaults."""
    world.model(album, request_)

    [training] = tiny.opened
    options = training.options
    assert expected == (
        options.epochs,
        options.learning_rate,
        options.split_ratio,
        options.augment,
        options.algorithm,
    )
    assert training.data.features.views(0) == (3 if options.augment else 1)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (TrainRequest(algorithm="object-detection"), True),
        (TrainRequest(algorithm="object-detection", params={"augmentData": False}), False),
        (TrainRequest(algorithm="object-detection", epochs=2), False),
        (TrainRequest(algorithm="retail-execution"), False),
    ],
)
def test_few_pictures_with_boxes_are_altered_unless_the_caller_chose(
    world: World, tiny: TinyVision, request_: TrainRequest, expected: bool
) -> None:
    """Few images are augmented unless epochs or augmentation are requested."""
    world.model(world.pictures(detection_files(5), "image-detection"), request_)

    [training] = tiny.opened
    assert training.options.augment == expected
    assert training.options.has_named_epochs == (request_.epochs is not None)


def test_detection_learns_boxes_of_pictures(world: World, tiny: TinyVision) -> None:
    """A detection training uses images with boxes; its sizes count images."""
    view = world.pictures(detection_files(5), "image-detection")

    model = world.model(view, TrainRequest(epochs=1, algorithm="retail-execution"))

    assert model.stats is not None
    assert (model.stats.examples, model.stats.train_size + model.stats.test_size) == (10, 5)
    [training] = tiny.opened
    assert training.options.algorithm == "retail-execution"
    assert all(len(picture.boxes) == 2 for picture in training.data.pictures.pictures)
    # The features that the upload waits for are those of the other algorithm.
    assert (len(tiny.extractor.calls), len(tiny.retail.calls)) == (0, 5)
    assert len(world.objects(f"datasets/{view.dataset.dataset_id}/parts/")) == 1


def test_epochs_are_seen_while_it_runs(
    world: World, album: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each epoch appears in the learning curve when it ends; progress never decreases."""
    model, message = asked(world, album, TrainRequest(epochs=30))
    lengths, progress = [], []

    def look(training: TinyTraining) -> None:
        """Read the state as a caller does."""
        now = current(world, model)
        assert now.status == RUNNING
        pages = [world.container.models.curve(now, offset, 25) for offset in (0, 25)]
        lengths.append(sum(len(page.items) for page in pages))
        assert lengths[-1] == training.epochs_done
        assert pages[0].has_more == (training.epochs_done > 25)
        progress.append(now.progress)

    monkeypatch.setattr("chalicelib.services.training.runs.REPORT_SECONDS", 0.0)
    before_steps(monkeypatch, look)
    world.deliver(message)

    assert lengths[-1] == 30
    assert progress == sorted(progress)
    assert len(set(progress)) > 50
    assert current(world, model).progress == 1


def test_retraining_that_fails_keeps_the_model(
    world: World, album: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a retraining waits, runs or has FAILED, the last version predicts."""
    model = world.model(album, REQUEST)
    world.container.training.retrain(world.account, model, TrainRequest(epochs=4))
    [message] = world.messages()
    world.deliver(message, lambda: 30.0)
    [message] = world.messages()
    running = current(world, model)
    monkeypatch.setattr(TinyTraining, "step", lambda _: (_ for _ in ()).throw(MemoryError("x")))
    for _ in range(3):
        with pytest.raises(MemoryError):
            world.deliver(message)

    failed = current(world, model)
    assert (running.status, failed.status) == (RUNNING, FAILED)
    assert running.version == failed.version == model.version
    assert artifact(world, failed) is not None
    assert failed.failure == (
        "Training stopped after 3 attempts: the worker ran out of memory. "
        "Use smaller images or fewer examples, then train again."
    )
    assert world.objects(f"models/{model.model_id}/checkpoints/") == []


def test_storage_that_does_not_answer(
    world: World, album: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If images cannot be read in three attempts, the training is FAILED with a fixed message."""
    model, message = asked(world, album)

    def get(*_: Any) -> Any:
        """Fail."""
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.pictures, "get", get)
    for _ in range(3):
        with pytest.raises(StorageUnavailable):
            world.deliver(message)

    assert current(world, model).failure == (
        "Training stopped after 3 attempts: the dataset's images could not be read from storage. "
        "Train again; if it fails again, upload the dataset anew."
    )


def test_pictures_that_are_gone(world: World, album: DatasetView) -> None:
    """Unreadable images are skipped; without any readable one the error has a remedy."""
    first, *rest = world.objects(f"datasets/{album.dataset.dataset_id}/images/")
    world.stores.artifacts.delete(first)
    model = world.model(album, REQUEST)
    assert model.stats is not None
    assert (model.status, model.stats.examples) == (SUCCEEDED, 11)

    world.stores.artifacts.delete_prefix(f"datasets/{album.dataset.dataset_id}/")
    failed = world.model(album, REQUEST)

    assert failed.status == FAILED
    assert failed.failure.startswith("None of the images of dataset")
    assert failed.failure.endswith("Upload them as a new dataset, then train that.")
    assert rest


def test_missing_backbone_fails_the_run(
    world: World, tiny: TinyVision, album: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If networks are not installed, the run fails with how to install them."""

    def extract(*_: Any) -> Any:
        """Fail."""
        raise BackboneNotInstalled("nanodet")

    monkeypatch.setattr(tiny.extractor, "extract", extract)
    model = world.model(album, REQUEST)

    assert (model.status, model.failure) == (FAILED, str(BackboneNotInstalled("nanodet")))


def test_engine_that_refuses(world: World, tiny: TinyVision, album: DatasetView) -> None:
    """If the engine refuses the data, the run is FAILED with its message and frees the dataset."""
    for key in world.objects(f"datasets/{album.dataset.dataset_id}/images/")[1:]:
        world.stores.artifacts.delete(key)

    model = world.model(album, REQUEST)

    assert (model.status, model.failure) == (FAILED, "One image is not enough. Add others.")
    assert world.get(album).dataset.training == frozenset()


def test_global_dataset_keeps_its_own_features(
    world: World, tiny: TinyVision, album: DatasetView
) -> None:
    """Images of a global dataset use the features stored with that dataset."""
    owner = replace(world.account, account_id=GLOBAL_ACCOUNT_ID)
    shared = world.pictures(label_folders({"car": 3, "boat": 3}, salt=50), account=owner)
    world.messages()
    request = TrainRequest(epochs=2, params={"withGlobalDatasetId": shared.dataset.dataset_id})

    model = world.model(album, request)

    assert model.stats is not None
    assert (model.stats.labels, model.stats.examples) == (3, 18)
    pictures = tiny.opened[0].data.pictures
    assert pictures.labels == ["bike", "car", "boat"]
    assert {p.dataset_id for p in pictures.pictures} == {
        album.dataset.dataset_id,
        shared.dataset.dataset_id,
    }
    for dataset_id, objects in ((album.dataset.dataset_id, 3), (shared.dataset.dataset_id, 2)):
        assert len(world.objects(f"datasets/{dataset_id}/features/")) == objects
    assert [label.name for label in world.get(album).labels] == ["bike", "car"]


def test_feedback_is_trained_on_when_requested(
    world: World, tiny: TinyVision, album: DatasetView
) -> None:
    """Feedback images are trained on with `withFeedback`, and only then."""
    model = world.model(album, REQUEST)
    picture = PictureFile(label_folders({"car": 1}, salt=77)["car/car-0.png"], "new.png")
    world.container.feedback.add_picture(world.account, model, picture, "car")

    plain = world.model(world.get(album), REQUEST)
    fed = world.model(world.get(album), TrainRequest(epochs=1, params={"withFeedback": True}))

    assert plain.stats is not None
    assert fed.stats is not None
    assert (plain.stats.examples, fed.stats.examples) == (12, 13)
    assert [p.name for p in tiny.opened[-1].data.pictures.pictures if p.is_feedback] == ["new.png"]

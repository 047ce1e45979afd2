"""Image trainings that are stopped, killed, stalled or repeated give the same model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.models.model import QUEUED, RUNNING, SUCCEEDED, TrainRequest
from chalicelib.engines.vision import checkpoint as checkpoint_module
from chalicelib.services.training import vision_learner
from chalicelib.stores.aws.tables import ModelRow
from tests.builders import Message, World, an_archive
from tests.pictures import label_folders
from tests.services.training.vision_runs import REQUEST, artifact, asked, before_steps, current
from tests.tiny_vision import STEPS, TinyTraining, TinyVision


@pytest.mark.parametrize(("augment", "epochs"), [(False, 3), (True, 1)])
def test_training_out_of_time_after_every_step(
    world: World, tiny: TinyVision, album: DatasetView, augment: bool, epochs: int
) -> None:
    """A training that runs out of time repeatedly ends with the same model."""
    request = TrainRequest(epochs=epochs, params={"augmentData": augment})
    undisturbed = world.model(album, request)
    for key in world.objects("datasets/"):
        if "/features/" in key:
            world.stores.artifacts.delete(key)
    model, message = asked(world, album, request)
    seen, rounds = [0.0], 0
    while current(world, model).status in (QUEUED, RUNNING):
        world.deliver(message, lambda: 30.0)
        rounds += 1
        assert rounds <= 30
        assert current(world, model).attempts in (0, 1)
        seen.append(current(world, model).progress)
        world.messages()
        curve = world.container.models.curve(model, 0, 25).items
        assert len(curve) == (tiny.opened[-1].epochs_done if len(tiny.opened) > 1 else 0)

    done = current(world, model)
    assert (done.status, done.failure) == (SUCCEEDED, "")
    assert artifact(world, done) == artifact(world, undisturbed)
    assert seen == sorted(seen)
    objects = 9 if augment else 3
    assert rounds == objects - 1 + epochs * STEPS + 1
    assert world.objects(f"models/{model.model_id}/checkpoints/") == []


def test_files_added_meanwhile_are_not_used(
    world: World, tiny: TinyVision, album: DatasetView
) -> None:
    """A run that resumes after a PUT uses the examples of its start."""
    undisturbed = world.model(album, REQUEST)
    model, message = asked(world, album)
    world.deliver(message, lambda: 30.0)
    world.messages()
    more = an_archive(label_folders({"bike": 3, "boat": 4}, salt=100))
    world.container.uploads.add(world.account, world.get(album), more)
    world.work()
    assert world.get(album).dataset.total == 19

    while current(world, model).status == RUNNING:
        world.deliver(message, lambda: 30.0)
        world.messages()

    done = current(world, model)
    assert done.stats is not None
    assert (done.stats.examples, done.stats.labels) == (12, 2)
    assert artifact(world, done) == artifact(world, undisturbed)
    later = world.model(world.get(album), REQUEST)
    assert later.stats is not None
    assert (later.stats.examples, later.stats.labels) == (19, 3)


def _stopped_run(world: World, album: DatasetView) -> tuple[Any, Message]:
    """Run a training up to its fifth step."""
    model, message = asked(world, album)
    left = itertools.chain(itertools.repeat(900.0, 8), itertools.repeat(30.0))
    world.deliver(message, lambda: next(left))
    world.messages()
    return model, message


@pytest.mark.parametrize("damage", ["cut", "other engine", "refused", "curve"])
def test_state_that_cannot_be_used(
    world: World,
    tiny: TinyVision,
    album: DatasetView,
    monkeypatch: pytest.MonkeyPatch,
    damage: str,
) -> None:
    """If the checkpoint is damaged or of another version, the run starts again."""
    undisturbed = world.model(album, REQUEST)
    model, message = _stopped_run(world, album)
    assert tiny.opened[-1].epochs_done > 0
    store = world.stores.checkpoints
    content = store.get(model)
    assert content is not None
    if damage == "cut":
        store.put(model, content[: len(content) // 2])
    elif damage == "other engine":
        monkeypatch.setattr(tiny.extractor, "version", "f" * 12)
    elif damage == "refused":
        monkeypatch.setattr(checkpoint_module, "__version__", checkpoint_module.__version__)
        monkeypatch.setattr("tests.tiny_vision.load", _refusing)
    else:
        for key in world.objects(f"models/{model.model_id}/curves/"):
            world.stores.artifacts.delete(key)

    world.deliver(message)

    done = current(world, model)
    assert done.status == SUCCEEDED
    assert tiny.opened[-1].opened_with is None
    assert artifact(world, done) == artifact(world, undisturbed)
    curve = world.container.models.curve(done, 0, 25).items
    assert [record["epoch"] for record in curve] == [1, 2, 3]


def _refusing(*_: Any) -> Any:
    """Return a loader that refuses every checkpoint."""
    raise ValueError("of another version")


def test_run_continues_from_its_state(world: World, tiny: TinyVision, album: DatasetView) -> None:
    """A run resumes from an intact checkpoint."""
    _, message = _stopped_run(world, album)

    world.deliver(message)

    assert tiny.opened[-1].opened_with is not None


def _kill_at(monkeypatch: pytest.MonkeyPatch, place: int) -> Iterator[int]:
    """Kill the worker once at a step."""
    number = itertools.count()
    pending = [place]

    def act(_: TinyTraining) -> None:
        """Die."""
        if pending and next(number) == pending[0]:
            pending.clear()
            raise KeyboardInterrupt

    before_steps(monkeypatch, act)
    return number


@pytest.mark.parametrize("place", [0, 2, 3, 7, 9])
def test_killed_worker_costs_an_epoch_at_most(
    world: World,
    tiny: TinyVision,
    album: DatasetView,
    monkeypatch: pytest.MonkeyPatch,
    place: int,
) -> None:
    """After a crash the next worker repeats no finished epoch."""
    monkeypatch.setattr(vision_learner, "SAVE_EPOCH_SECONDS", 0.0)
    model, message = asked(world, album)
    _kill_at(monkeypatch, place)
    with pytest.raises(KeyboardInterrupt):
        world.deliver(message)
    world.clock.advance(minutes=5)

    world.deliver(message)

    first, second = tiny.opened
    assert first.number == place
    opened = 0 if second.opened_with is None else place // STEPS * STEPS
    assert place - opened < STEPS
    assert current(world, model).status == SUCCEEDED


def test_saving_inside_an_epoch(
    world: World, tiny: TinyVision, album: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long epochs are also checkpointed between their steps."""
    monkeypatch.setattr(vision_learner, "SAVE_SECONDS", 0.0)
    _, message = asked(world, album)
    _kill_at(monkeypatch, 5)
    with pytest.raises(KeyboardInterrupt):
        world.deliver(message)
    world.clock.advance(minutes=5)

    steps: list[int] = []
    before_steps(monkeypatch, lambda training: steps.append(training.number))
    world.deliver(message)

    assert steps[0] == 5


def test_quick_epochs_are_not_saved_each(
    world: World, album: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quick epochs do not each write a checkpoint."""
    saved: list[Any] = []
    monkeypatch.setattr(world.stores.checkpoints, "put", lambda *given: saved.append(given))

    world.model(album, REQUEST)

    assert saved == []


def test_two_workers_on_one_training(
    world: World, tiny: TinyVision, album: DatasetView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that stalls publishes nothing after another has finished the run."""
    model, message = asked(world, album)
    other = world.another()
    pending = [True]

    def stall(training: TinyTraining) -> None:
        """Run the whole training in another worker."""
        if training.number == 4 and pending:
            pending.clear()
            world.clock.advance(minutes=5)
            other.deliver(message)

    before_steps(monkeypatch, stall)
    world.deliver(message)

    done = current(world, model)
    assert (done.status, done.version) == (SUCCEEDED, "r1-2")
    assert not world.objects(f"models/{model.model_id}/r1-1/")
    assert not world.objects(f"models/{model.model_id}/checkpoints/")


@pytest.mark.parametrize("store", ["checkpoints.put", "model_files.put_version"])
def test_stalled_training_of_a_deleted_model(
    world: World, album: DatasetView, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    """A worker that wakes up after its model was deleted leaves nothing behind."""
    monkeypatch.setattr(vision_learner, "SAVE_SECONDS", 0.0)
    model, message = asked(world, album)
    other = world.another()
    owner, _, name = store.partition(".")
    method, pending = getattr(getattr(world.stores, owner), name), [True]

    def stall(*args: Any) -> Any:
        """Finish in another worker and delete the model."""
        if pending:
            pending.clear()
            world.clock.advance(minutes=5)
            other.deliver(message)
            other.container.deletions.delete_model(world.account, model.model_id)
            other.settle()
        return method(*args)

    monkeypatch.setattr(getattr(world.stores, owner), name, stall)
    world.deliver(message)

    assert not world.traces(model.model_id)


def test_message_that_comes_twice(world: World, tiny: TinyVision, album: DatasetView) -> None:
    """A message of a finished or owned run does nothing."""
    model, message = asked(world, album)
    world.deliver(message)
    done = current(world, model)

    world.deliver(message)

    assert current(world, model) == done
    assert len(tiny.opened) == 1


def test_deleted_model_leaves_nothing(world: World, album: DatasetView) -> None:
    """A deleted model leaves no version, curve or checkpoint, even of failed runs."""
    model, message = _stopped_run(world, album)
    assert world.objects(f"models/{model.model_id}/checkpoints/") != []
    assert world.objects(f"models/{model.model_id}/curves/") != []
    world.deliver(message)
    world.stores.checkpoints.put(replace(model, run=7), b"left over")

    world.container.deletions.delete_model(world.account, model.model_id)
    world.settle()

    assert not world.traces(model.model_id)


def test_attempts_of_a_long_run(world: World, album: DatasetView) -> None:
    """Continuations do not count as failed attempts."""
    model, message = asked(world, album, TrainRequest(epochs=5))
    for _ in range(8):
        world.deliver(message, lambda: 30.0)
        world.messages()

    [row] = world.rows(ModelRow)
    assert int(row.attempts) == 0
    assert current(world, model).status == RUNNING

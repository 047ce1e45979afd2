"""Trainings that delegate vectors and features to workers of the `embed` queue."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.jobs import spreading
from chalicelib.domain.jobs.messages import TrainJob
from chalicelib.domain.models.model import RUNNING, SUCCEEDED, Model, TrainRequest
from chalicelib.engines.text.encoding.encoders import EncoderNotInstalled
from chalicelib.errors import LeaseLost
from chalicelib.services.training import parts
from chalicelib.stores.jobs.queues import EMBED
from chalicelib.stores.jobs.turns import PARTS_SECONDS
from tests.builders import Message, TinyEncoder, World, some_rows
from tests.hops import OneWorker
from tests.pictures import label_folders
from tests.services.training.vision_runs import COUNTS, artifact, asked, current
from tests.tiny_vision import TinyExtractor, TinyVision

ROWS = some_rows({"book": 60, "cancel": 60})
ACCURATE = TrainRequest(epochs=3, params={"profile": "accurate"})
SPREAD_SECONDS = spreading.SPREAD_SECONDS
# Number of parts of the texts below: 4 words and 5 more each, 0.7 ms a word, 10 texts a part.
PARTS = 12


@pytest.fixture
def large(world: World, monkeypatch: pytest.MonkeyPatch) -> TinyEncoder:
    """A test encoder so slow that a hundred texts are delegated."""
    monkeypatch.setattr(spreading, "SPREAD_SECONDS", 0.1)
    monkeypatch.setattr(spreading, "PART_SECONDS", 0.0625)
    made = TinyEncoder("mpnet")
    world.container.encoders._encoders["mpnet"] = made
    return made


def _waiting(world: World, view: DatasetView) -> list[str]:
    """Return everything in the folders of running trainings."""
    return world.objects(f"datasets/{view.dataset.dataset_id}/runs/")


def _given_away(world: World, view: DatasetView) -> tuple[Model, list[Message]]:
    """Run a training until it waits; return it and the messages of its parts."""
    model, message = asked(world, view, ACCURATE)
    world.deliver(message)
    return current(world, model), world.messages()


def _work(world: World, messages: list[Message]) -> None:
    """Deliver messages until none is left."""
    for message in messages:
        world.send(message)
    world.work()


def test_training_waits_without_a_worker_and_is_the_same(
    world: World, large: TinyEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other workers embed each part once, the last one resumes the training; bytes are equal."""
    view = world.dataset(ROWS)

    model, heads = _given_away(world, view)

    assert (model.status, model.attempts, large.texts) == (RUNNING, 0, 0)
    assert {queue for queue, _ in heads} == {EMBED}
    _work(world, heads)
    model = current(world, model)
    assert (model.status, model.attempts, large.texts) == (SUCCEEDED, 1, len(ROWS) + 2)
    assert _waiting(world, view) == []
    folder = f"datasets/{view.dataset.dataset_id}/embeddings/mpnet"
    assert len(world.objects(folder)) == PARTS
    for key in world.objects(folder):
        world.stores.artifacts.delete(key)
    monkeypatch.setattr(spreading, "SPREAD_SECONDS", SPREAD_SECONDS)
    whole = world.model(view, ACCURATE)
    assert artifact(world, whole) == artifact(world, model)


def test_little_work_is_not_split(
    world: World, large: TinyEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small amount of work, or any with a small encoder, is not delegated."""
    monkeypatch.setattr(spreading, "SPREAD_SECONDS", 0.8)
    view = world.dataset(ROWS)

    model, messages = _given_away(world, view)

    assert (model.status, messages) == (SUCCEEDED, [])


def test_account_has_few_waiting_parts(
    world: World, large: TinyEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each finished part sends the next one, and progress grows."""
    monkeypatch.setattr(parts, "PARTS_AT_ONCE", 2)
    view = world.dataset(ROWS)
    model, waiting = _given_away(world, view)
    shown = [model.progress]

    while waiting[0][0] == EMBED:
        assert len(waiting) <= 2
        world.deliver(waiting.pop(0))
        waiting += world.messages()
        shown.append(current(world, model).progress)

    assert len(shown) == PARTS + 1
    assert shown == sorted(shown)
    assert shown[-2] > 0.45
    assert len(waiting) == 1
    world.deliver(waiting[0])
    assert current(world, model).status == SUCCEEDED


def test_chains_are_as_long_as_their_parts(
    world: World, large: TinyEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part is one message, chains are equally long, and the last part resumes once."""
    monkeypatch.setattr(parts, "PARTS_AT_ONCE", 2)
    model, heads = _given_away(world, world.dataset(ROWS))
    worker = OneWorker(world, heads)
    worker.deliver_all()

    assert current(world, model).status == SUCCEEDED
    # The message that wakes the training is one hop after the longest chain.
    assert worker.sent + len(heads) == PARTS + 1
    assert max(worker.hops.values()) == -(-PARTS // 2) + 1


@pytest.mark.parametrize("dies", ["before", "between", "after"])
def test_part_of_a_worker_that_died_is_done_again(
    world: World, large: TinyEncoder, monkeypatch: pytest.MonkeyPatch, dies: str
) -> None:
    """If every part's worker dies once, the training still finishes without leftovers."""
    monkeypatch.setattr(parts, "PARTS_AT_ONCE", 2)
    view = world.dataset(ROWS)
    model, waiting = _given_away(world, view)
    place: dict[str, tuple[Any, str]] = {
        "before": (world.container.embeddings, "make_run_part"),
        "between": (world.stores.run_parts, "delete_part"),
        "after": (world.stores.run_parts, "unfinished_keys"),
    }

    def die(*_: object) -> None:
        raise LeaseLost

    while waiting:
        message = waiting.pop(0)
        if message[0] == EMBED:
            with monkeypatch.context() as patch:
                patch.setattr(*place[dies], die)
                with pytest.raises(LeaseLost):
                    world.container.training_parts.run(message[1])
        world.deliver(message, delivery=2 if message[0] == EMBED else 1)
        waiting += world.messages()

    assert current(world, model).status == SUCCEEDED
    folder = f"datasets/{view.dataset.dataset_id}/embeddings/mpnet"
    assert len(world.objects(folder)) == PARTS
    assert _waiting(world, view) == []


def test_messages_that_come_twice_do_nothing(world: World, large: TinyEncoder) -> None:
    """A repeated message of a finished part computes and sends nothing."""
    view = world.dataset(ROWS)
    _, heads = _given_away(world, view)

    world.deliver(heads[0])
    sent = world.messages()
    world.deliver(heads[0])

    assert (len(sent), world.messages(), large.texts) == (1, [], 10)


def test_last_two_parts_that_end_at_once_wake_their_training(
    world: World, large: TinyEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the last two parts end simultaneously, the training is still resumed."""
    monkeypatch.setattr(parts, "PARTS_AT_ONCE", 2)
    view = world.dataset(ROWS)
    model, waiting = _given_away(world, view)
    while len(_waiting(world, view)) > 3:
        world.deliver(waiting.pop(0))
        waiting += world.messages()
    progress = world.stores.run_parts.progress

    def let_the_last_end(*asked: Any) -> float:
        """Finish the last part between the check for remaining parts and the start of waiting."""
        monkeypatch.setattr(world.stores.run_parts, "progress", progress)
        world.deliver(waiting.pop())
        return progress(*asked)

    monkeypatch.setattr(world.stores.run_parts, "progress", let_the_last_end)
    world.deliver(waiting.pop())
    world.work()

    assert current(world, model).status == SUCCEEDED


def test_training_computes_lost_parts_itself(world: World, large: TinyEncoder) -> None:
    """After minutes without a finished part the training computes the rest itself."""
    view = world.dataset(ROWS)
    model, heads = _given_away(world, view)
    world.deliver(heads[0])
    world.messages()

    world.clock.advance(seconds=PARTS_SECONDS - 1)
    world.container.sweeping.run()
    assert world.messages() == []
    world.clock.advance(seconds=1 + 2 * world.settings.lease_seconds)
    world.container.sweeping.run()
    world.work()

    model = current(world, model)
    assert (model.status, model.attempts, large.texts) == (SUCCEEDED, 1, len(ROWS) + 2)
    assert _waiting(world, view) == []


def test_late_part_helps_a_resumed_training(
    world: World, large: TinyEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A late worker and the resumed training embed no text twice."""
    view = world.dataset(ROWS)
    model, heads = _given_away(world, view)
    world.clock.advance(seconds=PARTS_SECONDS + 1)
    make = world.container.embeddings.make_run_part
    late = iter(heads)

    def make_and_let_others(run: Model, part: Any) -> None:
        """Compute a part, and let a late worker compute one."""
        make(run, part)
        if (head := next(late, None)) is not None:
            monkeypatch.setattr(world.container.embeddings, "make_run_part", make)
            world.deliver(head)
            monkeypatch.setattr(world.container.embeddings, "make_run_part", make_and_let_others)

    monkeypatch.setattr(world.container.embeddings, "make_run_part", make_and_let_others)
    world.clock.advance(minutes=16)
    world.container.sweeping.run()
    world.work()

    model = current(world, model)
    assert (model.status, large.texts) == (SUCCEEDED, len(ROWS) + 2)
    assert model.fence == 2


def test_waiting_training_counts_as_one_that_runs(world: World, large: TinyEncoder) -> None:
    """A training that waits for parts is not started by another message."""
    view = world.dataset(ROWS)
    model, _ = _given_away(world, view)

    queue = "train-free"
    world.deliver((queue, TrainJob.of(model)))

    assert (current(world, model).status, large.texts) == (RUNNING, 0)


def test_part_of_a_finished_run_leaves_nothing(world: World, large: TinyEncoder) -> None:
    """A worker that wakes after the deletion of dataset and training deletes what it wrote."""
    view = world.dataset(ROWS)
    _, heads = _given_away(world, view)
    make = world.container.embeddings.make_run_part

    def stalled(run: Model, part: Any) -> None:
        """End and delete everything before the write."""
        world.container.embeddings.make_run_part = make
        world.settle()
        account = world.account
        world.container.deletions.delete_dataset(account, "language", view.dataset.dataset_id)
        world.settle()
        make(run, part)

    world.container.embeddings.make_run_part = stalled
    world.deliver(heads[0])

    assert world.objects(f"datasets/{view.dataset.dataset_id}/") == []


def test_training_that_fails_clears_its_parts(
    world: World, large: TinyEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed training deletes its delegated parts."""
    view = world.dataset(ROWS)
    model, _ = _given_away(world, view)
    assert len(_waiting(world, view)) == PARTS + 1

    world.stores.model_leases.pause_lease(model, 0.0)
    monkeypatch.setattr(large, "encode", _is_missing)
    world.deliver(("train-free", TrainJob.of(model)))

    assert current(world, model).status == "FAILED"
    assert _waiting(world, view) == []


def _is_missing(*_: object, **__: object) -> None:
    raise EncoderNotInstalled("mpnet")


def test_delegated_features_are_the_same(
    world: World, tiny: TinyVision, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delegated plain and augmented views are computed once each, with equal bytes."""
    monkeypatch.setattr(TinyExtractor, "row_seconds", 1.0)
    monkeypatch.setattr(spreading, "SPREAD_SECONDS", 4.0)
    request = TrainRequest(epochs=3, params={"augmentData": True})
    view = world.pictures(label_folders(COUNTS))
    total = sum(COUNTS.values()) * tiny.extractor.most_views

    model, message = asked(world, view, request)
    world.deliver(message)

    assert (current(world, model).status, len(tiny.extractor.calls)) == (RUNNING, 0)
    assert world.objects(f"datasets/{view.dataset.dataset_id}/parts/") == []
    world.work()
    model = current(world, model)
    assert (model.status, model.attempts) == (SUCCEEDED, 1)
    assert len(tiny.extractor.calls) == len(set(tiny.extractor.calls)) == total
    assert _waiting(world, view) == []
    monkeypatch.setattr(TinyExtractor, "row_seconds", 0.0)
    other = world.pictures(label_folders(COUNTS))
    whole = world.model(other, request)
    assert artifact(world, whole) == artifact(world, model)

"""Training runs: data, publication, failures and attempts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.models.model import (
    FAILED,
    RUNNING,
    SUCCEEDED,
    Model,
    TrainRequest,
    TrainStats,
)
from chalicelib.engines.text.encoding.encoders import EncoderNotInstalled
from chalicelib.errors import LeaseLost, StorageUnavailable, TrainingFailed
from chalicelib.stores.aws.tables import ModelRow
from tests.builders import TinyEncoder, World, some_rows

ROWS = some_rows({"book": 10, "cancel": 10})


def _break(world: World, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Make every training fail when it reads its examples."""

    def read(*args: Any) -> Any:
        """Fail."""
        raise error

    monkeypatch.setattr(world.stores.training_examples, "read", read)


def test_finished_training(world: World) -> None:
    """A SUCCEEDED model has statistics, metrics, a curve of all epochs, and a card."""
    view = world.dataset(ROWS)

    model = world.model(view, TrainRequest(epochs=3))

    models, stats = world.container.models, model.stats
    assert stats is not None
    assert (model.status, model.progress, model.version) == (SUCCEEDED, 1, "r1-1")
    assert (stats.labels, stats.examples, stats.train_size + stats.test_size) == (2, 20, 20)
    assert 1 <= stats.last_epoch == model.epochs <= 3
    curve = models.curve(model, 0, 25)
    assert [record["epoch"] for record in curve.items] == list(range(1, model.epochs + 1))
    assert models.metrics(model).data["labels"] == ["book", "cancel"]
    assert models.card(model.account_id, model.model_id)["object"] == "card"
    assert world.get(view).dataset.training == frozenset()


@pytest.mark.parametrize(("ratio", "train"), [(0.5, 10), (0.8, 16), (0.9, 18)])
def test_split_ratio_is_used(world: World, ratio: float, train: int) -> None:
    """`trainSplitRatio` decides how many examples are held out."""
    request = TrainRequest(epochs=2, params={"trainSplitRatio": ratio})

    model = world.model(world.dataset(ROWS), request)

    assert model.stats is not None
    assert (model.stats.train_size, model.stats.test_size) == (train, 20 - train)


def test_epochs_limit_the_run(world: World) -> None:
    """A training runs at most the requested number of epochs."""
    model = world.model(world.dataset(ROWS), TrainRequest(epochs=1))

    assert model.epochs == 1
    assert len(world.container.models.curve(model, 0, 25).items) == 1


def test_training_uses_what_was_there_when_it_began(world: World) -> None:
    """Examples added between request and start are used."""
    view = world.dataset(ROWS)
    model = world.train(view).model
    world.container.examples.add_text(world.account, view, "one more", None, "book")
    world.work()

    done = world.container.models.get(model.account_id, model.model_id)
    assert done.stats is not None
    assert done.stats.examples == 21


def test_embeddings_of_the_upload_are_used(world: World) -> None:
    """Texts embedded by the ingest are not embedded again."""
    view = world.dataset(ROWS)
    encoder = world.container.encoders.get("bge")
    assert isinstance(encoder, TinyEncoder)
    assert encoder.texts == len(ROWS)

    world.model(view)

    phrases = 2
    assert encoder.texts == len(ROWS) + phrases


def test_training_embeds_what_is_missing(world: World) -> None:
    """A training before the embedding jobs computes all vectors and leaves them nothing to do."""
    view, [part] = world.unembedded(ROWS)
    encoder = world.container.encoders.get("bge")
    assert isinstance(encoder, TinyEncoder)

    model = world.model(view)
    world.deliver(part)

    assert model.status == SUCCEEDED
    assert encoder.texts == len(ROWS) + len({label for _, label in ROWS})
    assert not world.objects(f"datasets/{view.dataset.dataset_id}/parts/")


def test_same_data_gives_the_same_model(world: World) -> None:
    """Two trainings of one dataset give byte-identical artifacts."""
    view = world.dataset(ROWS)
    artifacts = []
    for _ in range(2):
        model = world.model(view)
        artifacts.append(world.stores.model_files.artifact(model.model_id, model.version))

    assert artifacts[0] == artifacts[1]


def test_refused_training_has_failed_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the engine refuses the data, the run is FAILED with its message and frees the dataset."""
    view = world.dataset(ROWS)
    _break(world, monkeypatch, TrainingFailed("All texts are equal. Add others."))

    model = world.model(view)

    assert (model.status, model.failure) == (FAILED, "All texts are equal. Add others.")
    assert (model.progress, model.version) == (0, "")
    assert world.get(view).dataset.training == frozenset()
    assert world.stores.accounts.training(world.account.account_id) == frozenset()


def test_training_out_of_attempts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three interrupted attempts the run is FAILED, with the cause and a remedy."""
    view = world.dataset(ROWS)
    _break(world, monkeypatch, MemoryError("no memory"))
    model = world.train(view).model
    [message] = world.messages()
    for _ in range(3):
        with pytest.raises(MemoryError):
            world.deliver(message)

    failed = world.container.models.get(model.account_id, model.model_id)
    assert failed.status == FAILED
    assert failed.failure.startswith("Training stopped after 3 attempts: MemoryError: no memory.")
    assert world.get(view).dataset.training == frozenset()
    world.deliver(message)
    assert world.container.models.get(model.account_id, model.model_id) == failed


def test_worker_that_dies_three_times(world: World) -> None:
    """A run whose workers die is resumed after each lease, and finally FAILED."""
    view = world.dataset(ROWS)
    model = world.train(view).model
    [message] = world.messages()
    for _ in range(3):
        assert world.stores.model_leases.acquire(model.account_id, model.model_id, 1) is not None
        world.deliver(message)
        assert world.container.models.get(model.account_id, model.model_id).status == RUNNING
        world.clock.advance(minutes=5)

    world.settle()

    failed = world.container.models.get(model.account_id, model.model_id)
    assert failed.status == FAILED
    assert failed.failure.startswith("Training stopped after 3 attempts. ")
    assert world.get(view).dataset.training == frozenset()


def test_end_whose_reply_was_lost_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A success whose write is not confirmed stays a success."""
    model = world.train(world.dataset(ROWS)).model
    [message] = world.messages()
    leases = world.stores.model_leases
    succeed = leases.succeed

    def succeed_and_fail(*args: Any) -> None:
        """Publish and lose the reply."""
        succeed(*args)
        raise StorageUnavailable

    monkeypatch.setattr(leases, "succeed", succeed_and_fail)
    ModelRow(model.account_id, model.model_id).update([ModelRow.attempts.set(2)])
    with pytest.raises(StorageUnavailable):
        world.deliver(message)
    world.settle()

    done = world.container.models.get(model.account_id, model.model_id)
    assert (done.status, done.failure, done.progress) == (SUCCEEDED, "", 1)
    assert world.stores.model_files.artifact(done.model_id, done.version) is not None


def test_missing_encoder_fails_the_run(world: World, tmp_path: Path) -> None:
    """A missing encoder fails the run with how to install it."""
    view = world.dataset(ROWS)
    world.container.encoders._encoders.clear()
    world.container.encoders._directory = tmp_path

    model = world.model(view)

    assert (model.status, model.failure) == (FAILED, str(EncoderNotInstalled("bge")))


def test_stalled_owner_writes_nothing(world: World) -> None:
    """All writes of a worker that lost its lease are refused."""
    model = world.train(world.dataset(ROWS)).model
    leases = world.stores.model_leases
    first = leases.acquire(model.account_id, model.model_id, 1)
    assert first is not None
    assert leases.acquire(model.account_id, model.model_id, 1) is None
    world.clock.advance(minutes=2)
    second = leases.acquire(model.account_id, model.model_id, 1)
    assert second is not None
    stats = TrainStats(2, 20, 1, 1, 1, 1, False, 1, 16, 4)
    writes: list[Callable[[], None]] = [
        lambda: leases.renew(first),
        lambda: leases.report(first, 0.9, 9),
        lambda: leases.succeed(first, "r1-1", stats),
        lambda: leases.fail(first, "late"),
    ]

    for write in writes:
        with pytest.raises(LeaseLost):
            write()
    leases.fail_attempt(first, "late")
    leases.return_to_queue(first, 7, 1.0)

    now = world.container.models.get(model.account_id, model.model_id)
    assert (now.status, now.fence, now.progress, now.last_error) == (RUNNING, 2, 0, "")
    leases.renew(second)
    assert leases.acquire(model.account_id, model.model_id, 1) is None


def _flights_and_meals() -> list[tuple[str, str]]:
    """Forty texts of two intents."""
    flights = ["flight to {}", "a plane ticket to {}", "fly me to {}", "book a seat to {}"]
    meals = ["a table for dinner in {}", "pizza in {}", "where to eat in {}", "lunch in {}"]
    cities = ["Paris", "Rome", "Oslo", "Lima", "Delhi"]
    rows = [(text.format(city), "fly") for text in flights for city in cities]
    return rows + [(text.format(city), "eat") for text in meals for city in cities]


@pytest.fixture
def real_encoders(world: World) -> None:
    """Use installed encoders instead of the tiny one."""
    folder = Path(world.settings.model_dir)
    assert (folder / "bge" / "encoder.json").is_file(), "run: python -m infra.models install"
    world.container.encoders._encoders.clear()


def _labels(world: World, model: Model, texts: Sequence[str]) -> list[str | None]:
    """Return the top labels of the answers; None for an empty answer."""
    answers = [world.answer(model.model_id, text) for text in texts]
    return [answer[0].label if answer else None for answer in answers]


ASKED = ("a plane ticket to Lima", "pizza in Oslo", "the derivative of x squared is 2x")


@pytest.mark.usefixtures("real_encoders")
@pytest.mark.parametrize("algorithm", ["intent", "multilingual-intent", "multilingual-intent-ood"])
def test_out_of_domain_training(world: World, algorithm: str) -> None:
    """With a rate, every intent algorithm trains a model that may return no label."""
    params: dict[str, object] = {"outOfDomainRate": 0.2, "profile": "fast"}
    request = TrainRequest(epochs=20, algorithm=algorithm, params=params)

    model = world.model(world.dataset(_flights_and_meals()), request)

    assert (model.status, model.request.algorithm) == (SUCCEEDED, algorithm)
    assert _labels(world, model, ASKED) == ["fly", "eat", None]
    matrix = world.container.models.metrics(model).data["confusionMatrix"]
    assert [len(row) for row in matrix] == [3, 3, 3]


@pytest.mark.usefixtures("real_encoders")
def test_older_models_without_a_rate_still_answer_labels(world: World) -> None:
    """A retraining ignores the rate of an older model; one without a rate has none."""
    view = world.dataset(_flights_and_meals())
    params: dict[str, object] = {"outOfDomainRate": 0.2, "profile": "fast"}
    request = TrainRequest(epochs=20, algorithm="intent", params=params)
    plain = world.model(view, TrainRequest(epochs=20, params={"profile": "fast"}))
    old = world.model(view, request)
    ModelRow(old.account_id, old.model_id).update(actions=[ModelRow.heeds_rate.remove()])

    old = world.container.models.get(old.account_id, old.model_id)
    world.container.training.retrain(world.account, old, request)
    world.work()
    old = world.container.models.get(old.account_id, old.model_id)

    for model in (plain, old):
        assert None not in _labels(world, model, ASKED)
        matrix = world.container.models.metrics(model).data["confusionMatrix"]
        assert [len(row) for row in matrix] == [2, 2]

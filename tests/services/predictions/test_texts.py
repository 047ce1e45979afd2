"""Predictions of custom models: order, top N, states, versions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE
from chalicelib.domain.models.model import Model, TrainRequest
from chalicelib.engines import artifact
from chalicelib.engines.text.encoding.encoders import EncoderDamaged
from chalicelib.errors import (
    EncoderMissing,
    EncoderUnreadable,
    InvalidParameter,
    ModelNotFound,
    ModelNotReady,
    ModelUnreadable,
    PrebuiltNotInstalled,
    StorageUnavailable,
    TrainingFailed,
)
from chalicelib.stores.models.versions import ARTIFACT
from tests.builders import TinyEncoder, World, some_rows

ROWS = some_rows({"book": 8, "cancel": 8, "greet": 8})


def _predict(world: World, model_id: str, text: str, count: int | None = None) -> list[str]:
    """Predict with a model and return the labels by probability."""
    return [item.label for item in world.answer(model_id, text, count)]


def test_all_labels_by_probability(world: World) -> None:
    """Without a count all labels are returned, most probable first, adding up to one."""
    model = world.model(world.dataset(ROWS))

    items = world.answer(model.model_id, "greet please number 3")

    assert items[0].label == "greet"
    assert sorted(item.label for item in items) == ["book", "cancel", "greet"]
    assert [i.probability for i in items] == sorted((i.probability for i in items), reverse=True)
    assert sum(item.probability for item in items) == pytest.approx(1, abs=1e-5)
    assert len(_predict(world, model.model_id, "greet", 2)) == 2
    assert len(_predict(world, model.model_id, "greet", 50)) == 3


def test_model_of_another_account(world: World) -> None:
    """Another account's model, an unknown and a malformed id are the same 404."""
    model = world.model(world.dataset(ROWS))
    other = world.new_account("other@example.com")
    find = world.container.stores.served_models.find

    for account_id, model_id in (
        (other.account_id, model.model_id),
        (world.account.account_id, "A" * 26),
        (world.account.account_id, "nonsense\n"),
        (world.account.account_id, ""),
    ):
        with pytest.raises(ModelNotFound, match=r"^Unable to find model"):
            find(account_id, model_id)


def test_prebuilt_model_that_is_not_installed(world: World, tmp_path: Path) -> None:
    """A prebuilt model without its files is refused with how to install it."""
    bare = world.another(replace(world.settings, model_dir=str(tmp_path)))

    with pytest.raises(PrebuiltNotInstalled, match=r"python -m infra\.models install"):
        bare.container.stores.served_models.find(world.account.account_id, "GlobalIntentModel")


def test_model_without_a_version(world: World) -> None:
    """A model that is QUEUED for the first time cannot predict."""
    model = world.train(world.dataset(ROWS)).model

    with pytest.raises(ModelNotReady, match="its status is QUEUED"):
        _predict(world, model.model_id, "hello")


def test_model_of_another_type(world: World) -> None:
    """An intent model is refused for sentiment predictions."""
    model = world.model(world.dataset(ROWS))

    with pytest.raises(InvalidParameter, match="is of type text-intent"):
        world.answer(model.model_id, "hello", kind="text-sentiment")


def test_old_version_answers_until_the_retraining_succeeds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a retraining is QUEUED, RUNNING or FAILED, the last good version predicts."""
    view = world.dataset(ROWS)
    model = world.model(view)
    metrics = world.container.models.metrics(model).data
    read = world.stores.training_examples.read
    seen = []

    def current() -> Model:
        """Read the model again."""
        return world.container.models.get(model.account_id, model.model_id)

    def check() -> None:
        """Predict and read the metrics in the present state."""
        answer = _predict(world, model.model_id, "book please")[0]
        shown = world.container.models.metrics(current()).data
        seen.append((current().status, current().version, answer, shown == metrics))

    def fail(*args: object) -> None:
        """Check during the run, then fail it."""
        check()
        raise TrainingFailed

    world.container.training.retrain(world.account, model, TrainRequest(epochs=2))
    check()
    monkeypatch.setattr(world.stores.training_examples, "read", fail)
    [message] = world.messages()
    world.deliver(message)
    check()
    monkeypatch.setattr(world.stores.training_examples, "read", read)
    world.container.training.retrain(world.account, current(), TrainRequest(epochs=2))
    world.work()

    assert seen == [(s, "r1-1", "book", True) for s in ("QUEUED", "RUNNING", "FAILED")]
    assert (current().status, current().run) == ("SUCCEEDED", 3)
    assert current().version.startswith("r3-")
    assert _predict(world, model.model_id, "book please")[0] == "book"


def test_model_of_a_deleted_dataset(world: World) -> None:
    """A model outlives its dataset, and can be deleted after it."""
    view = world.dataset(ROWS)
    model = world.model(view)
    world.container.deletions.delete_dataset(world.account, LANGUAGE, view.dataset.dataset_id)
    world.work()

    assert _predict(world.another(), model.model_id, "cancel please")[0] == "cancel"
    assert world.container.models.metrics(model).data["labels"] == ["book", "cancel", "greet"]

    world.container.deletions.delete_model(world.account, model.model_id)
    world.work()
    assert not world.objects()
    assert not world.traces(model.model_id)


def test_deleted_model_answers_nothing(world: World) -> None:
    """After DELETE is answered, a process that has cached the model does not predict."""
    model = world.model(world.dataset(ROWS))
    _predict(world, model.model_id, "book")

    world.container.deletions.delete_model(world.account, model.model_id)

    with pytest.raises(ModelNotFound):
        _predict(world, model.model_id, "book")
    with pytest.raises(ModelNotFound):
        world.container.models.get(world.account.account_id, model.model_id)
    assert world.container.training.view(model).model == model


def test_encoder_of_another_digest(world: World) -> None:
    """A model never predicts with an encoder other than the one it was trained with."""
    model = world.model(world.dataset(ROWS))
    changed = TinyEncoder("bge")
    changed.sha256 = "0" * 64
    other = world.another()
    other.container.encoders._encoders["bge"] = changed

    with pytest.raises(EncoderMissing, match="needs the encoder bge"):
        _predict(other, model.model_id, "book")


def test_encoder_with_damaged_files(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unreadable encoder is a conflict with a remedy, not an internal error."""
    model = world.model(world.dataset(ROWS))
    other = world.another()
    encoders = other.container.encoders

    def damaged(name: str) -> TinyEncoder:
        raise EncoderDamaged(name)

    monkeypatch.setattr(encoders, "is_installed", lambda name: True)
    monkeypatch.setattr(encoders, "get", damaged)

    with pytest.raises(EncoderUnreadable, match=r"damaged files.*infra\.models verify"):
        _predict(other, model.model_id, "book")


def test_artifact_that_is_gone(world: World) -> None:
    """A version whose file was just deleted is a temporary error, not a wrong answer."""
    model = world.model(world.dataset(ROWS))
    world.stores.model_files.delete(model.model_id)

    with pytest.raises(StorageUnavailable):
        _predict(world, model.model_id, "book")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04 torn", "damaged"),
        (artifact.dump({"kind": "text-linear", "version": 0}, {}), "version 0.*reads version 1"),
        (artifact.dump({"kind": "something-else", "version": 1}, {}), "kind 'something-else'"),
    ],
    ids=["torn", "older version", "another kind"],
)
def test_artifact_of_another_version(world: World, content: bytes, words: str) -> None:
    """An unreadable artifact is an error with a remedy; a retraining fixes it."""
    model = world.model(world.dataset(ROWS))
    path = f"models/{model.model_id}/{model.version}/{ARTIFACT}"
    assert path in world.objects()
    world.stores.artifacts.put(path, content)

    with pytest.raises(ModelUnreadable, match=f"{words}.*Train it again"):
        _predict(world, model.model_id, "book")

    world.container.training.retrain(world.account, model, TrainRequest(epochs=2))
    world.work()
    assert _predict(world, model.model_id, "book")

"""Model versions: which are kept, and when a retraining replaces the served one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.models.model import Model, TrainRequest
from chalicelib.errors import Conflict
from chalicelib.stores.aws.objects import model_prefix
from chalicelib.stores.aws.tables import ModelRow
from chalicelib.stores.models.versions import ARTIFACT
from tests.builders import World, some_rows
from tests.domain.models.test_comparison import evaluation

ROWS = some_rows({"book": 20, "cancel": 20})
KEPT = 3


def retrain(world: World, model: Model, **params: object) -> Model:
    """Retrain a model to the end."""
    request = TrainRequest(epochs=2, params=params or None)
    world.container.training.retrain(world.account, model, request)
    world.work()
    return current(world, model)


def current(world: World, model: Model) -> Model:
    """Read the model again."""
    found = world.stores.models.find(model.account_id, model.model_id)
    assert found is not None
    return found


def folders(world: World, model: Model) -> set[str]:
    """Return the version folders in the bucket."""
    keys = world.stores.artifacts.keys(model_prefix(model.model_id))
    return {key.split("/")[-2] for key in keys if key.endswith(ARTIFACT)}


@pytest.fixture
def few(world: World) -> World:
    """A service that keeps three versions of a model instead of ten."""
    assert world.settings.kept_versions == 10
    return world.another(replace(world.settings, kept_versions=KEPT))


def test_the_newest_and_the_served_one_are_kept(few: World) -> None:
    """As many versions as set, and the served one, are kept; others go with their files."""
    world = few
    model = world.model(world.dataset(ROWS), TrainRequest(epochs=2))
    model = retrain(world, model)
    for _ in range(KEPT):
        # Served again after each retraining, as someone does who only collects versions.
        world.container.model_versions.serve(model, 1)
        model = retrain(world, model)
    numbers = [one.number for one in model.versions.kept]

    assert len(numbers) == KEPT
    assert numbers[-1] == KEPT + 2
    assert folders(world, model) == {one.folder for one in model.versions.kept}


def test_a_version_of_a_batch_is_kept(few: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version used by an open batch is deleted neither by a call nor by a training."""
    world = few
    model = retrain(world, world.model(world.dataset(ROWS), TrainRequest(epochs=2)))
    first = model.versions.kept[0]
    monkeypatch.setattr(world.stores.batches, "used_versions", lambda *_: frozenset({first.folder}))

    with pytest.raises(Conflict, match="batch uses version 1"):
        world.container.model_versions.remove(model, 1)
    for _ in range(KEPT):
        model = retrain(world, model)

    assert model.versions.kept[0] == first


def test_a_served_version_cannot_be_removed_meanwhile(world: World) -> None:
    """Of simultaneous calls to delete and to serve a version only one succeeds."""
    model = retrain(world, world.model(world.dataset(ROWS), TrainRequest(epochs=2)))
    first = model.versions.kept[0]

    assert world.stores.version_serving.serve(model, first)
    assert not world.stores.version_serving.remove(model, first)
    assert world.stores.version_serving.serve(model, model.versions.kept[1])
    assert world.stores.version_serving.remove(model, first)
    assert not world.stores.version_serving.serve(model, first)


def test_serving_during_a_run_waits_for_its_end(world: World) -> None:
    """A version can be served during a retraining, whose end serves the new version."""
    model = retrain(world, world.model(world.dataset(ROWS), TrainRequest(epochs=2)))
    world.container.training.retrain(world.account, model, TrainRequest(epochs=2))

    assert world.container.model_versions.serve(current(world, model), 1).is_served
    assert current(world, model).version == "r1-1"
    world.work()

    assert [one.number for one in current(world, model).versions.kept] == [1, 2, 3]
    assert current(world, model).version == current(world, model).versions.kept[-1].folder


def test_model_of_an_earlier_release_has_one_version(world: World) -> None:
    """A row without versions has version 1, which a retraining keeps."""
    model = world.model(world.dataset(ROWS), TrainRequest(epochs=2))
    row = ModelRow(model.account_id, model.model_id)
    row.update([ModelRow.versions.remove()])

    assert [(one.number, one.folder) for one in current(world, model).versions.kept] == [
        (1, "r1-1")
    ]
    assert world.container.model_versions.serve(current(world, model), 1).is_served
    found = retrain(world, current(world, model))

    assert [one.number for one in found.versions.kept] == [1, 2]


@pytest.mark.parametrize(
    ("answers", "is_served"),
    [("+" * 40, True), ("+" * 36 + "-" * 4, False), ("-" * 19, True), ("", True)],
)
def test_worse_version_is_not_served(
    world: World, monkeypatch: pytest.MonkeyPatch, answers: str, is_served: bool
) -> None:
    """With `if-better` a version that may be worse is not served; without a pair it says why."""
    model = world.model(world.dataset(ROWS), TrainRequest(epochs=2))
    learner = world.container.training_runs._learners["language"]
    learn = learner.learn

    def found(*arguments: Any) -> Any:
        """Return the training's result with another evaluation."""
        return replace(learn(*arguments), evaluation=evaluation(answers) if answers else None)

    monkeypatch.setattr(learner, "learn", found)
    before = evaluation("+" * len(answers))
    monkeypatch.setattr(world.stores.model_files, "evaluation", lambda _: before)

    model = retrain(world, model, serve="if-better")

    newest = model.versions.kept[-1]
    assert (newest.number, model.version == newest.folder) == (2, is_served)
    assert ("common examples" in newest.not_served_because) == (not is_served)
    assert ("fewer than 20" in newest.served_because) == (0 < len(answers) < 20)
    assert ("detection models store none" in newest.served_because) == (not answers)

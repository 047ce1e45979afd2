"""Model versions: which are kept, and when a retraining replaces the served one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.domain.models.model import Model, TrainRequest
from chalicelib.errors import Conflict, StorageUnavailable
from chalicelib.services.batches.requests import BatchOptions
from chalicelib.stores.aws.objects import model_prefix
from chalicelib.stores.aws.tables import AccountRow, ModelRow
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
    numbers = [one.number for one in model.versions.items]

    assert len(numbers) == KEPT
    assert numbers[-1] == KEPT + 2
    assert folders(world, model) == {one.folder for one in model.versions.items}


def test_a_version_of_a_batch_is_kept(few: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version used by an open batch is deleted neither by a call nor by a training."""
    world = few
    model = retrain(world, world.model(world.dataset(ROWS), TrainRequest(epochs=2)))
    first = model.versions.items[0]
    monkeypatch.setattr(world.stores.batches, "used_versions", lambda *_: frozenset({first.folder}))

    with pytest.raises(Conflict, match="batch uses version 1"):
        world.container.model_versions.remove(model, 1)
    for _ in range(KEPT):
        model = retrain(world, model)

    assert model.versions.items[0] == first


def stored_bytes(world: World) -> int:
    """Return the bytes that the account stores."""
    return int(AccountRow.get(world.account.account_id).stored_bytes)


class Work:
    """A batch or an export of version 1 of a model, whose caller has found the version already."""

    def __init__(self, world: World, model: Model, kind: str) -> None:
        self._world, self._kind = world, kind
        find = world.stores.served_models.find_version
        self._served = find(model.account_id, model.model_id, 1)
        self._model = world.container.model_versions.at(model, 1)
        # Otherwise the artifact would be read during the call.
        world.container.batch_works["language"].check_model(self._served, "intent")
        self.started: list[Any] = []

    def start(self) -> None:
        """Start it."""
        container = self._world.container
        if self._kind == "export":
            self.started.append(container.model_exports.create(self._model, "bundle"))
            return
        source = UploadSource(content=b'{"text": "book it"}', file_name="lines.jsonl")
        create = container.batches.create
        self.started.append(
            create(self._world.account, "language", self._served, source, BatchOptions())
        )

    def start_before(self, patch: pytest.MonkeyPatch, store: object, method: str) -> None:
        """Start it once, just before a write of a store."""
        write = getattr(store, method)

        def call(*arguments: Any) -> Any:
            """Start the work, then write."""
            if not self.started:
                self.start()
            return write(*arguments)

        patch.setattr(store, method, call)

    def statuses(self) -> list[str]:
        """Return the status of each started and stored one."""
        store = getattr(self._world.stores, {"export": "exports", "batch": "batches"}[self._kind])
        return [one.status for one in store.of_account(self._model.account_id)]


@pytest.fixture(params=["batch", "export"])
def work(request: pytest.FixtureRequest, few: World) -> Work:
    """A batch or export of version 1 of a model with as many versions as are kept."""
    model = few.model(few.dataset(ROWS), TrainRequest(epochs=2))
    for _ in range(KEPT - 1):
        model = retrain(few, model)
    return Work(few, model, request.param)


def test_work_that_starts_during_a_removal_keeps_its_version(
    few: World, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that deletes a version is refused if a batch or export began after its check."""
    model = current(few, work._model)
    work.start_before(monkeypatch, few.stores.version_serving, "remove")

    with pytest.raises(Conflict, match="batch or export uses version 1"):
        few.container.model_versions.remove(model, 1)
    few.work()

    assert work.statuses() == ["SUCCEEDED"]
    assert current(few, model).versions == model.versions
    few.container.model_versions.remove(model, 1)
    assert folders(few, model) == {one.folder for one in model.versions.items[1:]}


def test_work_that_starts_during_a_training_keeps_its_version(
    few: World, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a training removes no version that a batch or export has just begun to use."""
    model = current(few, work._model)
    work.start_before(monkeypatch, few.stores.model_leases, "succeed")
    before = stored_bytes(few)

    after = retrain(few, model)
    few.work()

    assert work.statuses() == ["SUCCEEDED"]
    assert [one.number for one in after.versions.items] == [1, 2, 3, 4]
    assert folders(few, model) == {one.folder for one in after.versions.items}
    assert stored_bytes(few) - before == after.versions.newest_bytes


def _refuse(patch: pytest.MonkeyPatch, store: object, method: str, after: int = 0) -> list[None]:
    """Let a store's method fail after some calls; return a list that grows with each call."""
    call, calls = getattr(store, method), list[None]()

    def refuse(*arguments: Any) -> Any:
        """Call the method, or fail."""
        calls.append(None)
        if len(calls) > after:
            raise StorageUnavailable
        return call(*arguments)

    patch.setattr(store, method, refuse)
    return calls


@pytest.mark.parametrize("trainings", [2, KEPT + 1])
def test_a_training_ends_even_if_the_use_of_old_versions_is_unknown(
    few: World, monkeypatch: pytest.MonkeyPatch, trainings: int
) -> None:
    """If no one can tell who uses a removed version, its files stay, and the training ends."""
    model = few.model(few.dataset(ROWS), TrainRequest(epochs=2))
    for _ in range(trainings - 2):
        model = retrain(few, model)
    before, kept = stored_bytes(few), folders(few, model)
    events: list[str] = []
    monkeypatch.setattr(few.stores.events, "emit", lambda _, event, **__: events.append(event))
    calls = _refuse(monkeypatch, few.stores.batches, "used_versions", after=1)

    after = retrain(few, model)

    # Only if a version was removed, its users are looked up again.
    assert len(calls) == (2 if trainings > KEPT else 1)
    assert events == ["training.succeeded"]
    assert folders(few, model) == kept | {after.version}
    assert stored_bytes(few) - before == after.versions.newest_bytes


@pytest.mark.parametrize(
    ("store", "method", "after"),
    [("batches", "used_versions", 1), ("model_files", "delete_version", 0)],
)
def test_a_removal_whose_files_stay_succeeds(
    world: World, monkeypatch: pytest.MonkeyPatch, store: str, method: str, after: int
) -> None:
    """A version that is off the list is deleted, even if its files cannot be deleted."""
    model = retrain(world, world.model(world.dataset(ROWS), TrainRequest(epochs=2)))
    _refuse(monkeypatch, getattr(world.stores, store), method, after)

    assert world.container.model_versions.remove(model, 1).version.number == 1
    assert [one.number for one in current(world, model).versions.items] == [2]


def test_work_on_a_version_that_is_gone_is_refused(few: World, work: Work) -> None:
    """A batch or export whose version was removed after it was found leaves nothing behind."""
    few.container.model_versions.remove(current(few, work._model), 1)

    with pytest.raises(Conflict, match="was removed during this call"):
        work.start()

    assert not work.statuses()


def test_a_served_version_cannot_be_removed_meanwhile(world: World) -> None:
    """Of simultaneous calls to delete and to serve a version only one succeeds."""
    model = retrain(world, world.model(world.dataset(ROWS), TrainRequest(epochs=2)))
    first = model.versions.items[0]

    assert world.stores.version_serving.serve(model, first)
    assert not world.stores.version_serving.remove(model, first)
    assert world.stores.version_serving.serve(model, model.versions.items[1])
    assert world.stores.version_serving.remove(model, first)
    assert not world.stores.version_serving.serve(model, first)


def test_serving_during_a_run_waits_for_its_end(world: World) -> None:
    """A version can be served during a retraining, whose end serves the new version."""
    model = retrain(world, world.model(world.dataset(ROWS), TrainRequest(epochs=2)))
    world.container.training.retrain(world.account, model, TrainRequest(epochs=2))

    assert world.container.model_versions.serve(current(world, model), 1).is_served
    assert current(world, model).version == "r1-1"
    world.work()

    assert [one.number for one in current(world, model).versions.items] == [1, 2, 3]
    assert current(world, model).version == current(world, model).versions.items[-1].folder


def test_model_of_an_earlier_release_has_one_version(world: World) -> None:
    """A row without versions has version 1, which a retraining keeps."""
    model = world.model(world.dataset(ROWS), TrainRequest(epochs=2))
    row = ModelRow(model.account_id, model.model_id)
    row.update([ModelRow.versions.remove()])

    assert [(one.number, one.folder) for one in current(world, model).versions.items] == [
        (1, "r1-1")
    ]
    assert world.container.model_versions.serve(current(world, model), 1).is_served
    found = retrain(world, current(world, model))

    assert [one.number for one in found.versions.items] == [1, 2]


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

    newest = model.versions.items[-1]
    assert (newest.number, model.version == newest.folder) == (2, is_served)
    assert ("common examples" in newest.not_served_because) == (not is_served)
    assert ("fewer than 20" in newest.served_because) == (0 < len(answers) < 20)
    assert ("detection models store none" in newest.served_because) == (not answers)

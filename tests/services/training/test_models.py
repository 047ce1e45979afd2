"""Reading models: lists, curves, metrics and cards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.common.paging import EVERYTHING, ListFilter
from chalicelib.domain.models.model import TrainRequest
from chalicelib.errors import MetricsNotFound, ModelNotFound, PrebuiltNotInstalled
from chalicelib.stores.aws.tables import ModelRow
from tests.builders import World, some_rows

ROWS = some_rows({"book": 5, "cancel": 5})


def test_models_of_a_dataset_by_creation(world: World) -> None:
    """Models are listed by creation, page by page; deleted and foreign ones are not."""
    view = world.dataset(ROWS)
    models = []
    for _ in range(4):
        models.append(world.train(view).model)
        world.clock.advance(seconds=1)
    world.work()
    world.train(world.dataset(ROWS))
    world.container.deletions.delete_model(world.account, models[1].model_id)
    kept = [models[0].model_id, models[2].model_id, models[3].model_id]

    page = world.container.models.list(view, 0, 2)
    rest = world.container.models.list(view, 2, 2)

    assert kept == [model.model_id for model in (*page.items, *rest.items)]
    assert (page.has_more, rest.has_more) == (True, False)


def test_models_of_one_moment_by_id(world: World) -> None:
    """Models created in the same millisecond are ordered by id."""
    view = world.dataset(ROWS)
    ids = [world.train(view).model.model_id for _ in range(4)]

    assert sorted(ids) == [m.model_id for m in world.container.models.list(view, 0, 100).items]


def test_models_of_an_account_by_creation(world: World) -> None:
    """An account's models are listed by creation, filtered by name and status, in pages."""
    view = world.dataset(ROWS)
    models = []
    request = world.container.training.request
    for name in ("Tickets", "Été", "my tickets", "old tickets"):
        models.append(request(world.account, view, name, TrainRequest(epochs=2)).model)
        world.clock.advance(seconds=1)
    world.work()
    world.container.deletions.delete_model(world.account, models[3].model_id)
    foreign = world.new_account("o@example.com")
    request(world.account, view, "new", TrainRequest(epochs=2))
    listed = world.container.models.list_account

    def names(wanted: ListFilter, offset: int = 0, count: int = 100) -> list[str]:
        return [m.name for m in listed(world.account, wanted, offset, count).items]

    assert names(EVERYTHING) == ["Tickets", "Été", "my tickets", "new"]
    assert names(EVERYTHING, 1, 2) == ["Été", "my tickets"]
    assert listed(world.account, EVERYTHING, 1, 2).has_more
    assert not listed(world.account, EVERYTHING, 2, 2).has_more
    assert names(ListFilter("TICKET")) == ["Tickets", "my tickets"]
    assert names(ListFilter("e\u0301te\u0301")) == ["Été"]
    assert names(ListFilter(status="QUEUED")) == ["new"]
    assert names(ListFilter("tick", "QUEUED")) == []
    assert listed(foreign, EVERYTHING, 0, 100).items == ()


def test_filtered_models_match_when_they_change_while_they_are_listed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model whose training ends before its row is read is not listed as QUEUED."""
    world.train(world.dataset(ROWS))
    read = ModelRow.batch_get

    def read_later(*arguments: Any, **more: Any) -> Iterator[ModelRow]:
        world.work()
        return read(*arguments, **more)

    monkeypatch.setattr(ModelRow, "batch_get", read_later)
    listed = world.container.models.list_account

    assert listed(world.account, ListFilter(status="QUEUED"), 0, 100).items == ()


def test_deleted_models_are_not_listed_when_the_deletion_comes_late(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model deleted before its row is read is not listed."""
    model = world.model(world.dataset(ROWS))
    read = ModelRow.batch_get

    def read_later(*arguments: Any, **more: Any) -> Iterator[ModelRow]:
        world.container.deletions.delete_model(world.account, model.model_id)
        return read(*arguments, **more)

    monkeypatch.setattr(ModelRow, "batch_get", read_later)

    assert world.container.models.list_account(world.account, EVERYTHING, 0, 100).items == ()


def test_curve_page_by_page(world: World) -> None:
    """The learning curve is paged by epochs and shows the last run."""
    model = world.model(world.dataset(ROWS), TrainRequest(epochs=2))
    curve = world.container.models.curve
    epochs = [record["epoch"] for record in curve(model, 0, 25).items]

    assert epochs == list(range(1, model.epochs + 1))
    assert curve(model, 0, 1).has_more == (model.epochs > 1)
    assert curve(model, 50, 25).items == ()

    queued = world.container.training.retrain(world.account, model, TrainRequest(epochs=1)).model
    assert curve(queued, 0, 25).items == ()


def test_model_without_metrics(world: World) -> None:
    """Metrics and card of an unfinished model are a 404."""
    model = world.train(world.dataset(ROWS)).model

    with pytest.raises(MetricsNotFound):
        world.container.models.metrics(model)
    with pytest.raises(MetricsNotFound):
        world.container.models.card(model.account_id, model.model_id)


def test_models_are_their_owners(world: World, tmp_path: Path) -> None:
    """Another account's model gets the same answer as an unknown one."""
    model = world.model(world.dataset(ROWS))
    other = world.new_account("other@example.com")
    texts = []
    for account_id, model_id in (
        (other.account_id, model.model_id),
        (world.account.account_id, "A" * 26),
    ):
        with pytest.raises(ModelNotFound) as refusal:
            world.container.models.card(account_id, model_id)
        texts.append(refusal.value.message.replace(model_id, "X"))

    assert texts == ["Unable to find model X."] * 2
    bare = world.another(replace(world.settings, model_dir=str(tmp_path)))
    with pytest.raises(PrebuiltNotInstalled):
        bare.container.models.card(other.account_id, "FoodImageClassifier")

"""Creating and listing datasets, and their owners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.domain.common.paging import ListFilter
from chalicelib.domain.datasets.dataset import LANGUAGE, VISION
from chalicelib.domain.datasets.upload import UploadFields
from chalicelib.errors import BadRequest, DatasetNotFound, StorageUnavailable
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import DatasetRow, LabelRow
from tests.builders import World, some_rows


def test_dataset_without_examples(world: World) -> None:
    """A dataset created without examples is available at once, with labels in the order sent."""
    view = world.container.datasets.create(
        world.account, LANGUAGE, NewDataset("d", "text-intent", "pt", " b,a ")
    )

    assert [(label.name, label.examples) for label in view.labels] == [("b", 0), ("a", 0)]
    assert (view.dataset.status_message, view.dataset.available) == ("SUCCEEDED", True)
    assert view.dataset.language == "pt_PT"
    assert view == world.get(view)


def test_lists_by_id(world: World) -> None:
    """Datasets are listed by id, page by page, of one account and family."""
    create = world.container.datasets.create
    made = [
        create(world.account, LANGUAGE, NewDataset(f"d{n}", "text-intent", labels=f"l{n}"))
        for n in range(7)
    ]
    create(world.account, VISION, NewDataset("v"))
    create(world.new_account("o@example.com"), LANGUAGE, NewDataset("o", "text-intent"))
    found = world.container.datasets.list(world.account.account_id, LANGUAGE, 0, 5)
    rest = world.container.datasets.list(world.account.account_id, LANGUAGE, 5, 5)

    assert made == [*found.items, *rest.items]
    assert (found.has_more, rest.has_more) == (True, False)
    ids = [view.dataset.dataset_id for view in made]
    assert ids == sorted(ids)
    assert world.container.datasets.list(world.account.account_id, LANGUAGE, 99, 5).items == ()


def test_lists_are_filtered_by_name_and_status(world: World) -> None:
    """Name part and status filter datasets, and pages contain only these."""
    for name in ("Tickets 1", "shop", "tickets 2", "Tickets 3"):
        world.upload(some_rows({"a": 1}), fields=UploadFields(name, "text-intent"))
    world.work()
    world.upload(some_rows({"a": 1}), fields=UploadFields("late tickets", "text-intent"))

    def names(wanted: ListFilter, offset: int, count: int) -> tuple[list[str], bool]:
        page = world.container.datasets.list(
            world.account.account_id, LANGUAGE, offset, count, wanted
        )
        return [view.dataset.name for view in page.items], page.has_more

    assert names(ListFilter("tickets"), 1, 2) == (["tickets 2", "Tickets 3"], True)
    assert names(ListFilter("tickets", "SUCCEEDED"), 1, 2) == (["tickets 2", "Tickets 3"], False)
    assert names(ListFilter(status="UPLOADING"), 0, 25) == (["late tickets"], False)
    assert names(ListFilter("none"), 0, 25) == ([], False)


def test_filtered_datasets_match_when_they_change_while_they_are_listed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dataset that is ready before its row is read is not listed with status UPLOADING."""
    world.upload(some_rows({"a": 1}))
    read = DatasetRow.batch_get

    def read_later(*arguments: Any, **more: Any) -> Iterator[DatasetRow]:
        world.work()
        return read(*arguments, **more)

    monkeypatch.setattr(DatasetRow, "batch_get", read_later)
    wanted = ListFilter(status="UPLOADING")

    page = world.container.datasets.list(world.account.account_id, LANGUAGE, 0, 25, wanted)
    assert page.items == ()


def test_dataset_of_another_account_or_family(world: World) -> None:
    """A dataset is not found by other accounts, nor below the other family."""
    view = world.dataset(some_rows({"a": 1}))
    other = world.new_account("o@example.com")
    get, dataset_id = world.container.datasets.get, view.dataset.dataset_id

    for account_id, family in ((other.account_id, LANGUAGE), (world.account.account_id, VISION)):
        with pytest.raises(DatasetNotFound, match=f"^Unable to find dataset {dataset_id}.$"):
            get(account_id, family, dataset_id)


def test_refused_dataset_leaves_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused or failed creation leaves no dataset and no labels."""
    create = world.container.datasets.create
    with pytest.raises(BadRequest):
        create(world.account, LANGUAGE, NewDataset("d", "text-intent", labels="a,a"))
    assert world.rows(LabelRow) == []

    def refuse(*args: object) -> None:
        """Raise the error of unavailable storage."""
        raise StorageUnavailable

    monkeypatch.setattr(world.stores.datasets, "reserve", refuse)
    with pytest.raises(StorageUnavailable):
        create(world.account, LANGUAGE, NewDataset("d", "text-intent", labels="a,b"))
    assert world.rows(DatasetRow) == []

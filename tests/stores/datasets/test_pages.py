"""Pages of datasets by position: correct, and cheap at any offset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import LANGUAGE, Dataset
from chalicelib.services.datasets.datasets import NewDataset
from chalicelib.stores.aws.tables import CounterRow, DatasetRow
from chalicelib.stores.datasets.datasets import new_row
from chalicelib.web.http.paging import FARTHEST
from infra.backups.replay import highest_counters
from tests.builders import World
from tests.full_size import size

ROWS = size(1_000, 10_000)


@dataclass
class _Read:
    """The number of rows and bytes that queries read."""

    wire_bytes: int = 0
    rows: int = 0


@pytest.fixture
def made(world: World) -> list[Dataset]:
    """Many datasets created an hour ago."""
    first = world.container.datasets.create(
        world.account, LANGUAGE, NewDataset("d", "text-intent", labels="a,b,c")
    ).dataset
    made = [replace(first, dataset_id=first.dataset_id + 2 * n) for n in range(ROWS)]
    with DatasetRow.batch_write() as batch:
        for dataset in made:
            batch.save(new_row(dataset))
    world.clock.advance(hours=1)
    return made


@contextmanager
def _measured(world: World) -> Iterator[_Read]:
    """Measure the reads within a block."""
    read, events = _Read(), world.stores.clients.dynamodb.meta.events

    def note_bytes(response_dict: dict[str, Any], **_: Any) -> None:
        read.wire_bytes += len(response_dict["body"])

    def note_rows(parsed: dict[str, Any], **_: Any) -> None:
        read.rows += int(parsed.get("ScannedCount", 0))

    events.register("before-parse", note_bytes)
    events.register("after-call", note_rows)
    yield read
    events.unregister("before-parse", note_bytes)
    events.unregister("after-call", note_rows)


def _ids(world: World, offset: int, count: int = 25) -> list[int]:
    """List the ids of a page."""
    account_id = world.account.account_id
    page = world.stores.datasets.page(account_id, LANGUAGE, offset, count)
    return [dataset.dataset_id for dataset in page]


def test_far_page_brings_its_own_rows_only(world: World, made: list[Dataset]) -> None:
    """The last page transfers only its own rows; rows before it are counted in the table."""
    ids = [dataset.dataset_id for dataset in made]
    with _measured(world) as read:
        assert _ids(world, ROWS - 25) == ids[-25:]

    assert read.wire_bytes <= 40_000
    assert _ids(world, ROWS) == _ids(world, FARTHEST) == []
    assert _ids(world, ROWS - 1) == ids[-1:]


def test_far_pages_are_found_again(world: World, made: list[Dataset]) -> None:
    """Paging through a long list counts at most a hundred rows before each page."""
    ids = [dataset.dataset_id for dataset in made]
    listed: list[int] = []
    for offset in range(0, ROWS, 25):
        with _measured(world) as read:
            listed += _ids(world, offset)
        assert read.rows <= 100 + 2 * 25
    assert listed == ids
    with _measured(world) as read:
        assert _ids(world.another(), ROWS - 25) == ids[-25:]
    assert read.rows <= 100 + 25


def test_deletion_moves_what_follows(world: World, made: list[Dataset]) -> None:
    """After a deletion all following pages shift by one, also at cached positions."""
    ids = [dataset.dataset_id for dataset in made]
    assert _ids(world, 500) == ids[500:525]
    assert world.stores.datasets.delete(made[3])
    assert _ids(world, 500) == ids[501:526]
    # A deletion that is repeated after its worker died between two writes clears them, too.
    row = DatasetRow.get(f"{made[7].account_id}#{LANGUAGE}", made[7].dataset_id)
    row.delete()
    assert not world.stores.datasets.delete(made[7])
    assert _ids(world, 500) == ids[502:527]


def test_place_is_not_noted_after_a_deletion(
    world: World, made: list[Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that began before a deletion does not cache its position after it."""
    ids = [dataset.dataset_id for dataset in made]
    query = DatasetRow.query

    def delete_then_query(*args: Any, **more: Any) -> Any:
        monkeypatch.setattr(DatasetRow, "query", query)
        assert world.stores.datasets.delete(made[0])
        return query(*args, **more)

    monkeypatch.setattr(DatasetRow, "query", delete_then_query)
    assert _ids(world, 500) == ids[500:525]
    assert _ids(world, 500) == ids[501:526]


def test_places_of_a_closed_account_are_deleted(world: World, made: list[Dataset]) -> None:
    """Closing an account deletes its cached positions."""
    assert _ids(world, 500)
    assert [row for row in world.rows(CounterRow) if row.name.startswith("places#")]

    world.stores.datasets.delete_places(world.account.account_id)

    assert not [row for row in world.rows(CounterRow) if row.name.startswith("places#")]


def test_dataset_that_comes_late_is_counted(world: World, made: list[Dataset]) -> None:
    """Positions near new datasets are not cached, since a lower id may still be written."""
    young = replace(made[-1], dataset_id=made[-1].dataset_id + 10, created_at=world.clock())
    new_row(young).save()
    assert _ids(world, ROWS) == [young.dataset_id]
    late = replace(young, dataset_id=young.dataset_id - 1)
    new_row(late).save()

    assert _ids(world, ROWS) == [late.dataset_id, young.dataset_id]


def test_backup_leaves_out_where_pages_begin(world: World, made: list[Dataset]) -> None:
    """Backups omit cached positions, since a restore may omit datasets."""
    assert _ids(world, 500)
    name = f"places#{world.account.account_id}#{LANGUAGE}"
    saved = CounterRow.get(name).serialize()
    assert set(saved) == {"name", "value", "places"}

    assert highest_counters([saved]) == [{"name": saved["name"], "value": saved["value"]}]

"""Queue positions: exact near the front, slightly stale behind, cheap for long queues."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib import workers
from chalicelib.domain.models.model import Model
from chalicelib.stores.aws.tables import ModelRow
from chalicelib.stores.models import places as module
from chalicelib.stores.models.models import new_row
from tests.builders import World
from tests.full_size import size

LONG = size(400, 10_000)


@dataclass
class _Read:
    """The number of rows and bytes read."""

    wire_bytes: int = 0
    rows: int = 0


@contextmanager
def _measured(world: World) -> Iterator[_Read]:
    """Measure the reads within a block."""
    read, events = _Read(), world.stores.clients.dynamodb.meta.events

    def note(http_response: Any, parsed: dict[str, Any], **_: Any) -> None:
        read.wire_bytes += len(http_response.content)
        read.rows += int(parsed.get("ScannedCount", 0))

    events.register("after-call", note)
    yield read
    events.unregister("after-call", note)


def _model(queued_at: datetime, number: int = 0, *, is_paid: bool = False) -> Model:
    """Return a waiting training."""
    return Model(
        f"{1000 + number}", f"M{number}", "m", 1, "language", "text-intent", "en_US", "QUEUED", 0,
        queued_at, queued_at, queued_at=queued_at, is_paid=is_paid,
    )  # fmt: skip


def _wait(world: World, seconds: Sequence[float], *, is_paid: bool = False) -> list[Model]:
    """Queue trainings with the given offsets in seconds."""
    models = [
        _model(world.clock() + timedelta(seconds=after), number, is_paid=is_paid)
        for number, after in enumerate(seconds)
    ]
    with ModelRow.batch_write() as batch:
        for model in models:
            batch.save(new_row(model))
    return models


def test_short_queue_is_counted(world: World) -> None:
    """In a short queue positions are exact; free trainings follow all paid ones."""
    paid = _wait(world, range(12), is_paid=True)
    free = [replace(model, is_paid=False) for model in paid]
    with ModelRow.batch_write() as batch:
        for model in free:
            batch.save(new_row(replace(model, account_id=f"F{model.account_id}")))

    assert not world.stores.places.count()
    assert [world.stores.places.before(model) for model in paid] == [*range(12)]
    assert [world.stores.places.before(model) for model in free] == [*range(12, 24)]


def test_every_place_of_a_long_queue_is_right(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All positions of a long queue are right, with and without a recent count."""
    draw = random.Random(5)
    moments = sorted(draw.randrange(50) for _ in range(160))
    asked = _wait(world, moments)[::12]
    expected = [sum(other < moment for other in moments) for moment in moments[::12]]
    assert [world.stores.places.before(model) for model in asked] == expected

    assert world.stores.places.count()
    monkeypatch.setattr(module, "_FAR", 120)
    assert [world.stores.places.before(model) for model in asked] == expected


def test_place_is_never_too_old(world: World) -> None:
    """A count is valid for 5 seconds; positions up to 100 are always current."""
    [*_, last] = waiting = _wait(world, [0.01 * number for number in range(150)])
    assert world.stores.places.count()
    for model in waiting[:30]:
        ModelRow(model.account_id, model.model_id).delete()
    assert world.stores.places.before(last) == 149
    assert world.stores.places.before(waiting[100]) == 70

    world.clock.advance(seconds=5.1)
    assert world.stores.places.before(last) == 119
    for model in waiting[30:60]:
        ModelRow(model.account_id, model.model_id).delete()
    assert world.stores.places.before(last) == 89


@pytest.mark.parametrize("is_paid", [False, True])
def test_far_place_reads_little(
    world: World, monkeypatch: pytest.MonkeyPatch, *, is_paid: bool
) -> None:
    """For a far position some index rows and a count of a few kilobytes are read."""
    monkeypatch.setattr(module, "_FAR", 300)
    steps = [0.05 * number for number in range(LONG)]
    far = _wait(world, steps, is_paid=is_paid)[LONG - 30]
    assert world.stores.places.count()
    with _measured(world) as read:
        assert world.stores.places.before(replace(far, is_paid=False)) >= LONG - 30
    assert read.rows <= 51
    assert read.wire_bytes <= 5_000
    with _measured(world) as read:
        assert world.stores.places.before(replace(far, queued_at=far.queued_at)) == LONG - 30
    assert read.rows <= 51

    middle = replace(far, queued_at=world.clock() + timedelta(seconds=0.05 * 170))
    with _measured(world) as read:
        assert world.stores.places.before(middle) == 170
    assert read.rows <= 101 + 51


def test_place_reads_no_rows_without_a_recent_count(world: World) -> None:
    """Without a recent count, the index is counted without reading rows."""
    far = _wait(world, [0.05 * number for number in range(200)])[-1]
    with _measured(world) as read:
        assert world.stores.places.before(far) == 199
    assert read.wire_bytes <= 2_000


@dataclass
class _Function:
    """A function with a given remaining time."""

    seconds: float
    function_name: str = "sweep"

    def get_remaining_time_in_millis(self) -> float:
        """Return the remaining time."""
        return 1000 * self.seconds


def test_sweep_counts_until_the_next_one_begins(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While many trainings wait a sweep counts until the next one; otherwise it ends."""
    counted: list[float] = []
    count, context = world.stores.places.count, _Function(90)
    monkeypatch.setattr(
        world.stores.places, "count", lambda: counted.append(context.seconds) or count()
    )

    def sleep(seconds: float) -> None:
        context.seconds -= seconds

    monkeypatch.setattr(workers.time, "sleep", sleep)
    workers.run_sweep(world.container, context)
    assert counted == [90]

    _wait(world, range(101))
    workers.run_sweep(world.container, context)
    assert counted[1:] == [90.0 - 3 * number for number in range(21)]
    workers.run_sweep(world.container, context)
    assert counted[22:] == [30]

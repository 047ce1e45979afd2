"""Learning curves in blocks: cheap to append, readable by page, never shortened by a retry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.models.model import Model
from chalicelib.stores.models.curves import BLOCK_EPOCHS, CurveStore
from tests.builders import World


@pytest.fixture
def curves(world: World) -> CurveStore:
    """The store."""
    return world.stores.curves


@pytest.fixture
def model(world: World) -> Model:
    """A run."""
    return Model(
        "1", "M", "m", 1, "vision", "image", "N/A", "RUNNING", 0, world.clock(), world.clock()
    )  # fmt: skip


def _record(epoch: int, text: str = "") -> dict[str, Any]:
    """Return a record."""
    return {"epoch": epoch, "text": text}


def _fill(curves: CurveStore, model: Model, count: int, start: int = 0, text: str = "") -> Any:
    """Add records and publish each at once."""
    writer = curves.writer(model, start)
    for epoch in range(start + 1, count + 1):
        writer.add(_record(epoch, text))
        writer.flush()
    return writer


def _epochs(curves: CurveStore, model: Model) -> list[int]:
    """Read a whole curve page by page."""
    found: list[int] = []
    while True:
        page = curves.page(model, len(found), 25)
        found += [record["epoch"] for record in page.items]
        if not page.has_more:
            return found


@pytest.mark.parametrize("count", [0, 1, 24, 25, 26, 50, 61])
def test_every_record_by_pages(curves: CurveStore, model: Model, count: int) -> None:
    """Pages of a curve of any length contain every record once, and the last has no next page."""
    _fill(curves, model, count)

    assert _epochs(curves, model) == list(range(1, count + 1))


@pytest.mark.parametrize(
    ("offset", "count", "shown", "has_more"),
    [
        (0, 25, range(1, 26), True),
        (10, 25, range(11, 36), True),
        (24, 1, range(25, 26), True),
        (25, 25, range(26, 51), True),
        (36, 25, range(37, 61), False),
        (59, 1, range(60, 61), False),
        (60, 25, range(0), False),
        (2**53, 25, range(0), False),
    ],
)
def test_any_window(
    curves: CurveStore, model: Model, offset: int, count: int, shown: range, has_more: bool
) -> None:
    """A page may start and end anywhere, within blocks or beyond the end."""
    _fill(curves, model, 60)

    page = curves.page(model, offset, count)

    assert [record["epoch"] for record in page.items] == list(shown)
    assert page.has_more == has_more


def test_an_epoch_costs_one_small_write(
    world: World, curves: CurveStore, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Appending the thousandth epoch writes one block and reads nothing."""
    _fill(curves, model, 32)
    writer = curves.writer(model, 32)
    calls: list[tuple[str, int]] = []
    put = world.stores.artifacts.put_json

    def counted(key: str, value: Any) -> None:
        """Count and write."""
        calls.append((key, len(value)))
        put(key, value)

    monkeypatch.setattr(world.stores.artifacts, "put_json", counted)
    monkeypatch.setattr(world.stores.artifacts, "get_json", None)
    writer.add(_record(33))
    writer.flush()
    writer.flush()

    assert [(key.rpartition("/")[2], size) for key, size in calls] == [("00006.json", 3)]


def test_a_resumed_run_does_not_shorten_its_curve(curves: CurveStore, model: Model) -> None:
    """A retry that repeats epochs replaces them in place."""
    _fill(curves, model, 40, text="old")
    writer = curves.writer(model, 20)
    assert writer.is_complete
    for epoch in range(21, 31):
        writer.add(_record(epoch, "new"))
        writer.flush()
        assert _epochs(curves, model) == list(range(1, 41))

    texts = [record["text"] for record in curves.page(model, 15, 25).items]
    assert texts == ["old"] * 5 + ["new"] * 10 + ["old"] * 10


def test_the_end_removes_what_is_beyond(curves: CurveStore, model: Model) -> None:
    """A run that ends earlier than a previous attempt removes the surplus records."""
    for end in (3, 25, 40, 0):
        _fill(curves, model, 80)
        writer = curves.writer(model)
        for epoch in range(1, end + 1):
            writer.add(_record(epoch))
        writer.finish()
        assert _epochs(curves, model) == list(range(1, end + 1))


def test_missing_records_are_noticed(world: World, curves: CurveStore, model: Model) -> None:
    """A curve with fewer records than its checkpoint has epochs cannot be resumed."""
    _fill(curves, model, 30)

    assert [curves.writer(model, n).is_complete for n in (0, 24, 25, 30, 31, 50, 51)] == [
        *[True] * 4,
        *[False] * 3,
    ]
    for key in world.objects("models/M/curves/1/00005"):
        world.stores.artifacts.delete(key)
    assert not curves.writer(model, 30).is_complete


def test_each_run_has_a_separate_curve(curves: CurveStore, model: Model) -> None:
    """A retraining starts with an empty curve."""
    _fill(curves, model, BLOCK_EPOCHS)

    assert _epochs(curves, replace(model, run=2)) == []

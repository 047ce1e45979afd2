"""Batches with table results: parts, crashes, cancellation, quota and limits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from chalicelib.domain.jobs import batch_table
from chalicelib.errors import InvalidUpload, StorageUnavailable
from tests.builders import some_rows
from tests.services.batches.conftest import Batches

TABLE = {"format": "xlsx", "columns": "input"}


def table(count: int) -> bytes:
    """Build a table of texts in which some rows lack the text and some have extra cells."""
    rows = [
        f"n{n},{f'book or cancel {n}' if n % 9 else ''}{',more' * (n % 3)}" for n in range(count)
    ]
    return "\n".join(["id,text", *rows]).encode()


def cells(batches: Batches, made: Any) -> list[list[Any]]:
    """Read the rows of a result."""
    content = io.BytesIO(batches.content(made))
    return CalamineWorkbook.from_filelike(content).get_sheet_by_index(0).to_python()


def test_a_worker_that_dies_while_it_writes_is_replaced(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash the next worker writes the same workbook, and no other object remains."""
    world, files = batches.world, batches.world.stores.batch_files
    undisturbed = batches.send(table(65), name="t.csv", **TABLE)
    world.work()
    expected = batches.content(undisturbed)
    made = batches.send(table(65), name="t.csv", **TABLE)
    read, failures = files.cells, []

    def fail_in_part_3(batch: Any, number: int) -> Iterator[list[Any]]:
        for at, row in enumerate(read(batch, number)):
            if (number, at) == (3, 5) and len(failures) < 2:
                failures.append(number)
                raise StorageUnavailable
            yield row

    monkeypatch.setattr(files, "cells", fail_in_part_3)
    for step in (world.work, world.settle, world.settle, world.settle):
        with suppress(StorageUnavailable):
            step()
        world.clock.advance(minutes=20)
        world.container.sweeping.run()
    world.settle()

    assert (batches.get(made).status, failures) == ("SUCCEEDED", [3, 3])
    assert batches.content(made) == expected
    assert len(world.objects(f"batches/{made.batch_id}/")) == 1
    rows = cells(batches, made)
    assert [row[0] for row in rows] == ["id", *(f"n{n}" for n in range(65))]
    assert [bool(row[-1]) for row in rows[1:]] == [n % 9 == 0 for n in range(65)]


def test_a_cancelled_batch_keeps_whole_rows(batches: Batches) -> None:
    """The result of a cancelled batch is a workbook with complete rows of the finished parts."""
    world = batches.world
    made = batches.send(table(35), name="t.csv", **TABLE)
    messages = world.messages()
    world.deliver(messages[0])
    world.deliver(messages[2])
    world.container.batches.delete(batches.get(made))
    world.work()

    assert [row[0] for row in cells(batches, made)] == [
        "id", *(f"n{n}" for n in (*range(10), *range(20, 30))),
    ]  # fmt: skip


def test_lines_that_are_not_covered_keep_their_cells(batches: Batches) -> None:
    """A partial batch returns every input row; rows beyond the quota have an error."""
    batches.use(batches.world.account.predictions_per_month - 2)
    content = b"id,text\na,book\nb,cancel\nc,book it\n"
    made = batches.send(content, name="t.csv", is_partial=True, **TABLE)
    batches.world.work()
    rows = cells(batches, made)

    assert [row[:2] for row in rows[1:]] == [["a", "book"], ["b", "cancel"], ["c", "book it"]]
    assert [bool(row[2]) for row in rows[1:]] == [True, True, False]
    assert "No prediction" in rows[3][4]


def test_a_label_is_never_a_formula_in_csv(batches: Batches) -> None:
    """Labels that look like formulas get an apostrophe; input cells are returned unchanged."""
    view = batches.world.dataset(some_rows({"=cmd()": 9, "-x": 9}))
    risky = Batches(batches.world, batches.world.model(view), view)
    made = risky.send(b"text,more\nbook,=1+1\n", name="t.csv", format="csv", columns="input")
    risky.world.work()
    rows = list(csv.reader(io.StringIO(risky.content(made).decode(), newline="")))

    assert rows[1][1] == "=1+1"
    assert rows[1][2] in ("'=cmd()", "'-x")


def test_one_wide_row_is_refused_if_all_become_too_wide(
    batches: Batches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The product of rows and columns is limited, so a small file cannot make a huge table."""
    monkeypatch.setattr(batch_table, "MAX_TABLE_CELLS", 100)
    content = b"text\n" + b"a\n" * 15 + b"b" + b",c" * 9 + b"\n"
    with pytest.raises(InvalidUpload, match="Up to row 17, the result has 16 rows of 13 columns"):
        batches.send(content, name="t.csv", format="csv", columns="input")
    assert batches.world.objects("batches/") == []

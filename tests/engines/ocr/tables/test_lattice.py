"""Crossing rulings become cells."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.tables.grid import TableGrid
from chalicelib.engines.ocr.tables.lattice import find_lattices
from chalicelib.engines.ocr.tables.rulings import Ruling, Rulings


def lattice_of(
    flat: Sequence[tuple[float, float, float]], tall: Sequence[tuple[float, float, float]]
) -> list[TableGrid]:
    """Return the cells of lattices of lines, given as position, start, end."""
    make = [tuple(Ruling(p, a, b, 2) for p, a, b in lines) for lines in (flat, tall)]
    return list(find_lattices(Rulings(make[0], make[1]), 20))


def shape(grid: TableGrid) -> list[tuple[int, int, int, int]]:
    """Return rows, columns and spans of all cells."""
    return [(s.row, s.column, s.row_span, s.column_span) for s in grid.slots]


FLAT = [(y, 0, 300) for y in (0, 50, 100, 150)]
TALL = [(x, 0, 150) for x in (0, 100, 200, 300)]


def test_groups_that_do_not_touch_are_apart() -> None:
    """Groups that do not touch are separate lattices; a line without crossings is in none."""
    moved = [(y, 400, 700) for y, _, _ in FLAT]
    moved_tall = [(x + 400, 0, 150) for x, _, _ in TALL]
    found = lattice_of([*FLAT, *moved, (400, 0, 300)], [*TALL, *moved_tall])
    assert sorted(grid.box.min_x for grid in found) == [0, 400]


def test_full_borders_give_every_place() -> None:
    """Full borders give nine cells."""
    (grid,) = lattice_of(FLAT, TALL)
    assert shape(grid) == [(r, c, 1, 1) for r in range(3) for c in range(3)]


def test_short_borders_merge_to_rectangles() -> None:
    """A missing border joins two cells; an L of three becomes a rectangle."""
    flat = [FLAT[0], (50, 0, 100), *FLAT[2:]]
    tall = [TALL[0], TALL[1], (200, 100, 150), TALL[3]]
    (grid,) = lattice_of(flat, tall)
    assert shape(grid) == [
        (0, 0, 1, 1), (0, 1, 2, 2), (1, 0, 1, 1), (2, 0, 1, 1), (2, 1, 1, 1), (2, 2, 1, 1),
    ]  # fmt: skip


def test_joined_places_that_reach_into_others_take_them_all() -> None:
    """Joined cells that overlap other joined cells are merged into one rectangle."""
    flat = [FLAT[0], (50, 100, 300), *FLAT[2:]]
    tall = [TALL[0], (100, 0, 50), (100, 100, 150), (200, 50, 150), TALL[3]]
    (grid,) = lattice_of(flat, tall)
    assert shape(grid) == [
        (0, 0, 2, 3), (2, 0, 1, 1), (2, 1, 1, 1), (2, 2, 1, 1),
    ]  # fmt: skip


def test_open_sides_are_closed() -> None:
    """Tables without outer borders keep their outer columns."""
    (grid,) = lattice_of(FLAT, TALL[1:3])
    assert (grid.row_count, grid.column_count) == (3, 3)
    assert grid.box == Rect(0, 0, 300, 150)


def test_a_lone_box_and_a_mesh_are_no_tables() -> None:
    """One box is not a table, and neither is a mesh of very many."""
    assert lattice_of(FLAT[::3], TALL[::3]) == []
    mesh = [(12.0 * n, 0.0, 2400.0) for n in range(200)]
    assert lattice_of(mesh, mesh) == []


def test_no_rulings_no_lattice() -> None:
    """An empty page has none."""
    assert lattice_of([], []) == []
    assert lattice_of(FLAT, []) == []


@pytest.mark.parametrize("offset", [-4, 4])
def test_lines_that_almost_meet_do(offset: float) -> None:
    """A border may end slightly before or after the one that it meets."""
    tall = [(x, 0 - offset, 150 + offset) for x, _, _ in TALL]
    assert len(lattice_of(FLAT, tall)) == 1

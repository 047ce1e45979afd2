"""Collects the rows of a benchmark: prints each row immediately, and writes all rows as JSON.

Every row has a measured value. It may also have a bar (a limit that the value must meet) and the
value of a peer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit (bar) that a measured value must meet."""

    limit: float
    """The last value that meets the bar."""
    is_ceiling: bool = False
    """Whether values must be at most the limit; otherwise, at least."""

    def holds(self, value: float) -> bool:
        """Return whether a value meets the bar."""
        return value <= self.limit if self.is_ceiling else value >= self.limit


def ceiling(limit: float) -> Bar:
    """Return a bar that values must not exceed."""
    return Bar(limit, is_ceiling=True)


@dataclass(frozen=True, slots=True)
class Row:
    """One measured value."""

    name: str
    """What was measured."""
    value: float
    """The measured value."""
    unit: str
    """Unit of the value; empty for fractions."""
    bar: float | None
    """Limit that the value was compared with; None without a bar."""
    holds: bool
    """Whether the value meets the bar; True without one."""
    peer: str
    """Name of a system that was measured on the same data; empty if there is none."""
    peer_value: float | None
    """Value of the peer, published or measured in the same run."""
    low: float | None = None
    """Lower end of the 95 % interval; None if it was not estimated."""
    high: float | None = None
    """Upper end of the interval."""


class Report:
    """Collects rows. The benchmark fails if the value of a row misses its limit."""

    def __init__(self, title: str) -> None:
        self._rows: list[Row] = []
        print(
            f"\n{title}\n{'':4} {'what':52} {'value':>10} {'bar':>10}  {'interval':16} peer",
            flush=True,
        )

    @property
    def rows(self) -> Sequence[Row]:
        """Return all rows so far."""
        return tuple(self._rows)

    def add(
        self,
        name: str,
        value: float,
        unit: str = "",
        bar: Bar | None = None,
        peer: tuple[str, float] | None = None,
        interval: tuple[float, float] | None = None,
    ) -> None:
        """Add a measured value, and print its line immediately."""
        holds = bar is None or bar.holds(value)
        limit = None if bar is None else bar.limit
        peer_name, peer_value = peer or ("", None)
        low, high = interval or (None, None)
        row = Row(name, round(value, 6), unit, limit, holds, peer_name, peer_value, low, high)
        self._rows.append(row)
        print(_line(row, bar), flush=True)

    def finish(self, path: Path) -> int:
        """Write the rows as JSON, print a summary, and return 1 if a limit is missed, else 0."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([asdict(row) for row in self._rows], indent=2) + "\n")
        missed = [row.name for row in self._rows if not row.holds]
        verdict = f"missed: {', '.join(missed)}" if missed else "every bar holds"
        print(f"{len(self._rows)} rows, {verdict}; written to {path}", flush=True)
        return 1 if missed else 0


def say(text: str) -> None:
    """Print a message about the progress of the benchmark."""
    print(f"     .. {text}", flush=True)


def _line(row: Row, bar: Bar | None) -> str:
    mark = "" if bar is None else "ok" if row.holds else "MISS"
    sign = "" if bar is None else "<=" if bar.is_ceiling else ">="
    limit = "" if bar is None else f"{sign} {bar.limit:g}"
    peer = "" if row.peer_value is None else f"{row.peer}: {row.peer_value:g}"
    value = f"{row.value:.4g} {row.unit}".strip()
    spread = "" if row.low is None else f"[{row.low:.3g}, {row.high:.3g}]"
    return f"{mark:4} {row.name:52} {value:>10} {limit:>10}  {spread:16} {peer}".rstrip()

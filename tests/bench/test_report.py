"""The table of a benchmark and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.report import Bar, Report


def test_rows_are_written_and_a_missed_bar_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A value on the wrong side of its bar is named and makes the status non-zero."""
    report = Report("toy")
    report.add("accuracy", 0.95, bar=Bar(0.9), peer=("someone", 0.91), interval=(0.93, 0.97))
    report.add("time", 7.5, "ms", Bar(5.0, is_ceiling=True))

    status = report.finish(tmp_path / "build" / "toy.json")

    assert status == 1
    assert "missed: time" in capsys.readouterr().out
    assert json.loads((tmp_path / "build" / "toy.json").read_text()) == [
        {
            "name": "accuracy",
            "value": 0.95,
            "unit": "",
            "bar": 0.9,
            "holds": True,
            "peer": "someone",
            "peer_value": 0.91,
            "low": 0.93,
            "high": 0.97,
        },
        {
            "name": "time",
            "value": 7.5,
            "unit": "ms",
            "bar": 5.0,
            "holds": False,
            "peer": "",
            "peer_value": None,
            "low": None,
            "high": None,
        },
    ]


def test_values_on_their_bar_hold(tmp_path: Path) -> None:
    """Bars are inclusive in both directions, and a row without one always holds."""
    report = Report("toy")
    report.add("accuracy", 0.9, bar=Bar(0.9))
    report.add("time", 5.0, "ms", Bar(5.0, is_ceiling=True))
    report.add("size", 1.0)

    assert report.finish(tmp_path / "toy.json") == 0
    assert all(row.holds for row in report.rows)

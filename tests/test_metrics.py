"""Metrics are declared, in the embedded metric format, and off unless requested."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path

import pytest

from chalicelib import journal, metrics
from chalicelib.metrics import EXPORTED, METRICS

SOURCE = Path(__file__).parents[1] / "chalicelib"
MAX_DIMENSIONS = 30
"""CloudWatch takes no more."""


@pytest.fixture
def emitting():
    """Enables metrics."""
    metrics.configure(metrics.EMF, "presage-test")
    yield
    metrics.configure(metrics.OFF, "presage")


def emitted(line: dict) -> dict[str, tuple[float, str, dict[str, str]]]:
    """Parse a line as CloudWatch does: value, unit and dimensions by name."""
    about = line["_aws"]
    assert about["Timestamp"] / 1000 == pytest.approx(time.time(), abs=600)
    (directive,) = about["CloudWatchMetrics"]
    assert set(directive) == {"Namespace", "Dimensions", "Metrics"}
    assert directive["Namespace"] == metrics.NAMESPACE
    (names,) = directive["Dimensions"]
    assert len(names) <= MAX_DIMENSIONS
    dimensions = {name: line[name] for name in names}
    assert all(isinstance(value, str) and value for value in dimensions.values())
    found = {}
    for metric in directive["Metrics"]:
        assert isinstance(line[metric["Name"]], int | float)
        found[metric["Name"]] = (line[metric["Name"]], metric["Unit"], dimensions)
    return found


def test_line_is_what_cloudwatch_reads(emitting, lines):
    """Names, units, dimensions and values are where the format requires them."""
    metrics.put({metrics.OCR_PAGES: 3, metrics.OCR_SECONDS: 1.23456}, Task="form")

    (line,) = lines()
    dimensions = {"Service": "presage-test", "Task": "form"}
    assert emitted(line) == {
        "OcrPages": (3.0, "Count", dimensions),
        "OcrSeconds": (1.235, "Seconds", dimensions),
    }


def test_nothing_is_written_while_they_are_off(lines):
    """Without the setting, no metrics are written."""
    metrics.put({metrics.OCR_PAGES: 3}, Task="form")
    journal.document_read("form", 3, 1.0)

    assert [list(line) for line in lines()] == [
        ["time", "level", "event", "task", "pages", "seconds"]
    ]


def test_wrong_dimensions_are_refused(emitting):
    """A metric cannot be written with other dimensions than it declares."""
    with pytest.raises(ValueError, match="OcrPages"):
        metrics.put({metrics.OCR_PAGES: 1})


def test_each_is_declared_once_and_used():
    """Metric names are unique, every metric is used, and dimensions are few."""
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert len({metric.exported for metric in EXPORTED}) == len(EXPORTED)
    declared = {n: v for n, v in vars(metrics).items() if isinstance(v, metrics.Metric)}
    assert set(declared.values()) == {*METRICS, *EXPORTED}
    words = Counter(
        word for path in SOURCE.rglob("*.py") for word in re.findall(r"\w+", path.read_text())
    )
    # Its declaration and at least one use.
    assert {name for name in declared if words[name] < 2} == set()
    known = {"Route", "Type", "Kind", "Task", "Function", "Model"}
    assert {name for metric in METRICS for name in metric.dimensions} <= known


def test_events_carry_their_figures(emitting, lines):
    """Uploads, trainings, documents and model files have their metrics in a separate line."""
    journal.upload_done(7, "text-intent", (10, 8, 1), 0.5)
    journal.upload_failed(7, "text-intent")
    journal.training_done("M", "image", 12.5)
    journal.training_failed("M", "image")
    journal.job_given_up("model", "M")
    journal.document_read("text", 2, 1.5)
    journal.model_downloaded("minilm", 1000, 0.25)
    journal.model_download_failed("minilm", OSError(28, "secret"))

    found = {line["event"]: {n: v for n, (v, _, _) in emitted(line).items()} for line in lines()}
    assert found == {
        "upload_done": {"IngestSeconds": 0.5, "IngestRows": 10},
        "upload_failed": {"UploadsFailed": 1},
        "training_done": {"TrainingSeconds": 12.5},
        "training_failed": {"TrainingsFailed": 1},
        "job_given_up": {"JobsGivenUp": 1},
        "document_read": {"OcrSeconds": 1.5, "OcrPages": 2},
        "model_brought": {"ModelDownloadMilliseconds": 250},
        "model_not_brought": {"ModelsNotBrought": 1},
    }
    assert [line.get("exception") for line in lines()][-1] == "OSError (ENOSPC)"


def test_cold_start_is_measured_once(emitting, lines, monkeypatch):
    """Only the first work of a process is measured as a cold start, with its start time."""
    monkeypatch.setattr(metrics.Emission, "is_warm", False)
    for _ in range(2):
        with metrics.cold_start("presage-test-api"):
            time.sleep(0.01)

    (line,) = lines()
    value, unit, dimensions = emitted(line)["ColdStartMilliseconds"]
    assert value >= 10
    assert (unit, dimensions["Function"]) == ("Milliseconds", "api")

"""Writes metrics for CloudWatch as members of log lines (embedded metric format).

Every metric is declared here, with its unit and dimensions. A dimension has few values, and never
accounts. The number of calls or jobs is the sample count of their duration metric, so that it needs
no metric. See infra/template/dashboard.py and docs/runbook.md.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from chalicelib import log

NAMESPACE = "Presage"
"""Namespace of all metrics."""
SERVICE = "Service"
"""Dimension of every metric: the stack's name."""
OFF, EMF = "off", "emf"
"""What PRESAGE_METRICS may be."""
COUNT, MILLISECONDS, SECONDS = "Count", "Milliseconds", "Seconds"


@dataclass(frozen=True)
class Metric:
    """The name, unit and dimensions of a metric."""

    name: str
    """Name in the namespace."""
    unit: str
    """COUNT, MILLISECONDS or SECONDS."""
    dimensions: tuple[str, ...] = ()
    """Dimensions in addition to the service."""


REQUEST_MILLISECONDS = Metric("RequestMilliseconds", MILLISECONDS, ("Route",))
CLIENT_ERRORS = Metric("ClientErrors", COUNT, ("Route",))
SERVER_ERRORS = Metric("ServerErrors", COUNT, ("Route",))
"""Of each call that is answered with 400 to 499, and with 500 and above."""
COLD_START_MILLISECONDS = Metric("ColdStartMilliseconds", MILLISECONDS, ("Function",))
"""Processor time of the start and time of the first answer, of each new process."""
PREDICTIONS = Metric("Predictions", COUNT, ("Type",))
PREDICTIONS_GIVEN_BACK = Metric("PredictionsGivenBack", COUNT, ("Type",))
QUOTA_REFUSALS = Metric("QuotaRefusals", COUNT, ("Kind",))
"""Calls refused because a month's allowance is used up."""
ENGINE_MILLISECONDS = Metric("EngineMilliseconds", MILLISECONDS, ("Type",))
"""Time of the engine alone for one prediction."""
OCR_SECONDS = Metric("OcrSeconds", SECONDS, ("Task",))
OCR_PAGES = Metric("OcrPages", COUNT, ("Task",))
INGEST_SECONDS = Metric("IngestSeconds", SECONDS, ("Type",))
INGEST_ROWS = Metric("IngestRows", COUNT, ("Type",))
UPLOADS_FAILED = Metric("UploadsFailed", COUNT, ("Type",))
TRAINING_SECONDS = Metric("TrainingSeconds", SECONDS, ("Type",))
TRAININGS_FAILED = Metric("TrainingsFailed", COUNT, ("Type",))
JOBS_GIVEN_UP = Metric("JobsGivenUp", COUNT)
"""Uploads and trainings that ended as FAILED because they were out of attempts."""
QUEUE_SECONDS = Metric("QueueSeconds", SECONDS, ("Function",))
"""Age of a message when its handler begins."""
MODEL_MILLISECONDS = Metric("ModelDownloadMilliseconds", MILLISECONDS, ("Model",))
MODELS_NOT_BROUGHT = Metric("ModelsNotBrought", COUNT)
METRICS = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every metric."""
Values = Mapping[Metric, float]


class _Emission:
    """Whether metrics are written, and under which service; one for the process."""

    service = ""
    is_on = False
    is_warm = False


def configure(mode: str, service: str) -> None:
    """Switch metrics on or off; called when the container is built.

    Args:
        mode: OFF or EMF.
        service: the stack's name.
    """
    _Emission.service, _Emission.is_on = service, mode == EMF


def is_on() -> bool:
    """Return whether metrics are written."""
    return _Emission.is_on


def put(values: Values, **dimensions: str) -> None:
    """Write a log line with some metrics, all of the same dimensions."""
    if _Emission.is_on:
        log.record("metrics", **embedded(values, **dimensions))


def embedded(values: Values, **dimensions: str) -> dict[str, object]:
    """Return the members that add metrics to a log line; empty while metrics are off.

    Raises:
        ValueError: a metric has other dimensions.
    """
    if not _Emission.is_on:
        return {}
    for metric in values:
        if set(metric.dimensions) != set(dimensions):
            raise ValueError(f"{metric.name} has the dimensions {metric.dimensions}.")
    named = {SERVICE: _Emission.service, **dimensions}
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [list(named)],
        "Metrics": [{"Name": metric.name, "Unit": metric.unit} for metric in values],
    }
    figures = {metric.name: round(float(value), 3) for metric, value in values.items()}
    about = {"Timestamp": int(time.time() * 1000), "CloudWatchMetrics": [directive]}
    return {"_aws": about, **named, **figures}


@contextmanager
def cold_start(function: str) -> Iterator[None]:
    """Log how long the first call of a process takes, and how long the process took to start.

    The start is measured in processor time, because a process may sleep before its first call.

    Args:
        function: full name of the function, including the stack's name.
    """
    if _Emission.is_warm:
        yield
        return
    _Emission.is_warm = True
    start_seconds, began = time.process_time(), time.perf_counter()
    yield
    seconds = start_seconds + time.perf_counter() - began
    put({COLD_START_MILLISECONDS: 1000 * seconds}, Function=short_function(function))


def short_function(name: str) -> str:
    """Return the name of a function without the stack's name."""
    return name.removeprefix(f"{_Emission.service}-") or "unknown"

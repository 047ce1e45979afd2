"""Writes metrics to log lines for CloudWatch, and passes them to a recorder if the host sets one.

Every metric is declared here, with its names, unit and dimensions. A dimension has few values, so
accounts, models and paths are never dimensions. To count calls or jobs in CloudWatch, use the
sample count of their duration metric. Log lines use the embedded metric format, see
infra/template/dashboard.py and docs/runbook.md. The recorder of the local stack offers the metrics
to Prometheus, see infra/local/telemetry.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from chalicelib import log

NAMESPACE = "Presage"
"""Namespace of all metrics."""
SERVICE = "Service"
"""Dimension that every metric has. Its value is the name of the stack."""
OFF, EMF = "off", "emf"
"""Values of the setting PRESAGE_METRICS."""
COUNT, MILLISECONDS, SECONDS = "Count", "Milliseconds", "Seconds"


@dataclass(frozen=True)
class Metric:
    """A metric with its names, unit and dimensions."""

    name: str
    """Name in CloudWatch; empty if the metric is only for Prometheus."""
    unit: str
    """COUNT, MILLISECONDS or SECONDS."""
    dimensions: tuple[str, ...] = ()
    """Dimensions other than SERVICE. Their names in lower case are the labels in Prometheus."""
    exported: str = ""
    """Name in Prometheus; empty if the metric is only for CloudWatch. Durations are in seconds."""
    help: str = ""
    """Description that Prometheus shows."""


CALLS = Metric("", COUNT, ("Operation", "Family", "Status"), "presage_requests_total",
               "Requests by operation, family and class of the status.")  # fmt: skip
CALL_MILLISECONDS = Metric("", MILLISECONDS, ("Operation", "Family"),
                           "presage_request_duration_seconds",
                           "Time from a request to its answer.")  # fmt: skip
REQUEST_MILLISECONDS = Metric("RequestMilliseconds", MILLISECONDS, ("Route",))
CLIENT_ERRORS = Metric("ClientErrors", COUNT, ("Route",))
SERVER_ERRORS = Metric("ServerErrors", COUNT, ("Route",))
"""CLIENT_ERRORS counts answers with status 400 to 499, SERVER_ERRORS with 500 and above."""
COLD_START_MILLISECONDS = Metric("ColdStartMilliseconds", MILLISECONDS, ("Function",))
"""Processor time of a process start, plus the time of its first answer."""
PREDICTIONS = Metric("Predictions", COUNT, ("Type",), "presage_predictions_total",
                     "Counted predictions, including those of batches.")  # fmt: skip
PREDICTIONS_GIVEN_BACK = Metric("PredictionsGivenBack", COUNT, ("Type",),
                                "presage_predictions_released_total",
                                "Predictions that failed and are not counted.")  # fmt: skip
QUOTA_REFUSALS = Metric("QuotaRefusals", COUNT, ("Kind",), "presage_quota_refusals_total",
                        "Calls refused because an allowance is used up.")  # fmt: skip
ENGINE_MILLISECONDS = Metric("EngineMilliseconds", MILLISECONDS, ("Type",),
                             "presage_engine_duration_seconds",
                             "Time of the engine alone for one prediction.")  # fmt: skip
MODEL_READS = Metric("", COUNT, ("Family", "Result"), "presage_model_cache_total",
                     "Models that a prediction found in memory (hit) or read (miss).")  # fmt: skip
OCR_SECONDS = Metric("OcrSeconds", SECONDS, ("Task",), "presage_ocr_duration_seconds",
                     "Time of reading a document.")  # fmt: skip
OCR_PAGES = Metric("OcrPages", COUNT, ("Task",), "presage_ocr_pages_total", "Pages read.")
INGEST_SECONDS = Metric("IngestSeconds", SECONDS, ("Type",), "presage_upload_duration_seconds",
                        "Time of reading an uploaded file.")  # fmt: skip
INGEST_ROWS = Metric("IngestRows", COUNT, ("Type",), "presage_upload_rows_total",
                     "Rows of uploaded files.")  # fmt: skip
UPLOADS_FAILED = Metric("UploadsFailed", COUNT, ("Type",), "presage_uploads_failed_total",
                        "Uploads that ended as FAILED.")  # fmt: skip
TRAINING_SECONDS = Metric("TrainingSeconds", SECONDS, ("Type",),
                          "presage_training_duration_seconds",
                          "Time of a training that succeeded.")  # fmt: skip
TRAININGS_FAILED = Metric("TrainingsFailed", COUNT, ("Type",))
TRAININGS = Metric("", COUNT, ("State",), "presage_trainings_total",
                   "Trainings that ended, by their last state.")  # fmt: skip
BATCHES = Metric("", COUNT, ("State",), "presage_batches_total",
                 "Batches that ended, by their last state.")  # fmt: skip
JOBS_GIVEN_UP = Metric("JobsGivenUp", COUNT, (), "presage_jobs_given_up_total",
                       "Jobs that ended as FAILED after their last attempt.")  # fmt: skip
QUEUE_SECONDS = Metric("QueueSeconds", SECONDS, ("Function",), "presage_queue_wait_seconds",
                       "Age of a message when its handler begins.")  # fmt: skip
MODEL_MILLISECONDS = Metric("ModelDownloadMilliseconds", MILLISECONDS, ("Model",))
MODELS_NOT_BROUGHT = Metric("ModelsNotBrought", COUNT)
_ALL = [value for value in list(globals().values()) if isinstance(value, Metric)]
METRICS = tuple(metric for metric in _ALL if metric.name)
"""All metrics of CloudWatch."""
EXPORTED = tuple(metric for metric in _ALL if metric.exported)
"""All metrics of Prometheus."""
Values = Mapping[Metric, float]
# Takes a metric, its value, and the values of its dimensions.
Recorder = Callable[[Metric, float, Mapping[str, str]], None]


class Emission:
    """The settings of this process: whether it writes metrics, and for which stack."""

    service = ""
    is_on = False
    is_warm = False
    recorder: Recorder | None = None


def configure(mode: str, service: str) -> None:
    """Enable or disable metrics. Called when a container is created."""
    Emission.service, Emission.is_on = service, mode == EMF


def record_with(recorder: Recorder | None) -> None:
    """Set the recorder that receives the values of exported metrics; None for no recorder."""
    Emission.recorder = recorder


def record(values: Values, **dimensions: str) -> None:
    """Pass values to the recorder, if there is one, without writing a log line."""
    if Emission.recorder is not None:
        for metric, value in values.items():
            if metric.exported:
                Emission.recorder(metric, value, dimensions)


def put(values: Values, **dimensions: str) -> None:
    """Write a log line with the values of metrics that all have these dimensions."""
    members = embedded(values, **dimensions)
    if members:
        log.record("metrics", **members)


def embedded(values: Values, **dimensions: str) -> dict[str, object]:
    """Pass metrics to the recorder, and return the members to add to a log line.

    If metrics are off, the result is empty.

    Raises:
        ValueError: a metric is declared with dimensions other than `dimensions`.
    """
    record(values, **dimensions)
    if not Emission.is_on:
        return {}
    for metric in values:
        if set(metric.dimensions) != set(dimensions):
            raise ValueError(f"{metric.name} has the dimensions {metric.dimensions}.")
    named = {SERVICE: Emission.service, **dimensions}
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
    """Log how long a process took to start, and how long its first call takes.

    The start is measured in processor time, because a process may wait before its first call.
    """
    if Emission.is_warm:
        yield
        return
    Emission.is_warm = True
    start_seconds, began = time.process_time(), time.perf_counter()
    yield
    seconds = start_seconds + time.perf_counter() - began
    put({COLD_START_MILLISECONDS: 1000 * seconds}, Function=short_function(function))


def short_function(name: str) -> str:
    """Return the name of a function without the name of the stack."""
    return name.removeprefix(f"{Emission.service}-") or "unknown"

"""The dashboard of a stage: calls, latency, functions, queues, and the service's metrics.

Routes and types are found by searches, so that new routes and types appear automatically.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from chalicelib import metrics as own
from chalicelib.metrics import Metric as OwnMetric
from infra.resources import queue_resources
from infra.template.functions import FUNCTIONS
from infra.template.names import API_STAGE, SETTINGS, Part, short_name, sub

_WIDTH, _HEIGHT = 12, 6
# Namespace, metric, dimensions and options, in the form of a dashboard's source.
Metric = Sequence[object]


def dashboard() -> Part:
    """Return the dashboard's resource."""
    widgets = [_placed(number, widget) for number, widget in enumerate(_widgets())]
    return {
        "Dashboard": {
            "Type": "AWS::CloudWatch::Dashboard",
            "Properties": {
                "DashboardName": sub("${Name}"),
                "DashboardBody": sub(json.dumps({"widgets": widgets})),
            },
        }
    }


def _widgets() -> list[Part]:
    queues = [short_name(queue.name) for queue in queue_resources(SETTINGS, 0)]
    return [
        _widget("Calls", "Sum", [_of_api("Count"), _of_api("4XXError"), _of_api("5XXError")]),
        _widget(
            "Latency, ms",
            "p50",
            [_of_api("Latency"), [*_of_api("Latency"), {"stat": "p99"}]],
        ),
        _widget("Errors", "Sum", _of_functions("Errors")),
        _widget("Running at once", "Maximum", _of_functions("ConcurrentExecutions")),
        _widget("Duration, ms", "p95", _of_functions("Duration")),
        _widget("Throttles", "Sum", _of_functions("Throttles")),
        _widget(
            "Jobs waiting", "Maximum", _of_queues(queues, "ApproximateNumberOfMessagesVisible")
        ),
        _widget("Oldest job, s", "Maximum", _of_queues(queues, "ApproximateAgeOfOldestMessage")),
        _widget(
            "Jobs set aside",
            "Maximum",
            _of_queues([f"{q}-dead" for q in queues], "ApproximateNumberOfMessagesVisible"),
        ),
        *_own_widgets(),
    ]


def _own_widgets() -> list[Part]:
    """Return the widgets of the service's own metrics."""
    return [
        _search("Calls by route", "SampleCount", own.REQUEST_MILLISECONDS),
        _search("Latency by route, ms, 99 %", "p99", own.REQUEST_MILLISECONDS),
        _search("Errors by route", "Sum", own.CLIENT_ERRORS, own.SERVER_ERRORS),
        _search("Cold starts, ms, half of them below", "p50", own.COLD_START_MILLISECONDS),
        _search("Predictions", "Sum", own.PREDICTIONS, own.PREDICTIONS_GIVEN_BACK),
        _search("Calls refused by an allowance", "Sum", own.QUOTA_REFUSALS),
        _search("Time of a prediction, ms, 95 %", "p95", own.ENGINE_MILLISECONDS),
        _search("Pages read", "Sum", own.OCR_PAGES),
        _search("Time of a document, s, 95 %", "p95", own.OCR_SECONDS),
        _search("Rows uploaded", "Sum", own.INGEST_ROWS),
        _search("Time of an upload, s, 95 %", "p95", own.INGEST_SECONDS),
        _search("Trainings done", "SampleCount", own.TRAINING_SECONDS),
        _search("Time of a training, s, 95 %", "p95", own.TRAINING_SECONDS),
        _search(
            "Uploads and trainings FAILED",
            "Sum",
            own.UPLOADS_FAILED,
            own.TRAININGS_FAILED,
            own.JOBS_GIVEN_UP,
        ),
        _search("Wait of a job, s, 95 %", "p95", own.QUEUE_SECONDS),
        _search("Model files brought, ms, longest", "Maximum", own.MODEL_MILLISECONDS),
        _search("Model files not brought", "Sum", own.MODELS_NOT_BROUGHT),
    ]


def _search(title: str, statistic: str, *metrics: OwnMetric) -> Part:
    """Return a graph of metrics of the service, with all values of the metrics' dimensions."""
    expressions = [
        {"expression": _expression(metric, statistic), "id": f"e{number}", "label": ""}
        for number, metric in enumerate(metrics)
    ]
    return _widget(title, statistic, [[expression] for expression in expressions])


def _expression(metric: OwnMetric, statistic: str) -> str:
    """Return the CloudWatch search for one metric of this service."""
    schema = ",".join([own.NAMESPACE, own.SERVICE, *metric.dimensions])
    wanted = f'MetricName="{metric.name}" {own.SERVICE}="{SETTINGS.name}"'
    return f"SEARCH('{{{schema}}} {wanted}', '{statistic}', 300)"


def _of_api(metric: str) -> list[object]:
    """Return a metric of the API in the form that graphs of a dashboard need."""
    return ["AWS/ApiGateway", metric, "ApiName", SETTINGS.name, "Stage", API_STAGE]


def _of_functions(metric: str) -> list[Metric]:
    return [
        ["AWS/Lambda", metric, "FunctionName", f"{SETTINGS.name}-{function.short}"]
        for function in FUNCTIONS
    ]


def _of_queues(queues: Sequence[str], metric: str) -> list[Metric]:
    return [["AWS/SQS", metric, "QueueName", f"{SETTINGS.name}-{queue}"] for queue in queues]


def _widget(title: str, statistic: str, metrics: Sequence[Metric]) -> Part:
    return {
        "type": "metric",
        "properties": {
            "title": title,
            "region": "${AWS::Region}",
            "stat": statistic,
            "period": 300,
            "metrics": [list(metric) for metric in metrics],
        },
    }


def _placed(number: int, widget: Part) -> Part:
    """Return a graph with its position: there are two graphs in a row, ordered by `number`."""
    row, column = divmod(number, 2)
    place = {"x": column * _WIDTH, "y": row * _HEIGHT, "width": _WIDTH, "height": _HEIGHT}
    return {**widget, **place}

"""Records the metrics of chalicelib/metrics.py with prometheus_client."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import Counter, Histogram

from chalicelib import metrics
from chalicelib.metrics import EXPORTED, Metric
from infra.local.telemetry.names import labels_of

# Upper bounds of the buckets of calls and of longer work, in seconds.
_CALL_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_WORK_BUCKETS = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600)


def record_metrics() -> None:
    """Record the metrics of this process from now on."""
    exported = {metric: _declare(metric) for metric in EXPORTED}

    def record(metric: Metric, value: float, dimensions: Mapping[str, str]) -> None:
        declared = exported[metric]
        labels = [dimensions[name] for name in metric.dimensions]
        series = declared.labels(*labels) if labels else declared
        if isinstance(series, Counter):
            series.inc(value)
        else:
            series.observe(value / 1000 if metric.unit == metrics.MILLISECONDS else value)

    metrics.record_with(record)


def _declare(metric: Metric) -> Counter | Histogram:
    labels = labels_of(metric)
    if metric.unit == metrics.COUNT:
        return Counter(metric.exported, metric.help, labels)
    buckets = _CALL_BUCKETS if metric.unit == metrics.MILLISECONDS else _WORK_BUCKETS
    return Histogram(metric.exported, metric.help, labels, buckets=buckets)

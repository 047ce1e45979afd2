"""The dashboard for Grafana asks for metrics that exist."""

import json
import re
from pathlib import Path

from chalicelib.metrics import COUNT, EXPORTED
from infra.local.telemetry.names import GAUGES

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "presage.json"
NAME = re.compile(r"presage_\w+")


def test_queries_name_series_that_are_exported():
    """Every query uses exported series, and every exported metric is in a query."""
    exported = {metric.exported: metric.unit for metric in EXPORTED}
    series = {name if unit == COUNT else f"{name}_bucket" for name, unit in exported.items()}
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    queries = [t["expr"] for panel in dashboard["panels"] for t in panel["targets"]]

    assert {name for query in queries for name in NAME.findall(query)} == series | set(GAUGES)
    for query in queries:
        assert query.count("(") == query.count(")")
        assert "_total" not in query or "rate(" in query or "increase(" in query


def test_panels_have_separate_places_and_titles():
    """No panel covers another, and each says what it shows."""
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]

    assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)

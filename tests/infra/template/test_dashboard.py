"""Dashboard and alarms show the metrics that the code writes, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

from chalicelib import metrics
from infra.template.alarms import all_alarms
from infra.template.dashboard import dashboard

RUNBOOK = Path(__file__).parents[3] / "docs" / "runbook.md"
SEARCH = re.compile(
    r"SEARCH\('\{(?P<schema>[A-Za-z,]+)\} MetricName=\"(?P<name>\w+)\" "
    r"Service=\"\$\{Name\}\"', '(?P<stat>\w+)', 300\)"
)


def searches() -> list[re.Match[str]]:
    """List the searches of all graphs."""
    body = json.loads(dashboard()["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"])
    found = []
    for widget in body["widgets"]:
        for metric in widget["properties"]["metrics"]:
            if isinstance(metric[0], dict):
                match = SEARCH.fullmatch(metric[0]["expression"])
                assert match is not None, metric
                assert match["stat"] == widget["properties"]["stat"]
                found.append(match)
    return found


def test_every_metric_is_shown():
    """Each metric that the code writes has a graph, found by exactly its dimensions."""
    shown = {match["name"]: match["schema"] for match in searches()}

    assert shown == {
        metric.name: ",".join([metrics.NAMESPACE, metrics.SERVICE, *metric.dimensions])
        for metric in metrics.METRICS
    }


def test_graphs_do_not_overlap():
    """Each graph has a separate place, and ids are unique within it."""
    body = json.loads(dashboard()["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"])

    places = [(widget["x"], widget["y"]) for widget in body["widgets"]]
    assert len(set(places)) == len(places)
    for widget in body["widgets"]:
        ids = [m[0]["id"] for m in widget["properties"]["metrics"] if isinstance(m[0], dict)]
        assert len(set(ids)) == len(ids)


def test_alarms_watch_metrics_that_exist():
    """An alarm on one of our metrics uses its exact name and dimensions."""
    own = [alarm for alarm in all_alarms() if alarm.namespace == metrics.NAMESPACE]
    known = {metric.name: {metrics.SERVICE, *metric.dimensions} for metric in metrics.METRICS}

    assert {alarm.metric for alarm in own} == {"JobsGivenUp", "ModelsNotBrought"}
    assert all({name for name, _ in a.dimensions} == known[a.metric] for a in own)


def test_runbook_asks_for_what_is_logged():
    """Every event in the runbook's queries is one that the code writes."""
    source = "\n".join(p.read_text() for p in Path("chalicelib").rglob("*.py"))
    text = RUNBOOK.read_text()
    named = set(re.findall(r'event = "(\w+)"', text))
    for several in re.findall(r"event in \[([^\]]+)\]", text):
        named |= set(re.findall(r'"(\w+)"', several))

    assert {"job_run", "prediction", "request", "job_given_up"} <= named
    assert sorted(name for name in named if f'"{name}"' not in source) == []

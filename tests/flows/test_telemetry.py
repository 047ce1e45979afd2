"""Metrics and traces of a running stack, as Prometheus and a collector read them."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from chalicelib.metrics import COUNT, EXPORTED
from infra.local.environment import ROOT
from infra.local.telemetry.names import GAUGES, QUEUE_AGE, QUEUE_MESSAGES, SAVE_AGE
from tests.flows.client import LANGUAGE, Answer, Client
from tests.flows.test_ocr import CARD, OCR
from tests.flows.world import World, weather
from tests.local.wire import talk, wait_until
from tests.local_stack import ENDPOINT, LocalStack

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SENT = f"00-{TRACE}-00f067aa0ba902b7-01"
SECRET = "scrape-me-please"
# Never happen in a session that works.
RARE = {
    "presage_jobs_given_up_total",
    "presage_predictions_released_total",
    "presage_quota_refusals_total",
}
# Measured only in the stack's own emulator; other programs may use the queues of another one.
OF_OWN_EMULATOR = {QUEUE_AGE, QUEUE_MESSAGES, SAVE_AGE}


class Collector:
    """An OpenTelemetry collector that stores received spans."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, Any]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            """Receives OTLP over HTTP."""

            def do_POST(self) -> None:
                """Keep the spans of one request."""
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.take(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, request: ExportTraceServiceRequest) -> None:
        """Store the spans with their process."""
        for resource in request.resource_spans:
            named = {each.key: each.value.string_value for each in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.spans += [(named["presage.process"], span) for span in scope.spans]

    def names(self, process: str) -> set[str]:
        """Return the names of the spans of a process."""
        return {span.name for found, span in self.spans if found == process}

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()


def free_port() -> int:
    """Return a free port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    """The collector to which the stack sends spans."""
    made = Collector()
    yield made
    made.close()


@pytest.fixture(scope="module")
def port() -> int:
    """The metrics port."""
    return free_port()


@pytest.fixture(scope="module")
def watched(closed_network: None, collector: Collector, port: int) -> Iterator[LocalStack]:
    """A stack with metrics on both ports, and with traces."""
    environment = {
        "PRESAGE_METRICS_PORT": str(port),
        "PRESAGE_METRICS_TOKEN": SECRET,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "PRESAGE_SWEEP_SECONDS": "1",
    }
    with LocalStack(environment=environment) as running:
        yield running


@pytest.fixture(scope="module")
def session(watched: LocalStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A caller that has used everything that metrics count."""
    world = World(watched, tmp_path_factory.mktemp("telemetry"))
    client = world.caller("GOLD")
    try:
        use(client)
        yield client
    finally:
        client.close()
        world.close()


def use(client: Client) -> None:
    """Upload, train, predict, run a batch and read a document."""
    dataset = client.dataset(weather())
    model = client.model(int(dataset["id"]), "weather")
    for _ in range(2):
        client.multipart("POST", f"{LANGUAGE}/intent", {"modelId": model, "document": "rain"})
    fields = {"modelId": model}
    batch = client.multipart(
        "POST", f"{LANGUAGE}/batches", fields, {"data": ("a.csv", b"text\nsun\nrain\n")}
    ).ok
    client.wait(
        f"{LANGUAGE}/batches/{batch['id']}", lambda found: found["status"] == "SUCCEEDED", 120
    )
    client.upload(b"one line without a label", "bad.csv")
    vision = client.vision()
    vision.multipart("POST", OCR, {"modelId": "OCRModel"}, {"sampleContent": ("page", CARD)})
    vision.close()


def scrape(url: str, token: str | None = None) -> Answer:
    """Read the metrics."""
    with Client(url, token) as scraper:
        return scraper.get("/metrics")


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Return the value of each sample by name and labels."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_metric_is_present_after_a_session(session, port):
    """A scrape has every declared metric with type, help and fixed labels, and no id."""
    url = f"http://127.0.0.1:{port}"
    expected = {metric.exported for metric in EXPORTED} - RARE | set(GAUGES)
    if os.environ.get(ENDPOINT):
        expected -= OF_OWN_EMULATOR

    def found() -> set[str]:
        families = text_string_to_metric_families(scrape(url).body.decode())
        # The parser names counters without their ending.
        return {f.name + ("_total" if f.type == "counter" else "") for f in families}

    wait_until(lambda: expected <= found())
    answer = scrape(url)
    text = answer.body.decode()

    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert session.email not in text
    labels = {name for _, pairs in samples(text) for name, _ in pairs}
    assert labels <= {
        "operation", "family", "status", "type", "kind", "task", "result", "state", "lane",
        "process", "le",
    }  # fmt: skip
    values = samples(text)
    calls = {"operation": "predict_intent", "family": "language", "status": "2xx"}
    assert values["presage_requests_total", frozenset(calls.items())] == 2
    for result, number in (("hit", 1), ("miss", 1)):
        key = frozenset({"family": "language", "result": result}.items())
        assert values["presage_model_cache_total", key] >= number


def test_names_and_types_follow_the_conventions(session, port):
    """Counters end in _total, durations are histograms in seconds, and each family has a help."""
    text = scrape(f"http://127.0.0.1:{port}").body.decode()

    for family in text_string_to_metric_families(text):
        assert family.documentation.endswith("."), family.name
        assert family.name.startswith("presage_")
        assert family.type in ("counter", "histogram", "gauge")
        if family.type == "histogram":
            assert family.name.endswith("_seconds")
        if family.type == "gauge":
            assert not family.name.endswith("_total")
    for metric in EXPORTED:
        ending = "_total" if metric.unit == COUNT else "_seconds"
        assert metric.exported.endswith(ending)


def test_counters_survive_a_restarted_worker(watched, session, port):
    """After the worker that counted a training is killed, the count is unchanged."""
    url = f"http://127.0.0.1:{port}"
    key = ("presage_trainings_total", frozenset({("state", "SUCCEEDED")}))
    before = samples(scrape(url).body.decode())[key]
    old = watched.kill_worker("train")
    wait_until(lambda: watched.processes["train"] != old)

    assert samples(scrape(url).body.decode())[key] == before >= 1


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /metrics", 200),
        ("HEAD /metrics", 200),
        ("GET /", 404),
        ("HEAD /v2/health", 404),
        ("GET /metrics/", 404),
        ("POST /metrics", 405),
        ("OPTIONS /metrics", 405),
    ],
)
def test_own_port_has_the_metrics_alone(session, port, line, status):
    """The metrics' port answers GET and HEAD of one path; HEAD has the length of GET."""
    head = f"{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = talk(f"http://127.0.0.1:{port}", head.encode(), seconds=30)

    assert answer.status == status
    assert bool(answer.body) == (line == "GET /metrics")
    assert (int(answer.headers["content-length"]) > 0) == (status == 200)


def test_public_port_needs_the_token(watched, session):
    """On the public port a scrape needs the token; without it, it is a 401."""
    refused = [scrape(watched.url, token) for token in (None, "wrong", f"{SECRET}x", "é")]

    assert [answer.status for answer in refused] == [401] * 4
    assert refused[0].headers["www-authenticate"] == "Bearer"
    assert "PRESAGE_METRICS_TOKEN" in refused[0].data["message"]
    assert b"presage_requests_total" in scrape(watched.url, SECRET).body
    with Client(watched.url) as scraper:
        lower = scraper.send("GET", "/metrics", headers={"Authorization": f"bearer {SECRET}"})
    assert lower.status == 200


def test_caller_gets_the_trace_back(watched, session, collector):
    """A request continues the caller's trace; spans and log lines carry its id."""
    answer = session.send("GET", "/v2/health", headers={"traceparent": SENT})

    returned = answer.headers["traceparent"].split("-")
    assert returned[1] == TRACE
    wait_until(lambda: any(span.trace_id.hex() == TRACE for _, span in collector.spans))
    (span,) = [span for _, span in collector.spans if span.trace_id.hex() == TRACE]
    assert span.name == "GET /v2/health"
    assert span.span_id.hex() == returned[2]
    assert {each.key: each.value.int_value for each in span.attributes}[
        "http.response.status_code"
    ] == 200
    assert "train_paid" in collector.names("train")
    lines = (watched.state.folder / "logs" / "front.jsonl").read_text().splitlines()
    assert any(f'"trace_id": "{TRACE}"' in line for line in lines)


def test_nothing_is_loaded_unless_it_is_asked_for():
    """Without options the packages for metrics and traces are not loaded; /metrics is a 404."""
    code = (
        "import sys, app, entry, infra.local.supervisor, infra.local.http.front; "
        "print([m for m in sys.modules if m.startswith(('prometheus', 'opentelemetry'))])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True,
        env=dict(os.environ),
    )  # fmt: skip

    assert shown.stdout.strip() == "[]"

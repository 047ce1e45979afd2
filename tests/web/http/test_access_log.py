"""The log line of each request: ids, size and metrics."""

from __future__ import annotations

import base64
from types import SimpleNamespace

import pytest

from chalicelib import metrics
from chalicelib.web.http.access_log import call_ids, write_access

EVENT = {
    "requestContext": {"httpMethod": "GET", "resourcePath": "/v2/apiusage", "requestId": "r-1"},
}


def test_ids_are_those_of_gateway_and_function():
    """Ids of gateway and function are logged, truncated if too long, omitted if missing."""
    assert call_ids(EVENT, SimpleNamespace(aws_request_id="i-1")) == {
        "request_id": "r-1",
        "invocation_id": "i-1",
    }
    assert call_ids({"requestContext": {}}, None) == {}
    long = {"requestContext": {"requestId": "x" * 10_000}}
    assert len(str(call_ids(long, None)["request_id"])) == 100


@pytest.mark.parametrize(
    ("body", "is_base64", "size"),
    [
        ("", False, 0),
        ("plain", False, 5),
        ("é€", False, 5),
        ("\ud800", False, 3),
        (base64.b64encode(b"12345").decode(), True, 5),
        (base64.b64encode(b"123456").decode(), True, 6),
    ],
)
def test_size_is_that_of_the_answer(lines, body, is_base64, size):
    """The logged size is the number of bytes that the caller receives."""
    answer = {"statusCode": 200, "body": body, "isBase64Encoded": is_base64}
    write_access(EVENT, answer, 0.0015, is_known=True)

    (line,) = lines()
    assert (line["bytes"], line["milliseconds"], line["method"]) == (size, 1.5, "GET")


@pytest.mark.parametrize(
    ("status", "errors"),
    [(200, {}), (404, {"ClientErrors": 1}), (499, {"ClientErrors": 1}), (500, {"ServerErrors": 1})],
)
def test_line_carries_metrics_of_its_route(lines, status, errors):
    """Time and errors are counted by route; unknown routes share one name."""
    metrics.configure(metrics.EMF, "presage")
    write_access(EVENT, {"statusCode": status, "body": ""}, 0.5, is_known=status != 404)
    metrics.configure(metrics.OFF, "presage")

    (line,) = lines()
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    names = [metric["Name"] for metric in directive["Metrics"]]
    assert {name: line[name] for name in names} == {"RequestMilliseconds": 500, **errors}
    assert line["Route"] == ("other" if status == 404 else "/v2/apiusage")

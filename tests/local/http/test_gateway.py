"""Events and answers of the gateway, without a server."""

from __future__ import annotations

import pytest

from infra.local.events import scheduled_event, sqs_event
from infra.local.http.gateway import (
    HttpRequest,
    Match,
    RouteTable,
    http_answer,
    proxy_event,
    remap_headers,
)


def test_every_documented_member_is_in_an_event():
    """The event has the members of a REST API's proxy event, repeated headers included."""
    request = HttpRequest(
        "POST", "/v2/x/7", "a=1", [("Host", "h"), ("X-A", "1"), ("X-A", "2"), ("TE", "x")], b"{}"
    )

    event = proxy_event(request, Match("/v2/x/{id}", {"id": "7"}), [], "an-id")

    assert event["multiValueHeaders"]["X-A"] == ["1", "2"]
    assert event["headers"]["X-A"] == "2"
    assert "TE" not in event["headers"]
    assert event["pathParameters"] == {"id": "7"}
    assert event["requestContext"]["path"] == "/v2/x/7"
    assert (event["body"], event["isBase64Encoded"]) == ("{}", False)
    assert event["stageVariables"] is None


@pytest.mark.parametrize(
    ("kind", "is_base64"),
    [("image/png", True), ("IMAGE/PNG; a=b", True), ("audio/x", True), ("text/plain", False)],
)
def test_binary_types_match_without_parameters_and_by_family(kind, is_base64):
    """A listed type matches whatever its case and parameters; `audio/*` lists a family."""
    request = HttpRequest("POST", "/", "", [("content-type", kind)], b"abc")

    event = proxy_event(request, Match("/", {}), ["image/png", "audio/*"], "id")

    assert event["isBase64Encoded"] is is_base64


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "/"),
        ("/a", "/a"),
        ("/a/", "/a"),
        ("/a/b", "/a/b"),
        ("/a/c", "/a/{x}"),
        ("/a/b/m", "/a/{x}/m"),
        ("/a//m", None),
        ("/a/b/c", None),
        ("a", None),
    ],
)
def test_most_specific_template_is_found(path, expected):
    """Literal segments win, variables take one segment that is not empty."""
    table = RouteTable({t: ["GET"] for t in ("/a/{x}", "/a/b", "/a/{x}/m", "/a", "/")})

    match = table.match("GET", path)

    assert (match and match.resource) == expected


def test_answer_keeps_repeated_headers_and_drops_those_of_the_connection():
    """Repeated headers are kept, and connection headers of a function are dropped."""
    answer = http_answer(
        {
            "statusCode": 200,
            "headers": {"A": "1", "Connection": "close", "Content-Length": "9"},
            "multiValueHeaders": {"B": ["1", "2"]},
            "body": "/w==",
            "isBase64Encoded": True,
        }
    )

    assert answer.headers == [("B", "1"), ("B", "2"), ("A", "1")]
    assert answer.body == b"\xff"


def test_gateway_renames_the_challenge_of_a_function():
    """`WWW-Authenticate` of a proxy integration arrives under Amazon's name, others as they are."""
    answer = http_answer(
        {"statusCode": 401, "headers": {"WWW-Authenticate": "Bearer", "Retry-After": "1"}}
    )

    assert remap_headers(answer).headers == [
        ("x-amzn-Remapped-WWW-Authenticate", "Bearer"),
        ("Retry-After", "1"),
    ]


def test_malformed_answer_is_refused():
    """A body that is not text is the function's fault."""
    with pytest.raises(ValueError, match="must be a text"):
        http_answer({"statusCode": 200, "body": {"a": 1}})


def test_queue_event_spells_attributes_as_lambda_does():
    """Members begin with small letters, and every record names its queue."""
    message = {
        "MessageId": "m",
        "ReceiptHandle": "r",
        "Body": "{}",
        "MD5OfBody": "5",
        "Attributes": {"ApproximateReceiveCount": "1"},
        "MessageAttributes": {"a": {"StringValue": "x", "DataType": "String"}},
    }

    record = sqs_event(message, "arn:aws:sqs:us-east-1:1:q", "us-east-1")["Records"][0]

    assert record["messageAttributes"]["a"]["stringValue"] == "x"
    assert record["eventSourceARN"] == "arn:aws:sqs:us-east-1:1:q"
    assert record["attributes"] == {"ApproximateReceiveCount": "1"}


def test_scheduled_event_names_its_rule():
    """A tick looks like one of EventBridge."""
    event = scheduled_event("sweep", "us-east-1")

    assert event["resources"][0].endswith("rule/sweep")
    assert event["source"] == "aws.events"

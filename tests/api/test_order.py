"""The order of checks, the shape of errors, and the answers to damaged requests."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app import app
from chalicelib.domain.common.saving import Unsaved
from tests.api.prepared import DATASET_ID, MODEL_ID, PREDICTIONS, USED, raising

PREDICT = "/v2/language/intent"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("", "Invalid authentication scheme"),
        ("good", "Invalid authentication scheme"),
        ("Basic good", "Invalid authentication scheme"),
        ("Bearer", "Invalid authentication scheme"),
        ("Bearer two words", "Invalid authentication scheme"),
        ("Bearer wrong", "Invalid access token"),
    ],
)
def test_token_is_checked_first(call, header, message):
    """An invalid token is a 401, whatever else is wrong."""
    answer = call("POST", PREDICT, b"{", "text/plain", authorization=header)

    assert (401, message) == (answer.status, answer.json["message"])
    assert "WWW-Authenticate" in answer.headers
    assert "X-RateLimit-Limit" not in answer.headers


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_scheme_word_has_no_case(call, scheme):
    """The scheme word is case-insensitive."""
    assert call("GET", "/v2/apiusage", authorization=f"{scheme} {call.token}").status == 200


def test_unknown_model_comes_before_wrong_fields(call):
    """404 comes before 400: the model is looked up although the document is missing."""
    answer = call.json("POST", PREDICT, modelId="A" * 26, numResults=0)

    assert (
        answer.status,
        answer.json["message"],
    ) == (404, "Unable to find model " + "A" * 26 + ".")


def test_unknown_dataset_comes_before_content_type(call):
    """404 comes before 415: for an unknown dataset the body is not read."""
    assert call("PUT", "/v2/language/datasets/99/upload", b"x", "text/plain").status == 404


def test_wrong_fields_come_before_state(call, world):
    """400 comes before 409: fields are validated before the model's state is checked."""
    world.set_model("QUEUED")

    assert call.json("POST", PREDICT, modelId=MODEL_ID, document=" ").status == 400
    assert call.json("POST", PREDICT, modelId=MODEL_ID, document="a").status == 409


def test_state_comes_before_allowance(call, world):
    """409 comes before 429."""
    world.use(PREDICTIONS, 2000)
    world.set_model("RUNNING")

    assert call.json("POST", PREDICT, modelId=MODEL_ID, document="a").status == 409
    world.set_model("SUCCEEDED")
    assert call.json("POST", PREDICT, modelId=MODEL_ID, document="a").status == 429


def test_unsaved_data_is_reported_after_errors_of_the_caller(call, world, monkeypatch):
    """While saving fails, new data is a 503, after 401, 404 and 400; other calls work."""
    found = Unsaved(datetime(2026, 11, 21, 9, 30, tzinfo=UTC), 2, 1)
    monkeypatch.setattr(world.container, "unsaved", lambda: found)
    add = f"/v2/language/datasets/{DATASET_ID}/examples"
    whole = {"document": "a", "label": "b"}

    refused = call.json("POST", add, **whole)

    assert (refused.status, refused.json["code"]) == (503, "nothing_is_saved")
    assert "2026-11-21T09:30:00" in refused.json["message"]
    assert call.json("POST", add).status == 400
    assert call.json("POST", "/v2/language/datasets/999/examples", **whole).status == 404
    assert call.json("POST", PREDICT, modelId=MODEL_ID, document="a").status == 200


def test_every_call_that_brings_data_says_so():
    """All operations that store data are marked, so that a full disk refuses them."""
    assert {operation.name for operation in app.operations if operation.takes_data} == {
        "upload_dataset",
        "upload_pictures",
        "upload_dataset_sync",
        "upload_pictures_sync",
        "add_to_dataset",
        "add_label",
        "put_dataset",
        "add_bulk_feedback",
        "issue_upload",
        "add_example",
        "add_picture",
        "add_feedback",
        "add_picture_feedback",
        "change_example",
        "correct_dataset",
        "learn_template",
        "create_batch",
        "create_picture_batch",
        "create_ranking",
        "create_picture_ranking",
    }


def test_unknown_path_and_method_have_the_same_shape(call):
    """Unknown paths and methods get the usual error shape, without echoing the request."""
    missing, wrong = call("GET", "/v2/nothing/<b>"), call("PATCH", "/v2/language/datasets")

    assert (missing.status, missing.json["code"]) == (404, "route_not_found")
    assert "<b>" not in missing.text
    assert (wrong.status, wrong.headers["Allow"]) == (405, "DELETE, GET, HEAD, POST")
    assert {"message", "code"} == set(wrong.json)


@pytest.mark.parametrize("junk", [{}, None, [], "x", {"requestContext": None}, {"body": 5}])
def test_empty_event_is_a_400(call, junk):
    """An empty event is a 400, not an internal error."""
    assert call.send(junk).status == 400


def test_damaged_base64_is_a_400(call, event):
    """A body with invalid Base64 is a 400 with a clear message."""
    broken = event("POST", PREDICT, b"{}", "application/json")
    broken["body"] = "%%%"

    answer = call.send(broken)

    assert answer.status == 400
    assert "damaged" in answer.json["message"]


def test_body_may_come_as_text(call, event):
    """JSON that the gateway passes as text is read like bytes."""
    plain = event("POST", PREDICT, None, "application/json")
    plain["body"] = f'{{"modelId": "{MODEL_ID}", "document": "é"}}'

    assert call.send(plain).status == 200


def test_event_without_optional_members_is_answered(call):
    """Optional members of an event may be absent."""
    event = {"requestContext": {"resourcePath": "/v2/health", "httpMethod": "GET"}}

    assert call.send(event).json["status"] == "ok"


def test_unexpected_failure_is_a_500_without_a_trace(call, world, monkeypatch):
    """A 500 reveals nothing about the service's internals."""
    monkeypatch.setattr(
        world.container.encoders, "vectors", raising(ZeroDivisionError("secret detail"))
    )

    answer = call.json("POST", PREDICT, modelId=MODEL_ID, document="a")

    assert (answer.status, answer.json["code"]) == (500, "internal_error")
    assert "secret" not in answer.text
    assert answer.headers["X-RateLimit-Remaining"] == "1990"


def test_busy_storage_is_a_503_with_retry_after(call, world, storage_down, monkeypatch):
    """A storage that does not answer is a 503 with the time to wait."""
    monkeypatch.setattr(world.container.encoders, "vectors", raising(storage_down()))

    answer = call.json("POST", PREDICT, modelId=MODEL_ID, document="a")

    assert (answer.status, answer.headers["Retry-After"]) == (503, "2")


@pytest.mark.parametrize("family", ["vision", "language"])
@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=B", "image/png", "x"]
)
def test_reading_never_asks_for_a_content_type(call, family, kind):
    """GET and DELETE ignore content type and body."""
    body = b"\xff\x00 no body at all"

    assert call("GET", f"/v2/{family}/datasets", body, kind).status == 200
    assert call("DELETE", f"/v2/{family}/models/{MODEL_ID}", body, kind).status == 200


def test_other_content_types_of_writes_are_415(call):
    """A write with another content type is a 415 that names both types."""
    answer = call("POST", PREDICT, b"<a/>", "text/xml")

    assert answer.status == 415
    assert "multipart/form-data" in answer.json["message"]
    assert "application/json" in answer.json["message"]
    assert call("POST", PREDICT, b"{}").status == 415
    assert call("POST", PREDICT).status == 400


def test_families_are_strict_for_datasets_and_shared_for_models(call):
    """Datasets belong to one family; models can be read below both."""
    assert call("GET", f"/v2/vision/datasets/{DATASET_ID}").status == 404
    assert call("GET", f"/v2/vision/models/{MODEL_ID}").status == 200
    assert call("GET", f"/v2/vision/train/{MODEL_ID}").status == 200


@pytest.mark.parametrize(
    "segment", ["abc", "-1", "7.0", "07x", str(2**63), "9" * 400, "%00", "٧", "7%20", "%ED%A0%80"]
)
def test_malformed_ids_answer_like_unknown_ones(call, segment):
    """A malformed id is the same 404 as an unknown id, and is cut to 100 characters."""
    answer = call("GET", f"/v2/language/datasets/{segment}")

    assert (answer.status, answer.json["code"]) == (404, "dataset_not_found")
    assert answer.json["message"].startswith("Unable to find dataset ")
    assert len(answer.json["message"]) <= 124


def test_every_request_is_logged_in_one_line_without_texts(call, world, lines):
    """The log has request, account, route and status, never token or text."""
    call.json("POST", PREDICT, modelId=MODEL_ID, document="private words")

    prediction, request = lines()
    assert (request["event"], request["request_id"], request["account"]) == (
        "request",
        "r-1",
        world.account.account_id,
    )
    assert (request["method"], request["route"]) == ("POST", "/v2/language/intent")
    assert request["status"] == 200
    assert (prediction["event"], prediction["outcome"]) == ("prediction", "counted")
    assert (prediction["request_id"], prediction["account"]) == ("r-1", world.account.account_id)
    assert (prediction["model"], prediction["month"]) == (MODEL_ID, "2026-11")
    assert "private" not in str(lines())
    assert call.token not in str(lines())


@pytest.mark.parametrize(
    ("url", "method", "status", "route"),
    [
        (f"/v2/language/datasets/{DATASET_ID}", "GET", 200, "/v2/language/datasets/{dataset_id}"),
        ("/v2/oauth2/token/secret.token", "DELETE", 404, "/v2/oauth2/token/{token}"),
        ("/v2/secret/path", "GET", 404, "other"),
        ("/v2/apiusage", "SECRET", 405, "/v2/apiusage"),
    ],
)
def test_refused_requests_are_logged_too(call, lines, url, method, status, route):
    """Refused requests have a log line too, without path or unknown methods."""
    call(method, url)

    (line,) = lines()
    assert (line["event"], line["route"], line["status"]) == ("request", route, status)
    assert "secret" not in str(line).lower()


def test_outcome_of_a_prediction_is_logged(call, world, lines, storage_down, monkeypatch):
    """A failed prediction is logged as released, one beyond the quota as refused."""
    body = {"modelId": MODEL_ID, "document": "private"}
    monkeypatch.setattr(world.container.encoders, "vectors", raising(storage_down()))
    call.json("POST", PREDICT, **body)
    monkeypatch.undo()
    world.use(PREDICTIONS, 2000)
    call.json("POST", PREDICT, **body)

    found = [line["outcome"] for line in lines() if line["event"] == "prediction"]
    assert found == ["given_back", "refused"]


def test_unforeseen_failure_is_logged_without_its_text(call, world, lines, monkeypatch):
    """An internal error is logged with its place but without its message."""
    monkeypatch.setattr(world.container.encoders, "vectors", raising(ValueError("private words")))
    call.json("POST", PREDICT, modelId=MODEL_ID, document="a")

    (line,) = [line for line in lines() if line["event"] == "unforeseen_failure"]
    assert (line["level"], line["exception"], line["request_id"]) == ("ERROR", "ValueError", "r-1")
    assert "prepared.py" in line["trace"][0]
    assert "private" not in str(line)


@pytest.mark.parametrize(
    ("method", "path", "cost"),
    [
        ("GET", f"/v2/language/datasets/{DATASET_ID}", "records"),
        ("GET", "/v2/language/datasets/99", "records"),
        ("POST", PREDICT, "texts"),
        ("POST", "/v1/vision/predict", "pictures"),
        ("POST", "/v2/vision/ocr", "documents"),
        ("POST", "/v2/language/datasets/upload", "uploads"),
    ],
)
def test_rate_is_checked_right_after_the_token(call, world, monkeypatch, method, path, cost):
    """A caller above its rate is refused before anything is read or counted."""
    drawn = []
    monkeypatch.setattr(world.stores.rates, "draw", lambda *facts: drawn.append(facts[:2]) or 0)
    answer = call(method, path, b"{", "text/plain")

    assert (answer.status, answer.json["code"]) == (429, "rate_exceeded")
    assert answer.headers["Retry-After"] == "1"
    assert drawn == [(world.account.account_id, cost)]
    assert world.used(PREDICTIONS) == USED
    assert call(method, path, authorization="Bearer wrong").status == 401
    assert call("GET", "/v2/health", authorization="").status == 200


def test_tokens_have_a_rate_too(call, world, monkeypatch):
    """Token requests above the rate are refused after the assertion is verified."""
    monkeypatch.setattr(world.stores.rates, "draw", lambda *_: 0)
    fields = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer"}

    good = call.json("POST", "/v2/oauth2/token", **fields, assertion=world.assertion())
    assert (good.status, good.json["code"]) == (429, "rate_exceeded")
    bad = call.json("POST", "/v2/oauth2/token", **fields, assertion="a.b.c")
    assert bad.status == 401

"""The gateway in front of the function: routes, errors in one shape, bodies unharmed."""

from __future__ import annotations

import json

import pytest

from chalicelib import __version__
from chalicelib.engines.text.encoding.encoders import is_installed
from chalicelib.errors import (
    BadRequest,
    DatasetNotFound,
    InvalidScheme,
    InvalidToken,
    ModelNotFound,
    RouteNotFound,
    UnsupportedType,
)
from chalicelib.web.http.request import OLD_PATHS
from infra.models import default_directory
from infra.packaging.target import own_runtime
from infra.template.functions import ALIAS, ANSWERING, API, BY_QUEUE, FUNCTIONS
from tests.deployed.client import StageClient, refused
from tests.deployed.stage import Deployment


def test_the_command_reports_what_it_proved(stage: Deployment):
    """The deployment's smoke test passed: health, token, prediction."""
    assert f"health: ok, version {__version__}" in stage.said
    assert "account and token: ok" in stage.said
    assert "prediction: positive" in stage.said
    assert stage.url.endswith("/restapis/" + stage.url.split("/")[4] + "/api/_user_request_")


def test_engines_come_from_the_bucket(anonymous: StageClient):
    """No model is in the package; every engine uses the uploaded files."""
    has_accurate = all(is_installed(default_directory(), name) for name in ("mpnet", "e5"))
    health = anonymous.get("/v2/health").ok

    assert health["status"] == "ok"
    assert health["engines"] == {
        "text-fast": "ready",
        "text-accurate": "ready" if has_accurate else "missing",
        "vision": "ready",
        "ocr": "ppocr",
    }


def test_document_describes_every_route(stage: Deployment, anonymous: StageClient):
    """The gateway knows exactly the routes that the service describes, and those of version 1."""
    document = anonymous.get("/v2/openapi.json").ok
    known = stage.template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"]
    routes = {"/" + path.strip("/"): methods for path, methods in known.items()}
    old = {path for path in routes if path.startswith(OLD_PATHS)}

    assert old
    assert set(document["paths"]) == set(routes) - old
    for path in set(routes) - old:
        described = {name.upper() for name in document["paths"][path]}
        assert {name.upper() for name in routes[path]} - {"OPTIONS"} == described


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/nothing"), ("GET", "/v2/nothing"), ("PATCH", "/v2/health")]
)
def test_unknown_route(client: StageClient, method: str, path: str):
    """An unknown route is a 404 of the gateway in our shape."""
    found = refused(client.send(method, path), RouteNotFound)

    assert found["message"]


def test_preflight_is_answered(anonymous: StageClient):
    """OPTIONS reaches the service on every path; without allowed origins it allows no page."""
    asked = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
    answer = anonymous.send("OPTIONS", "/v2/language/intent", None, asked)

    assert (answer.status, answer.headers["allow"]) == (204, "POST, OPTIONS")


def test_head_is_answered(anonymous: StageClient):
    """HEAD passes the gateway with the status and type of GET, and without a body."""
    answer = anonymous.send("HEAD", "/v2/health")

    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "application/json"


def test_errors_of_the_function_pass_the_gateway(anonymous: StageClient, client: StageClient):
    """No token, a bad body, a wrong type, a missing object: each with its status and code."""
    intent, kind = "/v2/language/intent", {"Content-Type": "application/json"}

    refused(anonymous.get("/v2/apiusage"), InvalidScheme)
    refused(client.send("POST", intent, b'{"modelId": ', kind), BadRequest, "invalid_json")
    refused(client.send("POST", intent, b"x", {"Content-Type": "image/tiff"}), UnsupportedType)
    refused(client.predict("NOSUCHMODEL", "hello"), ModelNotFound)
    refused(client.get("/v2/language/datasets/999999999"), DatasetNotFound)


def test_only_the_drawn_key_signs(anonymous: StageClient, client: StageClient):
    """A token signed with another key than that in Secrets Manager is refused."""
    assert client.get("/v2/apiusage").ok["object"] == "list"
    anonymous.token = f"{client.token}"[:-6] + "AAAAAA"

    refused(anonymous.get("/v2/apiusage"), InvalidToken)


def test_answers_carry_their_headers(client: StageClient):
    """Headers of an answer pass the gateway, those of the month's predictions among them."""
    answer = client.predict("CommunitySentiment", "well done", "sentiment")

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert int(answer.headers["x-ratelimit-remaining"]) < int(answer.headers["x-ratelimit-limit"])
    assert client.get("/v2/docs").headers["content-type"].startswith("text/html")


def test_gateway_calls_the_alias(stage: Deployment):
    """Every route calls the alias of its function, which points to a version that was published."""
    functions, gateway = stage.client("lambda"), stage.client("apigateway")
    [api] = [a["id"] for a in gateway.get_rest_apis()["items"] if a["id"] in stage.url]
    called = set()
    for part in gateway.get_resources(restApiId=api, embed=["methods"], limit=500)["items"]:
        for method in part.get("resourceMethods", {}).values():
            called.add(method["methodIntegration"]["uri"].split("function:")[1].split("/")[0])

    assert called == {f"{stage.name}-{f.short}:{ALIAS}" for f in FUNCTIONS if f.name in ANSWERING}
    for name in called:
        found = functions.get_alias(FunctionName=name.split(":")[0], Name=ALIAS)
        assert found["FunctionVersion"].isdigit()


def test_queues_call_the_alias(stage: Deployment):
    """Jobs run on the version that the alias points to, as calls do."""
    found = stage.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    names = {mapping["FunctionArn"].split("function:")[1] for mapping in found}

    assert names == {f"{stage.name}-{function.short}:{ALIAS}" for function in BY_QUEUE.values()}


def test_api_function_is_as_described(stage: Deployment):
    """The function has the settings of the template and no key or secret among them."""
    facts = stage.client("lambda").get_function_configuration(FunctionName=f"{stage.name}-api")

    variables = facts["Environment"]["Variables"]
    assert (facts["Runtime"], facts["Architectures"]) == (own_runtime().name, ["x86_64"])
    assert variables["PRESAGE_MODELS_FROM_BUCKET"].startswith("prebuilt/")
    assert "PRESAGE_TOKEN_SECRET" not in variables
    assert API not in json.dumps(variables)

"""The whole template: each function's settings, and the gateway's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from chalicelib.config import Settings, SettingsError
from chalicelib.stores.jobs.queues import DELETE, DELIVER, EMBED, INGEST, TRAIN_FREE, TRAIN_PAID
from infra.template.alarms import all_alarms
from infra.template.functions import ANSWERING, FUNCTIONS, Function
from infra.template.gateway import LOG_FIELDS, gateway_responses
from infra.template.names import BUCKET, SECRET_ARN
from infra.template.parameters import data_parameters, parameters
from infra.template.rights import statements
from infra.template.versions import version_parameters
from tests.deployed.unproved import UNPROVED

MAX_TEMPLATE_BYTES = 1_000_000
"""CloudFormation takes no more."""
MAX_RESOURCES = 500
RUNBOOK = Path(__file__).parents[3] / "docs" / "runbook.md"


def test_template_is_within_the_limits(template: dict[str, Any]) -> None:
    """The template is within the CloudFormation limits of 1 MB and 500 resources."""
    assert len(json.dumps(template)) < MAX_TEMPLATE_BYTES / 2
    assert len(template["Resources"]) < MAX_RESOURCES / 2


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_function_gets_what_is_described(template: dict[str, Any], function: Function) -> None:
    """Each has its role, size, log group, names and queue; nothing of Chalice's guesses is left."""
    facts = template["Resources"][function.logical]["Properties"]

    is_called = function.name in ANSWERING
    assert facts["Handler"] == ("entry.app" if is_called else f"app.{function.name}")
    variables = facts["Environment"]["Variables"]
    assert is_called == ("PRESAGE_LOADS" in variables)
    assert facts["Role"] == {"Fn::GetAtt": [f"{function.logical}Role", "Arn"]}
    assert (facts["Timeout"], facts["EphemeralStorage"]) == (
        function.timeout_seconds,
        {"Size": function.disk_mb},
    )
    memory = template["Parameters"][facts["MemorySize"]["Ref"]]
    assert memory["Default"] == function.memory_mb
    assert facts["LoggingConfig"] == {"LogGroup": {"Ref": f"{function.logical}LogGroup"}}
    assert facts["Environment"]["Variables"]["OPENBLAS_NUM_THREADS"] == "1"
    events = [e for e in facts.get("Events", {}).values() if e["Type"] == "SQS"]
    if function.queue:
        [event] = events
        own = f"{''.join(w.title() for w in function.queue.split('-'))}Queue"
        queue = event["Properties"]["Queue"]["Fn::Sub"]
        # The queue of another stack is named; one of this stack is waited for.
        is_own = own in template["Resources"]
        assert (
            queue == f"${{{own}.Arn}}" if is_own else queue.endswith(f":${{Name}}-{function.queue}")
        )
        assert event["Properties"]["BatchSize"] == 1
        assert event["Properties"]["ScalingConfig"]["MaximumConcurrency"]["Ref"] in parameters()
    else:
        assert not events


def test_functions_that_chain_may_run_in_a_loop(template: dict[str, Any]) -> None:
    """Each function that sends to its own queue allows it, since Lambda stops long chains."""
    resources = template["Resources"]
    allowed = {
        function.queue
        for function in FUNCTIONS
        if resources[function.logical]["Properties"].get("RecursiveLoop") == "Allow"
    }

    assert allowed == {INGEST, EMBED, TRAIN_PAID, TRAIN_FREE, DELETE, DELIVER}


def test_variables_are_settings(template: dict[str, Any]) -> None:
    """Every function variable is a setting, and none contains a secret."""
    source = (Path(__file__).parents[3] / "chalicelib" / "config.py").read_text()
    for function in FUNCTIONS:
        variables = template["Resources"][function.logical]["Properties"]["Environment"]
        names = {n for n in variables["Variables"] if n.startswith("PRESAGE_")}
        assert all(f'"{name}"' in source for name in names)
        assert "PRESAGE_TOKEN_SECRET" not in names
    assert Settings.from_environment({"PRESAGE_AUDIENCE_HOSTS": ","}).audience_hosts[-1]


def test_kept_versions_fit_into_a_row(template: dict[str, Any]) -> None:
    """Stack and service refuse more versions of a model than its row in DynamoDB can hold."""
    most = template["Parameters"]["KeptVersions"]["MaxValue"]
    variable = "PRESAGE_KEPT_VERSIONS"

    assert Settings.from_environment({variable: str(most)}).kept_versions == most
    for wrong in (str(most + 1), "inf", "nan"):
        with pytest.raises(SettingsError, match=f"{variable} must be a number from 0 to {most}"):
            Settings.from_environment({variable: wrong})


@pytest.mark.parametrize("wrong", ["inf", "-inf", "nan", "1e999", "-1", "many"])
@pytest.mark.parametrize("variable", ["PRESAGE_THREADS", "PRESAGE_RATE_FACTOR"])
def test_settings_that_are_no_finite_numbers_are_refused(variable: str, wrong: str) -> None:
    """Whole and other numbers are refused by name, also those that Python reads as infinite."""
    with pytest.raises(SettingsError, match=f"{variable} must be a number from 0 up, not"):
        Settings.from_environment({variable: wrong})


def test_no_role_is_shared_or_wide(template: dict[str, Any]) -> None:
    """Each statement names one resource; wildcards only follow a bucket prefix."""
    roles = [r for r in template["Resources"].values() if r["Type"] == "AWS::IAM::Role"]
    assert len(roles) == len(FUNCTIONS) + 1
    for function in FUNCTIONS:
        for statement in statements(function):
            assert not any("*" in action for action in statement["Action"])
            resource = json.dumps(statement["Resource"])
            kind = r":::\$\{Name\}-data-[^/]+/(datasets/\*/[a-z]+|[a-z]+/)\*\""
            assert "*" not in resource or re.search(kind, resource)


def test_paid_trainings_run_before_free_ones() -> None:
    """Paid trainings have more concurrency than free ones."""
    found = {function.name: function.most_at_once for function in FUNCTIONS}

    assert found["train_free"] < found["train_paid"]


def test_gateway_answers_in_our_shape(template: dict[str, Any]) -> None:
    """The gateway's own errors have our shape and echo nothing of the request."""
    body = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    answers = body["x-amazon-apigateway-gateway-responses"]
    assert answers == gateway_responses()
    for answer in answers.values():
        text = answer["responseTemplates"]["application/json"]
        assert list(json.loads(text)) == ["message", "code"]
        assert "$" not in text
    assert answers["MISSING_AUTHENTICATION_TOKEN"]["statusCode"] == "404"
    assert answers["REQUEST_TOO_LARGE"]["statusCode"] == "413"
    assert answers["THROTTLED"]["statusCode"] == "429"
    after = "gatewayresponse.header.Retry-After"
    assert {kind for kind, answer in answers.items() if after in answer["responseParameters"]} == {
        "THROTTLED",
        "QUOTA_EXCEEDED",
        "WAF_FILTERED",
    }


def test_pages_of_allowed_origins_may_call(template: dict[str, Any], data: dict[str, Any]) -> None:
    """One parameter sets the origins of API, gateway and bucket; none by default, no cookies."""
    facts = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    called = facts["paths"]["/v2/health"]["get"]["x-amazon-apigateway-integration"]["uri"]
    for path, methods in facts["paths"].items():
        integration = methods["options"]["x-amazon-apigateway-integration"]
        assert (integration["type"], integration["uri"]) == ("aws_proxy", called), path
    for function in FUNCTIONS:
        variables = template["Resources"][function.logical]["Properties"]["Environment"]
        given = variables["Variables"]["PRESAGE_ALLOW_ORIGINS"]
        assert given == {"Fn::Join": [",", {"Ref": "AllowedOrigins"}]}
    for answer in facts["x-amazon-apigateway-gateway-responses"].values():
        given = answer["responseParameters"]["gatewayresponse.header.Access-Control-Allow-Origin"]
        assert given == {"Fn::If": ["HasOrigins", "'*'", {"Ref": "AWS::NoValue"}]}
    bucket = data["Resources"][BUCKET]["Properties"]["CorsConfiguration"]
    console, others = bucket["CorsRules"]
    condition, rule, otherwise = others["Fn::If"]
    assert (condition, otherwise) == ("HasOrigins", {"Ref": "AWS::NoValue"})
    assert rule["AllowedOrigins"] == {"Ref": "AllowedOrigins"}
    own = "https://*.execute-api.${AWS::Region}.${AWS::URLSuffix}"
    assert console["AllowedOrigins"] == [{"Fn::Sub": own}]
    for made in (template, data):
        assert made["Parameters"]["AllowedOrigins"]["Default"] == ""
        assert "credentials" not in json.dumps(made).lower().replace("_credentials", "")


def test_gateway_takes_files(template: dict[str, Any]) -> None:
    """Bodies of files pass unharmed, and GET with a body is not refused as at the edge."""
    facts = template["Resources"]["RestAPI"]["Properties"]
    types = facts["DefinitionBody"]["x-amazon-apigateway-binary-media-types"]

    assert {"multipart/form-data", "application/pdf", "image/png", "image/jpeg"} <= set(types)
    assert facts["EndpointConfiguration"] == "REGIONAL"


def test_access_log_names_no_path(template: dict[str, Any]) -> None:
    """The access log has the route's template and never path, query, headers or body."""
    format_ = template["Resources"]["RestAPI"]["Properties"]["AccessLogSetting"]["Format"]

    assert json.loads(format_) == LOG_FIELDS
    for secret in ("$context.path", "$input", "$context.identity", "requestOverride", "authorizer"):
        assert secret not in format_


def test_everything_logged_has_an_end(template: dict[str, Any]) -> None:
    """Every log group has the retention of the parameter."""
    groups = [r for r in template["Resources"].values() if r["Type"] == "AWS::Logs::LogGroup"]

    assert len(groups) == len(FUNCTIONS) + 1
    assert all(g["Properties"]["RetentionInDays"] == {"Ref": "LogDays"} for g in groups)


def test_budget_notifies_the_receivers_of_alarms(template: dict[str, Any]) -> None:
    """Receivers of alarms get a notice before and when costs pass the budget."""
    budget = template["Resources"]["Budget"]
    notices = budget["Properties"]["NotificationsWithSubscribers"]

    assert budget["Condition"] == "HasBudget"
    assert [
        (n["Notification"]["NotificationType"], n["Notification"]["Threshold"]) for n in notices
    ] == [
        ("ACTUAL", 80),
        ("FORECASTED", 100),
    ]
    for notice in notices:
        assert [s["Fn::If"][0] for s in notice["Subscribers"]] == ["HasAlarmEmail", "HasAlarmTopic"]


def test_every_parameter_is_described_and_optional() -> None:
    """A deployment may leave every parameter out; each says what it is for."""
    known = {**parameters(), **version_parameters(), **data_parameters()}
    for name, parameter in known.items():
        assert parameter["Description"].endswith("."), name
        assert "Default" in parameter or name == SECRET_ARN, name


def test_every_alarm_is_in_the_runbook() -> None:
    """Each kind of alarm has a section in the runbook, and no section is unused."""
    sections = re.findall(r"^## ([a-z-]+)$", RUNBOOK.read_text(), re.MULTILINE)

    assert sorted(sections) == sorted({alarm.kind for alarm in all_alarms()})


@pytest.mark.parametrize("name", UNPROVED)
def test_template_asks_for_what_no_emulator_does(
    template: dict[str, Any], data: dict[str, Any], name: str
) -> None:
    """What emulators cannot check is in the templates before packaging."""
    UNPROVED[name]({"Resources": {**data["Resources"], **template["Resources"]}})


def test_tracing_is_an_option(template: dict[str, Any]) -> None:
    """X-Ray traces only if the parameter asks for it, and only then may the roles write to it."""
    assert template["Parameters"]["Tracing"]["Default"] == "PassThrough"
    assert template["Conditions"]["HasTracing"] == {"Fn::Equals": [{"Ref": "Tracing"}, "Active"]}
    for function in FUNCTIONS:
        facts = template["Resources"][function.logical]["Properties"]
        assert facts["Tracing"] == {"Ref": "Tracing"}
        role = template["Resources"][facts["Role"]["Fn::GetAtt"][0]]["Properties"]
        condition, given, otherwise = role["Policies"][1]["Fn::If"]
        (statement,) = given["PolicyDocument"]["Statement"]
        assert (condition, otherwise) == ("HasTracing", {"Ref": "AWS::NoValue"})
        assert {action.partition(":")[0] for action in statement["Action"]} == {"xray"}

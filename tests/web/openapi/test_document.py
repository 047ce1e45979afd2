"""The OpenAPI document matches the declared operations."""

from __future__ import annotations

import json

import pytest

from chalicelib.routes import OPERATIONS
from chalicelib.web.http.request import OLD_PATHS
from chalicelib.web.openapi.document import document
from chalicelib.web.openapi.words import WORDS

DOCUMENT = document(OPERATIONS)
CALLS = [
    (path, method, call)
    for path, methods in DOCUMENT["paths"].items()
    for method, call in methods.items()
]


def undocumented(schema: dict) -> dict:
    """Remove the descriptions from a schema."""
    return {name: value for name, value in schema.items() if name != "description"}


def test_every_route_is_described():
    """The document has exactly the application's paths and methods."""
    import app

    routes = {
        (path, method)
        for path, methods in app.app.routes.items()
        for method in methods
        if not path.startswith(OLD_PATHS)
    }

    assert {(path, method.upper()) for path, method, _ in CALLS} == routes


def test_operation_ids_are_unique():
    """Operation ids are unique; aliases have their own."""
    names = [call["operationId"] for _, _, call in CALLS]

    assert len(names) == len(set(names))


def test_references_lead_somewhere():
    """Every reference names an existing schema."""
    schemas = DOCUMENT["components"]["schemas"]

    for part in json.dumps(DOCUMENT).split('"#/components/schemas/')[1:]:
        assert part.split('"')[0] in schemas


@pytest.mark.parametrize(("path", "method", "call"), CALLS, ids=lambda value: str(value)[:40])
def test_answers_follow_from_the_declaration(path, method, call):
    """Calls with a token declare 401; calls with a body declare 400, 413 and 415."""
    found = set(call["responses"])

    assert ("401" in found) == (bool(call["security"]) or path.endswith("oauth2/token"))
    if "requestBody" in call:
        assert {"400", "413", "415"} <= found
        content = call["requestBody"]["content"]
        form = content.get("multipart/form-data", {"schema": {}})
        needs_file = "data" in form["schema"].get("required", ())
        assert needs_file or "application/json" in content
    for status, answer in call["responses"].items():
        if method == "head":
            assert "content" not in answer
        elif int(status) >= 400:
            body = answer["content"]["application/json"]
            assert body["schema"] == {"$ref": "#/components/schemas/ErrorRecord"}
            assert {"message", "code"} <= set(body["example"])


def test_predictions_promise_their_headers():
    """Every answer except the 401 declares the rate-limit headers."""
    answers = DOCUMENT["paths"]["/v2/language/intent"]["post"]["responses"]

    for status, answer in answers.items():
        assert ("X-RateLimit-Remaining" in answer.get("headers", {})) == (status != "401")


def test_files_are_parts_only():
    """An upload's file is in the form and not in the JSON body."""
    content = DOCUMENT["paths"]["/v2/language/datasets/upload"]["post"]["requestBody"]["content"]

    form = content["multipart/form-data"]["schema"]["properties"]
    assert undocumented(form["data"]) == {"type": "string", "format": "binary", "minLength": 1}
    assert "data" not in content["application/json"]["schema"]["properties"]


def test_parameters_have_their_limits():
    """Paging and ranges are documented as they are enforced."""
    call = DOCUMENT["paths"]["/v2/language/datasets/{dataset_id}/examples"]["get"]
    found = {item["name"]: item["schema"] for item in call["parameters"]}

    assert found["offset"]["minimum"] == 0
    assert (found["count"]["minimum"], found["count"]["default"]) == (1, 100)
    assert set(found["source"]["enum"]) == {"upload", "feedback", "all"}
    body = DOCUMENT["paths"]["/v2/language/train"]["post"]["requestBody"]["content"]
    train = body["multipart/form-data"]["schema"]["properties"]
    assert undocumented(train["epochs"]) == {"type": "integer", "minimum": 1, "maximum": 1000}
    assert "trainSplitRatio" in json.dumps(train["trainParams"])


def test_documents_are_described():
    """The OCR call documents two files in a form, its template, and its answers."""
    call = DOCUMENT["paths"]["/v2/vision/ocr"]["post"]
    content = call["requestBody"]["content"]
    schemas = DOCUMENT["components"]["schemas"]

    form, body = (content[kind]["schema"]["properties"] for kind in
                  ("multipart/form-data", "application/json"))  # fmt: skip
    binary = {"type": "string", "format": "binary", "minLength": 1}
    files = [undocumented(form[name]) for name in ("sampleContent", "formTemplate")]
    assert files == [binary, binary]
    assert "sampleContent" not in body
    kinds = {choice["type"] for choice in body["formTemplate"]["anyOf"]}
    assert kinds == {"string", "object", "null"}
    answers = call["responses"]["200"]["content"]["application/json"]["schema"]["oneOf"]
    named = [schemas[answer["$ref"].rsplit("/", 1)[1]] for answer in answers]
    assert [schema["properties"]["task"]["enum"] for schema in named] == [
        ["text"], ["contact"], ["table"], ["form"],
    ]  # fmt: skip
    assert {"200", "400", "401", "404", "413", "415", "429", "503", "504"} == set(call["responses"])
    cell = schemas["CellRecord"]
    assert set(cell["properties"]) - set(cell["required"]) == {"entity", "normalizedText"}


def undescribed(place: str, schema: dict) -> list[str]:
    """List the members of a schema, at any depth, that have no description.

    A rule that says what a member must be needs no description.
    """
    found = []
    for name, member in schema.get("properties", {}).items():
        is_rule = not {"type", "$ref", "anyOf"} & set(member)
        found += [] if is_rule or member.get("description") else [f"{place}.{name}"]
        found += undescribed(f"{place}.{name}", member)
    for inner in (schema.get("items"), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        found += undescribed(place, inner) if isinstance(inner, dict) else []
    return found


def test_everything_is_described():
    """Every operation, parameter, field, member and answer has a description."""
    missing = [
        item
        for name, schema in DOCUMENT["components"]["schemas"].items()
        for item in undescribed(name, schema)
    ]
    for path, method, call in CALLS:
        place = f"{method} {path}"
        missing += [] if call["description"] and call["summary"] else [place]
        missing += [
            f"{place} {item['name']}" for item in call["parameters"] if not item["description"]
        ]
        for content in call.get("requestBody", {}).get("content", {}).values():
            missing += undescribed(place, content["schema"])
        missing += [place for answer in call["responses"].values() if not answer["description"]]
    assert not missing


def test_no_word_stands_in_vain():
    """Every text of the glossary is used in the document."""
    text = json.dumps(DOCUMENT)
    assert [word for word in WORDS.values() if json.dumps(word)[1:-1] not in text] == []


def test_operations_are_grouped_in_the_order_of_their_use():
    """Each operation is in one group, and each group has a description."""
    groups = [tag["name"] for tag in DOCUMENT["tags"]]
    assert groups[0] == "accounts"
    assert {tag for _, _, call in CALLS for tag in call["tags"]} == set(groups)


def test_machines_find_the_members_of_every_schema():
    """Schemas with members declare alternatives with `allOf`, and arrays declare their items."""
    schemas = [json.loads(json.dumps(DOCUMENT))]
    while schemas:
        schema = schemas.pop()
        if isinstance(schema, dict):
            assert schema.get("type") != "object" or not {"anyOf", "oneOf"} & set(schema), schema
            assert schema.get("type") != "array" or "items" in schema, schema
        if isinstance(schema, dict | list):
            schemas += schema.values() if isinstance(schema, dict) else schema

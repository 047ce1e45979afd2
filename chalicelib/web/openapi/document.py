"""Creates the OpenAPI 3.1 document from the declarations of the operations."""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import UnionType
from typing import Any, get_args, get_origin

import msgspec

from chalicelib import __version__
from chalicelib.domain.accounts.api_key import ALL, NO_KEY, PREDICT
from chalicelib.domain.accounts.rates import COSTS
from chalicelib.domain.common.repeats import KEY_HEADER, MAX_KEY, REPLAYED_HEADER
from chalicelib.domain.datasets.dataset import FAMILY_TYPES
from chalicelib.web import console
from chalicelib.web.http.request import JSON, MULTIPART, URLENCODED, VERSION_1
from chalicelib.web.http.responses import RATE_LIMIT_HEADERS, ErrorRecord
from chalicelib.web.openapi import words
from chalicelib.web.openapi.examples import example, refusal
from chalicelib.web.openapi.page import TYPES
from chalicelib.web.operations.operation import FAMILY, GROUPS, Operation
from chalicelib.web.records.declared import declared

Schema = dict[str, Any]

SERVERS = [
    {"url": "/", "description": "Version 2.0, as described here."},
    {
        "url": VERSION_1,
        "description": "Version 1.0, for older clients: `/v1/vision/…` and `/v1/apiusage` "
        "answer like the same paths below `/v2`, without the members whose `x-since` is 2.0. Old "
        "clients also find labels at `GET` and `POST /v1/vision/datasets/{dataset_id}/labels` and "
        "`GET …/labels/{label_id}`, an example at `GET …/examples/{example_id}`, and add a file by "
        "`PUT /v1/vision/datasets/{dataset_id}`.",
    },
]
REF = "#/components/schemas/{name}"
DESCRIPTIONS = {
    200: "Success.",
    204: "Success, without a body.",
    302: "Redirects to the console or the docs.",
    400: "The request is not valid; `message` says how to fix it.",
    401: "The caller is not authenticated.",
    403: "The call is outside of the scope of the API key.",
    404: "The object does not exist, or belongs to another account.",
    409: "The object's current state does not allow it.",
    413: "A file or the body is over its limit.",
    415: "The content type, content encoding or type of the file is not supported.",
    422: "The `Idempotency-Key` was used with another request before.",
    429: "A quota is used up or, with the code `rate_exceeded`, there were too many calls in a "
    "short time.",
    500: "An internal error.",
    503: "The storage is busy, or cannot save new data.",
    504: "The work was not finished in time.",
}

_HEAD_DETAILS = (
    "Returns status and headers of GET. Counts against the rate limits, not against the monthly "
    "limit of example lists; issues no URL."
)
_KEY_SCOPES = {
    ALL: "API keys need the scope `all`.",
    PREDICT: "API keys of any scope may call it.",
    NO_KEY: "No API key may call it.",
}
KEY_PARAMETER: Schema = {
    "name": KEY_HEADER,
    "in": "header",
    "required": False,
    "description": "Makes the call safe to repeat: with the same key and request, the first answer "
    f"is kept for 24 hours and repeated with `{REPLAYED_HEADER}: true`.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": "^[!-~]+$"},
    "example": "5f0c1c5e-8d2f-4c39-9f43-1f8e8f0a7a31",
}

KEY_HEADERS: Schema = {
    REPLAYED_HEADER: {
        "description": "`true` on an answer that is repeated.",
        "required": False,
        "schema": {"type": "string"},
    }
}


def document(operations: Iterable[Operation]) -> Schema:
    """Return the OpenAPI document."""
    listed = tuple(operation for operation in operations if any(operation.routes()))
    schemas = _Schemas(listed)
    paths: Schema = {}
    for operation in listed:
        for family, path in operation.routes():
            described = _operation(operation, family, path, schemas)
            methods = paths.setdefault(path, {})
            methods[operation.method.lower()] = described
            if "HEAD" in operation.methods:
                methods["head"] = _head(described)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Presage",
            "version": __version__,
            "description": "Predictions for texts and images with models that you train, and text, "
            "tables and forms read from images and PDFs. Every path answers OPTIONS with 204 and "
            "its methods; web pages of the origins that the service allows may call it.",
        },
        "servers": SERVERS,
        "tags": [{"name": name, "description": text} for name, text in GROUPS.items()],
        "paths": dict(sorted(paths.items(), key=_place)),
        "components": {
            "schemas": schemas.components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "pk_…",
                    "description": "An API key of `POST /v2/keys`.",
                },
            },
        },
    }


def _place(path: tuple[str, Schema]) -> tuple[bool, str]:
    """Return a sort key that orders paths by name, but puts the paths of version 1.0 last."""
    return not path[0].startswith("/v2/"), path[0]


def statuses(operation: Operation) -> list[int]:
    """Return all statuses with which an operation may answer, ascending."""
    found = {operation.status, *operation.statuses}
    if not operation.is_public:
        found |= {401, 429, 503}
        if operation.key_scope != PREDICT:
            found.add(403)
    if operation.locate is not None:
        # An object that the call names may not exist.
        found.add(404)
    if operation.form is not None:
        found |= {400, 413, 415, 503}
    if operation.query is not None or operation.page_size:
        found.add(400)
    if operation.takes_key:
        # Errors of idempotency keys: malformed, in use by a running call, or used by another
        # request.
        found |= {400, 409, 422}
    return sorted(found)


class _Schemas:
    """The schemas of all declared structs, and references to them."""

    def __init__(self, operations: tuple[Operation, ...]) -> None:
        types: list[Any] = [ErrorRecord]
        for operation in operations:
            types += [*_choices(operation.answer), *operation.parts]
            types += [] if operation.form is None else [operation.form]
        self._types = list(dict.fromkeys(types))
        found, self.components = msgspec.json.schema_components(self._types, ref_template=REF)
        # A deep copy, so that each member can have its own description.
        self.components = json.loads(json.dumps(self.components))
        self._refs = dict(zip(self._types, found, strict=True))
        for record in declared():
            if record.__name__ in self.components:
                self.components[record.__name__]["required"] = _always(record)
        words.describe(self.components)

    def ref(self, kind: Any) -> Schema:
        """Return a reference to the schema of a type; for a union, to the schemas of its types."""
        found = [dict(self._refs[choice]) for choice in _choices(kind)]
        return found[0] if len(found) == 1 else {"oneOf": found}

    def form(self, operation: Operation, family: str, media_type: str) -> Schema:
        """Return the schema of an operation's body in one content type."""
        form = operation.form
        schema: Schema = {**self.components[form.__name__]}
        fields: Schema = dict(schema["properties"])
        if "enum" in fields.get("type", {}) or "anyOf" in fields.get("type", {}):
            meaning = fields["type"].get("description", "")
            # Only the types of the family of this path.
            fields["type"] = {"type": "string", "enum": [*FAMILY_TYPES[family]]}
            fields["type"]["description"] = meaning
        if media_type == JSON:
            rules = getattr(form, "json_rules", {})
        else:
            rules = getattr(form, "form_rules", {})
            fields = {name: _without_null(field) for name, field in fields.items()}
            # In a form, a file is a binary part.
            for name in operation.files:
                meaning = fields.get(name, {}).get("description") or words.word(form.__name__, name)
                fields[name] = {"type": "string", "format": "binary", "minLength": 1}
                fields[name]["description"] = meaning
        return {**schema, "properties": fields, **_rules(rules)}


def _rules(rules: Schema) -> Schema:
    """Return the rules of a form as JSON schema, with `anyOf` and `oneOf` moved into `allOf`."""
    # Client generators and Swagger UI ignore the other rules of a schema that has `oneOf`.
    choices = [{name: rules[name]} for name in ("anyOf", "oneOf") if name in rules]
    others = {name: rule for name, rule in rules.items() if name not in ("anyOf", "oneOf")}
    return {**others, "allOf": choices} if choices else others


def _choices(kind: Any) -> tuple[Any, ...]:
    """Return the types in a union; for another type, the type itself."""
    if kind is None:
        return ()
    return get_args(kind) if get_origin(kind) is UnionType else (kind,)


def _always(record: Any) -> list[str]:
    """Return the names of the members that all records of a type have."""
    return [
        field.encode_name
        for field in msgspec.structs.fields(record)
        if msgspec.UnsetType not in get_args(field.type)
    ]


def _operation(operation: Operation, family: str, path: str, schemas: _Schemas) -> Schema:
    """Return the description of an operation at one of its paths."""
    name = "_".join(part for part in (operation.name, family) if part)
    is_alias = path != operation.path.replace(FAMILY, family)
    described: Schema = {
        # An alias needs another id, because ids are unique in a document.
        "operationId": f"{name}_at_{_slug(path)}" if is_alias else name,
        "summary": operation.summary,
        "description": _details(operation),
        "tags": [operation.group],
        "parameters": _parameters(operation, path),
        "responses": {
            str(status): _response(operation, family, status, schemas, path)
            for status in statuses(operation)
        },
        "security": _security(operation),
    }
    if operation.is_deprecated:
        described["deprecated"] = True
    if operation.form is not None:
        described["requestBody"] = _body(operation, family, schemas)
    return described


def _head(described: Schema) -> Schema:
    """Return the description of HEAD, made from the description of GET."""
    answers = described["responses"].items()
    return {
        **described,
        "operationId": f"head_{described['operationId']}",
        "summary": "Return status and headers of GET, without a body.",
        "description": f"{_HEAD_DETAILS} GET: {described['description']}",
        "responses": {
            status: {name: member for name, member in answer.items() if name != "content"}
            for status, answer in answers
        },
    }


def _details(operation: Operation) -> str:
    """Return the description of an operation: summary, quota, page size, scope and rate limit."""
    said = [operation.summary]
    if operation.is_public:
        said.append("Needs no token.")
    if operation.is_metered:
        said.append("Counts as one prediction unless it fails.")
    if operation.page_size:
        said.append(f"Returns pages of at most {operation.page_size}; `Link` has the next page.")
    if not operation.is_public:
        said.append(_KEY_SCOPES[operation.key_scope])
        said.append(f"Subject to the account's rate limit of {COSTS[operation.cost]}.")
    return " ".join(said)


def _security(operation: Operation) -> list[Schema]:
    """Return the ways in which a call can authenticate."""
    if operation.is_public:
        return []
    schemes: list[Schema] = [{"bearer": []}]
    return schemes if operation.key_scope == NO_KEY else [*schemes, {"apiKey": []}]


def _slug(path: str) -> str:
    """Return a path in a form that can be part of an identifier."""
    return "_".join(part for part in path.replace("{", "").replace("}", "").split("/") if part)


def _body(operation: Operation, family: str, schemas: _Schemas) -> Schema:
    """Return the description of an operation's body, by content type."""
    types = [*getattr(operation.form, "media_types", (MULTIPART, JSON))]
    types += [URLENCODED] if operation.takes_urlencoded else []
    content = {kind: {"schema": schemas.form(operation, family, kind)} for kind in types}
    request = example(operation.name, family).get("request", {})
    for kind, body in content.items():
        if request and not (
            # An example with a file cannot be sent as JSON.
            kind == JSON and operation.files and set(operation.files) & set(request)
        ):
            body["example"] = request
    return {"required": True, "content": content}


def _parameters(operation: Operation, path: str) -> list[Schema]:
    """Return the descriptions of an operation's path variables, headers and query parameters."""
    found = [
        {
            "name": part[1:-1],
            "in": "path",
            "required": True,
            "description": words.word("", part[1:-1]),
            "schema": _variable(part[1:-1]),
        }
        for part in path.split("/")
        if part.startswith("{")
    ]
    if operation.takes_key:
        found.append(KEY_PARAMETER)
    if operation.page_size:
        offset = {"type": "integer", "minimum": 0, "default": 0}
        count = {"type": "integer", "minimum": 1, "default": operation.page_size}
        found += [_query("Page", "offset", offset), _query("Page", "count", count)]
    if operation.query is not None:
        schema = msgspec.json.schema(operation.query)["$defs"][operation.query.__name__]
        required = schema.get("required", [])
        found += [
            _query(operation.query.__name__, name, described, required=name in required)
            for name, described in schema["properties"].items()
        ]
    return found


def _variable(name: str) -> Schema:
    if name in ("dataset_id", "label_id", "example_id"):
        return {"type": "integer", "minimum": 0}
    if name == "file":
        return {"type": "string", "enum": [*TYPES]}
    if name == "asset":
        return {"type": "string", "enum": [*console.TYPES]}
    if name == "token":
        return {"type": "string", "minLength": 1}
    return {"type": "string", "pattern": "^[A-Za-z0-9]{1,64}$"}


def _without_null(schema: Schema) -> Schema:
    """Return the schema of a field without null, because forms cannot send null."""
    kept = {name: value for name, value in schema.items() if name != "default" or value is not None}
    choices = [choice for choice in kept.pop("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        return {**kept, **choices[0]}
    return {**kept, "anyOf": choices} if choices else kept


def _query(owner: str, name: str, schema: Schema, *, required: bool = False) -> Schema:
    meaning = schema.get("description") or words.word(owner, name)
    described = {"name": name, "in": "query", "required": required, "description": meaning}
    return {**described, "schema": schema}


def _response(
    operation: Operation, family: str, status: int, schemas: _Schemas, path: str
) -> Schema:
    """Return the description of the response with one status."""
    described: Schema = {"description": DESCRIPTIONS[status]}
    headers = _headers(operation, status)
    if headers:
        described["headers"] = headers
    if status >= 400:
        error = {"schema": schemas.ref(ErrorRecord), "example": refusal(path, status)}
        described["content"] = {JSON: error}
    elif operation.answer is not None:
        described["content"] = {JSON: {"schema": _answer(operation, schemas)}}
        if answer := example(operation.name, family).get("answer"):
            described["content"][JSON]["example"] = answer
    elif operation.answer_types != (JSON,) or status != 204:
        text = {"schema": {"type": "string"}}
        described["content"] = dict.fromkeys(operation.answer_types, text)
    return described


def _answer(operation: Operation, schemas: _Schemas) -> Schema:
    record = schemas.ref(operation.answer)
    if not operation.is_list:
        return record
    return {
        "type": "object",
        "required": ["object", "data"],
        "properties": {
            "object": {"const": "list"},
            "data": {"type": "array", "items": record},
            **operation.list_members,
        },
    }


def _headers(operation: Operation, status: int) -> Schema:
    """Return the descriptions of the headers that an answer with a status has."""
    found: Schema = {}
    if operation.is_metered and status != 401:
        for name, meaning in RATE_LIMIT_HEADERS.items():
            kind = "string" if name.endswith("Reset") else "integer"
            found[name] = _header(meaning, kind)
    if status < 400:
        for name in operation.headers:
            found[name] = _header("Always the same.", "string")
        found |= KEY_HEADERS if operation.takes_key else {}
        if operation.page_size:
            link = _header("Address of the next page, unless this is the last.", "string")
            found["Link"] = {**link, "required": False}
    if status == 401:
        # API Gateway renames this header of a function's response.
        challenge = _header("How to authenticate.", "string")
        found["WWW-Authenticate"] = {**challenge, "required": False}
    if status in (429, 503, 504):
        found["Retry-After"] = _header("Seconds to wait.", "integer")
    return found


def _header(meaning: str, kind: str) -> Schema:
    return {"description": meaning, "required": True, "schema": {"type": kind}}

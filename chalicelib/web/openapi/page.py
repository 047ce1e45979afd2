"""A page that shows the OpenAPI document; one file, nothing loaded from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222}
summary{cursor:pointer;padding:.3rem 0}code,pre{font:14px/1.4 ui-monospace,monospace}
pre{background:#f5f5f5;overflow:auto;padding:1rem}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #ddd;padding:.3rem .6rem;text-align:left;vertical-align:top}
.method{display:inline-block;font-weight:600;width:5rem}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}pre{background:#222}}
"""


def page(document: dict[str, Any]) -> str:
    """Render the document as HTML."""
    info = document["info"]
    title = escape(f"{info['title']} {info['version']}")
    calls = "".join(
        _call(path, method, described)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    )
    schemas = "".join(
        _schema(name, schema) for name, schema in sorted(document["components"]["schemas"].items())
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f"<p>{escape(info['description'])} The same as JSON: "
        '<a href="openapi.json"><code>openapi.json</code></a>.</p>'
        f"<h2>Calls</h2>{calls}<h2>Records</h2>{schemas}</body></html>"
    )


def _call(path: str, method: str, described: dict[str, Any]) -> str:
    """Render one operation."""
    head = f'<span class="method">{escape(method.upper())}</span><code>{escape(path)}</code>'
    token = "" if described["security"] else "<p>No token is needed.</p>"
    gone = "<p>Deprecated.</p>" if described.get("deprecated") else ""
    return (
        f"<details><summary>{head} {escape(described['summary'])}</summary>{token}{gone}"
        f"{_parameters(described)}{_fields(described)}{_answers(described)}</details>"
    )


def _parameters(described: dict[str, Any]) -> str:
    """Render the variables of path and query."""
    rows = [
        (item["name"], item["in"], "yes" if item["required"] else "", _kind(item["schema"]))
        for item in described["parameters"]
    ]
    return _table("Parameters", ("name", "in", "required", "type"), rows)


def _fields(described: dict[str, Any]) -> str:
    """Render the fields of the body."""
    if "requestBody" not in described:
        return ""
    content: dict[str, Any] = described["requestBody"]["content"]
    schema = next(iter(content.values()))["schema"]
    needed = schema.get("required", [])
    rows = [
        (name, "yes" if name in needed else "", _kind(field))
        for name, field in schema["properties"].items()
    ]
    return _table(f"Body: {' or '.join(content)}", ("field", "required", "type"), rows)


def _answers(described: dict[str, Any]) -> str:
    """Render the statuses with what they carry."""
    rows = [
        (status, answer["description"], _record(answer), ", ".join(answer.get("headers", {})))
        for status, answer in described["responses"].items()
    ]
    return _table("Answers", ("status", "meaning", "record", "headers"), rows)


def _record(answer: dict[str, Any]) -> str:
    """Name the record of an answer."""
    bodies: list[dict[str, Any]] = list(answer.get("content", {}).values())
    if not bodies:
        return ""
    schema = bodies[0]["schema"]
    items = schema.get("properties", {}).get("data", {}).get("items")
    return _kind(schema) if items is None else f"list of {_kind(items)}"


def _kind(schema: dict[str, Any]) -> str:
    """Name a type in a word or two, with its limits."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(_kind(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    limits = [
        f"{name} {schema[name]}"
        for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "maxLength")
        if name in schema
    ]
    return ", ".join([str(schema.get("format", schema.get("type", ""))), *limits])


def _table(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Render a table, or nothing when it has no row."""
    if not rows:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<h4>{escape(title)}</h4><table><tr>{head}</tr>{body}</table>"


def _schema(name: str, schema: dict[str, Any]) -> str:
    """Render one record's schema."""
    text = escape(json.dumps(schema, indent=1, ensure_ascii=False))
    return f"<details><summary><code>{escape(name)}</code></summary><pre>{text}</pre></details>"

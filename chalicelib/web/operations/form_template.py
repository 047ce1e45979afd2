"""The JSON schema of a form template, for the OpenAPI document.

See contract, section 6, Form template.

The parser (chalicelib/formats/templates/form_template.py) accepts more names and shapes. This
schema has the recommended ones.
"""

from __future__ import annotations

from typing import Any

from chalicelib.domain.documents.form_template import ENTITY_TYPES, LAYOUTS, VERSIONS, VIRTUAL_KEYS
from chalicelib.web.operations.fields import VISIBLE

_TEXT = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": VISIBLE}
_KEY = {
    "type": "object",
    "required": ["entity", "keyVariations"],
    "properties": {
        "entity": {**_TEXT, "description": "Name of what is found, unique in the template."},
        "keyVariations": {
            "type": "array",
            "minItems": 1,
            "items": _TEXT,
            "description": "Texts that the key may have on the page, or one of "
            f"{', '.join(VIRTUAL_KEYS)}, which need no key.",
        },
        "entityTypes": {
            "type": "array",
            "items": {"type": "string", "examples": [*ENTITY_TYPES]},
            "description": "What is taken as the value; TEXT by default.",
        },
    },
}
_HEADER_CELL = {
    "type": "object",
    "required": ["entity", "text"],
    "properties": {
        "entity": _TEXT,
        "text": _TEXT,
        "tableName": _TEXT,
        "variations": {"type": "array", "items": _TEXT},
    },
}
# Without `type`, because the declaration of the field adds it.
FORM_TEMPLATE: dict[str, Any] = {
    "title": "FormTemplate",
    "description": "What to look for in a form; for task form only.",
    "required": ["keys", "version", "tableRecognition"],
    "properties": {
        "version": {"type": "string", "enum": [*VERSIONS]},
        "keys": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "required": ["key"], "properties": {"key": _KEY}},
        },
        "headerCells": {"type": "array", "items": _HEADER_CELL},
        "tableRecognition": {
            "type": "boolean",
            "description": "Whether tables are returned too.",
        },
        "layout": {
            "type": "array",
            "items": {"type": "string", "enum": [*LAYOUTS]},
            "description": "How the form is laid out: line numbers before its captions, columns of "
            "a pay statement, captions in two languages.",
        },
    },
}

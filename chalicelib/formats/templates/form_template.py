"""Form templates: templates that callers send, and templates that ship with the service.

Member names can be camelCase or snake_case; contract section 6 lists the other names. See the
specification, section Form template.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from chalicelib.domain.documents.form_template import (
    FORM_TYPES,
    LAYOUTS,
    VERSIONS,
    VIRTUAL_KEYS,
    FormTemplate,
    HeaderCell,
    TemplateKey,
)
from chalicelib.errors import InvalidParameter
from chalicelib.formats.templates.fields import TemplateFields, load_template, refuse, show

# Limit of keys in a template.
MAX_KEYS = 500
# Limit of header cells in a template.
MAX_HEADER_CELLS = 500
# Limit of variations of one key or header cell.
MAX_VARIATIONS = 50

_TEMPLATE = {
    "keys": ("keys",),
    "headerCells": ("headercells", "tablecells", "headers"),
    "tableRecognition": ("tablerecognition", "recognizetables", "recognisetables", "tables"),
    "version": ("version",),
    "layout": ("layout",),
}
_KEY = {
    "entity": ("entity", "entityname"),
    "keyVariations": ("keyvariations", "variations"),
    "entityTypes": ("entitytypes", "types", "entitytype"),
}
_HEADER = {
    "entity": ("entity", "entityname"),
    "text": ("text",),
    "tableName": ("tablename",),
    "variations": ("variations", "keyvariations", "textvariations"),
}
_HEADER_WRAPPERS = ("headercell", "tablecell", "cell")
_REMEDIES = {
    "version": f'"version": "{VERSIONS[0]}"',
    "tableRecognition": '"tableRecognition": true, or false where no tables are wanted',
}
_NO_KEYS = "Name at least one key; for tables alone, use task table, which needs no template."


def read_template(source: bytes | str | Mapping[str, object]) -> FormTemplate:
    """Parse and validate a form template.

    `keys` must contain at least one key, even if only tables are requested. `version` and
    `tableRecognition` are required. Unknown members are ignored.

    Args:
        source: bytes of a file (UTF-8, or UTF-16 with byte order mark), JSON text, or the JSON
            object from a request body.

    Returns:
        The template, with single spaces in its texts, and without repeated variations.

    Raises:
        InvalidParameter: the error text says where (such as `keys[3].key.keyVariations`, counted
            from 0), what is wrong, the value, and what to do.
    """
    fields = TemplateFields("", load_template(source), _TEMPLATE)
    keys, header_cells = _read_keys(fields), _read_header_cells(fields)
    missing = [name for name in _REMEDIES if not fields.has(name)]
    if missing:
        remedies = " and ".join(_REMEDIES[name] for name in missing)
        verb = "is" if len(missing) == 1 else "are"
        refuse(f"{' and '.join(missing)} {verb} missing. Add {remedies}.")
    return FormTemplate(
        keys=keys,
        header_cells=header_cells,
        finds_tables=fields.flag("tableRecognition"),
        version=_read_version(fields),
        layout=_read_layout(fields),
    )


def _read_version(fields: TemplateFields) -> str:
    value = fields.get("version")
    number = _as_number(value)
    known = {float(version): version for version in VERSIONS}
    if number not in known:
        refuse(f"version is {show(value)}, known are {', '.join(VERSIONS)}. Write one of them.")
    return known[number]


def _read_layout(fields: TemplateFields) -> tuple[str, ...]:
    hints = fields.texts("layout", MAX_VARIATIONS)
    for hint in hints:
        if hint not in LAYOUTS:
            refuse(f"layout has {show(hint)}, known are {', '.join(LAYOUTS)}. Take it out.")
    return hints


def _as_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return -1.0
    try:
        return float(value)
    except (ValueError, OverflowError):
        return -1.0


def _read_keys(fields: TemplateFields) -> tuple[TemplateKey, ...]:
    items = fields.items("keys", MAX_KEYS, "Divide them among several templates.")
    if not items:
        refuse(f"keys is {'empty' if fields.has('keys') else 'missing'}. {_NO_KEYS}")
    places: dict[str, str] = {}
    keys = []
    for place, item in items:
        inner = TemplateFields.unwrap(place, item, ("key",), _KEY)
        key = _read_key(inner)
        if key.entity in places:
            refuse(
                f"{inner.place}.entity is {show(key.entity)}, which {places[key.entity]}.entity "
                "has already. Give each key a different name."
            )
        places[key.entity] = inner.place
        keys.append(key)
    return tuple(keys)


def _read_key(fields: TemplateFields) -> TemplateKey:
    variations = fields.texts("keyVariations", MAX_VARIATIONS)
    if not variations:
        refuse(
            f"{fields.place}.keyVariations is "
            f"{'empty' if fields.has('keyVariations') else 'missing'}. Name at least one text "
            f"that the key has on the page, or one of {', '.join(VIRTUAL_KEYS)}."
        )
    types = fields.texts("entityTypes", MAX_VARIATIONS)
    return TemplateKey(
        entity=fields.name("entity"),
        variations=variations,
        types=tuple(dict.fromkeys(kind.upper() for kind in types)),
    )


def _read_header_cells(fields: TemplateFields) -> tuple[HeaderCell, ...]:
    items = fields.items("headerCells", MAX_HEADER_CELLS, "Keep those that are needed.")
    return tuple(
        _read_header_cell(TemplateFields.unwrap(place, item, _HEADER_WRAPPERS, _HEADER))
        for place, item in items
    )


def _read_header_cell(fields: TemplateFields) -> HeaderCell:
    """Return a header cell. The text of the cell becomes the first of its variations."""
    text = fields.optional_text("text")
    variations = fields.texts("variations", MAX_VARIATIONS)
    entity = fields.name("entity")
    if text is None and not variations:
        refuse(f"{fields.place}.text is missing. Write the text that the header has on the page.")
    every = variations if text is None else (text, *variations)
    return HeaderCell(entity, tuple(dict.fromkeys(every)), fields.optional_text("tableName"))


_FOLDER = Path(__file__).parents[2] / "assets" / "forms"
_SHOWN_CHARACTERS = 40


def standard_template(form_type: str) -> FormTemplate:
    """Return a template that ships with the service.

    Args:
        form_type: One of FORM_TYPES.

    Raises:
        InvalidParameter: there is no such template. The error text lists the existing form types.
    """
    if form_type not in FORM_TYPES:
        shown = form_type[:_SHOWN_CHARACTERS].encode("utf-8", "backslashreplace").decode()
        raise InvalidParameter(
            "formType",
            f'"{shown}" is not known. Name one of {", ".join(FORM_TYPES)}, or send a template of '
            "your own as formTemplate.",
        )
    return _read(form_type)


@cache
def _read(form_type: str) -> FormTemplate:
    source = (_FOLDER / f"{form_type}.json").read_bytes()
    template, members = read_template(source), json.loads(source)["keys"]
    formats = [member["key"].get("format", "") for member in members]
    keys = zip(template.keys, formats, strict=True)
    return replace(template, keys=tuple(replace(key, format=each) for key, each in keys))

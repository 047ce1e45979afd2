"""Reads a form template as JSON, and checks the types of its members."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping, Sequence
from typing import NoReturn

from chalicelib.errors import InvalidParameter
from chalicelib.formats.texts.encoding import HEAD_BYTES, name_foreign_type
from chalicelib.formats.texts.json_limits import MAX_DEPTH, is_too_deep

# Size limit of a form template in bytes.
MAX_TEMPLATE_BYTES = 1_000_000

PARAMETER = "formTemplate"
_SHOWN_CHARACTERS = 60
# Python's int() of a long digit string takes time that grows with the square of its length.
_LONGEST_INTEGER = 20
_SHAPE = (
    'Send {"version": "1.0", "keys": [{"key": {"entity": "…", "keyVariations": ["…"], '
    '"entityTypes": []}}], "headerCells": [], "tableRecognition": false}.'
)
_TOO_DEEP = f"values are nested too deeply, in more than {MAX_DEPTH} arrays and objects. {_SHAPE}"


def refuse(reason: str) -> NoReturn:
    """Raise InvalidParameter for a form template.

    Args:
        reason: Error text that says which member is wrong, why, its value, and what to do.
    """
    raise InvalidParameter(PARAMETER, reason)


def show(value: object) -> str:
    """Format a value of the template for error texts.

    Returns:
        For a text: the text in quotes, cut after 60 characters. For a number, boolean or null: its
        JSON. For an array or object: only its type. The result can always be encoded as UTF-8.
    """
    if isinstance(value, str):
        cut = value if len(value) <= _SHOWN_CHARACTERS else value[:_SHOWN_CHARACTERS] + "…"
        return '"' + cut.encode("utf-8", "backslashreplace").decode() + '"'
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return f"an array of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value!r:.20}" if isinstance(value, int | float) else type(value).__name__


def load_template(source: bytes | str | Mapping[str, object]) -> Mapping[str, object]:
    """Return the JSON object of a form template.

    Args:
        source: Bytes of a file (UTF-8, or UTF-16 with byte order mark), JSON text, or the JSON
            object from a request body.

    Returns:
        The JSON object. Its members are not checked yet.

    Raises:
        InvalidParameter: the template is too large, has an unknown encoding, or is not a JSON
            object.
    """
    if isinstance(source, Mapping):
        _measure(source)
        return source
    if isinstance(source, str):
        _limit(len(source.encode("utf-8", "surrogatepass")))
        value = _parse(source)
    else:
        _limit(len(source))
        value = _parse(_decode(bytes(source)))
    if not isinstance(value, Mapping):
        refuse(f"an object was expected, it is {show(value)}. {_SHAPE}")
    return value


def _limit(size: int) -> None:
    if size > MAX_TEMPLATE_BYTES:
        refuse(
            f"it has {size:,} bytes, the limit is {MAX_TEMPLATE_BYTES:,}. Divide it into several "
            "templates and send one call for each."
        )


def _measure(source: Mapping[str, object]) -> None:
    try:
        text = json.dumps(source, ensure_ascii=False)
    except RecursionError:
        refuse(_TOO_DEEP)
    if is_too_deep(text):
        refuse(_TOO_DEEP)
    _limit(len(text.encode("utf-8", "surrogatepass")))


def _decode(data: bytes) -> str:
    if not data.strip():
        refuse(f"the file is empty. {_SHAPE}")
    foreign = name_foreign_type(data[:HEAD_BYTES])
    if foreign:
        refuse(f"it looks like {foreign}. Send JSON, saved as UTF-8.")
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if is_utf16 else "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        refuse(
            f"byte {error.start + 1:,} is not valid {encoding.upper()}. Save the template as UTF-8."
        )


def _parse(text: str) -> object:
    stripped = text.removeprefix("\ufeff").strip()
    if not stripped:
        refuse(f"it is empty. {_SHAPE}")
    if is_too_deep(stripped):
        refuse(_TOO_DEEP)
    try:
        return json.loads(
            stripped,
            object_pairs_hook=_read_members,
            parse_constant=_refuse_constant,
            parse_int=_read_integer,
        )
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        refuse(
            f"it is not JSON: {reason} at line {error.lineno}, column {error.colno}, before "
            f"{show(stripped[error.pos : error.pos + 20])}. {_SHAPE}"
        )


def _read_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    # It is unclear which one of repeated members counts, so they are refused.
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            refuse(f"an object has the member {show(name)} twice. Keep one of them.")
        members[name] = value
    return members


def _refuse_constant(name: str) -> NoReturn:
    refuse(f"{name} is not a JSON value. Take it out.")


def _read_integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


# Length limit of an entity name, variation, header text or table name.
MAX_TEXT_CHARACTERS = 500

_FLAGS = {"true": True, "false": False}


def _plain(name: object) -> str:
    return str(name).replace("_", "").replace("-", "").replace(" ", "").lower()


class TemplateFields:
    """The known members of a JSON object in a template, by canonical name."""

    def __init__(
        self, place: str, members: Mapping[str, object], names: Mapping[str, Sequence[str]]
    ) -> None:
        """Find the known members of the JSON object `members`.

        Args:
            place: Path of the object, such as `keys[3].key`; empty for the template itself.
            members: Members of the object, as sent.
            names: Accepted names for each canonical name, normalised by `_plain`.

        Raises:
            InvalidParameter: a member is given under two names.
        """
        self.place = place
        self._values: dict[str, object] = {}
        known = {alias: name for name, aliases in names.items() for alias in aliases}
        spelled: dict[str, str] = {}
        for member, value in members.items():
            name = known.get(_plain(member))
            if name is None or value is None:
                continue
            if name in spelled:
                refuse(
                    f"{self._at(member)} and {self._at(spelled[name])} are the same member. "
                    f"Keep {name}."
                )
            spelled[name] = member
            self._values[name] = value

    @classmethod
    def unwrap(
        cls, place: str, item: object, wrappers: Sequence[str], names: Mapping[str, Sequence[str]]
    ) -> TemplateFields:
        """Return the members of an array element, which may be wrapped in another object.

        Args:
            place: Path of the element, such as `keys[3]`.
            item: The element.
            wrappers: Possible names of a member that wraps the element, normalised by `_plain`.
            names: The accepted names of members, as in the constructor.

        Raises:
            InvalidParameter: the element is not an object.
        """
        members = _read_object(place, item)
        for member, value in members.items():
            if _plain(member) in wrappers:
                inner = f"{place}.{member}"
                return cls(inner, _read_object(inner, value), names)
        return cls(place, members, names)

    def has(self, name: str) -> bool:
        """Return whether a member exists and is not null."""
        return name in self._values

    def get(self, name: str) -> object:
        """Return the value of a member; None if it is missing or null."""
        return self._values.get(name)

    def flag(self, name: str) -> bool:
        """Return the value of a boolean member; raise InvalidParameter if it is not boolean."""
        value = self._values.get(name)
        if isinstance(value, str):
            value = _FLAGS.get(value.strip().lower(), value)
        if not isinstance(value, bool):
            refuse(f"{self._at(name)} is {show(value)}. Write true or false.")
        return value

    def items(self, name: str, limit: int, remedy: str) -> list[tuple[str, object]]:
        """Return the elements of the array `name`, each with its path for error texts.

        Raises:
            InvalidParameter: the value is not an array, or has more than `limit` elements.
        """
        value = self._values.get(name, ())
        place = self._at(name)
        if not isinstance(value, list | tuple):
            refuse(f"{place} is {show(value)}. Write an array.")
        if len(value) > limit:
            refuse(f"{place} has {len(value):,} elements, the limit is {limit:,}. {remedy}")
        return [(f"{place}[{number}]", item) for number, item in enumerate(value)]

    def texts(self, name: str, limit: int) -> tuple[str, ...]:
        """Return the distinct texts of the array `name`. A single text is read as an array.

        Raises:
            InvalidParameter: the array is too long, or an element is empty, too long or not a text.
        """
        value = self._values.get(name)
        if isinstance(value, str):
            return (_read_text(self._at(name), value),)
        items = self.items(name, limit, "Keep the most frequent ones.")
        return tuple(dict.fromkeys(_read_text(place, item) for place, item in items))

    def name(self, name: str) -> str:
        """Return the required text `name`, exactly as sent.

        Raises:
            InvalidParameter: the value is missing, empty, too long or not a text.
        """
        if name not in self._values:
            refuse(f"{self._at(name)} is missing. Write a text that is unique in the template.")
        value = self._values[name]
        _read_text(self._at(name), value)
        return str(value)

    def optional_text(self, name: str) -> str | None:
        """Return the text `name`; None if it is missing.

        Raises:
            InvalidParameter: the value is not a text, is empty, or is too long.
        """
        if name not in self._values:
            return None
        return _read_text(self._at(name), self._values[name])

    def _at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name


def _read_object(place: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        refuse(f'{place} is {show(value)}. Write an object: {{"entity": "…", …}}.')
    return value


def _read_text(place: str, value: object) -> str:
    """Return a text with single spaces; raise an error if it is empty, too long or not a text."""
    if not isinstance(value, str):
        refuse(f"{place} is {show(value)}. Write a text in quotes.")
    if len(value) > MAX_TEXT_CHARACTERS:
        refuse(
            f"{place} has {len(value):,} characters, the limit is {MAX_TEXT_CHARACTERS}. "
            f"Shorten {show(value)}."
        )
    if any("\ud800" <= character <= "\udfff" for character in value):
        refuse(f"{place} is {show(value)}, which holds half a character. Write the whole one.")
    text = " ".join(value.split())
    if not text:
        refuse(f"{place} is empty. Write a text, or take the element out.")
    return text

"""Finds texts and labels in JSON objects, including objects that other tools wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.datasets.upload_format import JSON, LABEL_STUDIO, ReadingOptions
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.columns.names import find_column, find_named_columns, split_columns
from chalicelib.formats.texts.columns.ranking import is_code

TEXT_KEYS = ("text", "document", "utterance")
LABEL_KEYS = ("label", "intent", "sentiment")
_REMEDY = 'Send an array, or one object a line, of {"text": "…", "label": "…"}.'
_ANSWERS = frozenset({"accept", "reject", "ignore"})
# Fraction of different values in a member of texts. Few texts repeat, but authors and sources do.
_MOSTLY = 0.8
# Ends of prompts and starts of completions in files for fine-tuning language models.
_PROMPT_ENDS = ("\n\n###\n\n", "\n\n->", " ->")


class ObjectFault(ValueError):
    """An object cannot be an example. The message says why."""


# Text and label of an object.
Pair = tuple[str, str]


@dataclass(frozen=True)
class ObjectShape:
    """The members of JSON objects that contain the text and the label."""

    kind: str = JSON
    """Format of the objects: `json` or `labelStudio`."""
    text_keys: tuple[str, ...] = TEXT_KEYS
    """Members that may have the text, highest priority first."""
    label_keys: tuple[str, ...] = LABEL_KEYS
    """Members that may have the label, highest priority first."""
    is_guessed: bool = False
    """Whether the text member was guessed: its name is unknown, but no other member has texts."""
    joined_keys: tuple[str, ...] = ()
    """Members whose texts are joined, if several are requested; otherwise empty."""
    read: Callable[[ObjectShape, Mapping[str, Any]], Pair] = lambda shape, value: _read_members(
        shape, value
    )
    """Returns text and label of an object."""

    def pair(self, value: object) -> Pair:
        """Return text and label of a JSON object; raise ObjectFault if it is not an example."""
        if not isinstance(value, Mapping):
            raise ObjectFault(f"{name_kind(value)} is in the place of an object.")
        return self.read(self, value)


def find_shape(value: object, options: ReadingOptions, following: Iterable[object]) -> ObjectShape:
    """Decide by the first JSON object how all objects of a file are read.

    Args:
        value: The first object.
        options: The reading options, which may name members for text and label.
        following: Further objects, which confirm the choice of a text member with an unknown name.

    Raises:
        InvalidUpload: the value is not an object, or its text cannot be found.
    """
    if not isinstance(value, Mapping):
        raise InvalidUpload(f"The JSON has the wrong shape: {name_kind(value)} first. {_REMEDY}")
    if options.text_column or options.label_column:
        return _asked_shape(value, options)
    tasks = value.get("annotations", value.get("completions"))
    if isinstance(value.get("data"), Mapping) and isinstance(tasks, list):
        return ObjectShape(LABEL_STUDIO, read=_read_task)
    if isinstance(value.get("messages"), list):
        return ObjectShape(read=_read_messages)
    if value.get("answer") in _ANSWERS and isinstance(value.get("text"), str):
        return ObjectShape(read=_read_prodigy)
    if "source" in value and value.keys().isdisjoint(TEXT_KEYS) and _find_classes(value):
        return ObjectShape(read=_read_manifest)
    return _named_shape(value, following)


def name_kind(value: object) -> str:
    """Return the type of a JSON value in words. Numbers are read as texts, so they are "a text"."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    kinds: tuple[tuple[type, str], ...] = ((list, "an array"), (dict, "an object"), (str, "a text"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "a number")


def _named_shape(value: Mapping[str, Any], following: Iterable[object]) -> ObjectShape:
    """Choose members of the first object by name. Later objects may use other known names."""
    names = _filled(value)
    found = find_named_columns(names)
    texts, labels = ([names[at] for at in positions] for positions in (found.texts, found.labels))
    has_text, has_label = (any(key in value for key in keys) for keys in (TEXT_KEYS, LABEL_KEYS))
    taken = {*LABEL_KEYS, *labels}
    others = [] if has_text or texts else _find_texts(value, taken)
    is_guessed = len(others) == 1 and _is_only_text(others[0], taken, [value, *following])
    texts = others if is_guessed else texts
    if not (has_text or has_label) and not (texts and labels):
        shown = (", ".join(str(key)[:40] for key in [*value][:5]) or "no members").encode(
            "utf-8", "replace"
        )
        raise InvalidUpload(
            f"The JSON has the wrong shape: an object of {shown.decode()}. {_REMEDY} Or name the "
            "members with the fields 'textColumn' and 'labelColumn'."
        )
    for has_one, keys, parameter in (
        (has_text, texts, "textColumn"),
        (has_label, labels, "labelColumn"),
    ):
        if not has_one and len(keys) > 1:
            shown_keys = " or ".join(f"'{key[:40]}'" for key in keys)
            raise InvalidUpload(
                f"The objects have the members {shown_keys}. Choose one with the field "
                f"'{parameter}'."
            )
    return ObjectShape(
        text_keys=TEXT_KEYS if has_text else (*TEXT_KEYS, *texts),
        label_keys=LABEL_KEYS if has_label else (*LABEL_KEYS, *labels),
        is_guessed=is_guessed,
    )


def _filled(value: Mapping[str, Any]) -> list[str]:
    """Return the names of the members of an object, except members whose value is an empty list."""
    return [key for key, cell in value.items() if cell != []]


def _find_texts(value: Mapping[str, Any], used_names: set[str]) -> list[str]:
    """Return the members (except `used_names`) whose values are texts, but not codes or numbers."""
    return [
        key
        for key, cell in value.items()
        if isinstance(cell, str) and key not in used_names and not is_code(cell.strip())
    ]


def _is_only_text(name: str, used_names: set[str], objects: Sequence[object]) -> bool:
    """Return whether only the member `name` has a text in all objects, and most texts differ.

    All objects are compared, because the first object may lack a second text that other objects
    have. A member whose texts repeat may be the name of a source or an author.
    """
    values = [value for value in objects if isinstance(value, Mapping)]
    texts = {value[name] for value in values if isinstance(value.get(name), str)}
    return len(texts) >= _MOSTLY * len(values) and all(
        isinstance(value.get(name), str)
        and not _find_texts(value, {*used_names, name})
        and not any(
            value[key] and isinstance(value[key], list | dict) for key in value.keys() - used_names
        )
        and not find_named_columns(_filled(value)).texts
        for value in values
    )


def _asked_shape(value: Mapping[str, Any], options: ReadingOptions) -> ObjectShape:
    """Return how to read objects, given the members that the request names."""
    names = list(value)
    shape = ObjectShape()
    keys = {"textColumn": shape.text_keys, "labelColumn": shape.label_keys}
    asked = {"textColumn": options.text_column, "labelColumn": options.label_column}
    for parameter, wanted in asked.items():
        if not wanted:
            continue
        columns = split_columns(names, wanted) if parameter == "textColumn" else [wanted]
        keys[parameter] = tuple(_asked_member(names, column, parameter) for column in columns)
    joined = keys["textColumn"] if options.text_column and len(keys["textColumn"]) > 1 else ()
    if not options.text_column or not options.label_column:
        found = find_named_columns(names)
        if not options.text_column:
            keys["textColumn"] += tuple(names[at] for at in found.texts)
        else:
            keys["labelColumn"] += tuple(names[at] for at in found.labels)
    return ObjectShape(
        text_keys=keys["textColumn"], label_keys=keys["labelColumn"], joined_keys=joined
    )


def _asked_member(names: list[str], member: str, parameter: str) -> str:
    at = find_column(names, member)
    if at is None:
        shown = ", ".join(f"'{name[:40]}'" for name in names[:10])
        raise InvalidUpload(
            f"'{parameter}' is {member[:40]!r}, and the first object has no such member: "
            f"{shown}. Send one of these names."
        )
    return names[at]


def _find_classes(value: Mapping[str, Any]) -> list[str]:
    """Return the classes in the metadata of a line in an Amazon Comprehend manifest."""
    for key, about in value.items():
        if key.endswith("-metadata") and isinstance(about, Mapping):
            several = about.get("class-map")
            names = several.values() if isinstance(several, Mapping) else [about.get("class-name")]
            if found := [name for name in names if isinstance(name, str)]:
                return found
    return []


def _read_manifest(_: ObjectShape, value: Mapping[str, Any]) -> Pair:
    # Several classes become one label, with a warning.
    return _text(value.get("source"), "source"), "|".join(_find_classes(value))


def _read_members(shape: ObjectShape, value: Mapping[str, Any]) -> Pair:
    if shape.joined_keys:
        texts = [_text(value[key], key) for key in shape.joined_keys if value.get(key)]
        return "\n\n".join(texts), _member(value, shape.label_keys, LABEL_KEYS)
    text = _member(value, shape.text_keys, TEXT_KEYS)
    label = _member(value, shape.label_keys, LABEL_KEYS)
    if shape.text_keys != TEXT_KEYS and "prompt" in value:
        text = next((text.removesuffix(end) for end in _PROMPT_ENDS if text.endswith(end)), text)
    return text, label


def _member(value: Mapping[str, Any], keys: Sequence[str], documented: Sequence[str]) -> str:
    """Return the text of the first member in `keys` that exists; raise ObjectFault if none does."""
    key = next((key for key in keys if key in value), None)
    if key is None:
        named = documented if len(keys) > 1 else keys
        raise ObjectFault(f"the object has no member {' or '.join(named)}; add it.")
    return _text(value[key], key)


def _text(cell: object, key: str) -> str:
    if isinstance(cell, list) and key in (*LABEL_KEYS, "labels"):
        return _only_label(cell, key)
    if not isinstance(cell, str):
        raise ObjectFault(f'"{key}" is {name_kind(cell)}; make it a text in quotes.')
    return cell


def _only_label(cell: list[object], key: str) -> str:
    """Return the label in a list of one label. doccano exports labels in this form."""
    if len(cell) == 1 and isinstance(cell[0], str):
        return cell[0]
    if all(isinstance(one, str) for one in cell):
        shown = ", ".join(f"'{str(one)[:40]}'" for one in cell[:5]) or "none"
        raise ObjectFault(f'"{key}" is a list of {len(cell)} labels: {shown}; a text has one.')
    raise ObjectFault(f'"{key}" is {name_kind(cell)}; make it a text in quotes.')


def _read_task(shape: ObjectShape, value: Mapping[str, Any]) -> Pair:
    """Return text and label of a Label Studio task. All annotations of the task must agree."""
    data = value.get("data")
    texts = {k: v for k, v in data.items() if isinstance(v, str)} if isinstance(data, dict) else {}
    found = find_named_columns(list(texts)).texts
    key = list(texts)[found[0]] if found else next(iter(texts), None)
    if key is None:
        raise ObjectFault("the task has no text in its data.")
    choices: list[str] = []
    for annotation in value.get("annotations", value.get("completions")) or ():
        if isinstance(annotation, dict) and not annotation.get("was_cancelled"):
            choices += _choices(annotation.get("result"))
    labels = list(dict.fromkeys(choices))
    if not labels:
        raise ObjectFault("the task has no annotation with a choice; annotate it.")
    if len(labels) > 1:
        shown = ", ".join(f"'{label[:40]}'" for label in labels[:5])
        raise ObjectFault(f"the task has several choices: {shown}; leave one.")
    return texts[key], labels[0]


def _choices(result: object) -> list[str]:
    """Return the choices in one annotation of Label Studio."""
    found: list[str] = []
    for item in result if isinstance(result, list) else ():
        value = item.get("value") if isinstance(item, dict) else None
        chosen = value.get("choices") if isinstance(value, dict) else None
        found += [c for c in chosen if isinstance(c, str)] if isinstance(chosen, list) else []
    return found


def _read_messages(shape: ObjectShape, value: Mapping[str, Any]) -> Pair:
    """Return text and label of a conversation for fine-tuning: one question with one answer."""
    said: dict[str, list[object]] = {"user": [], "assistant": []}
    for message in value.get("messages") or ():
        if isinstance(message, dict) and message.get("role") in said:
            said[str(message["role"])].append(message.get("content"))
    if len(said["user"]) != 1 or len(said["assistant"]) != 1:
        raise ObjectFault(
            f"the conversation has {len(said['user'])} messages of a user and "
            f"{len(said['assistant'])} of an assistant; one of each is text and label."
        )
    return _text(said["user"][0], "content"), _text(said["assistant"][0], "content")


def _read_prodigy(shape: ObjectShape, value: Mapping[str, Any]) -> Pair:
    """Return text and label of a Prodigy annotation; its `answer` must be `accept`."""
    if value.get("answer") != "accept":
        raise ObjectFault(f'"answer" is {str(value.get("answer"))[:40]!r}; only "accept" counts.')
    text = _text(value.get("text"), "text")
    chosen = value.get("accept")
    if not isinstance(chosen, list):
        return text, _member(value, LABEL_KEYS, LABEL_KEYS)
    if len(chosen) != 1:
        raise ObjectFault(f'"accept" has {len(chosen)} labels; an example has one.')
    return text, _text(chosen[0], "accept")

"""Checks fields of requests, such as names, languages, labels and texts. See contract section 5."""

from __future__ import annotations

import re

from chalicelib.domain.common.limits import MAX_LABELS, MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS
from chalicelib.domain.datasets.dataset import (
    FAMILY_TYPES,
    LANGUAGE,
    LANGUAGES,
    NO_LANGUAGE,
    SENTIMENTS,
    language_code,
)
from chalicelib.domain.datasets.label_names import INVISIBLE, is_visible, normal_form
from chalicelib.errors import InvalidParameter, MissingParameter

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def checked_name(value: str, parameter: str = "name") -> str:
    """Check the name of a dataset, model or label; return it trimmed.

    Raises:
        InvalidParameter: the name is blank, too long, or contains control characters.
    """
    name = value.strip()
    if not name:
        raise InvalidParameter(parameter, "it is blank; send at least one visible character.")
    if len(name) > MAX_NAME_CHARACTERS:
        raise InvalidParameter(
            parameter,
            f"it has {len(name)} characters, the limit is {MAX_NAME_CHARACTERS}; shorten it.",
        )
    if _CONTROL.search(name):
        raise InvalidParameter(parameter, "it holds a control character; remove it.")
    return name


def checked_type(family: str, value: str | None) -> str:
    """Check a dataset type and return it. In vision, the default is `image`.

    Raises:
        MissingParameter: the type of a language dataset is missing.
        InvalidParameter: the family has no such type.
    """
    types = FAMILY_TYPES[family]
    if value is None:
        if family == LANGUAGE:
            raise MissingParameter(
                "type", f"The 'type' parameter is required: {' or '.join(types)}."
            )
        return types[0]
    if value not in types:
        raise InvalidParameter("type", f"{value[:100]!r} is not one of {', '.join(types)}.")
    return value


def checked_language(family: str, value: str | None) -> str:
    """Check and return the language of a dataset: by default `en_US` for texts, empty for images.

    Raises:
        InvalidParameter: the language is not supported.
    """
    if family != LANGUAGE:
        return NO_LANGUAGE
    code = language_code(value or "en_US")
    if code is None:
        raise InvalidParameter(
            "language", f"{(value or '')[:100]!r} is not one of {', '.join(LANGUAGES)}."
        )
    return code


def checked_label(value: str, dataset_type: str, parameter: str = "label") -> str:
    """Check a label name; return it in its stored form: lower case for sentiments.

    Raises:
        InvalidParameter: datasets of this type cannot have such a label.
    """
    name = normal_form(checked_name(value, parameter))
    if not is_visible(name):
        raise InvalidParameter(parameter, f"{INVISIBLE} Send another one.")
    if dataset_type == "text-sentiment":
        name = name.lower()
        if name not in SENTIMENTS:
            raise InvalidParameter(parameter, f"{value!r} is not one of {', '.join(SENTIMENTS)}.")
    return name


def checked_labels(value: str | None, dataset_type: str) -> tuple[str, ...]:
    """Split a comma-separated list of labels, and check each label.

    Raises:
        InvalidParameter: a label is not allowed or is repeated, or there are too many.
    """
    parts = [part for part in (value or "").split(",") if part.strip()]
    labels = tuple(checked_label(part, dataset_type, "labels") for part in parts)
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InvalidParameter("labels", f"{twice!r} is listed twice; send each label once.")
    if len(labels) > MAX_LABELS:
        raise InvalidParameter(
            "labels", f"there are {len(labels)}, the limit is {MAX_LABELS}; send fewer."
        )
    return labels


# Half of a surrogate pair, which UTF-8 cannot encode.
SURROGATE = re.compile("[\ud800-\udfff]")


def checked_text(document: str) -> str:
    """Check a text; return it unchanged.

    Raises:
        MissingParameter: the text is empty or only white space.
        InvalidParameter: the text is too long, or contains characters that cannot be stored.
    """
    if not document or document.isspace():
        raise MissingParameter(
            "document", "The 'document' parameter is required and must hold more than spaces."
        )
    if len(document) > MAX_TEXT_CHARACTERS:
        raise InvalidParameter(
            "document",
            f"it has {len(document)} characters, the limit is {MAX_TEXT_CHARACTERS}; shorten it.",
        )
    if "\x00" in document:
        raise InvalidParameter("document", "it holds a NUL character; remove it.")
    if not document.isascii() and SURROGATE.search(document):
        raise InvalidParameter("document", "it holds half of a surrogate pair; send valid UTF-8.")
    return document


_LANGUAGES_WITHOUT_SPACES = frozenset({"zh_CN", "zh_TW", "ja"})

# Han with its iteration and number signs, hiragana and katakana (the middle dot and the double
# hyphen of the katakana block are punctuation), half-width katakana, and the planes beyond 16 bit.
_HAN_OR_KANA = re.compile(
    "[\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001aff0-\U0001afff\U0001b000-\U0001b16f\U00020000-\U000323af]+"
)
_RUN_WITH_A_LETTER = re.compile(r"\w\S*")


def count_words(text: str, language: str) -> int:
    """Count the words of a text.

    A word is a run of characters between white space. In Chinese and Japanese every Han or kana
    character is a word. Any other run that contains a letter or digit, such as `iPhone`, is one
    word too. Punctuation does not count in these languages, because they put no spaces around it.
    Spec: Limits.

    Args:
        text: any text.
        language: language of the dataset, such as `en_US` or `ja`.

    Returns:
        The number of words; 0 for only white space.
    """
    if language not in _LANGUAGES_WITHOUT_SPACES:
        return len(text.split())
    rest, run_count = _HAN_OR_KANA.subn(" ", text)
    character_count = len(text) - (len(rest) - run_count)
    return character_count + _RUN_WITH_A_LETTER.subn("", rest)[1]

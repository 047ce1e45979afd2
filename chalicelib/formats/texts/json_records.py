"""Reads JSON arrays and JSON lines as a stream of values. Memory is limited."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import TextIO

from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.json_limits import MAX_DEPTH, is_too_deep

# Length limit of a single value; a longer one cannot be an example.
MAX_VALUE_CHARACTERS = 1_000_000

_TOO_DEEP = f"values are nested too deeply, in more than {MAX_DEPTH} arrays and objects"
_BLANKS = re.compile(r"[ \t\r\n]*")
_JSON_START = re.compile(
    r"""\s*(?:
        \{\s*(?:"|\}\s*(?:\{|\Z))                  # an object, or an empty one alone
      | \[\s*(?:[\[{"\]]|\Z)                       # an array of objects, arrays, texts, nothing
      | \[\s*(?:-?\d[\d.eE+-]*|true|false|null)\s*(?:,|\]\s*\Z)
    )""",
    re.VERBOSE,
)
# Numbers stay text: a label 007 or 1e3 is the same with and without quotes, and an integer of a
# million digits costs nothing. Raw line ends inside texts are accepted.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)


class CutValue(InvalidUpload):
    """A JSON file ends inside its last value, and complete values precede this value."""


def looks_like_json(head: str) -> bool:
    """Return whether a file is JSON rather than delimited text that begins with a bracket.

    Args:
        head: the first characters of the file.
    """
    return _JSON_START.match(head) is not None


class _Window:
    """The part of a file that is in memory, and the current position."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text = ""
        self._at = 0
        self._is_last = False
        self._line = 1
        self._column = 1

    def peek(self) -> str:
        while True:
            self._fill()
            blanks = _BLANKS.match(self._text, self._at)
            self._at = blanks.end() if blanks else self._at
            if self._at < len(self._text) or self._is_last:
                return self._text[self._at : self._at + 1]

    def skip(self) -> None:
        self._at += 1

    def read_value(self, number: int, remedy: str) -> object:
        """Read the value at the current position.

        Args:
            number: Number of the value in the file, from 1.
            remedy: What to do if the file ends inside the value.
        """
        self._fill()
        start = self._at
        try:
            value, self._at = _DECODER.raw_decode(self._text, start)
        except json.JSONDecodeError as error:
            if number > 1 and self._is_last and _is_cut(error, self._text):
                cut = f"the file ends inside the value that begins here; {remedy}"
                raise CutValue(self.error(cut, start).message) from error
            raise self._explain(error) from error
        except RecursionError as error:
            raise self.error(_TOO_DEEP, start) from error
        # Newer interpreters parse deeper nesting; what is accepted must not depend on that.
        if is_too_deep(self._text[start : self._at]):
            raise self.error(_TOO_DEEP, start)
        return value

    def error(self, reason: str, at: int | None = None) -> InvalidUpload:
        passed = self._text[: self._at if at is None else at]
        line = self._line + passed.count("\n")
        column = len(passed) - passed.rfind("\n") if "\n" in passed else self._column + len(passed)
        return InvalidUpload(
            f"The JSON is not valid at line {line}, column {column}: {reason}. Send an array, "
            'or one object a line, of {"text": "…", "label": "…"}.'
        )

    def _explain(self, error: json.JSONDecodeError) -> InvalidUpload:
        if _is_cut(error, self._text) and not self._is_last:
            limit = f"{MAX_VALUE_CHARACTERS:,} characters"
            return self.error(f"a value is longer than {limit}, or a quote is not closed")
        reason = error.msg[:1].lower() + error.msg[1:]
        return self.error(reason, error.pos)

    def _fill(self) -> None:
        """Load enough of the file for a value of maximum size, or up to the end of the file."""
        if self._is_last or len(self._text) - self._at >= MAX_VALUE_CHARACTERS:
            return
        passed = self._text[: self._at]
        self._line += passed.count("\n")
        newline_at = passed.rfind("\n")
        self._column = len(passed) - newline_at + (0 if newline_at >= 0 else self._column - 1)
        more = self._stream.read(2 * MAX_VALUE_CHARACTERS)
        self._is_last = not more
        self._text = self._text[self._at :] + more
        self._at = 0


def _is_cut(error: json.JSONDecodeError, text: str) -> bool:
    """Return whether the only fault of a JSON value is that the text ends inside it."""
    return error.pos >= len(text) or error.msg.startswith("Unterminated string")


def read_values(stream: TextIO) -> Iterator[object]:
    """Yield the elements of a JSON array, or the values of JSON lines.

    Args:
        stream: Text stream as returned by encoding.open_text.

    Yields:
        Decoded values. Numbers are texts, exactly as written.

    Raises:
        InvalidUpload: the file is not JSON; the error text names line and column.
        CutValue: the file ends inside a value that is not the first.
    """
    window = _Window(stream)
    if window.peek() == "[":
        window.skip()
        yield from _read_elements(window)
        if window.peek():
            raise window.error("there is more after the end of the array")
        return
    for number in count(1):
        if not window.peek():
            return
        if window.peek() != "{":
            raise window.error("an object was expected")
        yield window.read_value(number, "remove this line, or export the file again")


def _read_elements(window: _Window) -> Iterator[object]:
    if window.peek() == "]":
        window.skip()
        return
    for number in count(1):
        if not window.peek():
            place = "in place of the comma at its end" if number > 1 else "at its end"
            raise window.error(f"the array is not closed; write ] {place}")
        yield window.read_value(
            number, "write ] in its place and in place of the comma before it, or export again"
        )
        mark = window.peek()
        if mark not in {",", "]"}:
            remedy = "" if mark else "; write ] at the end of the file"
            raise window.error(f"a comma or the end of the array was expected{remedy}")
        window.skip()
        if mark == "]":
            return

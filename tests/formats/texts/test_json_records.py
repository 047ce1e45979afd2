"""Streaming JSON arrays and lines."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.json_records import looks_like_json, read_values


def _read(text: str) -> list[object]:
    """Read all values of a text."""
    return list(read_values(io.StringIO(text)))


@pytest.mark.parametrize(
    ("head", "is_json"),
    [
        ('{"text": 1}', True),
        (' \n[ {"a', True),
        ("[]", True),
        ("[[1]]", True),
        ('["a"]', True),
        ("[1, 2]", True),
        ("[null]", True),
        ("{}\n{}", True),
        ("{name} please call me,callback", False),
        ("[note] hello,greeting", False),
        ("[1] first,footnote", False),
        ("{} items left,stock", False),
        ("plain,x", False),
        ('"quoted",x', False),
    ],
)
def test_looks_like_json_when_a_text_begins_with_a_bracket(head: str, is_json: bool) -> None:
    """A csv whose first text begins with a bracket is not read as JSON."""
    assert is_json is looks_like_json(head)


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": "1"}, {"a": "2"}]',
        '{"a": "1"}\n{"a": "2"}\n',
        '{"a": "1"}\r\n\r\n  {"a":\n"2"}',
        '{"a": "1"} {"a": "2"}',
        '[{"a":1},{"a":2}]\n',
    ],
)
def test_read_values_when_layouts_differ(text: str) -> None:
    """Arrays and lines give the same values; numbers keep their spelling."""
    assert _read(text) == [{"a": "1"}, {"a": "2"}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"a": 1},]', "line 1, column 11"),
        ('[{"a": 1}\n {"a": 2}]', "line 2, column 2"),
        ('[{"a": 1}', "comma or the end"),
        ("[", "the array is not closed; write ] at its end"),
        ('[{"text": "a"}, ', "the array is not closed; write ] in place of the comma at its end"),
        ("[]\n[]", "after the end of the array"),
        ('{"a": 1}\n{"a" 2}', "line 2, column 6"),
        ('{"a": 1}\n"b"', "an object was expected"),
        ('{"a": "never closed}', "nterminated"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[" + "[" * 65 + "]" * 66, "line 1, column 2: values are nested too deeply"),
        ('{"a": 1}\n' + '{"a":' * 65 + "1" + "}" * 65, "line 2, column 1: values are nested"),
        ('[{"a": "' + "x" * 3_000_000, "longer than 1,000,000 characters"),
    ],
)
def test_read_values_when_the_json_is_broken(text: str, words: str) -> None:
    """Broken JSON names line and column and never crashes."""
    with pytest.raises(InvalidUpload) as caught:
        _read(text)

    assert words in caught.value.message
    assert '{"text"' in caught.value.message


def test_read_values_when_the_error_is_behind_the_first_window() -> None:
    """Line and column of an error count from the start of the file."""
    good = '{"a": "' + "x" * 90 + '"}\n'

    with pytest.raises(InvalidUpload, match="line 40001, column 7"):
        _read(good * 40_000 + '{"a": ?}')
    with pytest.raises(InvalidUpload, match="line 1, column 4000008"):
        _read("{}" + " " * 3_999_999 + '{"a": ?}')


def test_read_values_when_values_are_many_and_empty() -> None:
    """Many empty values are streamed in little memory."""
    text = io.StringIO("[" + "{}," * 25_000 + "{}]")
    tracemalloc.start()

    count = sum(1 for _ in read_values(text))
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert count == 25_001
    assert peak_bytes < 1e6

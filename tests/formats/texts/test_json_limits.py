"""JSON depth is computed from the text, equally on every interpreter."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.formats.texts.json_limits import MAX_DEPTH, is_too_deep

VALUES = st.recursive(
    st.text(alphabet='ab"\\[]{}é☃') | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('a"\\[{'), inner),
    max_leaves=12,
)


def depth(value: object) -> int:
    """Count the arrays and objects inside each other."""
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"[":', "}]")])
def test_the_limit_is_exact(opening: str, closing: str) -> None:
    """The last allowed level is accepted and the next one is not, as text and as bytes."""
    levels = MAX_DEPTH // len(closing)
    most = opening * levels + "1" + closing * levels

    assert not is_too_deep(most)
    assert is_too_deep(f"[{most}]")
    assert not is_too_deep(most.encode())
    assert is_too_deep(f"[{most}]".encode())


@given(VALUES, st.integers(0, MAX_DEPTH + 3))
def test_brackets_in_texts_do_not_count(value: object, levels: int) -> None:
    """Brackets in strings do not count toward the depth."""
    for _ in range(levels):
        value = [value, "]" * (MAX_DEPTH + 1)]
    for written in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert is_too_deep(written) == (depth(value) > MAX_DEPTH)
        assert is_too_deep(written.encode()) == (depth(value) > MAX_DEPTH)


@pytest.mark.parametrize(
    "text",
    ["[" * 65 + "?", '{"a": ' * 70, '["' + "[" * 99 + '\\"' + "]" * 99 + '", ' + "[" * 64],
)
def test_what_is_not_json_counts_up_to_its_error(text: str) -> None:
    """Truncated or invalid JSON is too deep if its readable part is."""
    assert is_too_deep(text)


@pytest.mark.parametrize("text", ["[]", '"', '\\"', "[{", '"\\'])
def test_time_is_linear(text: str) -> None:
    """Millions of brackets, quotes and escapes cost a fraction of a second."""
    started = time.process_time()
    is_too_deep(text * (1_000_000 // len(text)) + "[" * 65)

    assert time.process_time() - started < 1.0

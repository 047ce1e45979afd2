"""Data reports without examples."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.models.redaction import without_examples

LABELS = frozenset(("cat", "dog"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["cat", "dog", "secret text", "IMG-7.png"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["id", "exampleId", "exampleIds", "files", "name", "label", "count", "isValid"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=30,
)


@given(report=st.dictionaries(st.sampled_from(["errors", "confusedLabels", "size"]), VALUES))
def test_no_text_and_no_id_is_left(report: dict) -> None:
    """Whatever a report holds, only label names and named figures stay; once is enough."""
    stripped = without_examples(report, LABELS)

    _check(stripped)
    assert set(stripped) <= set(report)
    assert without_examples(stripped, LABELS) == stripped


def _check(value: object) -> None:
    """Check every part of a value."""
    if isinstance(value, dict):
        assert not set(value) & {"id", "exampleId", "exampleIds", "files", "name"}
        for member in value.values():
            _check(member)
    elif isinstance(value, list):
        for item in value:
            assert isinstance(item, dict | list) or item in LABELS
            _check(item)
    elif isinstance(value, str):
        assert value in LABELS


def test_figures_stay() -> None:
    """Counts and shares stay where they are."""
    report = {
        "duplicatesAcrossSplit": 3,
        "isValid": True,
        "confusedLabels": [{"expected": "cat", "count": 2, "box": {"minX": 1, "maxX": 9}}],
    }

    assert without_examples(report, LABELS) == report


def test_file_that_is_named_like_a_label() -> None:
    """A name of an example goes although a label has it too."""
    report = {"errors": [{"file": "cat", "files": ["cat"], "label": "cat"}]}

    assert without_examples(report, LABELS) == {"errors": [{"label": "cat"}]}

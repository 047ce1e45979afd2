"""Learning examples made of text lines at given positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from chalicelib.domain.documents.form_template import LearnedTemplate
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.learning.examples import LearningExample, PackedPage, prepare_example
from chalicelib.engines.ocr.learning.learner import TemplateLearner
from tests.engines.ocr.forms.drawn import DrawnForm


def never() -> None:
    """Never stop the work."""


def lines_page(lines: Sequence[str], step: int = 60) -> ReadPage:
    """Return a page with a line of text every few pixels."""
    form = DrawnForm()
    for number, line in enumerate(lines):
        form.write(80, 60 + step * number, line)
    return form.read()


def example(lines: Sequence[str], values: Mapping[str, str]) -> LearningExample:
    """Return a document of one page with its values."""
    return prepare_example([PackedPage(lines_page(lines))], values, never)


def learn(
    examples: Sequence[LearningExample], check: Callable[[], None] = never
) -> LearnedTemplate:
    """Learn a template that has keys."""
    learned = TemplateLearner(examples, check).learn()
    assert learned is not None
    return learned

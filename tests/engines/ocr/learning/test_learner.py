"""Tests of chalicelib/engines/ocr/learning/learner.py."""

from __future__ import annotations

import pytest

from bench.issuers import OTHERS, Issuer
from bench.ocr_reading import MAX_PAGES
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.engines.ocr.learning.examples import PackedPage, prepare_example
from chalicelib.engines.ocr.learning.given_values import is_same_value
from chalicelib.engines.ocr.learning.learner import TemplateLearner
from chalicelib.engines.ocr.reading import read_page
from chalicelib.formats.documents import open_document
from tests.engines.ocr.learning.drawn import example, learn, lines_page, never
from tests.tiny_ocr import TinyEngine


def _pages(content: bytes) -> list[ReadPage]:
    """Read a PDF by its text layer, without an engine."""
    with open_document(content, MAX_PAGES) as document:
        return [read_page(document.page(1, False), TinyEngine(), never)]


@pytest.mark.parametrize("issuer", OTHERS, ids=lambda issuer: issuer.name)
def test_five_invoices_teach_to_read_the_others(issuer: Issuer) -> None:
    """A template learned from five invoices reads five others with a value F1 of at least .95."""
    invoices = [issuer.invoice(number) for number in range(10)]
    examples = [
        prepare_example(map(PackedPage, _pages(one.content)), one.values, never)
        for one in invoices[:5]
    ]
    learned = learn(examples)

    right = found = wanted = 0
    for one in invoices[5:]:
        [page] = _pages(one.content)
        read = {f.entity: f.value_text for f in find_fields(page, learned.template)}
        right += sum(is_same_value(read.get(name, ""), text) for name, text in one.values.items())
        found += sum(bool(text) for text in read.values())
        wanted += len(one.values)

    assert 2 * right / (found + wanted) >= 0.95
    assert learned.not_found == ()
    assert learned.accuracy is not None
    assert learned.accuracy >= 0.95


def test_value_that_is_on_no_page_is_reported() -> None:
    """An entity whose values are on no page gets no key and counts as wrong."""
    examples = [
        example([f"Order: {number}", "Thank you"], {"order": number, "colour": "green"})
        for number in ("4711", "8152", "9003")
    ]
    learned = learn(examples)

    assert learned.not_found == ("colour",)
    assert [key.entity for key in learned.template.keys] == ["order"]
    assert [(one.entity, one.right, one.of) for one in learned.scores] == [
        ("order", 3, 3),
        ("colour", 0, 3),
    ]
    assert learned.accuracy == 0.5


def test_nothing_is_learned_from_wrong_documents() -> None:
    """If no value is on any page, no template is learned."""
    examples = [example(["Dear Sir or Madam"], {"order": "4711"})] * 2

    assert TemplateLearner(examples, never).learn() is None


def test_single_document_cannot_be_left_out() -> None:
    """One document gives a template without an accuracy."""
    learned = learn([example(["Order: 4711"], {"order": "4711"})])

    assert learned.template.keys[0].variations == ("Order",)
    assert learned.accuracy is None
    assert learned.scores == ()


def test_examples_that_contradict_lower_the_accuracy() -> None:
    """If two fields are mixed up, the more frequent caption wins and accuracy falls."""
    amounts = [("100.10", "7.01"), ("200.20", "14.02"), ("300.30", "21.03"), ("400.40", "28.04"),
               ("500.50", "35.05")]  # fmt: skip
    examples = [
        example([f"Goods: {goods}", f"Duty: {duty}"], {"sum": duty if number == 2 else goods})
        for number, (goods, duty) in enumerate(amounts)
    ]
    learned = learn(examples)

    assert learned.template.keys[0].variations[0] == "Goods"
    assert [(one.right, one.of) for one in learned.scores] == [(4, 5)]


def test_captions_of_several_issuers_become_variations() -> None:
    """Different captions of a field become variations of one key."""
    captions = ["Invoice number", "Bill no", "Invoice number", "Bill no"]
    examples = [
        example([f"{caption}: A-{number}17", "Thank you"], {"number": f"A-{number}17"})
        for number, caption in enumerate(captions, 4)
    ]
    learned = learn(examples)

    assert set(learned.template.keys[0].variations) == {"Invoice number", "Bill no"}
    assert learned.accuracy == 1.0


def test_field_may_be_empty_in_some_documents() -> None:
    """An empty given value teaches a key whose value may be empty."""
    examples = [
        example([f"Code: {code}", "Name: Ana"], {"code": code, "name": "Ana"})
        for code in ("X17", "", "Y31")
    ]
    learned = learn(examples)

    assert [(one.entity, one.right, one.of) for one in learned.scores] == [
        ("code", 3, 3),
        ("name", 3, 3),
    ]


def test_layout_hints_are_learned() -> None:
    """Numbered captions, pay columns and bilingual captions become template hints."""
    lines = ["1a Wages / Lohn: {0}", "2b Tax / Steuer: {1}", "Current YTD"]
    examples = [
        example([line.format(*pair) for line in lines], {"wages": pair[0], "tax": pair[1]})
        for pair in (("100.10", "7.01"), ("200.20", "14.02"))
    ]

    assert set(learn(examples).template.layout) >= {"payColumns", "twoLanguages"}


def test_learning_can_be_stopped() -> None:
    """The check is called for each reading, so that a lost lease or time limit ends learning."""

    class Stopped(Exception):
        pass

    def stop() -> None:
        raise Stopped

    made = example(["Order: 4711"], {"order": "4711"})
    with pytest.raises(Stopped):
        TemplateLearner([made, made], stop).learn()
    with pytest.raises(Stopped):
        prepare_example([PackedPage(lines_page(["Order"]))], {}, stop)


def test_many_keys_on_full_pages_are_bounded() -> None:
    """500 entities on pages of 200 lines need few readings."""
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"]
    names = [f"{first} {second}" for first in words[:20] for second in words[20:30]]
    examples = []
    for seed in (3, 7):
        values = {name: f"{seed}{number:04d}" for number, name in enumerate(names)}
        examples.append(example([f"{name}: {text}" for name, text in values.items()], values))
    learned = learn(examples, count)

    assert len(learned.template.keys) == len(names)
    assert calls < 200 * 100

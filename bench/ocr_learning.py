"""Measures templates that are learned from five invoices, on five other invoices of the issuer.

There are eleven issuers. The five other invoices are read from the text layer and as images.
Results have a limit only for issuers whose layouts were not known during development.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bench.issuers import DEVELOPED, OTHERS, IssuedInvoice, Issuer
from bench.ocr_reading import Reader, go_on
from bench.ocr_text_metrics import Tally, total
from bench.report import Bar, say
from chalicelib.domain.documents.findings import FormField
from chalicelib.domain.documents.form_template import FormTemplate
from chalicelib.domain.documents.ocr import Finding, best_fields
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.engines.ocr.learning.examples import PackedPage, prepare_example
from chalicelib.engines.ocr.learning.given_values import is_same_value
from chalicelib.engines.ocr.learning.learner import TemplateLearner

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

LEARNED, READ = range(5), range(5, 10)


def bench_learning(bench: Bench) -> None:
    """Report the values that learned templates read correctly."""
    for name, issuers, bar in (("other", OTHERS, Bar(0.95)), ("developed", DEVELOPED, None)):
        for source in ("text layer", "image"):
            trusts_layer = source == "text layer"
            tallies = [_bench_issuer(bench.reader, one, trusts_layer) for one in issuers]
            title = f"templates learned for {name} issuers, {source}: value F1"
            bench.add(title, total(tallies).f1, bar)


def _bench_issuer(reader: Reader, issuer: Issuer, trusts_layer: bool) -> Tally:
    """Learn a template from some invoices of an issuer; count correct values on other invoices."""
    examples = [
        prepare_example(
            map(PackedPage, reader.pages(one.content, trusts_layer=trusts_layer)), one.values, go_on
        )
        for one in map(issuer.invoice, LEARNED)
    ]
    learned = TemplateLearner(examples, go_on).learn()
    assert learned is not None
    tally = total(
        [
            compare(one, read(reader, one, learned.template, trusts_layer))
            for one in map(issuer.invoice, READ)
        ]
    )
    say(f"{issuer.name}: F1 {tally.f1:.3f}, left out {learned.accuracy:.3f}")
    return tally


def read(
    reader: Reader, invoice: IssuedInvoice, template: FormTemplate, trusts_layer: bool
) -> dict[str, str]:
    """Return the non-empty values that were read on an invoice, by entity."""
    findings = [
        Finding(page, at, field)
        for page in reader.pages(invoice.content, trusts_layer=trusts_layer)
        for at, field in enumerate(find_fields(page, template))
    ]
    items: Iterable[object] = (each.item for each in best_fields(findings))
    fields: Sequence[FormField] = [item for item in items if isinstance(item, FormField)]
    return {field.entity: field.value_text for field in fields if field.value_text}


def compare(invoice: IssuedInvoice, found: dict[str, str]) -> Tally:
    """Count the correct, the read and the true values of one invoice."""
    right = sum(is_same_value(found.get(name, ""), text) for name, text in invoice.values.items())
    return Tally(right, len(found), len(invoice.values))

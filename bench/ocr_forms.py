"""Measures the task `form` on drawn and on scanned forms, each with a template of its keys.

Values are compared twice: with single spaces, and without spaces. For scanned forms, only the
comparison without spaces has a limit, because their true values have odd spaces ("9/ 3/ 92"). The
calibration error has no limit: there are so few scanned forms that even perfect probabilities would
have an error of .07.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.ocr_document_metrics import (
    SURE,
    ScoredField,
    calibration_error,
    sure_shares,
)
from bench.ocr_form_metrics import (
    FormSample,
    compare_fields,
    read_rendered_forms,
    read_scanned_forms,
    score_fields,
)
from bench.ocr_plots import field_marks
from bench.ocr_reading import Cost, Reader, interval
from bench.ocr_text_metrics import Tally, total
from bench.report import Bar, say
from chalicelib.domain.documents.findings import FormField
from chalicelib.engines.ocr.forms.finder import find_fields

if TYPE_CHECKING:
    from bench.bench_ocr import Bench


@dataclass
class FormResult:
    """The results of one reader (engine) for a set of forms."""

    exact: list[Tally] = field(default_factory=list)
    """Values that are correct including their spaces, a tally for each form."""
    bare: list[Tally] = field(default_factory=list)
    """Values that are correct without spaces, a tally for each form."""
    scored: list[ScoredField] = field(default_factory=list)
    """All fields with their probabilities."""
    cost: Cost = field(default_factory=Cost)


def bench_forms(bench: Bench) -> None:
    """Measure the drawn and the scanned forms."""
    bench_set(bench, "drawn forms", read_rendered_forms(bench.data), (Bar(0.98), None))
    bench_set(bench, "scanned forms (FUNSD)", read_scanned_forms(bench.data), (None, Bar(0.60)))


def bench_set(
    bench: Bench,
    name: str,
    samples: Sequence[FormSample],
    bars: tuple[Bar | None, Bar | None],
) -> None:
    """Report F1 of a set of forms with single spaces and without spaces; `bars` has both limits."""
    found = read_forms(bench, bench.reader, samples)
    peer = None if bench.peer is None else read_forms(bench, bench.peer, samples)
    bench.add(
        f"{name}: value F1",
        total(found.exact).f1,
        bars[0],
        peer and total(peer.exact).f1,
        interval(found.exact, lambda some: total(some).f1),
    )
    bench.add(
        f"{name}: value F1 without spaces",
        total(found.bare).f1,
        bars[1],
        peer and total(peer.bare).f1,
        interval(found.bare, lambda some: total(some).f1),
    )
    bench.add(f"{name}: calibration error of values", calibration_error(found.scored))
    right, known = sure_shares(found.scored)
    say(f"{name}: of values with p >= {SURE} {right:.2f} right, {known:.2f} of the right ones")
    bench.add_cpu(name, found.cost, None, peer and peer.cost)


def read_forms(bench: Bench, reader: Reader, samples: Iterable[FormSample]) -> FormResult:
    """Read a set of forms."""
    result = FormResult()
    for sample in samples:
        with result.cost.document():
            (page,) = reader.pages(sample.content)
            fields = find_fields(page, sample.template)
        counts = compare_fields(sample, fields)
        result.scored += score_fields(sample, fields)
        result.bare.append(Tally(counts.right, counts.found, counts.wanted))
        result.exact.append(Tally(count_exact(sample, fields), counts.found, counts.wanted))
        if reader is bench.reader:
            say(f"{sample.name}: {result.exact[-1]}")
            if bench.plots is not None:
                bench.plots.page(sample.name, page, field_marks(fields))
    return result


def count_exact(sample: FormSample, fields: Iterable[FormField]) -> int:
    """Count the values equal to the true value. A run of white space counts as one space."""
    found = {field.entity: " ".join(field.value_text.split()) for field in fields}
    return sum(
        found.get(entity) == " ".join(value.split()) for entity, value in sample.values.items()
    )

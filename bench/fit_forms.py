"""Fits the weights of values in chalicelib/engines/ocr/forms/measures.py, and prints them.

Run with `python -m bench.fit_forms [--data FOLDER]`, some minutes. What is learned from:
scanned forms (FUNSD) with a template of each form's questions, once more with the types that their
values have, and the forms that tests draw, as they are and worn: small, noisy and turned, faxed.
The issuers' documents of the section `documents` are never learned from. Prints how well each
source is calibrated when its own page, or layout, is left out of the fit. The same files give the
same weights. Last come the issuers' documents at poor quality: at 75 to 100 dots an
inch, faxed, blurred or noisy, with the probabilities that the service gives.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

from bench.bench_ocr import open_reader
from bench.ocr_document_metrics import (
    SURE,
    ScoredField,
    calibration_error,
    read_returns,
    read_specimens,
    score,
    sure_shares,
)
from bench.ocr_documents import answered_fields
from bench.ocr_form_metrics import read_rendered_forms, read_scanned_forms
from bench.ocr_reading import Reader
from bench.vision_data import ROOT
from chalicelib.domain.common.limits import MAX_OCR_PAGES
from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.domain.documents.ocr import FORM
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.forms.certainty import Evidence
from chalicelib.engines.ocr.forms.field_kinds import has_span, span_of
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.engines.ocr.interface import PPOCR
from chalicelib.formats.documents import open_document
from chalicelib.formats.templates.form_template import standard_template
from tests.engines.ocr.forms.layouts import LAYOUTS
from tests.engines.ocr.forms.official import DRAWN

PENALTY, ROUNDS = 10.0, 30
"""Weight of the squared weights of standardised measures, and steps of Newton's method."""
SCANNED_WEIGHT = 2.0
"""How much a value of a scanned form counts: there are three times as many drawn ones."""
TYPES = ("DATE", "PHONE", "EMAIL", "CURRENCY", "NUMBER")
SEED = 7
Wear = Callable[[Image.Image, np.random.Generator], Image.Image]


@dataclass(frozen=True)
class Case:
    """A value that was found, and whether it is right."""

    source: str
    """Where it is from; one source is reported together."""
    sheet: str
    """What is left out together: a page, or a layout."""
    evidence: Evidence
    is_right: bool


def _smaller(image: Image.Image, share: float) -> Image.Image:
    """Return a picture with fewer pixels."""
    size = (int(share * image.width), int(share * image.height))
    return image.resize(size, Image.Resampling.BILINEAR)


def _noisy(image: Image.Image, chance: np.random.Generator, deviation: float) -> Image.Image:
    """Return a picture with noise."""
    pixels = np.asarray(image, dtype=np.float64)
    pixels += chance.normal(0, deviation, pixels.shape)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _small(image: Image.Image, _: np.random.Generator) -> Image.Image:
    return _smaller(image, 0.5)


def _photographed(image: Image.Image, chance: np.random.Generator) -> Image.Image:
    angle = chance.uniform(-1.5, 1.5)
    turned = _smaller(image, 0.62).rotate(angle, fillcolor=255, resample=Image.Resampling.BILINEAR)
    return _noisy(turned.filter(ImageFilter.GaussianBlur(0.6)), chance, 18)


def _faxed(image: Image.Image, chance: np.random.Generator) -> Image.Image:
    return _noisy(_smaller(image, 0.55), chance, 30).point(lambda value: 255 * (value > 150))


def _as_drawn(image: Image.Image, _: np.random.Generator) -> Image.Image:
    return image


WEARS: Mapping[str, Wear] = {
    "as drawn": _as_drawn,
    "small": _small,
    "photographed": _photographed,
    "faxed": _faxed,
}


def _scaled(image: Image.Image, width: int) -> Image.Image:
    """Return a picture of a width; one of 850 pixels is a letter of 100 dots an inch."""
    size = (width, round(image.height * width / image.width))
    is_small = 2 * width < image.width
    return image.resize(size, Image.Resampling.BOX if is_small else Image.Resampling.BILINEAR)


def _blurred(image: Image.Image, chance: np.random.Generator) -> Image.Image:
    stream = io.BytesIO()
    softened = _scaled(image, 640).filter(ImageFilter.GaussianBlur(0.7))
    _noisy(softened, chance, 10).save(stream, "JPEG", quality=40)
    return Image.open(stream).convert("L")


HARD: Mapping[str, Wear] = {
    "faxed at 100": lambda image, chance: _noisy(_scaled(image, 850), chance, 35).point(
        lambda value: 255 * (value > 150)
    ),
    "faxed at 75": lambda image, chance: _noisy(_scaled(image, 660), chance, 18).point(
        lambda value: 255 * (value > 160)
    ),
    "blurred at 75": _blurred,
    "noisy at 90": lambda image, chance: _noisy(_scaled(image, 760), chance, 45),
}
"""Wear of issuers' documents, by how many dots an inch are left."""


def worn_documents(reader: Reader, data: Path) -> Iterator[tuple[str, ScoredField]]:
    """Yield what the service answers to worn documents of issuers, with the wear's name."""
    for way, (name, wear) in enumerate(HARD.items()):
        for place, sample in enumerate((*read_specimens(data), *read_returns(data, "200 dpi"))):
            pages = []
            for number, picture in enumerate(_pictures(sample.content), start=1):
                page = _read(reader, wear(picture, _chance(place, way)))
                pages.append(replace(page, page=replace(page.page, number=number)))
            fields = [field for _, field in answered_fields(reader, sample, pages)]
            answers = {field.entity: (field.value_text, field.probability) for field in fields}
            yield from ((name, field) for field in score(sample, answers) if field.read)


def _pictures(content: bytes) -> list[Image.Image]:
    """Return the pages of a document, in grey."""
    with open_document(content, MAX_OCR_PAGES[FORM]) as document:
        pages = [document.page(number, True) for number in range(1, document.page_count + 1)]
        return [Image.fromarray(page.pixels).convert("L") for page in pages]


def scanned_cases(reader: Reader, data: Path) -> Iterator[Case]:
    """Yield the values of scanned forms, once without types and once with them."""
    for sample in read_scanned_forms(data):
        (page,) = reader.pages(sample.content)
        yield from _cases("scanned", sample.name, page, sample.template, sample.values)
        typed = FormTemplate(
            tuple(
                TemplateKey(key.entity, key.variations, _types(sample.values[key.entity]))
                for key in sample.template.keys
            )
        )
        yield from _cases("scanned, typed", sample.name, page, typed, sample.values)


def drawn_cases(reader: Reader, data: Path) -> Iterator[Case]:
    """Yield the values of drawn forms, as they are and worn."""
    for sample in read_rendered_forms(data):
        (page,) = reader.pages(sample.content)
        yield from _cases("drawn forms", sample.name, page, sample.template, sample.values)
    for way, (name, wear) in enumerate(WEARS.items()):
        for place, layout in enumerate(LAYOUTS):
            form = layout(place + len(WEARS) * way)
            page = _read(reader, wear(form.image.convert("L"), _chance(place, way)))
            yield from _cases(name, layout.__name__, page, form.template, form.values)
        for place, (form_type, draw) in enumerate(sorted(DRAWN.items())):
            filled, values = draw()
            page = _read(reader, wear(filled.image.convert("L"), _chance(place, way)))
            template = standard_template(form_type)
            yield from _cases(f"{name}, shipped", form_type, page, template, values)


def _chance(place: int, way: int) -> np.random.Generator:
    """Return the chance of one page."""
    return np.random.default_rng((SEED, place, way))


def _read(reader: Reader, image: Image.Image) -> ReadPage:
    """Read a picture as a file."""
    stream = io.BytesIO()
    image.save(stream, "PNG")
    (page,) = reader.pages(stream.getvalue())
    return page


def _types(value: str) -> tuple[str, ...]:
    """Return the type that a template could name for a value that is nothing else."""
    whole = (kind for kind in TYPES if has_span((kind,), value) and span_of((kind,), value) is None)
    return tuple(whole)[:1]


def _cases(
    source: str, sheet: str, page: ReadPage, template: FormTemplate, values: Mapping[str, str]
) -> Iterator[Case]:
    """Yield what is known of the values of a page."""
    known: list[Evidence] = []

    def remember(evidence: Evidence) -> float:
        known.append(evidence)
        return float(len(known))

    for field in find_fields(page, template, weigh=remember):
        number = int(field.probability)
        # What has no evidence has a probability below one: empty values, and those without a key.
        if field.value_text and number and field.entity in values:
            is_right = _bare(field.value_text) == _bare(values[field.entity])
            yield Case(source, sheet, known[number - 1], is_right)


def _bare(text: str) -> str:
    """Remove all white space."""
    return "".join(text.split())


def fit(cases: Sequence[Case]) -> tuple[float, tuple[float, ...]]:
    """Return bias and weights of a logistic regression with ridge, by Newton's method.

    Source: Hastie, Tibshirani, Friedman 2009, section 4.4.1.
    """
    rows = np.array([case.evidence.inputs for case in cases])
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    inputs = np.hstack((np.ones((len(rows), 1)), (rows - mean) / scale))
    right = np.array([case.is_right for case in cases], dtype=np.float64)
    counts = np.array([SCANNED_WEIGHT if case.source == "scanned" else 1.0 for case in cases])
    penalty = PENALTY * np.eye(inputs.shape[1])
    penalty[0, 0] = 0.0
    weights = np.zeros(inputs.shape[1])
    for _ in range(ROUNDS):
        guess = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (counts * (right - guess)) - penalty @ weights
        curve = (inputs.T * (counts * guess * (1 - guess))) @ inputs + penalty
        weights += np.linalg.solve(curve, slope)
    plain = weights[1:] / scale
    return float(weights[0] - plain @ mean), tuple(map(float, plain))


def left_out(cases: Sequence[Case]) -> dict[str, list[ScoredField]]:
    """Return by source the cases with probabilities of fits that never saw their sheet."""
    scored: dict[str, list[ScoredField]] = {}
    for sheet in sorted({case.sheet for case in cases}):
        bias, weights = fit([case for case in cases if case.sheet != sheet])
        for case in cases:
            if case.sheet == sheet:
                score = bias + np.dot(weights, case.evidence.inputs)
                probability = float(1 / (1 + np.exp(-score)))
                field = ScoredField(sheet, "", "value", probability, case.is_right)
                scored.setdefault(case.source, []).append(field)
    return scored


def report(scored: Mapping[str, Iterable[ScoredField]]) -> Iterator[str]:
    """Yield a line of figures for each source."""
    for source, some in scored.items():
        fields = list(some)
        right = np.mean([field.is_right for field in fields])
        promised = np.mean([field.probability for field in fields])
        sure, known = sure_shares(fields)
        yield (
            f"{source}: {len(fields)} values, right {right:.2f}, promised {promised:.2f}, "
            f"calibration error {calibration_error(fields):.3f}; p >= {SURE}: right {sure:.2f}, "
            f"{known:.2f} of the right ones"
        )


def main() -> int:
    """Read, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    arguments = parser.parse_args()
    reader = open_reader(PPOCR)
    if reader is None or not (arguments.data / "ocr").is_dir():
        print("The engine or the evaluation data is absent.")
        return 2
    cases = [*scanned_cases(reader, arguments.data), *drawn_cases(reader, arguments.data)]
    for line in report(left_out(cases)):
        print(line)
    worn: dict[str, list[ScoredField]] = {}
    for way, field in worn_documents(reader, arguments.data):
        for source in (f"documents {way}", "documents, all worn"):
            worn.setdefault(source, []).append(field)
    for line in report(worn):
        print(line)
    bias, weights = fit(cases)
    print(f"VALUE_BIAS = {bias:.2f}")
    print("VALUE_WEIGHTS = (" + ", ".join(f"{weight:.2f}" for weight in weights) + ")")
    return 0


if __name__ == "__main__":
    sys.exit(main())

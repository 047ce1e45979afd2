"""Fits the probability that a form value is correct, and writes the weights with their card.

Run with `python -m bench.fit_forms [--data FOLDER] [--write]`, about ten minutes. The weights are
fitted on generated forms and on blank forms 1040 that a machine fills (bench/form_pages): text
layers, and images as drawn, small, photographed, faxed and copied, which the engine reads. The
command prints how well each kind is calibrated if its layout family is left out of the fit. Then it
prints the same for evaluation data, if that is present: scanned forms (FUNSD), and worn copies of
issuers' documents. Nothing is fitted on this data. `--write` replaces
chalicelib/assets/ocr/form_values.json. The same sources give the same weights.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

from bench.bench_ocr import open_reader
from bench.form_pages.blanks import digest
from bench.form_pages.families import FAMILIES, ISSUED, draw_form, whole_family
from bench.form_pages.sheet import Sheet
from bench.form_pages.wear import WEARS, Wear, noisy, scaled
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
from bench.ocr_form_metrics import read_scanned_forms, score_fields
from bench.ocr_reading import Reader
from bench.report import say
from bench.signed_fit import fit_signed, newton_weights
from bench.vision_data import ROOT
from chalicelib.domain.common.limits import MAX_OCR_PAGES
from chalicelib.domain.documents.form_template import FormTemplate
from chalicelib.domain.documents.ocr import FORM
from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.forms.certainty import (
    INPUTS,
    WEIGHTS,
    Evidence,
    Unweighed,
    UnweighedEvidence,
    fitted_weights,
)
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.engines.ocr.interface import PPOCR
from chalicelib.formats.documents import open_document

PENALTY, ROUNDS = 10.0, 30
"""Factor of the penalty on squared weights of standardised inputs, and number of steps of Newton's
method."""
SIGNS = {
    "headsColumn": -1, "rivalry": -1, "misread": -1, "hasTextBelow": -1, "consensus": 1,
    "isJoined": -1, "fit": 1, "keyScore": 1, "rarity": 1, "lacksFormat": -1, "agrees": 1,
}  # fmt: skip
"""Inputs that may only raise a probability (1), or only lower it (-1)."""
MOST_WEIGHT = 4.0
"""Largest absolute weight.

Larger ones could make an otherwise certain value improbable by one input.
"""
ISSUED_TIMES = 3.0
"""Weight of a family whose template ships, relative to other families."""
FORMS = 3
"""Number of forms of each family."""
LAYER = "text layer"
KINDS = (LAYER, *WEARS)
"""Kinds of page; half of them occur in each family."""
SEED = 7


@dataclass(frozen=True)
class Case:
    """A value that was found, and whether it is correct."""

    source: str
    """Kind of page; cases of one kind are reported together."""
    family: str
    """Layout family, which is left out of a fit as a whole."""
    evidence: Evidence
    is_right: bool


@dataclass(frozen=True)
class UnweighedCase:
    """A key found without a value, or a value without a key, and whether that is correct."""

    kind: Unweighed
    legibility: float
    """Probability that the key, or the value, was read correctly, 0 to 1."""
    is_right: bool


def _blurred(image: Image.Image, chance: np.random.Generator) -> Image.Image:
    stream = io.BytesIO()
    softened = scaled(image, 640).filter(ImageFilter.GaussianBlur(0.7))
    noisy(softened, chance, 10).save(stream, "JPEG", quality=40)
    return Image.open(stream).convert("L")


HARD: Mapping[str, Wear] = {
    "faxed at 100": lambda image, chance: noisy(scaled(image, 850), chance, 35).point(
        lambda value: 255 * (value > 150)
    ),
    "faxed at 75": lambda image, chance: noisy(scaled(image, 660), chance, 18).point(
        lambda value: 255 * (value > 160)
    ),
    "blurred at 75": _blurred,
    "noisy at 90": lambda image, chance: noisy(scaled(image, 760), chance, 45),
}
"""Kinds of wear for issuers' documents, by the remaining resolution."""


def worn_documents(reader: Reader, data: Path) -> Iterator[tuple[str, ScoredField]]:
    """Yield the answers for worn documents of issuers, each with the name of the wear."""
    for way, (name, wear) in enumerate(HARD.items()):
        for place, sample in enumerate(
            (*read_specimens(data, "specimens"), *read_returns(data, "200 dpi"))
        ):
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


def generated_cases(reader: Reader) -> Iterator[Case | UnweighedCase]:
    """Yield the values found on generated forms.

    Each form is turned into a page of one of KINDS.
    """
    for number, family in enumerate(FAMILIES):
        say(f"{number + 1} of {len(FAMILIES)}: {family}")
        for seed in range(FORMS):
            # Neighbouring families get different kinds, so that no kind is tied to one layout.
            sheet = draw_form(family, seed)
            kind = (
                LAYER if sheet.is_joined or sheet.cents else KINDS[(number + 2 * seed) % len(KINDS)]
            )
            template = sheet.template()
            # Keys of the template that are not on the page have an empty value.
            values = {key.entity: "" for key in template.keys}
            values |= {entry.entity: entry.value for entry in sheet.entries}
            for entity in sheet.doubtful:
                values.pop(entity, None)
            page = _generated_page(reader, sheet, kind, (SEED, number, seed))
            yield from _cases(kind, whole_family(family), page, template, values)


def _generated_page(reader: Reader, sheet: Sheet, kind: str, seed: tuple[int, ...]) -> ReadPage:
    """Turn a generated form into a page of this kind, and read it."""
    if kind == LAYER:
        return sheet.layer()
    return _read(reader, WEARS[kind](sheet.image, np.random.default_rng(seed)))


def scanned_fields(reader: Reader, data: Path) -> Iterator[ScoredField]:
    """Yield the values of scanned forms with their probabilities; they are for evaluation only."""
    for sample in read_scanned_forms(data):
        (page,) = reader.pages(sample.content)
        fields = score_fields(sample, find_fields(page, sample.template))
        yield from (field for field in fields if field.read)


def _chance(place: int, way: int) -> np.random.Generator:
    return np.random.default_rng((SEED, place, way))


def _read(reader: Reader, image: Image.Image) -> ReadPage:
    """Read an image as the service reads a file."""
    stream = io.BytesIO()
    image.save(stream, "PNG")
    (page,) = reader.pages(stream.getvalue())
    return page


def _cases(
    source: str, family: str, page: ReadPage, template: FormTemplate, values: Mapping[str, str]
) -> Iterator[Case | UnweighedCase]:
    """Yield a case for each value of a page whose correctness is known."""
    known: list[Evidence | UnweighedEvidence] = []

    def remember(evidence: Evidence | UnweighedEvidence) -> float:
        known.append(evidence)
        return float(len(known))

    for field in find_fields(page, template, weigh=remember):
        number = int(field.probability)
        # A virtual key has no evidence. Its probability is below one, so its number is 0.
        if number and field.entity in values:
            evidence = known[number - 1]
            is_right = _bare(field.value_text) == _bare(values[field.entity])
            if isinstance(evidence, UnweighedEvidence):
                yield UnweighedCase(evidence.kind, evidence.legibility, is_right)
            else:
                yield Case(source, family, evidence, is_right)


def _bare(text: str) -> str:
    """Remove white space, and currency signs printed before an amount or in its box."""
    return "".join(text.replace("$", "").split())


def fit(cases: Sequence[Case]) -> tuple[float, tuple[float, ...]]:
    """Return bias and weights of a logistic regression with ridge penalty, by Newton's method.

    Inputs whose weight has the wrong sign are left out. Such a sign comes from the choice of
    layouts, and would raise the probability of worse pages. Source: Hastie, Tibshirani, Friedman
    2009, section 4.4.1.
    """
    rows = np.array([case.evidence.inputs for case in cases])
    # Each family has the same total weight, however many fields its forms have.
    sizes = Counter(case.family for case in cases)
    mean_size = len(cases) / len(sizes)
    counts = np.array(
        [
            mean_size / sizes[case.family] * (ISSUED_TIMES if case.family in ISSUED else 1.0)
            for case in cases
        ]
    )
    right = np.array([case.is_right for case in cases], dtype=np.float64)
    bias, weights = fit_signed(_fit_inputs, INPUTS, SIGNS, rows, right, counts)
    return bias, tuple(max(-MOST_WEIGHT, min(MOST_WEIGHT, weight)) for weight in weights)


def _fit_inputs(
    rows: np.ndarray, right: np.ndarray, counts: np.ndarray
) -> tuple[float, np.ndarray]:
    """Fit weights for the given inputs; return the bias and the weights."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    weights = newton_weights((rows - mean) / scale, right, counts, (0.0, PENALTY), ROUNDS)
    plain = weights[1:] / scale
    return float(weights[0] - plain @ mean), plain


def left_out(cases: Sequence[Case]) -> dict[str, list[ScoredField]]:
    """Return the cases by kind of page, each with a probability from a fit without its family."""
    scored: dict[str, list[ScoredField]] = {}
    for family in sorted({case.family for case in cases}):
        bias, weights = fit([case for case in cases if case.family != family])
        for case in cases:
            if case.family == family:
                score = bias + np.dot(weights, case.evidence.inputs)
                # Limited as the service limits probabilities.
                bound = case.evidence.surroundings.bound
                probability = min(bound, float(1 / (1 + np.exp(-score))))
                field = ScoredField(family, "", "value", probability, case.is_right)
                scored.setdefault(case.source, []).append(field)
    return scored


def unweighed_shares(cases: Iterable[UnweighedCase]) -> dict[Unweighed, float]:
    """Return for each kind the number of right answers, divided by the sum of legibilities.

    The probability of an answer is its kind's share times the legibility. So the mean probability
    of a kind is its fraction of right answers. One right and one wrong case are added to each kind.
    Source: the rule of succession, Laplace 1814.
    """
    sums = {kind: [1.0, 2.0] for kind in Unweighed}
    for case in cases:
        sums[case.kind][0] += case.is_right
        sums[case.kind][1] += case.legibility
    return {kind: min(1.0, right / legible) for kind, (right, legible) in sums.items()}


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


def weights_file(cases: Sequence[Case], others: Sequence[UnweighedCase]) -> dict[str, object]:
    """Return the weights with their card."""
    bias, weights = fit(cases)
    fields = [field for some in left_out(cases).values() for field in some]
    right, known = sure_shares(fields)
    return {
        "card": {
            "title": "How likely the value of a key of a form is right",
            "method": "logistic regression with ridge",
            "command": "python -m bench.fit_forms --write",
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "licence": "Apache-2.0",
            "inputs": [
                {"name": "Generated forms", "sha256": generator_digest()},
                {"name": "Blank forms 1040", "sha256": digest()},
            ],
            "familiesLeftOut": {
                "families": len({case.family for case in cases}),
                "values": len(fields),
                "calibrationError": round(calibration_error(fields), 3),
                "rightFrom95": round(right, 3),
                "shareFrom95": round(known, 3),
            },
        },
        "bias": round(bias, 3),
        "weights": {name: round(weight, 3) for name, weight in zip(INPUTS, weights, strict=True)},
        "shares": {kind: round(share, 3) for kind, share in unweighed_shares(others).items()},
    }


def generator_digest() -> str:
    """Return the sha256 of the texts and entries of generated forms."""
    digest = hashlib.sha256()
    for family in FAMILIES:
        for seed in range(FORMS):
            sheet = draw_form(family, seed)
            texts = [line.text for line in sheet.lines]
            entries = [(each.entity, each.captions, each.lines) for each in sheet.entries]
            digest.update(json.dumps([family, seed, texts, entries]).encode())
    return digest.hexdigest()


def evaluate(reader: Reader, data: Path) -> None:
    """Print how good the shipped probabilities are on data on which nothing is fitted."""
    fields: dict[str, list[ScoredField]] = {"scanned forms": [*scanned_fields(reader, data)]}
    for way, field in worn_documents(reader, data):
        for source in (f"documents {way}", "documents, all worn"):
            fields.setdefault(source, []).append(field)
    for line in report(fields):
        print(line)


def main() -> int:
    """Read the forms, fit, print the figures, and with `--write` write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--write", action="store_true", help="replace the weights that ship")
    arguments = parser.parse_args()
    reader = open_reader(PPOCR)
    if reader is None:
        print("The engine is absent: run make models.")
        return 2
    found = list(generated_cases(reader))
    cases = [case for case in found if isinstance(case, Case)]
    for line in report(left_out(cases)):
        print(line)
    document = weights_file(cases, [case for case in found if isinstance(case, UnweighedCase)])
    text = json.dumps(document, indent=1) + "\n"
    print(text)
    if arguments.write:
        WEIGHTS.write_text(text, encoding="utf-8")
        fitted_weights.cache_clear()
    if (arguments.data / "ocr").is_dir():
        evaluate(reader, arguments.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())

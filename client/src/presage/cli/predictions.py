"""`presage predict`, `detect`, `sentiment`, `ocr`, `feedback`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator
from os.path import isdir, isfile
from pathlib import Path
from typing import Annotated, Any

import typer

from presage import FormResult, OcrResult, PresageError, TableResult, records
from presage._sources import CONVERTIBLE, PICTURES
from presage.cli import drawing
from presage.cli.context import (
    Json,
    ModelId,
    PngFile,
    client,
    family_of,
    find_model,
    read_template,
)
from presage.cli.output import note, print_json, say, show, table
from presage.errors import NotFoundError, PermissionDeniedError

# Endings of files whose rows are predicted as a batch.
_TABLES = frozenset({".csv", ".tsv", ".xlsx", ".jsonl", ".json"})
Samples = Annotated[
    list[str],
    typer.Argument(
        help="Texts, text files or image files; `-` reads one text per line from stdin.",
        show_default=False,
    ),
]
Results = Annotated[
    int | None, typer.Option("--results", "-n", help="Number of labels to show.", min=1)
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Show how much each word or region contributed.")
]
Draw = Annotated[PngFile, typer.Option("--draw", help="Draw the result to a PNG file.")]


def predict(
    model_id: ModelId,
    samples: Samples,
    results: Results = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Predict texts or images with a model; each counts as one prediction."""
    with client() as service:
        try:
            kind = find_model(service, model_id).model_type
            family = family_of(service, kind)
        # Models that ship with the service have no training; API keys of scope `predict` see none.
        except (NotFoundError, PermissionDeniedError):
            family = service.vision if all(map(_is_picture, samples)) else service.language
            kind = ""
        texts = _texts(samples, model_id) if family is service.language else {}
        for sample in _each(samples):
            content = texts.get(sample, sample)
            answer = family.predict_sample(model_id, kind, content, results, explain or None)
            _show_answer(sample, answer, results or 1, as_json)


def _each(samples: Iterable[str]) -> Iterable[str]:
    """Yield the samples; `-` yields the lines of standard input."""
    for sample in samples:
        if sample != "-":
            yield sample
            continue
        for line in sys.stdin:
            if text := line.rstrip("\r\n"):
                yield text


def _is_picture(sample: str) -> bool:
    return isfile(sample) and Path(sample).suffix.lower() in PICTURES | CONVERTIBLE


def _texts(samples: Iterable[str], model_id: str) -> dict[str, str]:
    """Return the texts of the samples, read before any of them is predicted."""
    return {sample: _text(sample, model_id) for sample in samples}


def _text(sample: str, model_id: str) -> str:
    """Return a sample, or the text of the file that it names."""
    if isdir(sample):
        raise PresageError(f"{sample} is a folder. Pass texts or text files.")
    if not isfile(sample):
        return sample
    if Path(sample).suffix.lower() in _TABLES:
        raise PresageError(
            f"{sample} is a table. Predict its rows with "
            f"`presage batch run {shlex.quote(sample)} --model {model_id}`."
        )
    try:
        text = Path(sample).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PresageError(
            f"{sample} is not a readable text file in UTF-8 ({error}). Pass its text instead."
        ) from error
    if not text.strip():
        raise PresageError(f"{sample} has no text.")
    return text


def _show_answer(sample: str, answer: Any, limit: int, as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    found = answer.probabilities[:limit]
    labels = ", ".join(f"{item.label} {item.probability:.3f}" for item in found)
    say(f"{labels or 'no label fits'}\t{sample}")
    for part in getattr(answer, "explanation", None) or ():
        say(f"  {part.share:+.3f}  {_part(part)}")


def _part(part: records.Explained) -> str:
    """Return what a part of an explanation refers to: a word, or the position of a region."""
    box = part.bounding_box
    if box is None:
        return part.text or ""
    return f"{box.min_x},{box.min_y} to {box.max_x},{box.max_y}"


def detect(model_id: ModelId, picture: Path, draw: Draw = None, as_json: Json = False) -> None:
    """Find the objects in an image."""
    with client() as service:
        found = service.vision.detect(model_id, picture)
    items = found.raw["probabilities"]
    if draw is not None:
        named = [
            (f"{item['label']} {item['probability']:.2f}", item["boundingBox"]) for item in items
        ]
        drawing.draw_boxes(picture, named, draw)
    show(found, [_box_line(item) for item in items], as_json=as_json)


def _box_line(item: dict[str, Any]) -> str:
    box = item["boundingBox"]
    place = f"{box['minX']},{box['minY']} to {box['maxX']},{box['maxY']}"
    return f"{item['probability']:.3f}  {place}  {item['label']}"


def sentiment(samples: Samples, as_json: Json = False) -> None:
    """Predict whether texts are positive, negative or neutral."""
    with client() as service:
        texts = _texts(samples, "CommunitySentiment")
        for sample in _each(samples):
            answer = service.language.sentiment(texts.get(sample, sample))
            _show_answer(sample, answer, 1, as_json)


def ocr(
    document: str,
    task: Annotated[str, typer.Option(help="text, table, contact or form.")] = "text",
    form_type: Annotated[
        str | None,
        typer.Option(help="A built-in template, such as w2."),
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option(help="Your own template, a JSON file."),
    ] = None,
    output: Annotated[
        str | None, typer.Option(help="text or markdown: print the whole text.")
    ] = None,
    layout: Annotated[
        bool, typer.Option("--layout", help="Add roles, order and notes; write running heads too.")
    ] = False,
    latin: Annotated[bool, typer.Option("--latin", help="Recognise letters with accents.")] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Of task contact also show lines without contact data.")
    ] = False,
    page_images: Annotated[
        bool, typer.Option("--page-images", help="Also return images of the pages of a PDF.")
    ] = False,
    draw: Draw = None,
    as_json: Json = False,
) -> None:
    """Read an image or PDF."""
    with client() as service:
        found = service.vision.ocr(
            document,
            task=task,
            form_type=form_type,
            form_template=None if template is None else read_template(template),
            output=output,
            layout=layout or None,
            page_furniture=layout or None,
            alphabet="latin" if latin else None,
            page_images=page_images or None,
            form_fields=task == "form" or None,
        )
    if draw is not None:
        named = [(_name(item), item["boundingBox"]) for item in found.raw["probabilities"]]
        drawing.draw_boxes(Path(document), named, draw)
    images = [f"Page {one.page_number}: {one.image}" for one in found.pages or [] if one.image]
    show(found, [*images, *_ocr_lines(found, every)], as_json=as_json)
    for one in found.raw.get("pageNotes", ()):
        note(f"page {one['pageNumber']}: {one['message']}")


def _ocr_lines(result: OcrResult, every: bool) -> Iterator[str]:
    """Yield lines to print: the whole text if the request asked for it, else items and tables.

    With `every`, also yield the lines of a business card that have no contact data.
    """
    whole = result.raw.get("document")
    if whole is not None:
        yield from whole.splitlines()
        return
    items = result.raw["probabilities"]
    tables = result.tables if isinstance(result, (TableResult, FormResult)) else []
    for item in items:
        # People look for contact data, and most lines of a page have none.
        is_hidden = item["attributes"].get("tag") == "OTHER" and not every
        if not is_hidden and "cells" not in item["attributes"]:
            yield _line(item)
    for number, one in enumerate(tables, 1):
        if len(items) > 1:
            yield f"table {number}, page {one.attributes.page_number}:"
        rows = [[" ".join(cell.split()) for cell in row] for row in one.rows]
        yield from table(rows[0], rows[1:]) if rows else ()
    hidden = sum(item["attributes"].get("tag") == "OTHER" for item in items)
    if hidden and not every:
        note(f"{hidden} lines without contact data are hidden; --all shows them")


def _name(item: dict[str, Any]) -> str:
    attributes = item["attributes"]
    return str(attributes.get("tag") or (attributes.get("key") or {}).get("entity") or "")


def _line(item: dict[str, Any]) -> str:
    attributes = item["attributes"]
    if "key" in attributes:
        key, value = attributes["key"]["entity"], attributes["value"]
        state = {True: " (ticked)", False: " (not ticked)"}.get(value.get("checked"), "")
        return f"{item['probability']:.3f}  {key}: {value['text']}{state}"
    if "tag" in attributes:
        return f"{item['probability']:.3f}  {attributes['tag']}: {item['label']}"
    return f"{item['probability']:.3f}  {item['label']}"


def feedback(
    model_id: ModelId,
    sample: Annotated[str, typer.Argument(help="A text, text file or image file.")],
    label: Annotated[str, typer.Argument(help="The correct label.")],
    as_json: Json = False,
) -> None:
    """Report a wrong prediction; the next training uses the correct label."""
    with client() as service:
        family = family_of(service, find_model(service, model_id).model_type)
        content = _text(sample, model_id) if family is service.language else sample
        added = family.feedback.add(model_id, content, label)
    show(added, [f"added as example {added.id} of {added.label.name}"], as_json=as_json)

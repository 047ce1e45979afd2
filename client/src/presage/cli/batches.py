"""`presage batch`: run, list, show, cancel."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from presage import Batch, Presage, PresageError
from presage._sources import (
    CONVERTIBLE,
    DOCUMENT_MODELS,
    PICTURES,
    BatchOcrOptions,
    BatchTextOptions,
)
from presage._sync.families import Language, Vision
from presage.cli.context import (
    Id,
    Json,
    Quiet,
    client,
    find_model,
    pairs,
    read_template,
    shows_progress,
)
from presage.cli.options import known_options, warning_line
from presage.cli.output import note, print_json, say, show, table
from presage.errors import NotFoundError

app = typer.Typer(
    no_args_is_help=True, help="Batches: predictions of many texts, images or documents."
)

# Endings of results, each with a dot before the name of the format.
_ENDINGS = (".jsonl", ".csv", ".xlsx")
# Endings of single images and documents.
_FILES = PICTURES | CONVERTIBLE | {".pdf"}
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="File to write: .jsonl, .csv or .xlsx decides the format, and csv and xlsx have "
        "all columns of the input. By default named after the batch.",
    ),
]
BatchId = Annotated[str, typer.Argument(help="Id of a batch.", show_default=False)]


@app.command()
def run(
    file: Annotated[
        str,
        typer.Argument(
            help="Texts as CSV, TSV, XLSX or JSON Lines; a zip archive or folder of images or "
            "documents; or a URL."
        ),
    ],
    model: Annotated[str, typer.Option(help="Id of the model.", show_default=False)],
    output: Output = None,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="text-column=Subject,Body, num-results=3, review-below=0.6, columns=answer, "
            "name=…, kind=intent, format=csv, sheet=…, header=2, task=table or "
            "form-template=FILE. Repeatable.",
        ),
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Predict only as many as the quota allows.")
    ] = False,
    wait: Annotated[bool, typer.Option(help="Wait for the result and download it.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    quiet: Quiet = False,
    as_id: Id = False,
    as_json: Json = False,
) -> None:
    """Predict the texts, images or documents of a file, and download the result."""
    progress = shows_progress(quiet)
    # Before the batch is created, which would use up predictions.
    if output is not None and output.exists() and not force:
        raise PresageError(f"{output} already exists: --force overwrites it.")
    with client() as service, _noted_warnings():
        family = _family_of(service, model, file)
        fields = _fields(family, file, output, options)
        made = family.batches.create(
            model, file, partial=partial or None, **fields, progress=progress
        )
        lines = [f"batch {made.id} is {made.status}"]
        if wait:
            place = output or Path(f"batch-{made.id}.{made.format}")
            made = made.wait(progress=progress)
            size = made.save(place, progress=progress)
            failed = f", {made.counts.failed} failed" if made.counts.failed else ""
            lines = [f"{made.counts.done} lines{failed}, {size:,} bytes: {place}"]
        lines += [warning_line(warning, app) for warning in made.warnings or ()]
    show(made, [made.id] if as_id else lines, as_json=as_json)


@contextmanager
def _noted_warnings() -> Iterator[None]:
    """Print warnings, such as of files that are not sent, without the code that gave them."""

    def print_warning(message: Warning | str, *_: object, **__: object) -> None:
        note(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        # Pillow warns about faults of an image without its name.
        warnings.filterwarnings("ignore", module=r"PIL\.")
        warnings.showwarning = print_warning
        yield


@app.command("list")
def list_batches(as_json: Json = False) -> None:
    """List your batches, newest first."""
    with client() as service:
        # The API lists batches by family.
        families = (service.language, service.vision)
        found = [batch for family in families for batch in family.batches.list()]
    found.sort(key=lambda batch: batch.created_at, reverse=True)
    if as_json:
        print_json(found)
        return
    rows = [
        (one.id, one.status, f"{one.counts.done}/{one.counts.total}", one.created_at, one.name)
        for one in found
    ]
    for line in table(("id", "status", "lines", "created", "name"), rows):
        say(line)


@app.command("show")
def show_batch(batch_id: BatchId, as_json: Json = False) -> None:
    """Show the state of a batch."""
    with client() as service:
        found = _find(service, batch_id)
    show(found, [_line(found)], as_json=as_json)


@app.command()
def fetch(
    batch_id: BatchId,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; by default named after the batch."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Wait for a batch, and download its result."""
    progress = shows_progress(quiet)
    with client() as service:
        found = _find(service, batch_id).wait(progress=progress)
        place = output or Path(f"batch-{found.id}.{found.format}")
        if place.exists() and not force:
            raise PresageError(f"{place} already exists: --force overwrites it.")
        if _format_of(place) not in (None, found.format):
            raise PresageError(
                f"The result of the batch {batch_id} is {found.format}: name a file that ends in "
                f".{found.format}, not {place}."
            )
        size = found.save(place, progress=progress)
    show(found, [f"{found.counts.done} lines, {size:,} bytes: {place}"], as_json=as_json)


@app.command()
def cancel(batch_id: BatchId, as_json: Json = False) -> None:
    """Cancel a running batch, or delete an ended batch and its result."""
    with client() as service:
        found = _find(service, batch_id).cancel()
    over = "cancelled" if found.status == "CANCELLED" else "removed"
    show(found, [f"batch {batch_id} is {over}"], as_json=as_json)


def _family_of(service: Presage, model_id: str, file: str) -> Language | Vision:
    """Return the family of a model; for a prebuilt model, guess it from the type of the file."""
    try:
        is_text = find_model(service, model_id).model_type.startswith("text")
    except NotFoundError:
        # Prebuilt models are not in the list of the account's models.
        is_vision = Path(file).suffix.lower() in _FILES | {".zip"} or Path(file).is_dir()
        is_text = model_id not in DOCUMENT_MODELS and not is_vision
    if not is_text:
        _refuse_single(file, model_id)
    return service.language if is_text else service.vision


def _refuse_single(file: str, model_id: str) -> None:
    """Raise an error, which names another command, if a file is one image or document."""
    is_document = model_id in DOCUMENT_MODELS
    endings = _FILES if is_document else PICTURES | CONVERTIBLE
    if Path(file).is_file() and Path(file).suffix.lower() in endings:
        command = "ocr" if is_document else f"predict {model_id}"
        raise PresageError(
            f"{file} is a single file, and a batch reads a folder or zip archive. Use "
            f"`presage {command} {shlex.quote(file)}`."
        )


def _fields(
    family: Language | Vision, file: str, output: Path | None, options: list[str] | None
) -> dict[str, Any]:
    """Return the options of a batch. Some options depend on the file name `output`."""
    kind = BatchTextOptions if isinstance(family, Language) else BatchOcrOptions
    fields = pairs(options, "--set", known_options(family.batches.create, kind))
    template = str(fields.get("form_template", "{"))
    if not template.lstrip().startswith("{"):
        fields["form_template"] = read_template(Path(template).expanduser())
    return {**fields, **_table_fields(file, output, fields)}


def _table_fields(file: str, output: Path | None, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the options for format and columns of the result. The format comes from `output`.

    Raises:
        PresageError: the extension of `output` is not a known format, or not the requested format.
    """
    if output is None:
        return {}
    kind = _format_of(output)
    if kind is None:
        raise PresageError(f"{output}: the name must end in {' or '.join(_ENDINGS)}.")
    asked = fields.get("format", kind)
    if asked != kind:
        raise PresageError(
            f"{output} ends in .{kind}, and --set format is {asked}: use one of them."
        )
    # The query of a URL may contain dots, too.
    name = urlsplit(file).path if "://" in file else file
    # Only tables have columns that can be repeated in the result.
    is_table = kind != "jsonl" and not name.casefold().endswith((".jsonl", ".json"))
    return {"format": kind, "columns": fields.get("columns", "input" if is_table else None)}


def _format_of(place: Path) -> str | None:
    ending = place.suffix.casefold()
    return ending[1:] if ending in _ENDINGS else None


def _find(service: Presage, batch_id: str) -> Batch:
    try:
        return service.language.batches.get(batch_id)
    except NotFoundError:
        return service.vision.batches.get(batch_id)


def _line(batch: Batch) -> str:
    counts = batch.counts
    failed = f", {counts.failed} failed" if counts.failed else ""
    cause = f": {batch.failure_msg}" if batch.failure_msg else ""
    return f"{batch.name}: {batch.status}, {counts.done} of {counts.total} lines{failed}{cause}"

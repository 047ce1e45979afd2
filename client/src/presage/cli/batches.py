"""`presage batch`: run, list, show, cancel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from presage import Batch, Presage, PresageError
from presage._sources import BatchOcrOptions
from presage._sync.families import Language, Vision
from presage.cli.context import Id, Json, Quiet, client, find_model, pairs, shows_progress
from presage.cli.options import known_options
from presage.cli.output import print_json, say, show, table
from presage.errors import NotFoundError

app = typer.Typer(
    no_args_is_help=True, help="Batches: predictions of many texts, images or documents."
)

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
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; by default named after the batch."),
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="text-column=Subject, num-results=3, name=…, kind=intent, format=csv or "
            "task=table. Repeatable.",
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
    if output is not None and output.exists() and not force:
        raise PresageError(f"{output} already exists: --force overwrites it.")
    with client() as service:
        family = _family_of(service, model, file)
        known = known_options(family.batches.create, BatchOcrOptions)
        fields = pairs(options, "--set", known)
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
    show(made, [made.id] if as_id else lines, as_json=as_json)


@app.command("list")
def list_batches(as_json: Json = False) -> None:
    """List your batches, newest first."""
    with client() as service:
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
        size = found.save(place, progress=progress)
    show(found, [f"{found.counts.done} lines, {size:,} bytes: {place}"], as_json=as_json)


@app.command()
def cancel(batch_id: BatchId, as_json: Json = False) -> None:
    """Cancel a batch, or delete one that has ended with its result."""
    with client() as service:
        found = _find(service, batch_id).cancel()
    over = "cancelled" if found.status == "CANCELLED" else "removed"
    show(found, [f"batch {batch_id} is {over}"], as_json=as_json)


def _family_of(service: Presage, model_id: str, file: str) -> Language | Vision:
    """Return the family of a model; for models of the service, that of the file."""
    try:
        is_text = find_model(service, model_id).model_type.startswith("text")
    except NotFoundError:
        is_text = not (Path(file).is_dir() or file.casefold().endswith(".zip"))
    return service.language if is_text else service.vision


def _find(service: Presage, batch_id: str) -> Batch:
    """Return a batch of either family."""
    try:
        return service.language.batches.get(batch_id)
    except NotFoundError:
        return service.vision.batches.get(batch_id)


def _line(batch: Batch) -> str:
    """Return a batch as one line."""
    counts = batch.counts
    failed = f", {counts.failed} failed" if counts.failed else ""
    cause = f": {batch.failure_msg}" if batch.failure_msg else ""
    return f"{batch.name}: {batch.status}, {counts.done} of {counts.total} lines{failed}{cause}"

"""`presage models versions`, `adjust`, `serve`, `compare`, `export`, `import` and others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from presage.cli.context import Json, ModelId, Quiet, client, find_model
from presage.cli.models import Wait, follow
from presage.cli.models import app as app  # its commands are those of models
from presage.cli.output import percent, show, table

Version = Annotated[int, typer.Argument(help="Number of a version.", show_default=False)]


@app.command()
def versions(model_id: ModelId, as_json: Json = False) -> None:
    """List the stored versions of a model, newest first."""
    with client() as service:
        found = find_model(service, model_id).versions().list()
    rows = [
        (
            str(one.version),
            "yes" if one.is_served else "",
            str(one.examples),
            one.created_at,
            one.not_served_because or one.served_because or "",
        )
        for one in found
    ]
    show(found, table(("VERSION", "SERVED", "EXAMPLES", "CREATED", ""), rows), as_json=as_json)


@app.command()
def adjust(
    model_id: ModelId,
    file: Annotated[
        str, typer.Argument(help="Texts, with labels in the column `label` where known.")
    ],
    out_of_domain_rate: Annotated[
        float | None, typer.Option(help="Fraction of in-scope texts to reject.")
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="Column of the labels.")] = None,
    with_feedback: Annotated[
        bool, typer.Option("--with-feedback", help="Use the model's feedback examples, too.")
    ] = False,
    wait: Wait = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Adjust a text model to the texts that users really send, without training it again."""
    with client() as service:
        model = find_model(service, model_id).adjust(
            file,
            out_of_domain_rate=out_of_domain_rate,
            label_column=label_column,
            with_feedback=with_feedback or None,
        )
        follow(model, wait=wait, quiet=quiet, as_json=as_json)


@app.command()
def serve(model_id: ModelId, version: Version, as_json: Json = False) -> None:
    """Serve a version of a model from the next call on."""
    with client() as service:
        found = find_model(service, model_id).serve_version(version)
    show(found, [f"{model_id}  version {found.version} is served"], as_json=as_json)


@app.command("delete-version")
def delete_version(model_id: ModelId, version: Version, as_json: Json = False) -> None:
    """Delete a version that the model does not serve."""
    with client() as service:
        found = find_model(service, model_id).delete_version(version)
    show(found, [f"{model_id}  version {found.version} is deleted"], as_json=as_json)


@app.command("compare")
def compare_versions(
    model_id: ModelId, first: Version, second: Version, as_json: Json = False
) -> None:
    """Compare two versions of a model on the same held-out examples."""
    with client() as service:
        found = find_model(service, model_id).compare_versions(first, second)
    one, two = (percent(float(share)) for share in found.accuracies)
    low, high = (100 * float(end) for end in (found.difference_low, found.difference_high))
    lines = [
        f"version {first}: {one} of {found.examples} held-out examples are right",
        f"version {second}: {two}; the difference is {low:+.1f} to {high:+.1f} points (95 %)",
    ]
    show(found, lines, as_json=as_json)


@app.command()
def export(
    model_id: ModelId,
    file: Annotated[Path, typer.Argument(help="File to write.", show_default=False)],
    version: Annotated[
        int | None, typer.Option(help="Number of a stored version.", show_default="the served one")
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", help="bundle or onnx.", show_default="bundle"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Save a model as a zip archive for `presage-runtime`, or as one ONNX graph."""
    with client() as service:
        made = find_model(service, model_id).export(version=version, format=format_)
        size = made.save(file)
        found = made.refresh()
    show(found, [f"{file}  version {found.model_version}, {size / 1e6:.1f} MB"], as_json=as_json)


@app.command("import")
def import_model(
    file: Annotated[str, typer.Argument(help="Zip archive of `models export`, or its URL.")],
    name: Annotated[str, typer.Option(help="Name of the new model.")],
    images: Annotated[bool, typer.Option("--images", help="The model predicts images.")] = False,
    wait: Wait = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Import a model that was exported from another account or installation."""
    with client() as service:
        family = service.vision if images else service.language
        model = family.models.import_file(file, name)
        follow(model, wait=wait, quiet=quiet, as_json=as_json)

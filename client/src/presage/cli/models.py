"""`presage models`: list, train, wait, show, delete."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

import typer

from presage import Model, Pages
from presage._sources import TrainParams
from presage.cli import drawing
from presage.cli.context import (
    DatasetId,
    Id,
    Json,
    ModelId,
    PngFile,
    Quiet,
    client,
    find_dataset,
    find_model,
    pairs,
    shows_progress,
)
from presage.cli.output import percent, print_json, say, show, table
from presage.cli.thresholds import check_coverage, threshold_lines

app = typer.Typer(no_args_is_help=True, help="Models: trained on a dataset.")

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the training has ended.")]
Algorithm = Annotated[str | None, typer.Option(help="Training algorithm.")]
Epochs = Annotated[int | None, typer.Option(help="Maximum number of passes over the examples.")]
Param = Annotated[
    list[str] | None,
    typer.Option(
        "--param", help="A member of trainParams, as in skip-small-labels=true. Repeatable."
    ),
]


@app.command("list")
def list_models(
    dataset_id: Annotated[
        int | None,
        typer.Argument(help="Id of a dataset; without it all models.", show_default=False),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Only models whose names contain this.")] = None,
    status: Annotated[
        str | None,
        typer.Option(help="Only with this status: QUEUED, RUNNING, SUCCEEDED or FAILED."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List all your models, or those of a dataset."""
    # The API filters only the list of all models.
    if dataset_id is not None and (name or status):
        raise typer.BadParameter(
            "these filters cannot be combined with a dataset", param_hint="--name, --status"
        )
    with client() as service:
        if dataset_id is None:
            models: Pages[Model] = service.language.models.list(name=name, status=status)
        else:
            models = find_dataset(service, dataset_id).models()
        found = models.list()
    rows = [(item.model_id, item.model_type, item.status, item.name) for item in found]
    show(found, table(("ID", "TYPE", "STATUS", "NAME"), rows), as_json=as_json)


@app.command()
def train(
    dataset_id: DatasetId,
    name: Annotated[str, typer.Option(help="Name of the model.")] = "model",
    algorithm: Algorithm = None,
    epochs: Epochs = None,
    param: Param = None,
    wait: Wait = True,
    quiet: Quiet = False,
    id_alone: Id = False,
    as_json: Json = False,
) -> None:
    """Train a model on a dataset."""
    params = pairs(param, "--param", TrainParams.__annotations__)
    with client() as service:
        dataset = find_dataset(service, dataset_id)
        model = dataset.train(name, algorithm=algorithm, epochs=epochs, **params)
        if id_alone:
            ended = model.wait(progress=shows_progress(quiet)) if wait else model
            say(ended.model_id)
            return
        follow(model, wait=wait, quiet=quiet, as_json=as_json)


@app.command()
def retrain(
    model_id: ModelId,
    algorithm: Algorithm = None,
    epochs: Epochs = None,
    param: Param = None,
    wait: Wait = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a model again on its current dataset."""
    params = pairs(param, "--param", TrainParams.__annotations__)
    with client() as service:
        model = find_model(service, model_id)
        again = model.retrain(algorithm=algorithm, epochs=epochs, **params)
        follow(again, wait=wait, quiet=quiet, as_json=as_json)


@app.command()
def wait(model_id: ModelId, quiet: Quiet = False, as_json: Json = False) -> None:
    """Wait until the training of a model has ended."""
    with client() as service:
        follow(find_model(service, model_id), wait=True, quiet=quiet, as_json=as_json)


def follow(model: Model, *, wait: bool, quiet: bool, as_json: bool) -> None:
    """Wait for the training of a model if `wait` is set; then show the model."""
    ended = model.wait(progress=shows_progress(quiet)) if wait else model
    show(ended, [f"{ended.model_id}  {ended.name}  {ended.status}"], as_json=as_json)


@app.command()
def card(
    model_id: ModelId,
    matrix: Annotated[bool, typer.Option("--matrix", help="Show the confusion matrix.")] = False,
    file: Annotated[
        PngFile, typer.Option("--plot", help="Draw the confusion matrix to a PNG file.")
    ] = None,
    thresholds: Annotated[
        bool, typer.Option("--thresholds", help="Show thresholds for target precisions.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the model card: training data, metrics and limits."""
    with client() as service:
        if matrix or file is not None:
            drawing.show_matrix(find_model(service, model_id).metrics().metrics_data, file)
            return
        found = service.language.models.card(model_id)
    if thresholds and not as_json:
        show(found, threshold_lines(found), as_json=False)
        return
    show(found, _card_lines(found.raw), as_json=as_json)


@app.command()
def check(
    model_id: ModelId,
    precision: Annotated[
        float, typer.Option(help="Target precision: 0.9, 0.95 or 0.99.", show_default=False)
    ],
    coverage: Annotated[
        float,
        typer.Option(help="Smallest fraction to answer.", min=0, max=1, show_default=False),
    ],
    as_json: Json = False,
) -> None:
    """Check that a model answers often enough at a target precision; otherwise exit with 1."""
    with client() as service:
        found = service.language.models.card(model_id)
    # For pipelines: the exit status says whether a new model may be used.
    lines, passes = check_coverage(found, precision, coverage)
    show(found.thresholds, lines, as_json=as_json)
    if not passes:
        raise typer.Exit(1)


@app.command()
def evaluation(
    model_id: ModelId,
    wrong: Annotated[bool, typer.Option("--wrong", help="Only wrong predictions.")] = False,
    expected: Annotated[str | None, typer.Option(help="Only examples of this label.")] = None,
    predicted: Annotated[
        str | None, typer.Option(help="Only examples predicted as this label.")
    ] = None,
    most: Annotated[
        int, typer.Option("--limit", "-n", help="Maximum number of examples.", min=1)
    ] = 100,
    as_json: Json = False,
) -> None:
    """Show the dataset's examples, each with the prediction of a model trained without it."""
    with client() as service:
        pages = service.language.models.evaluation(
            model_id, expected=expected, predicted=predicted, is_right=False if wrong else None
        )
        # Pages are fetched one by one, so no more are requested than are shown.
        found = list(islice(pages, most))
    rows = [
        (
            one.example_id,
            one.expected_label or "none",
            one.predicted_label or "none",
            f"{one.probability:.3f}",
        )
        for one in found
    ]
    show(found, table(("EXAMPLE", "LABEL", "ANSWER", "PROBABILITY"), rows), as_json=as_json)


def _metric(figure: float | dict[str, float] | None) -> str:
    """Return a metric as text, with its confidence interval if the card contains it."""
    if figure is None:
        return "not measured"
    if not isinstance(figure, dict):
        return percent(figure)
    return f"{percent(figure['value'])} ({percent(figure['low'])} to {percent(figure['high'])})"


def _card_lines(members: dict[str, Any]) -> list[str]:
    metrics = members["metrics"]
    lines = [f"{members['name']}  ({members['modelId']}, {members['language']})"]
    if "testAccuracy" in metrics:
        lines.append(f"accuracy on held-out examples: {_metric(metrics['testAccuracy'])}")
    # Only multi-label models have an accuracy for each label.
    if "testAccuracies" in metrics:
        lines += _label_lines(metrics, members["engine"])
    if "meanAveragePrecision" in metrics:
        lines.append(f"mean average precision: {_metric(metrics['meanAveragePrecision'])}")
    if members.get("calibrationError") is not None:
        lines.append(f"calibration error: {members['calibrationError']:.3f}")
    if members.get("threshold") is not None:
        lines.append(f"suggested threshold of probabilities: {members['threshold']:.3f}")
    suspects = (members.get("dataReport") or {}).get("likelyLabelErrors") or []
    if suspects:
        lines.append(f"examples whose label is probably wrong: {len(suspects)} are listed")
    return [*lines, *_note_lines(members), members["limits"]]


def _note_lines(members: dict[str, Any]) -> list[str]:
    """Return a line about labels that were not used in training, and a line per advice."""
    left_out = members.get("skippedLabels") or []
    skipped = ", ".join(f"{one['name']} ({one['numExamples']})" for one in left_out)
    lines = [f"labels left out, with their examples: {skipped}"] if skipped else []
    advice = members.get("advice") or []
    return lines + [f"advice (+{percent(one['expectedGain'])}): {one['message']}" for one in advice]


def _label_lines(metrics: dict[str, Any], engine: dict[str, Any]) -> list[str]:
    """Return a table with threshold and accuracy of each label of a multi-label model."""
    thresholds = engine.get("thresholds") or {}
    rows = [
        (
            f"{thresholds[label]:.3f}" if label in thresholds else "none",
            _metric(accuracy),
            label,
        )
        for label, accuracy in metrics["testAccuracies"].items()
    ]
    return ["by label, on held-out examples:", *table(("THRESHOLD", "ACCURACY", "LABEL"), rows)]


@app.command()
def curve(
    model_id: ModelId,
    file: Annotated[PngFile, typer.Option("--plot", help="Draw the curve to a PNG file.")] = None,
    as_json: Json = False,
) -> None:
    """Show the learning curve of a model by epoch."""
    with client() as service:
        found = find_model(service, model_id).curve().list()
    if as_json:
        print_json(found)
        return
    drawing.show_curve([(item.epoch, item.metrics_data) for item in found], file)


@app.command()
def delete(model_id: ModelId, as_json: Json = False) -> None:
    """Delete a model."""
    with client() as service:
        record = find_model(service, model_id).delete()
    show(record, [f"model {model_id} is being deleted (deletion {record.id})"], as_json=as_json)

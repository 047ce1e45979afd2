"""Operations on model versions, adjustments, and exported and imported models."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

from tests.flows.client import LANGUAGE, opened
from tests.flows.histories.actor import (
    Actor,
    as_form,
    as_json,
    delete,
    expect,
    get,
    model_path,
    training_path,
)
from tests.flows.histories.comparisons import see_probabilities, see_training
from tests.flows.histories.data_operations import TEXTS
from tests.flows.histories.model_operations import (
    MOST_OPEN,
    end_unseen,
    metered,
    predict_request,
    wait_training,
    wait_uncertain,
)
from tests.flows.histories.specification import (
    INTENT,
    Archive,
    Dataset,
    Obstacle,
    TrainedModel,
    Version,
    allowed,
)
from tests.flows.world import csv_file

MOST_MODEL_EXPORTS = 5
"""Of an account, that can be fetched."""
LEAST_LABELLED = 20
"""Texts of an adjustment."""
UNKNOWN = 1_000


def settle(actor: Actor, model: TrainedModel) -> None:
    """Wait until a model is not in training, and record the labels of new versions."""
    wait_training(actor, model)
    for version in model.versions:
        if not version.is_seen and not model.deletion_id:
            request = get(model_path(model), modelVersion=version.number)
            version.labels = actor.call(request, {200}).data["metricsData"]["labels"]
            version.is_seen = True


def pick_versioned(actor: Actor) -> TrainedModel | None:
    """Usually choose the model with the most versions, so that the oldest ones are removed."""
    living = [model for model in actor.models if not model.deletion_id]
    if not living or actor.random.random() < 0.3:
        return None
    return max(living, key=lambda one: one.last_version)


def pick_number(actor: Actor, model: TrainedModel) -> int:
    """Choose a version, rarely a removed or unknown one."""
    if not model.versions or actor.random.random() < 0.12:
        return actor.random.choice((1, UNKNOWN))
    return actor.random.choice(model.versions).number


def unknown(model: TrainedModel, number: int) -> list[Obstacle]:
    """List the obstacles to calls that name a version."""
    return [] if model.version(number) else [(404, True)]


def list_versions(actor: Actor, model: TrainedModel) -> None:
    """Read the versions of a model, newest first."""
    settle(actor, model)
    answer = actor.call(get(model_path(model, "/versions")), allowed(model.missing))
    if answer.status == 200:
        expected = [(one.number, one.number == model.served) for one in reversed(model.versions)]
        records = answer.data["data"]
        found = [(record["version"], record["isServed"]) for record in records]
        expect("versions", expected, found)


def serve_version(actor: Actor, model: TrainedModel) -> None:
    """Serve a version, also during a training."""
    wait_uncertain(actor, model)
    if actor.random.random() < 0.5:
        settle(actor, model)
    number = pick_number(actor, model)
    # A run that is open may change the versions, or may have ended with one more.
    way = [(409, False), (404, False)] if model.is_open else []
    found = unknown(model, number)
    if model.is_open and number == model.last_version + 1:
        found = [(404, False)]
    request = replace(as_json(f"{model_path(model)}/versions/{number}/serve", {}), method="PUT")
    answer = actor.call(request, allowed([*model.missing, *found, *way]))
    if answer.status != 200:
        return
    expect("the served version", (number, True), (answer.data["version"], answer.data["isServed"]))
    if model.version(number) is None:
        # The run has ended, and this is what it made.
        settle(actor, model)
    elif model.is_open:
        model.served_meanwhile = number
    model.served = number
    if not model.is_open:
        list_versions(actor, model)


def delete_version(actor: Actor, model: TrainedModel) -> None:
    """Delete a version; the served one stays."""
    settle(actor, model)
    number = pick_number(actor, model)
    served = [(409, True)] if number == model.served else []
    request = delete(f"{model_path(model)}/versions/{number}")
    answer = actor.call(request, allowed([*model.missing, *unknown(model, number), *served]))
    if answer.status == 200:
        expect("the deleted version", number, answer.data["version"])
        model.versions = [one for one in model.versions if one.number != number]
        actor.call(request, {404})


def predict_version(actor: Actor, model: TrainedModel) -> None:
    """Request a prediction of a version."""
    settle(actor, model)
    number = actor.random.choice((0, *[pick_number(actor, model)] * 9))
    bad = [(400, True)] if number == 0 else []
    found = model.version(number)
    answer = ask(actor, model, number, actor.random.choice(TEXTS), bad)
    if answer is not None and found is not None:
        see_probabilities({"probabilities": answer}, [found.labels], None)


def ask(
    actor: Actor, model: TrainedModel, number: int, text: str, bad: list[Obstacle]
) -> list[dict[str, object]] | None:
    """Return a version's prediction; None if it cannot predict."""
    call = "intent" if model.dataset.type == INTENT else "sentiment"
    request = predict_request(actor, model.id, text, call, version=number)
    answer = metered(actor, request, [*model.missing, *bad, *unknown(model, number)])
    found: list[dict[str, object]] | None
    found = answer.data["probabilities"] if answer.status == 200 else None
    return found


def compare_versions(actor: Actor, model: TrainedModel) -> None:
    """Compare two versions on the examples that both held out."""
    settle(actor, model)
    first, second = pick_number(actor, model), pick_number(actor, model)
    obstacles = [*model.missing]
    obstacles += [(400, True)] if first == second else []
    obstacles += [*model.datasetless, *unknown(model, first), *unknown(model, second)]
    request = as_json(model_path(model, "/compare"), {"versions": [first, second]})
    answer = actor.call(request, allowed([*obstacles, (409, False)]))
    if answer.status == 200:
        found = answer.data
        expect("compared versions", [first, second], found["versions"])
        expect("enough examples are compared", True, found["examples"] >= 20)
        before, after = found["accuracies"]
        between = found["differenceLow"] <= after - before + 1e-5
        expect("the interval holds the difference", True, between)
        expect("its upper end", True, found["differenceHigh"] >= after - before - 1e-5)


def adjust(actor: Actor, model: TrainedModel) -> None:
    """Adjust a model to texts: enough, too few, or with an unknown label."""
    wait_uncertain(actor, model)
    if actor.random.random() < 0.7:
        settle(actor, model)
    labels = model.labels or ["hot", "cold"]
    rows = [(text, actor.random.choice(labels)) for text in actor.random.sample(TEXTS, 30)]
    bad = actor.random.choice((None, None, None, None, "few", "foreign", "unlabelled"))
    if bad == "few":
        rows = rows[: LEAST_LABELLED - 1]
    elif bad is not None:
        rows.append(("a text of none", "elsewhere" if bad == "foreign" else ""))
    # While a run is open, another version than the known one may be adjusted.
    obstacles = [*model.missing, *model.datasetless]
    obstacles += [(400, True)] if model.dataset.type != INTENT else []
    obstacles += [*model.silent, *([(400, bad is not None)] if bad or model.is_open else [])]
    obstacles += model.busy
    obstacles += [(409, False)] if model.dataset.is_losing_data else []
    if sum(one.is_open for one in actor.models) >= MOST_OPEN:
        obstacles.append((429, False))
    files = {"data": ("users.csv", csv_file([("text", "label"), *rows]))}
    request = as_form("POST", model_path(model, "/adjust"), {}, files)
    answer = actor.call(request, allowed(obstacles))
    if answer.status == 200:
        end_unseen(model)
        model.ask_adjustment()
        see_training(actor, model, answer.data)


def export_model(actor: Actor, model: TrainedModel) -> None:
    """Export a version of a model, and import the file as another model."""
    settle(actor, model)
    number = pick_number(actor, model)
    obstacles = [*model.missing, *unknown(model, number)]
    obstacles += [(429, True)] if actor.model_exports >= MOST_MODEL_EXPORTS else []
    fields = {"modelVersion": number}
    answer = actor.call(as_json(model_path(model, "/exports"), fields), allowed(obstacles))
    if answer.status != 200:
        return
    actor.model_exports += 1
    expect("version of the export", number, answer.data["modelVersion"])
    path = model_path(model, f"/exports/{answer.data['id']}")
    record = actor.settled(path, lambda one: one["status"] in ("SUCCEEDED", "FAILED"))
    expect("state of an export", "SUCCEEDED", record["status"])
    with opened(record["url"]) as file:
        content = without_networks(file.read())
    version, text = model.version(number), actor.random.choice(TEXTS)
    labels = version.labels if version else []
    said = ask(actor, model, number, text, [])
    actor.archives.append(Archive(content, model.dataset.type, labels, text, said))
    import_model(actor)


def without_networks(content: bytes) -> bytes:
    """Omit the networks, which an import takes from the installation."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(made, "w") as target:
        for name in source.namelist():
            if not name.startswith("encoders/"):
                target.writestr(name, source.read(name))
    return made.getvalue()


def import_model(actor: Actor) -> None:
    """Import an exported file; the model must answer as the exported version did."""
    if not actor.archives:
        return
    archive, name = actor.random.choice(actor.archives), actor.new_name()
    request = as_form("POST", f"{LANGUAGE}/models/import", {"name": name},
                      {"data": ("model.zip", archive.content)})  # fmt: skip
    is_full = sum(one.is_open for one in actor.models) >= MOST_OPEN
    answer = actor.call(request, allowed([(429, False)] if is_full else []))
    if answer.status != 200:
        return
    record = answer.data
    model = TrainedModel(record["modelId"], name, Dataset("", archive.type, is_uploaded=False),
                         record["createdAt"], is_imported=True)  # fmt: skip
    actor.models.append(model)
    expect("dataset of an imported model", 0, record["datasetId"])
    see_training(actor, model, actor.call(get(training_path(model)), {200}).data)
    if actor.random.random() < 0.6:
        see_imported(actor, model, archive)


def see_imported(actor: Actor, model: TrainedModel, archive: Archive) -> None:
    """Compare an imported model with the version that was exported."""
    wait_training(actor, model)
    expect("versions of an import", [Version(1, archive.labels)], model.versions)
    said = ask(actor, model, 1, archive.text, [])
    if archive.answer is not None and said is not None:
        expect("answer of an imported model", archive.answer, said)
    examples = actor.call(get(model_path(model, "/evaluation")), {200}).data["data"]
    expect("evaluation of an imported model", [], examples)

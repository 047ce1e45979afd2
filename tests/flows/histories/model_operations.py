"""Operations on models: trainings, feedback, predictions, metrics, deletions; and the usage."""

from __future__ import annotations

from typing import Any

from tests.flows.client import LANGUAGE, OPEN, Answer
from tests.flows.histories.actor import (
    Actor,
    Request,
    as_form,
    as_json,
    dataset_path,
    delete,
    expect,
    get,
    model_path,
    training_path,
)
from tests.flows.histories.comparisons import (
    see_deletion,
    see_probabilities,
    see_training,
)
from tests.flows.histories.data_operations import TEXTS, pick_label, see_added
from tests.flows.histories.specification import (
    FEEDBACK,
    INTENT,
    MIN_EXAMPLES,
    SENTIMENTS,
    SOURCES,
    UPLOAD,
    Dataset,
    Obstacle,
    TrainedModel,
    allowed,
)

MOST_OPEN = 5
PREBUILT = "CommunitySentiment"


def pick_model(actor: Actor) -> TrainedModel | None:
    """Choose a model, rarely a deleted one."""
    living = [model for model in actor.models if not model.deletion_id]
    wants_any = not living or actor.random.random() < 0.08
    found = actor.models if wants_any else living
    return actor.random.choice(found) if found else None


def pick_trainable(actor: Actor) -> Dataset | None:
    """Choose a dataset to train on, usually one with enough examples."""
    good = [one for one in actor.datasets if not one.deletion_id and one.is_enough((UPLOAD,))]
    found = good if good and actor.random.random() < 0.85 else actor.datasets
    return actor.random.choice(found) if found else None


def train(actor: Actor, dataset: Dataset) -> None:
    """Train a model."""
    sources, minimum = actor.random.choice((SOURCES, (UPLOAD,))), pick_minimum(actor)
    name = actor.new_name()
    ways = training_obstacles(actor, dataset, sources, minimum)
    request = train_request(dataset, name, sources, minimum)
    answer = actor.call(request, allowed([*dataset.missing, *ways]))
    if answer.status == 200:
        trained(actor, dataset, sources, answer.data, minimum)


def pick_minimum(actor: Actor) -> int | None:
    """Choose the minimum of examples per label; 0 trains with label names."""
    return actor.random.choice((None, None, None, None, 0, 0, 1, 4))


def train_request(
    dataset: Dataset, name: str, sources: tuple[str, ...], minimum: int | None = None
) -> Request:
    """Describe a call for a training."""
    fields = {"name": name, "datasetId": dataset.id, "trainParams": parameters(sources, minimum)}
    return as_json(f"{LANGUAGE}/train", fields)


def parameters(sources: tuple[str, ...], minimum: int | None) -> dict[str, Any]:
    """Return the parameters of a training."""
    asked = {} if minimum is None else {"minimumExamples": minimum}
    return {"withFeedback": len(sources) > 1, "profile": "fast", **asked}


def training_obstacles(
    actor: Actor, dataset: Dataset, sources: tuple[str, ...], minimum: int | None = None
) -> list[Obstacle]:
    """List the obstacles to training on a dataset."""
    found = [*dataset.untrainable]
    if not dataset.finished().is_enough(sources, MIN_EXAMPLES if minimum is None else minimum):
        found.append((400, True))
    if sum(model.is_open for model in actor.models) >= MOST_OPEN:
        found.append((429, False))
    return found


def trained(
    actor: Actor,
    dataset: Dataset,
    sources: tuple[str, ...],
    record: dict[str, Any],
    minimum: int | None = None,
) -> None:
    """Record an accepted training."""
    dataset.finish()
    model = TrainedModel(record["modelId"], record["name"], dataset, record["createdAt"])
    model.ask(sources, minimum)
    actor.models.append(model)
    see_training(actor, model, record)


def retrain(actor: Actor, model: TrainedModel) -> None:
    """Retrain a model."""
    sources, minimum = actor.random.choice((SOURCES, (UPLOAD,))), pick_minimum(actor)
    wait_uncertain(actor, model)
    request = retrain_request(model, sources, minimum)
    answer = actor.call(request, retrain_statuses(actor, model, sources, minimum))
    if answer.status == 200:
        model.dataset.finish()
        end_unseen(model)
        model.ask(sources, minimum)
        see_training(actor, model, answer.data)


def wait_uncertain(actor: Actor, model: TrainedModel) -> None:
    """Wait for a run whose end could not be determined later."""
    if model.past or model.served_meanwhile or model.is_imported:
        wait_training(actor, model)


def end_unseen(model: TrainedModel) -> None:
    """Record that the former run has ended, since the next one was accepted."""
    if model.is_open:
        # It knew these labels at least.
        model.add_version(list(model.labels or []) if model.is_adjusting else model.asked,
                          is_seen=False)  # fmt: skip


def retrain_request(
    model: TrainedModel, sources: tuple[str, ...], minimum: int | None = None
) -> Request:
    """Describe a call for a retraining."""
    fields = {"modelId": model.id, "trainParams": parameters(sources, minimum)}
    return as_json(f"{LANGUAGE}/retrain", fields)


def retrain_statuses(
    actor: Actor, model: TrainedModel, sources: tuple[str, ...], minimum: int | None
) -> set[int]:
    """Return the possible statuses of a retraining."""
    dataset = model.dataset
    lost = [(400, dataset.is_gone)] if dataset.deletion_id else []
    ways = training_obstacles(actor, dataset, sources, minimum)
    return allowed([*model.missing, *model.datasetless, *lost, *ways, *model.busy])


def read_training(actor: Actor, model: TrainedModel) -> None:
    """Read a model's latest training."""
    answer = actor.call(get(training_path(model)), allowed(model.missing))
    if answer.status == 200:
        see_training(actor, model, answer.data)


def wait_training(actor: Actor, model: TrainedModel) -> None:
    """Wait until a training has ended."""
    if model.is_open and not model.deletion_id:
        record = actor.settled(training_path(model), lambda one: one["status"] not in OPEN)
        see_training(actor, model, record)


def read_metrics(actor: Actor, model: TrainedModel) -> None:
    """Read metrics, learning curve and card of a model."""
    unknown = [(404, not model.is_open)] if model.labels is None else []
    answer = actor.call(get(model_path(model)), allowed([*model.missing, *unknown]))
    if answer.status != 200:
        return
    if model.is_open:
        wait_training(actor, model)
        answer = actor.call(get(model_path(model)), {404 if model.labels is None else 200})
        if model.labels is None:
            return
    labels = model.labels or []
    data = answer.data["metricsData"]
    expect("labels of the metrics", labels, data["labels"])
    if model.is_imported:
        return
    sizes = [len(data[name]) for name in ("f1", "precision", "recall", "confusionMatrix")]
    expect("figures for each label", [len(labels)] * 4, sizes)
    served = model.version(model.served)
    if model.has_failed or served is None or served.number != model.last_version:
        # The training that is read is not that of the served version.
        return
    if served.is_adjusted:
        return
    epochs = actor.call(get(training_path(model)), {200}).data["epochs"]
    offset, count = actor.random.choice((0, 0, 1)), actor.random.choice((1, 25, 99))
    curve = actor.call(get(model_path(model, "/lc"), offset=offset, count=count), {200}).data
    shown = list(range(1, epochs + 1))[offset : offset + min(count, 25)]
    expect("epochs of the curve", shown, [item["epoch"] for item in curve["data"]])
    card = actor.call(get(model_path(model, "/card")), {200}).data
    expect("dataset of the card", model.dataset.id, card["trainedOn"]["datasetId"])


def list_models(actor: Actor, dataset: Dataset) -> None:
    """Read the models of a dataset."""
    answer = actor.call(get(dataset_path(dataset, "/models")), allowed(dataset.missing))
    if answer.status != 200:
        return
    models = [one for one in actor.models if one.dataset is dataset and not one.deletion_id]
    models.sort(key=lambda one: (one.created_at, one.id))
    records = answer.data["data"]
    expect("models", [one.id for one in models], [record["modelId"] for record in records])
    for model, record in zip(models, records, strict=True):
        ended = "FAILED" if model.has_failed else "SUCCEEDED"
        expect("state of a model", True, model.is_open or record["status"] == ended)


def delete_model(actor: Actor, model: TrainedModel) -> None:
    """Delete a model, possibly repeatedly or during a training."""
    obstacles = [] if model.deletion_id else model.busy
    answer = actor.call(delete(model_path(model)), allowed(obstacles))
    if answer.status == 200:
        see_deletion(actor, "MODEL", model, answer.data)
        model.is_open = False


def add_feedback(actor: Actor, model: TrainedModel) -> None:
    """Send feedback to a model, with a known or unknown label."""
    dataset = model.dataset
    text = actor.random.choice((*TEXTS, "\t"))
    written = pick_label(actor, dataset.type)
    obstacles = [*model.missing]
    if not text.strip():
        obstacles.append((400, True))
    obstacles += model.datasetless
    if dataset.deletion_id:
        obstacles.append((400, dataset.is_gone))
    obstacles += dataset.unready
    if dataset.finished().label(dataset.label_name(written)) is None:
        obstacles.append((400, True))
    answer = actor.call(feedback_request(model, text, written), allowed(obstacles))
    if answer.status == 200:
        corrected(dataset, text, written, answer.data)


def feedback_request(model: TrainedModel, text: str, written: str) -> Request:
    """Describe a feedback call."""
    fields = {"modelId": model.id, "document": text, "expectedLabel": written}
    return as_json(f"{LANGUAGE}/feedback", fields)


def corrected(dataset: Dataset, text: str, written: str, record: dict[str, Any]) -> None:
    """Record accepted feedback."""
    dataset.finish()
    see_added(dataset, text, written, FEEDBACK, record)


def predict(actor: Actor, model: TrainedModel) -> None:
    """Request a prediction, with valid or invalid input."""
    text = actor.random.choice(
        (*TEXTS, " ", "x" * 20_001) if actor.random.random() < 0.2 else TEXTS
    )
    is_intent = model.dataset.type == INTENT
    is_wrong_call = actor.random.random() < 0.04
    call = "intent" if is_intent != is_wrong_call else "sentiment"
    number = actor.random.choice((None, None, 1, 2, 0))
    is_bad = not text.strip() or len(text) > 20_000 or number == 0
    request = predict_request(actor, model.id, text, call, number)
    obstacles = [*model.missing, *([(400, True)] if is_bad else [])]
    if is_wrong_call:
        # An import has no type until its file is read.
        is_unread = model.is_imported and model.labels is None
        obstacles += [(400, False), (409, True)] if is_unread else [(400, True)]
    obstacles += model.silent
    answer = metered(actor, request, obstacles)
    if answer.status == 200:
        wait_when_first(actor, model)
        labels = [model.labels or []]
        if model.is_open:
            labels += [version.labels for version in model.versions]
            for window in model.windows:
                labels += [window.labels[:end] for end in range(2, len(window.labels) + 1)]
        see_probabilities(answer.data, labels, number)


def wait_when_first(actor: Actor, model: TrainedModel) -> None:
    """Wait for the end of a model's first training, which a prediction would imply."""
    if model.labels is None:
        record = actor.call(get(training_path(model)), {200}).data
        expect("a model that answers was trained", "SUCCEEDED", record["status"])
        see_training(actor, model, record)


def predict_request(
    actor: Actor,
    model_id: str,
    text: str,
    call: str,
    number: int | None = None,
    version: int | None = None,
) -> Request:
    """Describe a prediction by JSON or form."""
    fields: dict[str, object] = {"modelId": model_id, "document": text, "sampleId": " s 1 "}
    if number is not None:
        fields["numResults"] = number
    if version is not None:
        fields["modelVersion"] = version
    path = f"{LANGUAGE}/{call}"
    return (
        as_json(path, fields) if actor.random.random() < 0.7 else as_form("POST", path, fields, {})
    )


def metered(actor: Actor, request: Request, obstacles: list[Obstacle]) -> Answer:
    """Request a prediction and check that the headers show the remaining quota."""
    spent = [(429, True)] if actor.used >= actor.allowance else []
    answer = actor.call(request, allowed([*obstacles, *spent]))
    if answer.status == 200:
        actor.used += 1
        expect("sampleId", " s 1 ", answer.data["sampleId"])
    left = (str(actor.allowance), str(actor.allowance - actor.used))
    names = ("x-ratelimit-limit", "x-ratelimit-remaining")
    expect("rate-limit headers", left, tuple(answer.headers.get(name) for name in names))
    return answer


def predict_prebuilt(actor: Actor) -> None:
    """Request a prediction of the prebuilt model."""
    request = predict_request(actor, PREBUILT, actor.random.choice(TEXTS), "sentiment")
    answer = metered(actor, request, [])
    if answer.status == 200:
        see_probabilities(answer.data, [SENTIMENTS], None)


def read_usage(actor: Actor) -> None:
    """Read the usage."""
    (record,) = actor.call(get("/v2/apiusage"), {200}).data["data"]
    names = ("predictionsUsed", "predictionsRemaining", "predictionsMax")
    expected = (actor.used, actor.allowance - actor.used, actor.allowance)
    expect("usage", expected, tuple(record[name] for name in names))
    expect("plan", actor.plan, record["planData"][0]["plan"])

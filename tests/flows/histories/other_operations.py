"""Operations on tokens, other accounts' objects, calls with lost replies, and bursts of calls."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.flows.client import LANGUAGE, Answer, Client
from tests.flows.histories.actor import (
    UNSEEN_SECONDS,
    Actor,
    Refresh,
    Request,
    as_json,
    dataset_path,
    delete,
    expect,
    get,
    model_path,
    outcome,
    training_path,
)
from tests.flows.histories.comparisons import see_dataset, see_training
from tests.flows.histories.data_operations import (
    LABELS,
    TEXTS,
    added,
    delete_dataset,
    file_request,
    new_dataset,
    new_rows,
    pick_label,
    read_dataset,
    see_id,
)
from tests.flows.histories.model_operations import (
    PREBUILT,
    corrected,
    delete_model,
    feedback_request,
    pick_model,
    predict_request,
    read_usage,
    retrain_request,
    train_request,
    trained,
    training_obstacles,
)
from tests.flows.histories.specification import (
    INTENT,
    UPLOAD,
    Dataset,
    Label,
    TrainedModel,
    allowed,
)
from tests.flows.world import TOKEN
from tests.local.wire import wait_until

THREADS = 8
CALLS = 16
MOST_REFRESHES = 6


def ask_tokens(actor: Actor) -> None:
    """Request a refresh token, or an access token with one; a revoked one is refused."""
    actor.journal[-1].append(f"{actor.name}: POST {TOKEN}")
    living = [one for one in actor.refreshes if one.is_alive]
    if len(living) < 2 or (actor.random.random() < 0.2 and len(living) < MOST_REFRESHES):
        answer = actor.world.ask_token(actor.client, actor.client.email, scope="offline").ok
        actor.refreshes.append(Refresh(answer["refresh_token"]))
        return
    refresh = actor.random.choice(actor.refreshes)
    fields = {"grant_type": "refresh_token", "refresh_token": refresh.token, "valid_for": 7200}
    answer = actor.client.form(TOKEN, fields)
    expect("status of a refresh", 200 if refresh.is_alive else 401, answer.status)
    if refresh.is_alive:
        expect("life of the token", 7200, answer.data["expires_in"])
        refresh.access.append(answer.data["access_token"])
        actor.tokens.append(answer.data["access_token"])


def revoke_token(actor: Actor, other: Actor) -> None:
    """Revoke a refresh token, possibly repeatedly or with a lost reply; its tokens end too."""
    if not actor.refreshes:
        return
    refresh = actor.random.choice(actor.refreshes)
    request = delete(f"/v2/oauth2/tokens/{refresh.token}")
    other.call(request, {404})
    actor.tokens = [token for token in actor.tokens if token not in refresh.access]
    statuses = {204 if refresh.is_alive else 404}
    if actor.random.random() < 0.3:
        actor.lose(request)
        statuses = {204, 404}
    actor.call(request, statuses)
    refresh.is_alive = False
    for token in refresh.access:
        with Client(actor.client.url, token) as dead:
            expect("a dead access token", 401, dead.get("/v2/apiusage").status)


def ask_for_anothers(actor: Actor, other: Actor) -> None:
    """Request another account's objects: the same 404 as for unknown ids."""
    requests = [
        (request, str(dataset.id), "2000000000")
        for dataset in other.datasets[-3:]
        for request in _all_of_dataset(dataset)
    ]
    requests += [
        (request, model.id, "A" * 26)
        for model in other.models[-3:]
        for request in _all_of_model(model)
    ]
    if requests:
        request, mine, unknown_id = actor.random.choice(requests)
        body = request.body and request.body.replace(mine.encode(), unknown_id.encode())
        unknown = replace(request, path=request.path.replace(mine, unknown_id), body=body)
        answers = [actor.call(one, {404}) for one in (request, unknown)]
        texts = [answers[0].body, answers[1].body.replace(unknown_id.encode(), mine.encode())]
        expect("refusals of a foreign and of an unknown id", texts[1], texts[0])


def _all_of_dataset(dataset: Dataset) -> list[Request]:
    """List the calls that name a dataset."""
    return [
        get(dataset_path(dataset)),
        get(dataset_path(dataset, "/examples")),
        get(dataset_path(dataset, "/receipts")),
        get(dataset_path(dataset, "/models")),
        delete(dataset_path(dataset)),
        as_json(dataset_path(dataset, "/examples"), {"document": "a", "label": "b"}),
        file_request("PUT", dataset_path(dataset, "/upload"), {}, [("a", "b")]),
        as_json(f"{LANGUAGE}/train", {"name": "m", "datasetId": dataset.id}),
    ]


def _all_of_model(model: TrainedModel) -> list[Request]:
    """List the calls that name a model."""
    fields = {"modelId": model.id, "document": "a", "expectedLabel": "b"}
    return [
        get(model_path(model)),
        get(model_path(model, "/lc")),
        get(training_path(model)),
        delete(model_path(model)),
        as_json(f"{LANGUAGE}/feedback", fields),
        as_json(f"{LANGUAGE}/retrain", fields),
        as_json(f"{LANGUAGE}/intent", fields),
        get(model_path(model, "/versions")),
        replace(as_json(model_path(model, "/versions/1/serve"), {}), method="PUT"),
        as_json(model_path(model, "/compare"), {"versions": [1, 2]}),
        as_json(model_path(model, "/adjust"), {"datasetId": 1}),
        as_json(model_path(model, "/exports"), {}),
    ]


def lose_new_dataset(actor: Actor) -> None:
    """Create or upload a dataset with a lost reply; the list shows whether it exists."""
    dataset = new_dataset(actor, is_uploaded=actor.random.random() < 0.6)
    fields: dict[str, object] = {"name": dataset.name, "type": dataset.type}
    request = as_json(f"{LANGUAGE}/datasets", fields)
    if dataset.is_uploaded:
        rows = new_rows(actor, dataset.type)
        dataset.begin(rows)
        request = file_request("POST", f"{LANGUAGE}/datasets/upload", fields, rows)
    actor.lose(request)
    deadline = time.monotonic() + UNSEEN_SECONDS
    while time.monotonic() < deadline:
        for record in actor.client.items(f"{LANGUAGE}/datasets"):
            if record["name"] == dataset.name:
                see_dataset(dataset, record)
                actor.datasets.append(dataset)
                return
        time.sleep(0.05)


def lose_put(actor: Actor, dataset: Dataset) -> None:
    """Add a file with a lost reply, check the receipts, and repeat it if needed."""
    wait_dataset(actor, dataset)
    if dataset.deletion_id or not (dataset.is_uploaded and dataset.is_usable):
        read_dataset(actor, dataset)
        return
    rows = new_rows(actor, dataset.type)
    request = file_request("PUT", dataset_path(dataset, "/upload"), {}, rows)
    actor.lose(request)
    known = len(dataset.receipts)
    path = dataset_path(dataset, "/receipts?count=25")
    is_seen = actor.poll(path, lambda one: len(one.ok["data"]) > known, UNSEEN_SECONDS)
    if known < 25 and is_seen:
        dataset.begin(rows)
    wait_dataset(actor, dataset)
    if known < 25:
        answer = actor.call(request, {200})
        dataset.begin(rows)
        see_dataset(dataset, answer.data)


def wait_dataset(actor: Actor, dataset: Dataset) -> None:
    """Wait until a dataset's file has been read."""
    if dataset.waiting is not None and not dataset.deletion_id:
        path = dataset_path(dataset)
        see_dataset(dataset, actor.settled(path, lambda one: one["statusMsg"] != "UPLOADING"))


def lose_example(actor: Actor, dataset: Dataset) -> None:
    """Add an example or feedback with a lost reply, and repeat it: it is stored once."""
    wait_dataset(actor, dataset)
    if dataset.deletion_id or not dataset.is_usable:
        read_dataset(actor, dataset)
        return
    text, written = actor.random.choice(TEXTS), pick_label(actor, dataset.type)
    models = [one for one in actor.models if one.dataset is dataset and not one.deletion_id]
    label = dataset.label(dataset.label_name(written))
    if models and label and actor.random.random() < 0.5:
        request = feedback_request(models[0], text, written)
        actor.lose(request)
        corrected(dataset, text, written, actor.call(request, {200}).data)
    elif dataset.label_name(written):
        fields = {"document": text, "label": written}
        request = as_json(dataset_path(dataset, "/examples"), fields)
        actor.lose(request)
        added(dataset, text, written, actor.call(request, {200}).data)


def lose_training(actor: Actor, dataset: Dataset) -> None:
    """Request a training with a lost reply; the model list shows whether it was accepted."""
    wait_dataset(actor, dataset)
    statuses = allowed([*dataset.missing, *training_obstacles(actor, dataset, (UPLOAD,))])
    if statuses != {200}:
        read_dataset(actor, dataset)
        return
    name = actor.new_name()
    actor.lose(train_request(dataset, name, (UPLOAD,)))
    path = dataset_path(dataset, "/models")
    found = actor.poll(
        path, lambda one: name in {item["name"] for item in one.ok["data"]}, UNSEEN_SECONDS
    )
    if found:
        (item,) = [one for one in found.data["data"] if one["name"] == name]
        record = actor.call(get(f"{LANGUAGE}/train/{item['modelId']}"), {200}).data
        trained(actor, dataset, (UPLOAD,), record)


def lose_deletion(actor: Actor, dataset: Dataset) -> None:
    """Delete with a lost reply, and repeat it: there is one deletion."""
    ended = [one for one in actor.models if not one.is_open and not one.deletion_id]
    trained_here = [one for one in actor.models if one.dataset is dataset and one.is_open]
    if ended and actor.random.random() < 0.5:
        actor.lose(delete(model_path(ended[0])))
        delete_model(actor, ended[0])
    elif not trained_here:
        actor.lose(delete(dataset_path(dataset)))
        delete_dataset(actor, dataset)


def lose_prediction(actor: Actor) -> None:
    """Predict with a lost reply: it counts once, or not at all if it did not arrive."""
    if actor.used >= actor.allowance:
        read_usage(actor)
        return
    ports = actor.lose(predict_request(actor, PREBUILT, "sunny", "sentiment"))
    # The service closes its end when the call is over, however late that is.
    wait_until(lambda: not is_open(*ports))
    (record,) = actor.client.get("/v2/apiusage").ok["data"]
    expect("counted once or not at all", True, record["predictionsUsed"] - actor.used in (0, 1))
    actor.used = record["predictionsUsed"]


def is_open(service: int, caller: int) -> bool:
    """Return whether the service's end of a connection between two local ports is open."""
    ends = [f":{service:04X}", f":{caller:04X}"]
    lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    return any([end[-5:] for end in line.split()[1:3]] == ends for line in lines)


def break_off(actor: Actor, dataset: Dataset) -> None:
    """Send an incomplete call, which must have no effect on later reads."""
    rows = new_rows(actor, dataset.type)
    fields = {"document": "broken off", "label": "hot"}
    actor.break_off(
        actor.random.choice(
            (
                as_json(dataset_path(dataset, "/examples"), fields),
                file_request("PUT", dataset_path(dataset, "/upload"), {}, rows),
                train_request(dataset, "broken off", (UPLOAD,)),
            )
        )
    )
    read_dataset(actor, dataset)


def at_once(actor: Actor, requests: Sequence[Request]) -> list[Answer]:
    """Make calls from eight threads."""
    token = actor.random.choice(actor.tokens)

    def work(place: int) -> list[Answer]:
        """Make this thread's calls."""
        with Client(actor.client.url, token) as caller:
            return [
                caller.send(one.method, one.path, one.body, one.headers)
                for one in requests[place::THREADS]
            ]

    with ThreadPoolExecutor(THREADS) as threads:
        shares = list(threads.map(work, range(THREADS)))
    answers = [shares[n % THREADS][n // THREADS] for n in range(len(requests))]
    for request, answer in zip(requests, answers, strict=True):
        actor.note(request, f"{outcome(answer)}, in a burst")
    return [
        actor.send(request) if actor.is_refused(answer) else answer
        for request, answer in zip(requests, answers, strict=True)
    ]


def burst_of_examples(actor: Actor, dataset: Dataset) -> None:
    """Add examples at once, some of them equal: each text is stored once, and counts agree."""
    wait_dataset(actor, dataset)
    if dataset.deletion_id or not dataset.is_usable:
        read_dataset(actor, dataset)
        return
    names = LABELS[:2] if dataset.type == INTENT else ("positive", "negative")
    made = [
        {"document": f"burst {actor.random.randrange(60)}", "label": actor.random.choice(names)}
        for _ in range(CALLS)
    ]
    requests = [as_json(dataset_path(dataset, "/examples"), fields) for fields in made]
    answers = at_once(actor, requests)
    expect("statuses of a burst", [200] * CALLS, [answer.status for answer in answers])
    records = sorted((answer.data for answer in answers), key=lambda record: record["id"])
    sent = sorted(
        (str(fields["document"]), dataset.present_name(str(fields["label"]))) for fields in made
    )
    new_labels = {
        record["label"]["id"]: record["label"]["name"]
        for record in records
        if dataset.label(record["label"]["name"]) is None
    }
    for number in sorted(new_labels):
        dataset.labels.append(Label(new_labels[number], number))
    for record in records:
        label = dataset.add(record["name"], record["label"]["name"], UPLOAD)
        see_id(label, UPLOAD, record)
    got = sorted((record["name"], record["label"]["name"]) for record in records)
    expect("examples of a burst", sent, got)
    read_dataset(actor, dataset)


def burst_of_predictions(actor: Actor) -> None:
    """Predict at once, some with invalid input: exactly the valid ones are counted."""
    texts = [actor.random.choice((*TEXTS[:3], " ")) for _ in range(CALLS)]
    requests = [predict_request(actor, PREBUILT, text, "sentiment") for text in texts]
    answers = at_once(actor, requests)
    good = sum(bool(text.strip()) for text in texts)
    served = min(good, actor.allowance - actor.used)
    expected = sorted([200] * served + [429] * (good - served) + [400] * (CALLS - good))
    expect("statuses of a burst", expected, sorted(answer.status for answer in answers))
    actor.used += served
    read_usage(actor)


def lose_retraining(actor: Actor) -> None:
    """Retrain with a lost reply, and repeat it: it is accepted or finds the first in progress."""
    model = pick_model(actor)
    if model is None or model.is_open or model.deletion_id or model.is_imported:
        return
    dataset = model.dataset
    if not dataset.deletion_id:
        wait_dataset(actor, dataset)
    ways = training_obstacles(actor, dataset, (UPLOAD,))
    if dataset.deletion_id or allowed(ways) != {200}:
        return
    request = retrain_request(model, (UPLOAD,))
    actor.lose(request)
    actor.call(request, {200, 409})
    model.ask((UPLOAD,))
    record = actor.settled(training_path(model), lambda one: one["status"] == "SUCCEEDED")
    newest = actor.call(get(model_path(model, "/versions")), {200}).data["data"][0]["version"]
    if newest > model.last_version + 1:
        # The first call was received, and its run ended before the second one.
        model.add_version(model.asked, is_seen=False)
    see_training(actor, model, record)

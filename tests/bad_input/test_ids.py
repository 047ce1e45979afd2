"""Invalid, foreign and deleted ids, and ids of the other family, on every route."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.live import INTENT, SENTIMENT, SHOP, Caller
from tests.reads import reads

NUMBERS = ["-1", "0", "9223372036854775807", "9223372036854775808", "9" * 400, "abc", "1.0", "1e3"]
NUMBERS += ["0x10", "١٢٣", "null", "true", " ", "1 OR 1=1", "../1", "%00", "1;2", "{}", "🙂", "+1"]
TEXTS = ["-1", "0", "9" * 19, "a" * 26, "A" * 26, "A" * 25, "A" * 5000, "../x", "' OR ''='", "🙂"]
TEXTS += ["\x00", "%", "null", "{}", "AAAAAAAAAAAAAAAAAAAAAAAAA1", "communitysentiment"]

DATASET_READS = [
    path
    for family in ("language", "vision")
    for path in reads(family, dataset_id="{}", label_id=1)
    if "{}" in path
]
DATASET_ROUTES = [
    *(("GET", path, None) for path in DATASET_READS),
    ("DELETE", "/v2/language/datasets/{}", None),
    ("PUT", "/v2/language/datasets/{}/upload", {"path": "http://x/"}),
    ("POST", "/v2/language/datasets/{}/examples", {"document": "x", "label": "refund"}),
    ("DELETE", "/v2/vision/datasets/{}", None),
]
MODEL_READS = [path for family in ("language", "vision") for path in reads(family, model_id="{}")]
MODEL_ROUTES = [
    *(("GET", path, None) for path in MODEL_READS),
    ("DELETE", "/v2/language/models/{}", None),
    ("DELETE", "/v2/vision/models/{}", None),
    ("GET", "/v2/language/deletion/{}", None),
]
MODEL_BODIES = [
    ("/v2/language/retrain", {}),
    ("/v2/language/datasets/retrain", {}),
    ("/v2/language/feedback", {"document": "x", "expectedLabel": "refund"}),
    (INTENT, {"document": "x"}),
    (SENTIMENT, {"document": "x"}),
]


def send(caller: Caller, method: str, path: str, fields: dict[str, object] | None):
    """Send a call with or without a body."""
    return caller(method, path) if fields is None else caller.json(method, path, fields)


@pytest.mark.parametrize(
    ("method", "path", "fields", "sent"),
    [
        (*route, sent)
        for number, route in enumerate(DATASET_ROUTES)
        for sent in (NUMBERS if number == 0 else NUMBERS[:6])
    ],
)
def test_strange_dataset_id_is_a_404(victim, method, path, fields, sent):
    """An invalid dataset id is a 404 like an unknown one."""
    send(victim, method, path.format(quote(sent, safe="")), fields).refused(404)


@pytest.mark.parametrize(
    ("method", "path", "fields", "sent"),
    [
        (*route, sent)
        for number, route in enumerate(MODEL_ROUTES)
        for sent in (TEXTS if number in (0, len(MODEL_ROUTES) - 1) else TEXTS[:5])
    ],
)
def test_strange_string_id_is_a_404(victim, method, path, fields, sent):
    """An invalid model or deletion id is a 404 like an unknown one."""
    send(victim, method, path.format(quote(sent, safe="")), fields).refused(404)


@pytest.mark.parametrize(
    ("path", "fields", "sent"),
    [
        (*body, sent)
        for number, body in enumerate(MODEL_BODIES)
        for sent in ([s for s in TEXTS if s != "\x00"] if number == 3 else TEXTS[:3])
    ],
)
def test_strange_model_id_in_a_body_is_a_404(victim, path, fields, sent):
    """The same for an id in a body, in JSON and in a form."""
    shown = sent[:40]
    victim.json("POST", path, {**fields, "modelId": sent}).refused(404, shown)
    victim.fields("POST", path, modelId=sent, **fields).refused(404, shown)


@pytest.mark.parametrize("sent", ["-1", "0", str(2**63), "9" * 30, -1, 2**63 - 1])
def test_strange_dataset_id_in_a_body_is_a_404(victim, sent):
    """A whole number that is not an id is not found."""
    victim.train(sent).refused(404)


@pytest.mark.parametrize("sent", ["-1", "0", str(2**63), "9" * 30, "7"])
def test_strange_label_id_is_a_404(live, victim, sent):
    """A label that the caller does not have is not found, by any of its three routes."""
    shop = live.shop["id"]

    victim.get("/v2/language/examples", labelId=sent).refused(404)
    fields = {"document": "x", "labelId": sent}
    victim.json("POST", f"/v2/language/datasets/{shop}/examples", fields).refused(404)
    if sent != "0":  # a position
        victim.get(f"/v2/language/examples/{shop}/label/{sent}").refused(404)


def test_ids_written_as_decimals_are_the_ids(live, victim):
    """Ids written as 12.0, 1.2e1 or "12.0" are accepted everywhere."""
    shop = live.shop["id"]
    label = live.shop["labelSummary"]["labels"][0]["id"]
    power = f"{shop / 10**6:.6f}e6"
    unknown = {"document": "x", "labelId": float(shop)}  # a dataset's id is not a label's

    for sent in (f"{shop}.0", power):
        assert victim.get(f"/v2/language/datasets/{sent}").ok()["id"] == shop
        assert victim.get(f"/v2/language/examples/{sent}/label/{label}.0").ok()
    assert victim.get("/v2/language/examples", labelId=f"{label}.0").ok()
    victim.get(f"/v2/language/examples/{shop}/label/0.0").ok()  # a position
    path = f"/v2/language/datasets/{shop}/examples"
    victim.json("POST", path, unknown).refused(404, str(shop))
    for sent in (float(shop), f"{shop}.0", power):
        # The split's refusal comes after the dataset was found.
        victim.train(sent, trainParams={"trainSplitRatio": 7}).refused(400, "trainSplitRatio")
        fields = {"name": "x", "datasetId": sent, "trainParams": '{"trainSplitRatio": 7}'}
        victim.fields("POST", "/v2/language/train", **fields).refused(400, "trainSplitRatio")


@pytest.mark.parametrize("sent", ["1e999999999", "1.5", "NaN", "Infinity", "1" + "0" * 40])
def test_numbers_that_are_not_ids_are_refused(victim, sent):
    """A fraction, a text or a huge power is a 404 or 400, at once."""
    victim.get(f"/v2/language/datasets/{sent}").refused(404)
    refusals = (
        victim.get("/v2/language/examples", labelId=sent),
        victim.train(sent),
        victim.fields("POST", "/v2/language/train", name="x", datasetId=sent),
        victim(
            "POST", "/v2/language/train", f'{{"datasetId": {sent}}}'.encode(), "application/json"
        ),
    )
    assert {answer.status for answer in refusals} <= {400, 404}


@pytest.mark.parametrize("sent", ["", "x", "1.5", "[]"])
def test_label_id_that_is_not_a_number_is_a_400(victim, sent):
    """The deprecated list names its query parameter."""
    victim.get("/v2/language/examples", labelId=sent).refused(400, "labelId")


@pytest.mark.parametrize(("method", "path", "fields"), DATASET_ROUTES)
def test_foreign_dataset_answers_like_an_unknown_one(live, method, path, fields):
    """Another account's dataset and one that does not exist give the same answer."""
    shop, missing = str(live.shop["id"]), "1999999"

    foreign = send(live.stranger, method, path.format(shop), fields)
    unknown = send(live.stranger, method, path.format(missing), fields)

    assert foreign.refused(404, shop) == unknown.refused(404, missing)
    assert foreign.message.replace(shop, missing) == unknown.message


@pytest.mark.parametrize(("method", "path", "fields"), MODEL_ROUTES[:-1])
def test_foreign_model_answers_like_an_unknown_one(live, method, path, fields):
    """The same for models in paths."""
    foreign = send(live.stranger, method, path.format(live.model_id), fields)
    unknown = send(live.stranger, method, path.format("A" * 26), fields)

    assert foreign.refused(404) == unknown.refused(404)
    assert foreign.message.replace(live.model_id, "A" * 26) == unknown.message


@pytest.mark.parametrize(("path", "fields"), MODEL_BODIES)
def test_foreign_model_in_a_body_answers_like_an_unknown_one(live, path, fields):
    """The same for models in bodies."""
    foreign = live.stranger.json("POST", path, {**fields, "modelId": live.model_id})
    unknown = live.stranger.json("POST", path, {**fields, "modelId": "A" * 26})

    assert foreign.refused(404) == unknown.refused(404)
    assert foreign.message.replace(live.model_id, "A" * 26) == unknown.message


def test_foreign_label_and_deletion_answer_like_unknown_ones(live, maker):
    """The same for labels and deletions, and for a dataset that is to be trained."""
    label = live.shop["labelSummary"]["labels"][0]["id"]
    gone = maker.json("POST", "/v2/language/datasets", {"name": "x", "type": "text-intent"}).ok()
    deletion = maker.delete(f"/v2/language/datasets/{gone['id']}").ok()

    live.stranger.get("/v2/language/examples", labelId=label).refused(404, str(label))
    live.stranger.get(f"/v2/language/deletion/{deletion['id']}").refused(404, deletion["id"])
    live.stranger.train(live.shop["id"]).refused(404, str(live.shop["id"]))


@pytest.mark.parametrize(("method", "path", "fields"), DATASET_ROUTES)
def test_dataset_of_the_other_family_is_a_404(live, victim, method, path, fields):
    """Datasets are strict: a language dataset below /vision does not exist, and vice versa."""
    dataset = live.shop if "/vision/" in path else live.pictures

    send(victim, method, path.format(dataset["id"]), fields).refused(404, str(dataset["id"]))


def test_vision_dataset_is_not_trained_below_language(live, victim):
    """A body's dataset is of the path's family too."""
    victim.train(live.pictures["id"]).refused(404, str(live.pictures["id"]))


@pytest.fixture(scope="module")
def deleted(maker):
    """A dataset and a model that are gone."""
    dataset = maker.upload(SHOP).ok()["id"]
    model = maker.train(dataset, trainParams={"profile": "fast"}).ok()["modelId"]
    assert maker.trained(model)["status"] == "SUCCEEDED"
    maker.delete_and_wait(f"/v2/language/models/{model}")
    maker.delete_and_wait(f"/v2/language/datasets/{dataset}")
    return dataset, model


@pytest.mark.parametrize(("method", "path", "fields"), DATASET_ROUTES)
def test_deleted_dataset_is_a_404(maker, deleted, method, path, fields):
    """A dataset that is gone is not found; only a repeated DELETE shows its deletion again."""
    answer = send(maker, method, path.format(deleted[0]), fields)

    if method == "DELETE" and "/language/" in path:
        assert answer.ok()["deletedObjectId"] == str(deleted[0])
    else:
        answer.refused(404, str(deleted[0]))


@pytest.mark.parametrize(("method", "path", "fields"), MODEL_ROUTES[:-1])
def test_deleted_model_is_a_404(maker, deleted, method, path, fields):
    """The same for models."""
    answer = send(maker, method, path.format(deleted[1]), fields)

    if method == "DELETE":
        assert answer.ok()["deletedObjectId"] == deleted[1]
    else:
        answer.refused(404, deleted[1])


@pytest.mark.parametrize(("path", "fields"), MODEL_BODIES)
def test_deleted_model_in_a_body_is_a_404(maker, deleted, path, fields):
    """A model that is gone neither predicts nor takes feedback."""
    maker.json("POST", path, {**fields, "modelId": deleted[1]}).refused(404, deleted[1])


@pytest.mark.parametrize(("path", "type_"), [(SENTIMENT, "text-sentiment")])
def test_model_of_another_type_is_a_400(live, victim, path, type_):
    """An intent model in a sentiment call is a 400 that names the required type."""
    fields = {"document": "x", "modelId": live.model_id}

    victim.json("POST", path, fields).refused(400, "modelId", "text-intent", type_)


def test_global_datasets_cannot_be_touched(live, victim):
    """A dataset that ships with the service is listed and cannot be changed or deleted."""
    listed = victim.get("/v2/language/datasets", **{"global": "true"}).ok()["data"]

    for dataset in listed:
        victim.get(f"/v2/language/datasets/{dataset['id']}").refused(404)
        victim.delete(f"/v2/language/datasets/{dataset['id']}").refused(404)
        victim.train(dataset["id"]).refused(404)
    absent = {"withGlobalDatasetId": live.shop["id"]}
    victim.train(live.shop["id"], trainParams=absent).refused(400, "withGlobalDatasetId")

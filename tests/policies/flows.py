"""Calls that exercise every operation and queue of the service."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.jobs.messages import SettleJob, encode_job
from chalicelib.domain.jobs.webhook import EVENTS
from chalicelib.stores.aws.tables import DatasetRow, ModelRow
from infra.template.functions import API, RECORDS
from tests.builders import a_csv, some_rows
from tests.pdfs import text_pdf
from tests.pictures import detection_files, draw, label_folders, make_zip
from tests.policies.deployed import Caller, Deployed, cut
from tests.reads import reads
from tests.tiny_vision import TinyExtractor

ROWS = [*some_rows({"book": 9, "cancel": 9}), ("cancel please number 3 now", "book")]
OPINIONS = some_rows({"positive": 6, "negative": 6, "neutral": 6})
HOOKS, CLOSED_ADDRESS = "/v2/webhooks", "127.0.0.1:9"
"""Webhooks, and an address that refuses connections."""
LANGUAGE, VISION = "/v2/language", "/v2/vision"
PICTURE = draw()
FILE = ("data", a_csv(ROWS), "shop.csv")
LONG = "many different words " * 900


def live(deployed: Deployed, *more: Callable[[Caller], None]) -> None:
    """Run every flow, and some more; afterwards all that belonged to anybody is deleted."""
    free = Caller(deployed, "free@example.com", "STARTER")
    paid = Caller(deployed, "paid@example.com", "GOLD")
    describe(free)
    for caller in (free, paid):
        hooked(caller)
        adjusted(caller)
        named(caller)
    texts(free)
    moods(free)
    pictures(free)
    learned(free)
    boxes(paid)
    crowded(paid)
    arrivals(paid)
    trouble(free)
    delays(free)
    cut_off(free)
    for flow in more:
        flow(free)
    for caller, trainer in ((free, "train_free"), (paid, "train_paid")):
        interrupted(caller, trainer)
        interrupted_pictures(caller, trainer)
        given_away(caller)
        turns(caller, trainer.replace("_", "-"))
    crossed(free, paid)
    guarded(paid)
    tokens(free)
    keyed(free)
    close(deployed, free, paid)


def describe(caller: Caller) -> None:
    """Ask the service about itself."""
    for path in ("/v2/health", "/v2/openapi.json", "/v2/docs", "/v2/apiusage", "/v2/whoami"):
        caller.get(path)
    assert caller.send("GET", "/v2/docs/docs.js").status == 200
    assert caller.send("GET", "/console").status == 200
    assert caller.send("GET", "/console/app.js").status == 200
    assert caller.send("GET", "/").status == 302
    assert caller.send("POST", f"{LANGUAGE}/entities").status == 404


def hooked(caller: Caller) -> None:
    """Register an address that refuses connections as a webhook for every event."""
    asked = {"url": f"http://{CLOSED_ADDRESS}/", "events": [*EVENTS]}
    hook = caller.json("POST", HOOKS, **asked)["id"]
    one = f"{HOOKS}/{hook}"
    caller.get(HOOKS)
    caller.get(one)
    caller.json("PUT", one, description="everything")
    caller.ok("POST", f"{one}/rotate")
    caller.ok("POST", f"{one}/test")
    caller.deployed.work()
    assert len(caller.get(f"{one}/deliveries")["data"]) == 1
    caller.hook = one
    gone = caller.json("POST", HOOKS, **asked)["id"]
    caller.ok("DELETE", f"{HOOKS}/{gone}")


PAGE = {"sampleBase64Content": base64.b64encode(text_pdf(["a line"])).decode()}


def tokens(caller: Caller) -> None:
    """Refresh and revoke."""
    refresh = caller.sign_in()
    caller.form("POST", "/v2/oauth2/token", grant_type="refresh_token", refresh_token=refresh)
    caller.ok("DELETE", f"/v2/oauth2/tokens/{refresh}")


def keyed(caller: Caller) -> None:
    """Call each function of routes with its own API key, whose first use it notes."""
    routes = (
        ("POST", f"{LANGUAGE}/intent"),
        ("POST", f"{VISION}/predict"),
        ("POST", f"{VISION}/ocr"),
    )
    for method, path in (*routes, ("GET", "/v2/whoami")):
        made = caller.json("POST", "/v2/keys", name="shop")
        assert caller.with_key(made["secret"], method, path).status != 401
        caller.ok("DELETE", f"/v2/keys/{made['id']}")
    caller.json("POST", "/v2/keys", name="left")
    assert len(caller.get("/v2/keys")["data"]) == 1


def texts(caller: Caller) -> None:
    """From a file of texts to predictions, and all of it deleted."""
    work = caller.deployed.work
    empty = caller.form("POST", f"{LANGUAGE}/datasets", name="e", labels="a,b", type="text-intent")
    data = caller.form("POST", f"{LANGUAGE}/datasets/upload", FILE, type="text-intent")
    work()
    dataset = f"{LANGUAGE}/datasets/{data['id']}"
    more = ("data", a_csv(some_rows({"book": 3, "other": 6}, "more")), "more.csv")
    caller.form("PUT", f"{dataset}/upload", more)
    work()
    for number in range(5):
        caller.json("POST", f"{dataset}/examples", document=f"{number} {LONG}", label="fresh")
    caller.deployed.clock.advance(seconds=1)
    model = trained(caller, LANGUAGE, data["id"])
    asked = {"modelId": model, "document": "book please"}
    count = caller.deployed.count
    count("intent or sentiment", lambda: caller.json("POST", f"{LANGUAGE}/intent", **asked))
    with caller.with_refreshed_token():
        caller.json("POST", f"{LANGUAGE}/intent", **asked)
    count("dataset record", lambda: caller.get(dataset))
    count("list of examples", lambda: caller.get(f"{dataset}/examples"))
    exported(caller, dataset, "csv")
    edit_dataset(caller, LANGUAGE, data["id"])
    expire_exports(caller, dataset)
    batched(caller, data["id"], model)
    caller.json("POST", f"{LANGUAGE}/feedback", **asked, expectedLabel="book")
    looked_at(caller, LANGUAGE, data["id"], model)
    retrained(caller, LANGUAGE, model)
    work()
    deleted(caller, LANGUAGE, data["id"], model)
    deleted(caller, LANGUAGE, empty["id"])


def named(caller: Caller) -> None:
    """Train from label names with uploaded texts, and once more while it is being trained."""
    fields = {"name": "n", "labels": "book,other", "type": "text-intent"}
    data = caller.form("POST", f"{LANGUAGE}/datasets", **fields)
    asked = {"minimumExamples": 0, "unlabelled": arrived(caller, a_csv(ROWS))}
    call = {"name": "m", "datasetId": data["id"], "trainParams": asked}
    model = caller.json("POST", f"{LANGUAGE}/train", **call)["modelId"]
    asked = {**asked, "unlabelled": arrived(caller, a_csv(ROWS))}
    body = json.dumps({"modelId": model, "trainParams": asked}).encode()
    assert caller.send("POST", f"{LANGUAGE}/retrain", body, "application/json").status == 409
    caller.deployed.work()


def adjusted(caller: Caller) -> None:
    """Adjust a model, and once more while another call trains it."""
    deployed = caller.deployed
    file = ("data", a_csv(some_rows({"book": 12, "other": 12}, "adjusted")), "shop.csv")
    data = caller.form("POST", f"{LANGUAGE}/datasets/upload", file, type="text-intent")
    deployed.work()
    model = trained(caller, LANGUAGE, data["id"])
    call = "POST", f"{LANGUAGE}/models/{model}/adjust"
    caller.json(*call, datasetId=data["id"])
    deployed.work()
    deployed.recorder.before(
        "api_handler",
        "objects/models",
        "s3:PutObject",
        lambda: caller.json("POST", f"{LANGUAGE}/retrain", modelId=model),
    )
    body = json.dumps({"datasetId": data["id"]}).encode()
    assert caller.send(*call, body, "application/json").status == 409
    deployed.work()


def moods(caller: Caller) -> None:
    """Sentiments, and a card that names an example; while it is changed its model is deleted."""
    file = ("data", a_csv(OPINIONS), "opinions.csv")
    data = caller.form("POST", f"{LANGUAGE}/datasets/upload/sync", file, type="text-sentiment")
    caller.deployed.work()
    model = trained(caller, LANGUAGE, data["id"])
    caller.json("POST", f"{LANGUAGE}/sentiment", document="good", modelId=model)
    caller.get(f"{LANGUAGE}/models/CommunitySentiment/card")
    caller.deployed.name_example(model)
    caller.deployed.recorder.before(
        "delete_object",
        "objects/models",
        "s3:PutObject",
        lambda: caller.deployed.lose(ModelRow, caller.account.account_id, model),
    )
    deleted(caller, LANGUAGE, data["id"])


def pictures(caller: Caller) -> None:
    """From an archive of pictures to predictions, and all of it deleted."""
    work = caller.deployed.work
    archive = make_zip(label_folders({"bike": 12, "car": 12}))
    caller.form("POST", f"{VISION}/datasets", name="e", labels="a,b", type="image")
    data = caller.form("POST", f"{VISION}/datasets/upload", ("data", archive, "a.zip"))
    work()
    caller.form("POST", f"{VISION}/datasets/upload/sync", ("data", archive, "a.zip"))
    work()
    dataset = f"{VISION}/datasets/{data['id']}"
    more = make_zip(label_folders({"car": 2, "van": 2}, salt=50))
    caller.form("PUT", f"{dataset}/upload", ("data", more, "b.zip"))
    work()
    for number in range(3):
        drawn = ("data", draw(salt=90 + number), f"{number}.png")
        caller.form("POST", f"{dataset}/examples", drawn, label="van")
    caller.deployed.clock.advance(seconds=1)
    model = trained(caller, VISION, data["id"])
    picture = base64.b64encode(PICTURE).decode()
    fields = {"sampleBase64Content": picture, "modelId": model}
    caller.deployed.count(
        "image prediction", lambda: caller.form("POST", f"{VISION}/predict", **fields)
    )
    reading = {"sampleBase64Content": picture, "modelId": "OCRModel"}
    caller.deployed.count(
        "page of OCR", lambda: caller.form("POST", f"{VISION}/ocr", **reading, task="text")
    )
    with caller.with_refreshed_token():
        caller.form("POST", f"{VISION}/predict", **fields)
        caller.form("POST", f"{VISION}/ocr", **{**reading, **PAGE}, pageImages="true")
    wrong = draw("square", salt=9)
    fields = {"modelId": model, "expectedLabel": "car"}
    caller.form("POST", f"{VISION}/feedback", ("data", wrong, "y.png"), **fields)
    looked_at(caller, VISION, data["id"], model)
    batched_pictures(caller, archive, data["id"], model)
    cleared(caller, dataset, data["id"], model)


def version_1(caller: Caller, dataset_id: int) -> None:
    """Make the calls that only clients of version 1.0 make."""
    archive = make_zip(label_folders({"car": 1}, salt=70))
    dataset = f"/v1/vision/datasets/{dataset_id}"
    label = caller.get(f"{dataset}/labels")["data"][0]
    caller.get(f"{dataset}/labels/{label['id']}")
    caller.json("POST", f"{dataset}/labels", name="bus")
    example = caller.get(f"{VISION}/datasets/{dataset_id}/examples?count=1")["data"][0]
    caller.get(f"{dataset}/examples/{example['id']}")
    caller.form("PUT", dataset, ("data", archive, "again.zip"))
    caller.deployed.work()


def cleared(caller: Caller, dataset: str, dataset_id: int, model: str) -> None:
    """Trained again, exported, and all of it deleted."""
    version_1(caller, dataset_id)
    retrained(caller, VISION, model)
    caller.deployed.work()
    exported(caller, dataset, "zip")
    outlived(caller)
    deleted(caller, VISION, dataset_id, model)


def boxes(caller: Caller) -> None:
    """Train a detector, and send feedback in bulk for it."""
    work = caller.deployed.work
    file = ("data", make_zip(detection_files(6)), "scenes.zip")
    caller.form("POST", f"{VISION}/datasets/validate", file, type="image-detection")
    data = caller.form("POST", f"{VISION}/datasets/upload", file, type="image-detection")
    work()
    model = trained(caller, VISION, data["id"])
    caller.form("POST", f"{VISION}/detect", ("sampleContent", PICTURE, "x.png"), modelId=model)
    more = ("data", make_zip(detection_files(2, salt=9)), "more.zip")
    caller.form("PUT", f"{VISION}/bulkfeedback", more, modelId=model)
    work()
    looked_at(caller, VISION, data["id"], model)
    retrained(caller, VISION, model)
    work()
    scenes = f"{VISION}/datasets/{data['id']}"
    found = caller.get(f"{scenes}/browse?count=1")["data"][0]
    moved = [{**found["box"], "x": 5, "labelId": found["label"]["id"]}]
    caller.json("PUT", f"{scenes}/examples/{found['id']}", boxes=moved)
    edit_dataset(caller, VISION, data["id"])


def crowded(caller: Caller) -> None:
    """Send a file that seems to unpack to more than the quota until storage is counted again."""
    deployed = caller.deployed
    pictures = {path: file + bytes(9_000) for path, file in label_folders({"bike": 5}).items()}
    archive = ("data", make_zip(pictures), "a.zip")
    caller.form("POST", f"{VISION}/datasets/upload", archive)
    deployed.fill(caller.account.account_id)
    deployed.work()


def arrivals(caller: Caller) -> None:
    """Files that come by the bucket, for both kinds of upload and a sample."""
    deployed = caller.deployed
    for path, fields in (
        (f"{LANGUAGE}/datasets/upload", {"type": "text-intent"}),
        (f"{LANGUAGE}/datasets/upload/sync", {"type": "text-intent"}),
    ):
        sent = arrived(caller, a_csv(ROWS))
        caller.json("POST", f"{LANGUAGE}/datasets/validate", path=sent, **fields)
        caller.json("POST", path, path=sent, **fields)
        deployed.work()


def arrived(caller: Caller, content: bytes) -> str:
    """Put a file into the bucket by a form, and return its path."""
    form = caller.json("POST", "/v2/uploads", name="shop.csv")
    caller.deployed.put(form["fields"]["key"], content)
    assert caller.deployed.work_once("incoming") == 1
    return str(form["path"])


def trouble(caller: Caller) -> None:
    """Send unreadable files, name unknown models, and fail trainings."""
    work = caller.deployed.work
    broken = ("data", b"PK\x03\x04" + bytes(64), "a.zip")
    data = caller.form("POST", f"{VISION}/datasets/upload", broken)
    work()
    assert not caller.get(f"{VISION}/datasets/{data['id']}")["available"]
    assert caller.ok("DELETE", f"{VISION}/datasets?status=FAILED")["data"]
    assert not caller.ok("DELETE", f"{LANGUAGE}/datasets?status=FAILED")["data"]
    work()
    caller.send("GET", f"{LANGUAGE}/models/{'A' * 26}")
    form = caller.json("POST", "/v2/uploads")
    text = json.dumps({"path": form["path"], "type": "text-intent"}).encode()
    answer = caller.send("POST", f"{LANGUAGE}/datasets/upload", text, "application/json")
    assert answer.status == 400, answer


def delays(caller: Caller) -> None:
    """Lost messages, functions that are out of time, and work that is swept up."""
    deployed = caller.deployed
    data = caller.form("POST", f"{LANGUAGE}/datasets/upload", FILE, type="text-intent")
    deployed.take("ingest")
    deployed.sweep()
    assert deployed.work_once("ingest") == 1
    deployed.work()
    model = caller.json("POST", f"{LANGUAGE}/train", name="m", datasetId=data["id"])["modelId"]
    deployed.take("train-free")
    deployed.sweep()
    assert deployed.work_once("train-free") == 1
    caller.ok("DELETE", f"{LANGUAGE}/models/{model}")
    caller.ok("DELETE", f"{LANGUAGE}/datasets/{data['id']}")
    deployed.take("delete")
    deployed.sweep()
    deployed.work()
    archive = ("data", make_zip(label_folders({"bike": 6, "car": 6}, salt=7)), "a.zip")
    caller.form("POST", f"{VISION}/datasets/upload", archive)
    deployed.work_once("ingest")
    deployed.work_once("embed", seconds=30)
    deployed.work()


def cut_off(caller: Caller) -> None:
    """Make calls whose outcome is unknown: what they wrote is rolled back or swept up."""
    deployed = caller.deployed
    before = deployed.recorder.before
    upload = ("POST", f"{LANGUAGE}/datasets/upload", FILE)
    before(API, "table/datasets", "dynamodb:PutItem", cut)
    assert caller.try_form(*upload, type="text-intent").status == 503
    data = caller.form(*upload, type="text-intent")
    deployed.work()
    model = trained(caller, LANGUAGE, data["id"])
    archive = ("data", make_zip(label_folders({"bike": 6, "car": 6}, salt=9)), "a.zip")
    seen = caller.form("POST", f"{VISION}/datasets/upload", archive)
    deployed.work()
    for family, function, dataset in ((LANGUAGE, API, data), (VISION, RECORDS, seen)):
        before(function, "table/models", "dynamodb:PutItem", cut)
        body = json.dumps({"name": "m", "datasetId": dataset["id"]}).encode()
        assert caller.send("POST", f"{family}/train", body, "application/json").status == 503
    for path in (f"datasets/{data['id']}", f"models/{model}"):
        before(RECORDS, "table/deletions", "dynamodb:PutItem", cut)
        assert caller.send("DELETE", f"{LANGUAGE}/{path}").status == 503
    deployed.sweep()
    deployed.work()
    before("delete_object", "table/quotas", "dynamodb:UpdateItem", cut)
    account_id = caller.account.account_id
    job = SettleJob(
        account_id=account_id, kind="predictions", month="2026-11", token="1-0", tries=0
    )
    deployed.deliver("delete", encode_job(job))
    deployed.work()


def turns(caller: Caller, queue: str) -> None:
    """Deliver messages in another order than they were sent."""
    deployed = caller.deployed
    for _ in range(2):
        data = caller.form("POST", f"{LANGUAGE}/datasets/upload", FILE, type="text-intent")
    for body in reversed(deployed.take("ingest")):
        deployed.deliver("ingest", body)
    deployed.work()
    for _ in range(2):
        model = caller.json("POST", f"{LANGUAGE}/train", name="m", datasetId=data["id"], epochs=2)
    deployed.count_places()
    caller.get(f"{LANGUAGE}/train/{model['modelId']}")
    for body in reversed(deployed.take(queue)):
        deployed.deliver(queue, body)
    deployed.work()


def interrupted(caller: Caller, trainer: str) -> None:
    """Datasets and models that are deleted while functions work on them."""
    deployed = caller.deployed
    before = deployed.recorder.before
    owner = caller.account.account_id
    for function, path in ((API, "upload/sync"), ("ingest_upload", "upload")):
        before(function, "table/examples", "dynamodb:PutItem", lambda: lose_newest(caller))
        caller.try_form("POST", f"{LANGUAGE}/datasets/{path}", FILE, type="text-intent")
        deployed.work()
    data = caller.form("POST", f"{LANGUAGE}/datasets/upload", FILE, type="text-intent")
    before("ingest_upload", "table/examples", "dynamodb:PutItem", lambda: gone_soon(caller, data))
    deployed.work()
    data = caller.form("POST", f"{LANGUAGE}/datasets/upload", FILE, type="text-intent")
    deployed.work()
    asked = {"name": "m", "datasetId": data["id"], "epochs": 2}
    model = caller.json("POST", f"{LANGUAGE}/train", **asked)["modelId"]
    before(trainer, "objects/models", "s3:PutObject", lambda: deployed.lose(ModelRow, owner, model))
    deployed.work()


def interrupted_pictures(caller: Caller, trainer: str) -> None:
    """Delete a dataset while features are made for it, and let a training run out of time."""
    deployed = caller.deployed
    archive = ("data", make_zip(label_folders({"bike": 6, "car": 6}, salt=30)), "a.zip")
    data = caller.form("POST", f"{VISION}/datasets/upload", archive)
    deployed.work_once("ingest")
    deployed.take("embed")
    caller.json("POST", f"{VISION}/train", name="m", datasetId=data["id"], epochs=2)
    deployed.recorder.before(
        trainer, "objects/datasets", "s3:PutObject", lambda: lose_newest(caller)
    )
    deployed.work_once(trainer.replace("_", "-"), seconds=200)
    deployed.work()
    data = caller.form("POST", f"{VISION}/datasets/upload", archive)
    deployed.work()
    caller.json("POST", f"{VISION}/train", name="m", datasetId=data["id"], epochs=2)
    deployed.work_once(trainer.replace("_", "-"), seconds=100)
    deployed.work()


def given_away(caller: Caller) -> None:
    """Run a training whose features are made by the function of embeddings."""
    deployed = caller.deployed
    archive = ("data", make_zip(label_folders({"bike": 6, "car": 6}, salt=32)), "a.zip")
    data = caller.form("POST", f"{VISION}/datasets/upload", archive)
    deployed.work_once("ingest")
    deployed.take("embed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TinyExtractor, "row_seconds", 10.0)
        asked = {"name": "m", "datasetId": data["id"], "epochs": 2}
        model = caller.json("POST", f"{VISION}/train", **asked)["modelId"]
        deployed.work()
    assert caller.get(f"{VISION}/train/{model}")["status"] == "SUCCEEDED"


def crossed(free: Caller, paid: Caller) -> None:
    """Let a free training's function take the waiting paid one and run out of time with it."""
    deployed = free.deployed
    archive = ("data", make_zip(label_folders({"bike": 6, "car": 6}, salt=31)), "a.zip")
    pictures = paid.form("POST", f"{VISION}/datasets/upload", archive)
    data = free.form("POST", f"{LANGUAGE}/datasets/upload", FILE, type="text-intent")
    deployed.work()
    paid.json("POST", f"{VISION}/train", name="m", datasetId=pictures["id"], epochs=2)
    free.json("POST", f"{LANGUAGE}/train", name="m", datasetId=data["id"], epochs=2)
    deployed.take("train-paid")
    deployed.work_once("train-free", seconds=100)
    deployed.work()


def lose_newest(caller: Caller) -> None:
    """Delete the newest dataset, whichever family it is of."""
    newest = max(int(found) for found in caller.deployed.dataset_ids())
    for family in ("language", "vision"):
        caller.deployed.lose(DatasetRow, f"{caller.account.account_id}#{family}", newest)


def gone_soon(caller: Caller, data: Any) -> None:
    """Delete a dataset that is being written: the deletion waits for the writer."""
    caller.ok("DELETE", f"{LANGUAGE}/datasets/{data['id']}")
    caller.deployed.work_once("delete")
    caller.deployed.container("ingest_upload")


def guarded(caller: Caller) -> None:
    """Close an account while a training whose message is lost guards its dataset."""
    deployed = caller.deployed
    data = caller.form("POST", f"{LANGUAGE}/datasets/upload", FILE, type="text-intent")
    deployed.work()
    caller.json("POST", f"{LANGUAGE}/train", name="m", datasetId=data["id"], epochs=2)
    deployed.take("train-paid")


def close(deployed: Deployed, *callers: Caller) -> None:
    """Close the accounts; the sweep deletes what they have."""
    for caller in callers:
        deployed.close_account(caller.email)
    for _ in range(8):
        deployed.sweep()
        deployed.work()


def trained(caller: Caller, family: str, dataset_id: int) -> str:
    """Train a model and read how it went."""
    # Its attempts fail, so it pauses; events of the training must be sent at once.
    caller.json("PUT", caller.hook, enabled=True)
    asked = {"name": "m", "datasetId": dataset_id, "epochs": 2}
    model = str(caller.json("POST", f"{family}/train", **asked)["modelId"])
    caller.deployed.work()
    found = caller.get(f"{family}/train/{model}")
    assert found["status"] == "SUCCEEDED", found
    return model


def retrained(caller: Caller, family: str, model: str) -> None:
    """Train it again, with feedback."""
    params = {"withFeedback": True}
    caller.json("POST", f"{family}/retrain", modelId=model, epochs=2, trainParams=params)
    caller.deployed.work()
    found = caller.get(f"{family}/train/{model}")
    assert found["status"] == "SUCCEEDED", found
    versions = f"{family}/models/{model}/versions"
    newest, former = (one["version"] for one in caller.get(versions)["data"][:2])
    caller.json("PUT", f"{versions}/{former}/serve")
    caller.json("PUT", f"{versions}/{newest}/serve")
    body = json.dumps({"versions": [former, newest]}).encode()
    # Few examples are held out, so most comparisons are refused after both evaluations were read.
    compared = caller.send("POST", f"{family}/models/{model}/compare", body, "application/json")
    assert compared.status in (200, 409)
    caller.get(f"{family}/models/{model}/card?modelVersion={former}")
    made = caller.json("POST", f"{family}/models/{model}/exports")
    caller.deployed.work()
    assert caller.get(f"{family}/models/{model}/exports/{made['id']}")["status"] == "SUCCEEDED"
    brought(caller, family, f"exports/{model}/{made['id']}-")
    caller.send("DELETE", f"{versions}/{former}")


def brought(caller: Caller, family: str, prefix: str) -> None:
    """Import an export, sent in the call and by the bucket, and a file that is none."""
    deployed, url = caller.deployed, f"{family}/models/import"
    content = deployed.read(prefix)
    made = [
        caller.form("POST", url, ("data", content, "model.zip"), name="theirs"),
        caller.json("POST", url, path=arrived(caller, content), name="theirs"),
    ]
    # The run checks the size of the archive, and recounts what the account stores.
    deployed.fill(caller.account.account_id)
    deployed.work()
    states = [caller.get(f"{family}/train/{one['modelId']}") for one in made]
    # The engine of images that these flows use is a stand-in, which no other service knows.
    expected = "SUCCEEDED" if family == LANGUAGE else "FAILED"
    assert [one["status"] for one in states] == [expected] * 2, states


def looked_at(caller: Caller, family: str, dataset_id: int, model: str) -> None:
    """Read everything about a dataset and its model."""
    dataset = f"{family}/datasets/{dataset_id}"
    found = caller.get(dataset)
    caller.get(f"{family}/datasets")
    caller.get(f"{family}/datasets?global=true")
    caller.get(f"{family}/datasets?status=SUCCEEDED&name=")
    caller.get(f"{family}/models?status=SUCCEEDED")
    label = found["labelSummary"]["labels"][0]["id"]
    for path in (
        f"{dataset}/examples?source=all",
        *reads(family.split("/")[-1], dataset_id=dataset_id, label_id=label, model_id=model),
    ):
        caller.get(path)


def edit_dataset(caller: Caller, family: str, dataset_id: int) -> None:
    """Rename a dataset and a label, correct and delete examples; then delete a label."""
    dataset, deployed = f"{family}/datasets/{dataset_id}", caller.deployed
    found = caller.get(f"{dataset}/browse?count=4")["data"]
    last = caller.get(dataset)["labelSummary"]["labels"][-1]
    label = found[0]["label"]
    caller.json("PUT", dataset, name="edited")
    caller.json("PUT", f"{dataset}/labels/{label['id']}", name="edited")
    caller.json("PUT", f"{dataset}/labels/{label['id']}", name=label["name"])
    caller.json("PUT", f"{dataset}/examples/{found[0]['id']}", labelId=last["id"])
    caller.ok("DELETE", f"{dataset}/examples/{found[1]['id']}")
    change = {"exampleId": found[2]["id"], "labelId": last["id"]}
    caller.json("POST", f"{dataset}/corrections", corrections=[change])
    deployed.clock.advance(minutes=16)
    deployed.sweep()
    deployed.work()
    caller.ok("DELETE", f"{dataset}/labels/{last['id']}")


def exported(caller: Caller, dataset: str, kind: str) -> None:
    """Export a dataset as a file, and read where it can be fetched."""
    made = caller.json("POST", f"{dataset}/exports", format=kind)
    caller.deployed.work()
    assert "url" in caller.get(f"{dataset}/exports/{made['id']}")


def expire_exports(caller: Caller, dataset: str) -> None:
    """Lose the message of an export, which a sweep sends again, and let exports expire."""
    deployed = caller.deployed
    made = caller.json("POST", f"{dataset}/exports", format="jsonl")
    deployed.take("export")
    deployed.sweep()
    assert deployed.work_once("export") == 1
    deployed.clock.advance(hours=25)
    deployed.sweep()
    assert caller.send("GET", f"{dataset}/exports/{made['id']}").status == 404


def batched(caller: Caller, dataset_id: int, model: str) -> None:
    """Texts sent in the call, of a dataset, and of an uploaded file; cancelled, removed, lost."""
    deployed, path = caller.deployed, f"{LANGUAGE}/batches"
    sent = ("data", b"text\nbook please\n", "t.csv")
    made = caller.form("POST", path, sent, modelId=model)
    deployed.work()
    assert "resultUrl" in caller.get(f"{path}/{made['id']}")
    caller.ok("DELETE", f"{path}/{made['id']}")
    made = caller.json("POST", path, modelId=model, datasetId=dataset_id)
    deployed.take("embed")
    deployed.sweep()
    deployed.work()
    assert caller.get(f"{path}/{made['id']}")["status"] == "SUCCEEDED"
    made = caller.json("POST", path, modelId=model, path=arrived(caller, sent[1]))
    deployed.work()
    assert caller.get(f"{path}/{made['id']}")["status"] == "SUCCEEDED"
    made = caller.form("POST", path, sent, modelId=model)
    caller.ok("DELETE", f"{path}/{made['id']}")
    deployed.work()
    assert len(caller.get(path)["data"]) == 3
    made = caller.form("POST", f"{LANGUAGE}/rankings", sent, modelId=model)
    deployed.work()
    assert "resultUrl" in caller.get(f"{path}/{made['id']}")
    deployed.clock.advance(days=31)
    deployed.sweep()


def batched_pictures(caller: Caller, archive: bytes, dataset_id: int, model: str) -> None:
    """Pictures sent in the call, of a dataset, and documents of an uploaded archive."""
    deployed, path = caller.deployed, f"{VISION}/batches"
    made = caller.form("POST", path, ("data", archive, "a.zip"), modelId=model)
    deployed.work()
    assert "resultUrl" in caller.get(f"{path}/{made['id']}")
    made = caller.json("POST", path, modelId=model, datasetId=dataset_id)
    deployed.work()
    assert caller.get(f"{path}/{made['id']}")["status"] == "SUCCEEDED"
    made = caller.form("POST", f"{VISION}/rankings", ("data", archive, "a.zip"), modelId=model)
    deployed.work()
    assert caller.get(f"{path}/{made['id']}")["status"] == "SUCCEEDED"
    caller.ok("DELETE", f"{path}/{made['id']}")
    sent = {"modelId": "OCRModel", "path": arrived(caller, archive)}
    made = caller.json("POST", path, **sent)
    deployed.work()
    assert caller.get(f"{path}/{made['id']}")["status"] == "SUCCEEDED"
    caller.ok("DELETE", f"{path}/{made['id']}")
    assert len(caller.get(path)["data"]) == 2


def learned(caller: Caller) -> None:
    """Learn a template from documents of an uploaded archive, and let it expire."""
    deployed, path = caller.deployed, f"{VISION}/templates/learn"
    values = json.dumps([{"file": "a.pdf", "values": {"order": "4711"}}]).encode()
    archive = make_zip({"a.pdf": text_pdf(["Order: 4711"]), "values.json": values})
    caller.form("POST", path, ("data", archive, "a.zip"))
    made = caller.json("POST", path, path=arrived(caller, archive))
    deployed.work()
    assert caller.get(f"{path}/{made['id']}")["template"]["keys"]
    deployed.clock.advance(hours=25)
    deployed.sweep()


def outlived(caller: Caller) -> None:
    """Delete a dataset before its export is written: the file goes as well."""
    deployed = caller.deployed
    data = caller.form("POST", f"{LANGUAGE}/datasets/upload", FILE, type="text-intent")
    deployed.work()
    caller.json("POST", f"{LANGUAGE}/datasets/{data['id']}/exports", format="csv")
    owner = f"{caller.account.account_id}#language"
    deployed.recorder.before(
        "export_dataset",
        "objects/exports",
        "s3:PutObject",
        lambda: deployed.lose(DatasetRow, owner, data["id"]),
    )
    deployed.work()


def deleted(caller: Caller, family: str, dataset_id: int, model: str | None = None) -> None:
    """Delete a dataset and a model."""
    records: list[Any] = [caller.ok("DELETE", f"{family}/datasets/{dataset_id}")]
    caller.deployed.work()
    if model is not None:
        records.append(caller.ok("DELETE", f"{family}/models/{model}"))
    caller.deployed.clock.advance(hours=1)
    caller.deployed.work()
    for record in records:
        caller.get(f"{family}/deletion/{record['id']}")

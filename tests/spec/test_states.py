"""States of datasets, deletions and trainings, and the transitions that are allowed."""

from __future__ import annotations

import time

import pytest

from tests.live import INTENT, SHOP, TRAIN, UPLOAD, Caller

MORE = b"".join(
    b"another parcel %d,delivery\nanother refund %d,refund\n" % (i, i) for i in range(6)
)


@pytest.fixture(scope="module")
def caller(live) -> Caller:
    """A separate account for this file."""
    return live.caller("states")


def facts(dataset):
    """Return the members that change with the dataset's state."""
    return dataset["statusMsg"], dataset["available"], dataset["totalExamples"]


def watched(caller, path, member, last, seconds=60):
    """Poll until a member has one of its final values; return the distinct values seen."""
    found = []
    deadline = time.monotonic() + seconds
    while not found or found[-1][0] not in last:
        record = caller.get(path).ok()
        seen = (record[member], record.get("progress"))
        if not found or found[-1] != seen:
            found.append(seen)
        assert time.monotonic() < deadline, found
    return found


def test_dataset_from_upload(live, caller):
    """POST: UPLOADING without labels, then SUCCEEDED and available."""
    with live.paused():
        dataset = caller.upload(SHOP, path=UPLOAD).ok()
        listed = caller.get(f"/v2/language/datasets/{dataset['id']}").ok()
    done = caller.uploaded(dataset["id"])

    assert facts(dataset) == facts(listed) == ("UPLOADING", False, 0)
    assert (dataset["labelSummary"], dataset["totalLabels"]) == ({"labels": []}, 0)
    assert facts(done) == ("SUCCEEDED", True, 12)
    assert [x["name"] for x in done["labelSummary"]["labels"]] == ["delivery", "refund"]


def test_dataset_whose_upload_fails(live, caller):
    """POST: UPLOADING, then FAILED with a reason, and never available."""
    with live.paused():
        dataset = caller.upload(b"no label\n", path=UPLOAD).ok()
    done = caller.uploaded(dataset["id"])

    assert done["statusMsg"].startswith("FAILED: None of the 1 rows")
    assert (done["available"], done["totalExamples"]) == (False, 0)


def test_dataset_without_upload(caller):
    """A dataset that is created empty is available at once."""
    fields = {"name": "empty", "type": "text-intent", "labels": "a,b"}

    dataset = caller.json("POST", "/v2/language/datasets", fields).ok()

    assert facts(dataset) == ("SUCCEEDED", True, 0)


@pytest.mark.parametrize(
    ("content", "status", "total"), [(MORE, "SUCCEEDED", 24), (b"no label\n", "FAILED", 12)]
)
def test_dataset_that_grows(live, caller, content, status, total):
    """PUT: UPLOADING with the previous counts; afterwards available again, even after a failure."""
    dataset = caller.upload(SHOP).ok()
    with live.paused():
        busy = caller.form(
            "PUT", f"/v2/language/datasets/{dataset['id']}/upload", ("data", content, "more.csv")
        ).ok()
    done = caller.uploaded(dataset["id"])

    assert facts(busy) == ("UPLOADING", False, 12)
    assert busy["labelSummary"] == dataset["labelSummary"]
    assert done["statusMsg"].split(":")[0] == status
    assert (done["available"], done["totalExamples"]) == (True, total)


def test_dataset_and_its_deletion(live, caller):
    """DELETE: DELETION_PENDING and QUEUED, then SUCCEEDED and 404; a repeat is the same record."""
    dataset = caller.upload(SHOP).ok()
    path = f"/v2/language/datasets/{dataset['id']}"
    with live.paused():
        deletion = caller.delete(path).ok()
        shown = caller.get(path).ok()
        again = caller.delete(path).ok()
    track = f"/v2/language/deletion/{deletion['id']}"
    states = watched(caller, track, "status", ("SUCCEEDED",))
    progress = [share for _, share in states]

    assert (deletion["status"], deletion["progress"]) == ("QUEUED", 0)
    assert again == deletion
    assert facts(shown) == ("DELETION_PENDING", False, 12)
    assert list(dict.fromkeys(s for s, _ in states)) in (
        ["QUEUED", "RUNNING", "SUCCEEDED"], ["QUEUED", "SUCCEEDED"], ["RUNNING", "SUCCEEDED"],
        ["SUCCEEDED"],
    )  # fmt: skip
    assert progress == sorted(progress)
    assert progress[-1] == 1
    caller.get(path).refused(404)
    repeated = caller.delete(path).ok()
    assert (repeated["id"], repeated["status"]) == (deletion["id"], "SUCCEEDED")
    assert caller.get(f"/v2/vision/deletion/{deletion['id']}").ok() == repeated


def test_deletion_ends_an_upload(live, caller):
    """DELETE of an UPLOADING dataset ends the upload permanently."""
    with live.paused():
        dataset = caller.upload(SHOP, path=UPLOAD).ok()
        path = f"/v2/language/datasets/{dataset['id']}"
        deletion = caller.delete(path).ok()
    watched(caller, f"/v2/language/deletion/{deletion['id']}", "status", ("SUCCEEDED",))

    caller.get(path).refused(404)


def test_training_from_queue_to_success_and_again(live, caller):
    """QUEUED, RUNNING, SUCCEEDED; a retraining starts at 0 while the old version still predicts."""
    dataset = caller.upload(SHOP).ok()["id"]
    with live.paused():
        model = caller.train(dataset).ok()
        second = caller.train(dataset).ok()
    path = f"{TRAIN}/{model['modelId']}"
    states = watched(caller, path, "status", ("SUCCEEDED",))
    caller.trained(second["modelId"])
    fields = {"modelId": model["modelId"], "document": "my parcel"}
    with live.paused():
        queued = caller.json("POST", "/v2/language/retrain", {"modelId": model["modelId"]}).ok()
        answer = caller.json("POST", INTENT, fields)
        metrics = caller.get(f"/v2/language/models/{model['modelId']}")
        curve = caller.get(f"/v2/language/models/{model['modelId']}/lc").ok()["data"]
    done = caller.trained(model["modelId"])

    assert (model["status"], model["progress"]) == ("QUEUED", 0)
    assert second["queuePosition"] == model["queuePosition"] + 1
    order = list(dict.fromkeys(state for state, _ in states))
    assert order in (["QUEUED", "RUNNING", "SUCCEEDED"], ["RUNNING", "SUCCEEDED"])
    progress = [share for _, share in states]
    assert progress == sorted(progress)
    assert progress[-1] == 1
    assert (queued["status"], queued["progress"], queued["modelId"]) == (
        "QUEUED", 0, model["modelId"],
    )  # fmt: skip
    assert queued["trainStats"] is None
    assert len(answer.ok()["probabilities"]) == 2
    metrics.ok()
    assert curve == []
    assert (done["status"], done["progress"]) == ("SUCCEEDED", 1)
    assert "queuePosition" not in done


def test_training_that_fails(live, caller):
    """FAILED carries a message; the model is listed, never predicts, and can be deleted."""
    dataset = caller.upload(SHOP).ok()
    with live.paused():
        model = caller.train(dataset["id"]).ok()["modelId"]
        # As if three workers had died over it.
        live.set_model(caller, model, attempts=3)
    failed = caller.trained(model)

    assert failed["status"] == "FAILED"
    assert failed["failureMsg"].startswith("Training stopped after 3 attempts")
    assert "queuePosition" not in failed
    caller.json("POST", INTENT, {"modelId": model, "document": "x"}).refused(409, "FAILED")
    listed = caller.get(f"/v2/language/datasets/{dataset['id']}/models").ok()["data"]
    assert [(x["status"], x["failureMsg"]) for x in listed] == [("FAILED", failed["failureMsg"])]
    caller.delete_and_wait(f"/v2/language/models/{model}")


def test_model_and_its_deletion(live, caller):
    """After DELETE answers, a model is a 404 and cannot predict, even where it is cached."""
    dataset = caller.upload(SHOP).ok()["id"]
    model = caller.train(dataset).ok()["modelId"]
    caller.trained(model)
    fields = {"modelId": model, "document": "my parcel"}
    caller.json("POST", INTENT, fields).ok()
    with live.paused():
        deletion = caller.delete(f"/v2/vision/models/{model}").ok()
        answers = [
            caller.json("POST", INTENT, fields),
            caller.get(f"{TRAIN}/{model}"),
            caller.get(f"/v2/language/models/{model}"),
            caller.get(f"/v2/language/models/{model}/lc"),
            caller.get(f"/v2/language/models/{model}/card"),
            caller.json("POST", "/v2/language/retrain", {"modelId": model}),
        ]
        listed = caller.get(f"/v2/language/datasets/{dataset}/models").ok()["data"]
        again = caller.delete(f"/v2/language/models/{model}").ok()

    assert (deletion["type"], deletion["status"], deletion["progress"]) == ("MODEL", "QUEUED", 0)
    for answer in answers:
        assert answer.refused(404, model) == "model_not_found"
    assert listed == []
    assert again == deletion


def test_models_outlive_their_dataset(live, caller):
    """After a dataset is deleted its models predict and can be deleted, but take no feedback."""
    dataset = caller.upload(SHOP).ok()["id"]
    model = caller.train(dataset).ok()["modelId"]
    caller.trained(model)
    caller.delete_and_wait(f"/v2/language/datasets/{dataset}")
    fields = {"modelId": model, "document": "my parcel"}

    caller.json("POST", INTENT, fields).ok()
    feedback = {**fields, "expectedLabel": "refund"}
    caller.json("POST", "/v2/language/feedback", feedback).refused(400, "deleted")
    caller.json("POST", "/v2/language/retrain", {"modelId": model}).refused(400, "deleted")
    caller.delete(f"/v2/language/models/{model}").ok()

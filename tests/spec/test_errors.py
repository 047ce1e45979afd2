"""Every row of the contract's table of errors that the language family can meet, over HTTP."""

from __future__ import annotations

import base64
import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from chalicelib.container import Container
from chalicelib.errors import EncoderMissing, PrebuiltNotInstalled
from chalicelib.formats.tokens.signed_token import ACCESS, TokenSigner
from chalicelib.routes import OPERATIONS
from chalicelib.web.app import PresageApp
from infra.model_files.manifest import FAST
from tests.api.conftest import make_event
from tests.live import INTENT, SENTIMENT, SHOP, SYNC, TRAIN, UPLOAD, Answer, Caller

EXAMPLES = Path(__file__).parent / "examples"
RETRAIN = "/v2/language/retrain"
FEEDBACK = "/v2/language/feedback"


def like(answer: Answer, status: int, name: str, **changes: str) -> None:
    """Compare an error with the contract's example after inserting the test's ids and dates."""
    expected = json.loads((EXAMPLES / f"error_{name}.json").read_text())
    text = expected["message"]
    for old, new in changes.items():
        text = re.sub(old.replace("_", "."), new, text)
    assert answer.refused(status) == expected["code"]
    assert answer.message == text


@pytest.fixture(scope="module")
def caller(live) -> Caller:
    """A separate account for this file."""
    return live.caller("errors")


@pytest.fixture(scope="module")
def dataset(caller) -> int:
    """A dataset that can be trained."""
    return int(caller.upload(SHOP).ok()["id"])


def test_expired_token(live):
    """401: an unknown token."""
    answer = Caller(live.url, "abc.def.ghi").get("/v2/apiusage")

    like(answer, 401, "401_expired")


def test_scheme(live):
    """401: a missing or malformed Bearer header."""
    like(Caller(live.url, "").get("/v2/apiusage"), 401, "401_scheme")


@pytest.mark.parametrize("family", ["vision", "language"])
def test_dataset_without_name(caller, family):
    """400: POST datasets without name."""
    answer = caller.json("POST", f"/v2/{family}/datasets", {"labels": "a"})

    answer.refused(400)
    assert answer.message == "The 'name' parameter is required to create a dataset."


@pytest.mark.parametrize("path", [UPLOAD, SYNC])
def test_upload_without_source(caller, path):
    """400: neither a file nor a URL."""
    like(caller.fields("POST", path, type="text-intent"), 400, "400_no_source")


def test_added_file_without_source(caller, dataset):
    """400: the same for PUT."""
    path = f"/v2/language/datasets/{dataset}/upload"

    like(caller.fields("PUT", path, x="y"), 400, "400_no_source")


@pytest.mark.parametrize("second", ["data", "path"])
def test_two_sources(caller, second):
    """400: two files, or a file and a URL."""
    parts = [("type", b"text-intent", None), ("data", SHOP, "a.csv"), (second, b"http://x/", None)]

    answer = caller.form("POST", SYNC, *parts)

    answer.refused(400)
    assert answer.message == (
        "The 'data' parameter cannot be duplicated, nor sent along with the 'path' parameter."
    )


def test_unreadable_path(caller):
    """400: the URL cannot be read."""
    fields = {"type": "text-intent", "path": "http://127.0.0.1:1/x.csv"}

    caller.json("POST", SYNC, fields).refused(
        400, "Failed to download the dataset from the public URL."
    )


def test_busy_dataset(live, caller):
    """While the dataset is UPLOADING, PUT is a 400 and training is a 409."""
    with live.paused():
        dataset = caller.upload(SHOP, path=UPLOAD).ok()
        answer = caller.form(
            "PUT", f"/v2/language/datasets/{dataset['id']}/upload", ("data", SHOP, "a.csv")
        )
        training = caller.train(dataset["id"])
    caller.uploaded(dataset["id"])

    like(answer, 400, "400_busy")
    assert training.refused(409, str(dataset["id"]), "UPLOADING") == "dataset_not_ready"


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        ("GET", "/v2/language/datasets/1004999", "Unable to find dataset 1004999."),
        ("GET", "/v2/vision/datasets/1004999", "Unable to find dataset 1004999."),
        ("DELETE", "/v2/language/datasets/1004999", "Unable to find dataset 1004999."),
        ("GET", f"/v2/language/train/{'A' * 26}", f"Unable to find model {'A' * 26}."),
        ("DELETE", f"/v2/language/models/{'A' * 26}", f"Unable to find model {'A' * 26}."),
        ("GET", f"/v2/language/deletion/{'A' * 26}", f"Unable to find deletion {'A' * 26}."),
        ("GET", "/v2/language/examples?labelId=999999", "Unable to find label 999999."),
    ],
)
def test_unknown_ids(caller, method, path, text):
    """404: an id that does not exist."""
    answer = caller(method, path)

    answer.refused(404)
    assert answer.message == text


def test_example_of_an_unknown_dataset(caller):
    """The contract's example, member for member."""
    like(caller.get("/v2/language/datasets/1004999"), 404, "404_dataset")


@pytest.mark.parametrize("model_id", ["GlobalIntentModel", "CommunitySentiment"])
def test_prebuilt_model_that_is_not_installed(live, caller, tmp_path, model_id):
    """404: a prebuilt model without its files; the error names the command that installs it."""
    bare = Container(replace(live.stack.settings, model_dir=str(tmp_path)))

    with pytest.raises(PrebuiltNotInstalled, match=r"python -m infra\.models install$") as caught:
        bare.stores.served_models.find(caller.account_id, model_id)

    assert (caught.value.status, caught.value.code) == (404, "model_not_installed")
    assert model_id in FAST


def test_conflicts_of_an_open_training(live, caller, dataset):
    """409: while a training is QUEUED, model and dataset cannot be changed, deleted or used."""
    with live.paused():
        model = caller.train(dataset).ok()["modelId"]
        deleting = caller.delete(f"/v2/language/datasets/{dataset}")
        retraining = caller.json("POST", RETRAIN, {"modelId": model})
        ending = caller.delete(f"/v2/language/models/{model}")
        asking = caller.json("POST", INTENT, {"modelId": model, "document": "x"})
        figures = caller.get(f"/v2/language/models/{model}")
    caller.trained(model)

    like(
        deleting,
        409,
        "409_dataset_in_training",
        **{"1004301": str(dataset), "W6MKXZXBWEYY5Y3LBXFT7OPE2M": model, "RUNNING": "QUEUED"},
    )
    assert retraining.refused(409, model, "QUEUED") == "model_busy"
    assert ending.refused(409, model, "QUEUED") == "model_busy"
    assert asking.refused(409, model, "QUEUED") == "model_not_ready"
    assert asking.headers["x-ratelimit-limit"] == "1000000"
    assert figures.refused(404, model) == "metrics_not_found"


def test_conflicts_of_a_deletion(live, caller):
    """409: training, feedback and examples of a dataset being deleted; 404: its example list."""
    dataset = caller.upload(SHOP).ok()["id"]
    model = caller.train(dataset).ok()["modelId"]
    caller.trained(model)
    path = f"/v2/language/datasets/{dataset}"
    with live.paused():
        caller.delete(path).ok()
        shown = caller.get(path).ok()
        answers = [
            caller.train(dataset),
            caller.json("POST", RETRAIN, {"modelId": model}),
            caller.form("PUT", f"{path}/upload", ("data", SHOP, "a.csv")),
            caller.json(
                "POST", FEEDBACK, {"modelId": model, "document": "x", "expectedLabel": "refund"}
            ),
            caller.json("POST", f"{path}/examples", {"document": "x", "label": "refund"}),
        ]
        examples = caller.get(f"{path}/examples")

    assert (shown["statusMsg"], shown["available"]) == ("DELETION_PENDING", False)
    for answer in answers:
        assert answer.refused(409, str(dataset)) == "dataset_being_deleted"
    assert examples.refused(404) == "dataset_not_found"


def test_encoder_that_is_not_installed(live, caller, dataset, tmp_path):
    """409: the model's encoder is not installed; no other encoder is used instead."""
    model_id = caller.train(dataset).ok()["modelId"]
    caller.trained(model_id)
    bare = Container(replace(live.stack.settings, model_dir=str(tmp_path)))
    model = bare.stores.served_models.find(caller.account_id, model_id)
    account = bare.stores.accounts.get(caller.account_id)

    with pytest.raises(EncoderMissing, match=r"not installed.*infra\.models install") as caught:
        bare.predictions.predict(model, ["x"], dataset_type="text-intent", account=account)

    assert (caught.value.status, caught.value.code) == (409, "encoder_missing")


def test_model_of_the_wrong_type(live):
    """400: an intent model in a sentiment call."""
    fields = {"modelId": live.model_id, "document": "x"}

    live.owner.json("POST", SENTIMENT, fields).refused(400, "text-intent", "text-sentiment")


def test_file_for_a_dataset_without_one(caller):
    """400: PUT to a dataset that was not created from an upload, or whose first one FAILED."""
    fields = {"name": "x", "type": "text-intent"}
    empty = caller.json("POST", "/v2/language/datasets", fields).ok()["id"]
    failed = caller.upload(b"x,\n").ok()["id"]

    for dataset, code in ((empty, "dataset_not_uploaded"), (failed, "dataset_failed")):
        path = f"/v2/language/datasets/{dataset}/upload"
        answer = caller.form("PUT", path, ("data", SHOP, "a.csv"))
        assert answer.refused(400, str(dataset), "new") == code


def test_too_few_examples(caller):
    """400: every label with too few examples is listed with its count."""
    rows = SHOP.replace(b"refund", b"delivery") + b"".join(b"r%d,refund\n" % i for i in range(3))
    dataset = caller.upload(rows + b"c,cancel-order\n").ok()["id"]

    like(caller.train(dataset), 400, "400_too_few_examples")


def test_unsupported_types(caller):
    """415: a file of an unsupported type, or a write with another content type."""
    caller.upload(b"GIF89a" + bytes(99)).refused(415, "GIF", "csv")
    caller("POST", TRAIN, b"a,b", "text/csv").refused(415, "text/csv", "multipart/form-data")


def test_too_large(caller):
    """413: the message has the file's size, the limit and the remedy."""
    answer = caller.upload(bytes(25 * 1024 * 1024 + 1))

    assert answer.refused(413, "26214401", "26214400", "25 MB") == "too_large"


def test_predictions_used_up(live):
    """429: with the three rate-limit headers, and Retry-After."""
    caller = live.caller("used-up", plan="STARTER")
    dataset = caller.upload(SHOP).ok()["id"]
    model = caller.train(dataset).ok()["modelId"]
    caller.trained(model)
    live.set_used(caller.account_id, "predictions", 1999)
    fields = {"modelId": model, "document": "x"}

    last = caller.json("POST", INTENT, fields)
    answer = caller.json("POST", INTENT, fields)

    last.ok()
    assert last.headers["x-ratelimit-remaining"] == "0"
    reset = answer.headers["x-ratelimit-reset"]
    assert re.fullmatch(r"\d{4}-\d\d-01 00:00:00\.0", reset)
    like(answer, 429, "429_predictions", **{"2024-04-01": reset[:10]})
    assert answer.headers["x-ratelimit-limit"] == "2000"
    assert 0 < int(answer.headers["retry-after"]) <= 31 * 86400
    usage = caller.get("/v2/apiusage").ok()["data"][0]
    assert (usage["predictionsUsed"], usage["predictionsRemaining"]) == (2000, 0)


def test_thirty_first_example_call(live, caller, dataset):
    """429: calls that return examples; Retry-After and the date."""
    poor = live.caller("thirty", example_calls=None)
    fields = {"name": "x", "type": "text-intent", "labels": "a"}
    own = poor.json("POST", "/v2/language/datasets", fields).ok()["id"]
    path = f"/v2/language/datasets/{own}/examples"
    live.set_used(poor.account_id, "examples", 29)

    poor.get(path).ok()
    answer = poor.get(path)

    following = time.gmtime(time.time() + int(answer.headers["retry-after"]) + 60)
    like(answer, 429, "429_examples", **{"2024-04-01": time.strftime("%Y-%m-%d", following)})


def test_sixth_open_training(live):
    """429: five trainings are QUEUED or RUNNING."""
    caller = live.caller("six")
    dataset = caller.upload(SHOP).ok()["id"]
    with live.paused():
        models = [caller.train(dataset).ok() for _ in range(5)]
        answer = caller.train(dataset)

    assert [model["status"] for model in models] == ["QUEUED"] * 5
    assert answer.refused(429, "5 trainings") == "too_many_open"
    assert int(answer.headers["retry-after"]) > 0
    assert len(caller.get(f"/v2/language/datasets/{dataset}/models").ok()["data"]) == 5


def test_twenty_first_open_upload(live):
    """429: twenty uploads are running."""
    caller = live.caller("twenty")
    with live.paused():
        for _ in range(20):
            caller.upload(b"a,b\n", path=UPLOAD).ok()
        answer = caller.upload(b"a,b\n", path=UPLOAD)

    assert answer.refused(429, "20") == "too_many_open"
    assert int(answer.headers["retry-after"]) > 0


def test_ten_gigabytes(live):
    """429: the account's storage limit is used up."""
    caller = live.caller("ten-gb")
    dataset = caller.upload(SHOP).ok()["id"]
    live.set_dataset(caller, dataset, size_bytes=10 * 1024**3)

    answer = caller.upload(SHOP)

    assert answer.refused(429, str(10 * 1024**3), str(len(SHOP)), "Delete") == "too_many_open"


def test_storage_out_of_reach(live):
    """503 with Retry-After when the tables do not answer."""
    settings = replace(
        live.stack.settings, endpoint_url="http://127.0.0.1:9", token_secret="x" * 32
    )
    claims = {"sub": "1", "key": "k", "exp": int(time.time()) + 60, "iat": 0}
    container = Container(settings)
    token = TokenSigner(b"x" * 32, settings.name).sign(ACCESS, claims)
    app = PresageApp("presage", OPERATIONS, lambda: container)

    result = app(make_event("GET", "/v2/apiusage", authorization=f"Bearer {token}"), None)

    body = result["body"]
    answer = Answer(
        result["statusCode"],
        {name.lower(): value for name, value in result["headers"].items()},
        base64.b64decode(body) if result.get("isBase64Encoded") else body.encode(),
    )
    like(answer, 503, "503")
    assert answer.headers["retry-after"] == "2"

"""Every limit of the language family: the limit itself is accepted, one more is refused."""

from __future__ import annotations

from io import BytesIO

import pytest

from chalicelib.domain.common.limits import MAX_DATASET_EXAMPLES, MAX_TRAINING_WORDS
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.language_scan import ScanRules, scan
from tests.live import INTENT, JWT_BEARER, SHOP, Caller


@pytest.fixture(scope="module")
def caller(live) -> Caller:
    """A separate account for this file."""
    return live.caller("limits")


@pytest.mark.parametrize(
    ("plan", "source", "most"),
    [
        ("STARTER", "HEROKU", 2_000),
        ("BRONZE", "HEROKU", 10_000),
        ("SILVER", "HEROKU", 250_000),
        ("GOLD", "HEROKU", 1_000_000),
        ("STARTER", "SALESFORCE", 2_000),
        ("SFDC_1M_EDITION", "SALESFORCE", 1_000_000),
    ],
)
def test_plans(live, plan, source, most):
    """The usage call reports the monthly predictions of each plan."""
    email = f"{plan}-{source}@example.test".lower()
    live.administrate(lambda service: service.create(email, plan, source, live.public_pem))

    record = Caller(live.url, live.token(email)).get("/v2/apiusage").ok()["data"][0]

    assert record["predictionsMax"] == record["predictionsRemaining"] == most
    assert record["planData"] == [{"plan": plan, "amount": 1, "source": source}]


def test_last_prediction_of_a_plan(live):
    """The last prediction of a plan is answered, the next is refused; failed calls do not count."""
    caller = live.owner
    fields = {"modelId": live.model_id, "document": "x"}
    live.set_used(caller.account_id, "predictions", 999_999)
    try:
        caller.json("POST", INTENT, {**fields, "numResults": 0}).refused(400)
        last = caller.json("POST", INTENT, fields)
        above = caller.json("POST", INTENT, fields)
    finally:
        live.set_used(caller.account_id, "predictions", 0)

    assert (last.status, last.headers["x-ratelimit-remaining"]) == (200, "0")
    above.refused(429, "1000000 of 1000000")


def test_thirty_example_calls_over_all_endpoints(live):
    """All endpoints share 30 example calls a month; an account may be granted more."""
    caller = live.caller("examples", example_calls=None)
    fields = {"name": "x", "type": "text-intent", "labels": "a"}
    dataset = caller.json("POST", "/v2/language/datasets", fields).ok()
    label = dataset["labelSummary"]["labels"][0]["id"]
    paths = [
        f"/v2/language/datasets/{dataset['id']}/examples",
        f"/v2/language/examples?labelId={label}",
        f"/v2/language/examples/{dataset['id']}/label/{label}",
    ]

    assert [caller.get(paths[n % 3]).status for n in range(30)] == [200] * 30
    for path in paths:
        caller.get(path).refused(429, "30")
    live.administrate(lambda s: s.set_example_calls("examples@example.test", 31))
    assert [caller.get(paths[0]).status for _ in range(2)] == [200, 429]


@pytest.mark.parametrize(("path", "most"), [("datasets", 25), ("examples", 100)])
def test_pages(live, path, most):
    """A page has at most the maximum number of records, even if `count` is larger."""
    caller = live.caller(f"pages-{path}")
    if path == "datasets":
        target = "/v2/language/datasets"
        for number in range(most + 1):
            fields = {"name": f"{number}", "type": "text-intent"}
            caller.json("POST", target, fields).ok()
    else:
        rows = b"".join(b"text %d,a\n" % number for number in range(most + 1))
        target = f"/v2/language/datasets/{caller.upload(rows).ok()['id']}/examples"

    for count in (most, most + 1, 10_000):
        answer = caller.get(target, count=count)
        assert len(answer.ok()["data"]) == most
        assert f"offset={most}" in answer.headers["link"]
    assert len(caller.get(target).ok()["data"]) == most
    rest = caller.get(target, offset=most)
    assert len(rest.ok()["data"]) == 1
    assert "link" not in rest.headers


def test_large_records_make_short_pages(live):
    """A page stays below 5 MB, holds at least one record, and links to the next."""
    caller = live.caller("large")
    rows = "".join(f"{'é' * 19_990}{number},a\n" for number in range(70))
    dataset = caller.upload(rows.encode()).ok()["id"]
    path = f"/v2/language/datasets/{dataset}/examples"
    found, pages = [], 0

    while path:
        answer = caller.get(path)
        assert len(answer.body) <= 5_000_000
        found += answer.ok()["data"]
        pages += 1
        link = answer.headers.get("link", "")
        path = link.partition("<")[2].partition(">")[0].removeprefix(live.url)

    assert pages == 2
    assert len({item["id"] for item in found}) == 70


def test_words(live):
    """3,000,000 words can be trained, one more cannot; feedback words count only if it is used."""
    caller = live.caller("words-of-rows")
    dataset = caller.upload(SHOP).ok()["id"]
    with_feedback = {"trainParams": {"withFeedback": True}}

    live.set_dataset(caller, dataset, words_upload=MAX_TRAINING_WORDS - 1, words_feedback=1)
    caller.train(dataset, **with_feedback).ok()
    live.set_dataset(caller, dataset, words_upload=MAX_TRAINING_WORDS)
    caller.train(dataset).ok()
    above = caller.train(dataset, **with_feedback)

    assert above.refused(400, "3,000,001", "3,000,000") == "too_many_words"


@pytest.mark.parametrize(("examples", "status"), [(5, 200), (4, 400)])
def test_examples_of_a_label(caller, examples, status):
    """Five examples of each label can be trained, four cannot."""
    rows = b"".join(b"a %d,a\nb %d,b\n" % (n, n) for n in range(5))
    rows += b"".join(b"c %d,c\n" % n for n in range(examples))

    answer = caller.train(caller.upload(rows).ok()["id"])

    assert answer.status == status
    if status == 200:
        assert caller.trained(answer.json["modelId"])["status"] == "SUCCEEDED"
    else:
        answer.refused(400, "'c' has 4", "5")


def test_default_split(live):
    """80 % of a text dataset are trained on."""
    stats = live.owner.get(f"/v2/language/train/{live.model_id}").ok()["trainStats"]

    assert stats["trainSplitSize"] + stats["testSplitSize"] == stats["examples"] == 12
    assert abs(stats["testSplitSize"] - 2.4) < 1


@pytest.mark.parametrize(("size", "status"), [(180, 200), (181, 400)])
@pytest.mark.parametrize("what", ["dataset", "upload", "model", "label"])
def test_names(live, caller, what, size, status):
    """Names have 180 characters at most."""
    name = "n" * size
    if what == "dataset":
        fields = {"name": name, "type": "text-intent"}
        answer = caller.json("POST", "/v2/language/datasets", fields)
    elif what == "upload":
        path = "/v2/language/datasets/upload/sync"
        answer = caller.form(
            "POST", path, ("type", b"text-intent", None), ("name", name.encode(), None),
            ("data", SHOP, "x.csv"),
        )  # fmt: skip
    elif what == "model":
        dataset = caller.upload(SHOP).ok()["id"]
        answer = caller.json("POST", "/v2/language/train", {"name": name, "datasetId": dataset})
    else:
        fields = {"name": "x", "type": "text-intent", "labels": name}
        answer = caller.json("POST", "/v2/language/datasets", fields)

    if status == 200:
        record = answer.ok()
        assert name in (
            record["name"],
            *(x["name"] for x in record.get("labelSummary", {}).get("labels", [])),
        )
    else:
        answer.refused(400, "181", "180")


@pytest.mark.parametrize(("size", "status"), [(20_000, 200), (20_001, 400)])
def test_characters_of_a_text(live, size, status):
    """A text has 20,000 characters at most."""
    fields = {"modelId": live.model_id, "document": "é" * size}

    answer = live.owner.json("POST", INTENT, fields)

    assert answer.status == status
    if status == 400:
        answer.refused(400, "20001", "20000")


@pytest.mark.parametrize(("size", "status"), [(26_214_400, 200), (26_214_401, 413)])
def test_bytes_of_a_file(caller, size, status):
    """A file has 25 MB at most."""
    row = b"the same row again and again,a\n"
    content = (row * (size // len(row) + 1))[: size - 1] + b"\n"
    # Queued, so that the answer does not wait until all of it is read.
    answer = caller.upload(content, path="/v2/language/datasets/upload")

    assert answer.status == status
    if status == 200:
        caller.delete(f"/v2/language/datasets/{answer.json['id']}").ok()
    else:
        answer.refused(413, "26214401", "26214400")


@pytest.mark.parametrize(("labels", "is_allowed"), [(1000, True), (1001, False)])
def test_labels_of_a_dataset(labels, is_allowed):
    """A dataset has 1,000 labels at most."""
    file = BytesIO("".join(f"t{n},l{n}\n" for n in range(labels)).encode())
    rules = ScanRules(language="en_US", is_sentiment=False)

    if is_allowed:
        assert len(scan(file, rules).new_labels) == labels
    else:
        with pytest.raises(InvalidUpload, match=r"1,001.*1,000"):
            scan(file, rules)


@pytest.mark.parametrize(("before", "is_allowed"), [(1, True), (0, False)])
def test_examples_of_a_dataset(before, is_allowed):
    """A dataset has 1,000,000 examples at most."""
    rules = ScanRules("en_US", is_sentiment=False, examples=MAX_DATASET_EXAMPLES - before)

    if is_allowed:
        assert scan(BytesIO(b"x,a\n"), rules).kept == 1
    else:
        with pytest.raises(InvalidUpload, match=r"1,000,001.*1,000,000"):
            scan(BytesIO(b"x,a\n"), rules)


@pytest.mark.parametrize(("size", "status"), [(2**31 - 1, 200), (2**31, 413)])
def test_bytes_of_a_dataset(live, caller, size, status):
    """A dataset has 2 GB at most; a full one takes neither files nor examples."""
    rich = live.caller(f"two-gb-{status}")
    dataset = rich.upload(SHOP).ok()["id"]
    live.set_dataset(rich, dataset, size_bytes=size)
    path = f"/v2/language/datasets/{dataset}"

    single = rich.json("POST", f"{path}/examples", {"document": "x", "label": "refund"})
    file = rich.form("PUT", f"{path}/upload", ("data", b"x,refund\n", "x.csv"))

    assert single.status == status
    if status == 413:
        single.refused(413, str(size), "2147483648")
        file.refused(413, str(size), "2 GB")


@pytest.fixture(scope="module")
def ranges(live) -> tuple[Caller, int]:
    """A separate account with a dataset, for four trainings that tests do not wait for."""
    caller = live.caller("ranges")
    return caller, caller.upload(SHOP).ok()["id"]


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("epochs", 1, 200),
        ("epochs", 1000, 200),
        ("epochs", 0, 400),
        ("epochs", 1001, 400),
        ("learningRate", 0.0001, 200),
        ("learningRate", 0.01, 200),
        ("learningRate", 0.00009, 400),
        ("learningRate", 0.0101, 400),
    ],
)
def test_ranges_of_a_training(ranges, name, value, status):
    """Epochs from 1 to 1000, learning rates from 0.0001 to 0.01."""
    caller, dataset = ranges

    answer = caller.train(dataset, **{name: value})

    assert answer.status == status
    if status == 400:
        answer.refused(400, name)


@pytest.mark.parametrize(("seconds", "status"), [(1, 200), (2_592_000, 200), (2_592_001, 400)])
def test_life_of_a_refreshed_token(live, seconds, status):
    """A refreshed token lives 60 seconds by default and 30 days at most."""
    assert live.owner
    assertion = live.assertion(sub="owner@example.test")
    refresh = live.grant(grant_type=JWT_BEARER, assertion=assertion, scope="offline").ok()
    fields = {"grant_type": "refresh_token", "refresh_token": refresh["refresh_token"]}

    answer = live.grant(**fields, valid_for=str(seconds))

    assert answer.status == status
    if status == 200:
        assert answer.json["expires_in"] == seconds
        assert live.grant(**fields).ok()["expires_in"] == 60
    else:
        answer.refused(400, "2592000")

"""Files become datasets: all sources, all encodings, and their receipts."""

from __future__ import annotations

import json

import pytest

from tests.flows.client import LANGUAGE
from tests.flows.test_deletions import left_in_bucket
from tests.flows.world import csv_file, made_rows, weather

ROWS = [("Où est la gare ?", "travel"), ("Der Käse schmeckt", "food"), ("你好，世界", "greeting")]
LATIN = [("Où est la gare ?", "travel"), ("Der Käse schmeckt", "food")]


def counts(dataset):
    """Return label names with their numbers of examples."""
    return {item["name"]: item["numExamples"] for item in dataset["labelSummary"]["labels"]}


def receipts(client, dataset_id):
    """Return the dataset's receipts, newest first."""
    return client.items(f"{LANGUAGE}/datasets/{dataset_id}/receipts")


def listed(client, dataset_id):
    """Return texts with their labels, as a dataset lists them."""
    found = client.items(f"{LANGUAGE}/datasets/{dataset_id}/examples", source="all")
    return sorted((item["name"], item["label"]["name"]) for item in found)


def test_weather_is_counted_as_the_oracle_says(client):
    """weather.csv gives 73 examples, one duplicate and labels of 23, 21 and 29 texts."""
    posted = client.upload(weather(), "weather.csv")
    done = client.wait_dataset(posted["id"])

    assert (posted["statusMsg"], posted["available"], posted["totalExamples"]) == (
        "UPLOADING",
        False,
        0,
    )
    assert posted["labelSummary"]["labels"] == []
    assert (done["statusMsg"], done["available"], done["name"]) == ("SUCCEEDED", True, "weather")
    assert (done["totalExamples"], done["totalLabels"], done["numOfDuplicates"]) == (73, 3, 1)
    assert set(counts(done).values()) == {23, 21, 29}
    assert posted["createdAt"] == done["createdAt"]
    (receipt,) = receipts(client, posted["id"])
    assert [receipt[key] for key in ("seen", "kept", "duplicates", "rejected")] == [74, 73, 1, 0]
    assert receipt["status"] == "SUCCEEDED"


def test_synchronous_upload_answers_finished(client):
    """The answer of upload/sync already holds the final counts."""
    done = client.upload(weather(), "weather.csv", call="upload/sync", name="my weather")

    assert (done["statusMsg"], done["name"], done["totalExamples"]) == (
        "SUCCEEDED",
        "my weather",
        73,
    )
    assert client.get(f"{LANGUAGE}/datasets/{done['id']}").ok == done


@pytest.mark.parametrize("call", ["upload", "upload/sync"])
def test_path_is_downloaded_and_kept(client, files, call):
    """A file at a URL becomes a dataset that is named after it."""
    path = files.add("rain.csv", weather())
    answer = client.json(
        "POST", f"{LANGUAGE}/datasets/{call}", {"path": path, "type": "text-intent"}
    )
    done = client.wait_dataset(answer.ok["id"])

    assert (done["name"], done["totalExamples"], done["numOfDuplicates"]) == ("rain", 73, 1)


def test_path_that_is_not_there_is_refused(client, files):
    """A URL that answers 404 is a 400 with the documented message, without a dataset."""
    path = files.add("here.csv", b"x") + ".gone"
    answer = client.json(
        "POST", f"{LANGUAGE}/datasets/upload", {"path": path, "type": "text-intent"}
    )

    assert answer.status == 400
    documented = "Failed to download the dataset from the public URL."
    assert answer.data["message"] == documented
    assert answer.data["detail"]
    assert client.get(f"{LANGUAGE}/datasets").ok["data"] == []


def as_json(rows):
    """Write an array of JSON records."""
    return json.dumps([{"text": text, "label": label} for text, label in rows]).encode()


def as_lines(rows):
    """Write JSON lines with other member names."""
    lines = (json.dumps({"utterance": text, "intent": label}) for text, label in rows)
    return "\n".join(lines).encode()


def as_tsv(rows):
    """Write tab-separated columns, with the header in the other order."""
    return "\r\n".join(["label\ttext", *(f"{label}\t{text}" for text, label in rows)]).encode()


FORMS = {
    "csv": ("a.csv", csv_file(ROWS), ROWS),
    "tsv": ("a.tsv", as_tsv(ROWS), ROWS),
    "json": ("a.json", as_json(ROWS), ROWS),
    "json lines": ("a.json", as_lines(ROWS), ROWS),
    "byte order mark": ("a.csv", b"\xef\xbb\xbf" + csv_file(ROWS), ROWS),
    "utf-16": ("a.csv", csv_file(ROWS).decode().encode("utf-16"), ROWS),
    "latin-1": ("a.csv", csv_file(LATIN).decode().encode("latin-1"), LATIN),
    "old line ends": ("a.csv", csv_file(ROWS).replace(b"\r\n", b"\r"), ROWS),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_text_file_arrives_whole(owner, form):
    """Comma, tab and JSON files of all encodings give exactly their texts and labels."""
    file_name, content, rows = FORMS[form]
    done = owner.upload(content, file_name, call="upload/sync")

    assert done["statusMsg"] == "SUCCEEDED"
    assert list(counts(done)) == [label for _, label in rows]
    assert listed(owner, done["id"]) == sorted(rows)


def test_put_adds_and_counts_duplicates_across_files(owner):
    """A PUT adds new texts and labels, and counts existing texts as duplicates."""
    first = owner.dataset(weather())
    path = f"{LANGUAGE}/datasets/{first['id']}/upload"
    more = [("is it raining", "current-weather"), ("will it snow at noon", "snow")]
    answer = owner.multipart("PUT", path, {}, {"data": ("more.csv", csv_file(more))}).ok
    done = owner.wait_dataset(first["id"])

    assert (answer["statusMsg"], answer["available"]) == ("UPLOADING", False)
    assert answer["totalExamples"] == 73
    assert (done["totalExamples"], done["numOfDuplicates"], done["totalLabels"]) == (74, 2, 4)
    assert counts(done)["snow"] == 1
    newest, oldest = receipts(owner, first["id"])
    assert [newest[key] for key in ("seen", "kept", "duplicates", "rejected")] == [2, 1, 1, 0]
    assert oldest["seen"] == 74


def test_put_while_uploading_is_refused(stack, client):
    """PUT is refused while the dataset is being read."""
    stack.pause_workers()
    try:
        posted = client.upload(weather())
        path = f"{LANGUAGE}/datasets/{posted['id']}/upload"
        answer = client.multipart("PUT", path, {}, {"data": ("more.csv", b"a,b")})
    finally:
        stack.resume_workers()
    done = client.wait_dataset(posted["id"])

    assert answer.status == 400
    assert answer.data["message"] == (
        "The dataset is not yet available for update, try again once the dataset is ready."
    )
    assert done["totalExamples"] == 73


def test_file_that_cannot_be_used_fails_with_its_reason(client):
    """An upload without a usable row is FAILED, and its receipt says why."""
    posted = client.upload(b"only one column\nin each row\n")
    done = client.wait_dataset(posted["id"])

    assert done["statusMsg"].startswith("FAILED: ")
    assert done["available"] is False
    (receipt,) = receipts(client, posted["id"])
    assert receipt["status"] == "FAILED"
    assert receipt["message"] == done["statusMsg"].removeprefix("FAILED: ")


def test_rejected_rows_are_reported_and_add_up(client):
    """Rows without a label are rejected and listed in the receipt, whose counts add up."""
    done = client.dataset(b"good,one\nbad,\ngood,one\nbetter,two\n")
    (receipt,) = receipts(client, done["id"])

    assert [receipt[key] for key in ("seen", "kept", "duplicates", "rejected")] == [4, 2, 1, 1]
    assert receipt["rejections"][0]["row"] == 2


def test_many_examples_are_listed_to_the_end(owner):
    """Link headers lead through 2,570 examples, each exactly once."""
    rows = made_rows(2_570, labels=4)
    done = owner.upload(csv_file(rows), call="upload/sync")
    pages = owner.pages(f"{LANGUAGE}/datasets/{done['id']}/examples", count=100)
    found = [item for page in pages for item in page.ok["data"]]

    assert [len(page.ok["data"]) for page in pages] == [100] * 25 + [70]
    assert sorted((item["name"], item["label"]["name"]) for item in found) == sorted(rows)
    assert len({item["id"] for item in found}) == 2_570
    order = [(item["label"]["id"], item["id"]) for item in found]
    assert order == sorted(order)
    beyond = owner.get(f"{LANGUAGE}/datasets/{done['id']}/examples", offset=5_000)
    assert beyond.ok == {"object": "list", "data": []}
    assert beyond.next_path is None


def test_datasets_are_listed_by_id_in_pages(client):
    """27 datasets are two pages of 25 and 2, ordered by id, even if `count` is larger."""
    path = f"{LANGUAGE}/datasets"
    ids = [
        client.json("POST", path, {"name": f"d{n}", "type": "text-intent"}).ok["id"]
        for n in range(27)
    ]
    pages = client.pages(path, count=1_000)

    assert [[item["id"] for item in page.ok["data"]] for page in pages] == [ids[:25], ids[25:]]


def test_small_upload_does_not_wait_for_a_large_one(stack, owner, client):
    """While thousands of texts of one account are embedded, another account's file is read."""
    large = owner.dataset(csv_file(made_rows(3_000, words=30)))
    small = client.dataset(weather())
    waiting = left_in_bucket(stack, f"datasets/{large['id']}/parts/")
    record = owner.delete(f"{LANGUAGE}/datasets/{large['id']}").ok
    owner.wait_deletion(record["id"])

    assert small["totalExamples"] == 73
    assert waiting

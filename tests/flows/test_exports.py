"""Exports over HTTP: created, downloaded and uploaded again."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.flows.client import LANGUAGE, VISION, opened


def fetched(client, dataset, **fields):
    """Create and download an export; return its file name and content."""
    made = client.json("POST", f"{dataset}/exports", fields).ok
    path = f"{dataset}/exports/{made['id']}"
    record = client.wait(path, lambda found: found["status"] in ("SUCCEEDED", "FAILED"), 60)[-1]
    assert record["status"] == "SUCCEEDED", record
    with opened(record["url"]) as answer:
        content = answer.read()
        disposition = answer.headers["Content-Disposition"]
    assert len(content) == record["bytes"]
    assert client.get(f"{path}?x").ok["url"] != ""
    return disposition.partition("''")[2], content


def labels(record):
    """Count a dataset's examples by label."""
    return {one["name"]: one["numExamples"] for one in record["labelSummary"]["labels"]}


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_texts_come_back_as_they_were(owner, weather_id, kind):
    """An export that is uploaded again has the same texts and labels in the same order."""
    dataset = f"{LANGUAGE}/datasets/{weather_id}"
    name, content = fetched(owner, dataset, format=kind)
    again = owner.dataset(content, file_name=name)

    before = owner.get(dataset).ok
    assert (labels(again), again["numOfDuplicates"]) == (labels(before), 0)
    texts = [
        [(one["name"], one["label"]["name"]) for one in owner.items(f"{place}/browse")]
        for place in (dataset, f"{LANGUAGE}/datasets/{again['id']}")
    ]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 73


def test_boxes_come_back_as_they_were(gallery, tables_id):
    """An export that is uploaded again has the same boxes and labels, to the pixel."""
    dataset = f"{VISION}/datasets/{tables_id}"
    name, content = fetched(gallery, dataset, format="zip")
    again = gallery.dataset(content, file_name=name, type="image-detection")

    found = [
        Counter(
            (one["name"], one["label"]["name"], tuple(one["box"].values()))
            for one in gallery.items(f"{place}/browse")
        )
        for place in (dataset, f"{VISION}/datasets/{again['id']}")
    ]
    assert found[0] == found[1]
    assert found[0]

"""Rankings over HTTP: what to label next."""

from __future__ import annotations

import json
from typing import Any

from tests.flows.client import LANGUAGE, Client, opened
from tests.flows.test_batches import ENDED

TEXTS = [f"will it rain in {n} days" for n in range(12)] + ["is it hot", "does it snow"]
USAGE = "/v2/apiusage"


def used(usage: dict[str, Any]) -> int:
    """Return the predictions used this month."""
    return int(usage["data"][0]["predictionsUsed"])


def ranked(
    client: Client, model_id: str, texts: list[str], *, seconds: float = 240, **fields: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Rank texts; return the record and the lines of the result."""
    content = "".join(json.dumps({"id": f"t{n}", "text": t}) + "\n" for n, t in enumerate(texts))
    files = {"data": ("texts.jsonl", content.encode())}
    path = f"{LANGUAGE}/rankings"
    made = client.multipart("POST", path, {"modelId": model_id, **fields}, files).ok
    place = f"{LANGUAGE}/batches/{made['id']}"
    record = client.wait(place, lambda found: found["status"] in ENDED, seconds)[-1]
    assert (record["status"], record["kind"]) == ("SUCCEEDED", "rank"), record
    with opened(record["resultUrl"]) as answer:
        return record, [json.loads(line) for line in answer.read().splitlines()]


def check_ranking(client: Client, model_id: str) -> None:
    """Rank texts, one of them empty, and compare chosen lines with single calls."""
    before = used(client.get(USAGE).ok)
    record, lines = ranked(client, model_id, [*TEXTS, ""], count=5)

    total = len(TEXTS) + 1
    assert record["counts"] == {"total": total, "done": total, "failed": 1}
    # Predictions without an answer are refunded after the result is shown.
    client.wait(USAGE, lambda found: used(found) == before + len(TEXTS), 60)
    assert [line["rank"] for line in lines] == list(range(1, len(lines) + 1))
    assert 1 <= len({line["id"] for line in lines}) == len(lines) <= 5
    for line in lines:
        assert line["text"] == TEXTS[int(line["id"][1:])]
    best = client.predict(model_id, lines[0]["text"], numResults=1).ok["probabilities"][0]
    assert (lines[0]["suggestion"], lines[0]["confidence"]) == (best["label"], best["probability"])


def test_lines_are_ranked_by_the_workers(owner: Client, weather_model: str) -> None:
    """Each line costs a prediction; lines without an answer cost none."""
    check_ranking(owner, weather_model)

"""The logs of a running stack identify account and request, and contain no user data."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter

import pytest

from infra.accounts import main
from tests.flows.client import LANGUAGE, VISION
from tests.flows.world import TOKEN, csv_file
from tests.formats.drawn import encoded
from tests.papers import paper

ROWS = [
    (f"{verb} the zyzzyva {n}", label)
    for n in range(6)
    for verb, label in (("sell", "quetzalwort"), ("feed", "xylocarp"))
]
SENT = ("zyzzyva", "quetzalwort", "xylocarp", "wombatfile", "dingomodel", "Grebefield", "kakapo-9")
"""Words of texts, labels, file names, model names, pictures and sample ids; a short one has what no
Base32 has."""
ID = re.compile(r"[0-9a-f-]{36}")
JWT = r"(?-i:\beyJ[\w-]{6})"
"""How a token begins, in its own case: the Base32 of an id has `EYJ` by chance."""


@pytest.fixture(scope="module")
def life(world):
    """The caller of an account that has used every feature, and the id of its model."""
    client = world.caller("GOLD", example_calls=100)
    dataset = client.dataset(csv_file(ROWS), file_name="wombatfile.csv")["id"]
    model_id = client.model(dataset, "dingomodel")
    assert client.predict(model_id, "sell a zyzzyva", sampleId="kakapo-9").status == 200
    assert client.predict(model_id, "zyzzyva " * 9_000).status == 400
    assert client.predict("ZYZZYVA" + "A" * 19, "sell").status == 404
    assert client.get(f"{LANGUAGE}/datasets/{dataset}/examples").status == 200
    fields = {"modelId": "OCRModel", "task": "text"}
    page = {"sampleContent": ("wombatfile.png", encoded(paper(["Grebefield 1234"]), "PNG"))}
    assert client.multipart("POST", f"{VISION}/ocr", fields, page).status == 200
    assert client.delete(f"{TOKEN}/{client.token}").status in (200, 404)
    assert client.send("GET", "/zyzzyva?zyzzyva=1").status == 404
    with client.clone() as wrong:
        wrong.token = "zyzzyva.zyzzyva.zyzzyva"
        assert wrong.get("/v2/apiusage").status == 401
    return client, model_id


@pytest.fixture
def read(stack):
    """A function that reads every log line of the stack."""

    def call():
        """Return every log line, parsed as JSON."""
        files = sorted(stack.state.logs.glob("*.jsonl*"))
        return [json.loads(line) for path in files for line in path.read_text().splitlines()]

    return call


def test_nothing_that_was_sent_is_logged(stack, world, life, read):
    """No log line contains a sent text, label, name, token, URL or path."""
    client, _ = life
    assert any(line.get("event") == "training_done" for line in read())
    everything = "".join(p.read_text() for p in stack.state.logs.iterdir()) + stack.log()

    words = map(re.escape, (*SENT, client.token, client.email, "@flows.example"))
    sent = re.compile("|".join((*words, JWT)), re.IGNORECASE)
    assert [line for line in everything.splitlines() if sent.search(line)] == []


def test_every_line_belongs_to_a_call_or_job(world, life, read):
    """Each line has the id of its request or message, and its account if known."""
    client, model_id = life
    account = world.account_id(client)
    found = read()

    for line in found:
        ids = [line[name] for name in ("request_id", "message_id", "invocation_id") if name in line]
        assert ids or line["event"] == "library", line
        assert all(ID.fullmatch(value) for value in ids), line
    mine = [line for line in found if line.get("account") == account]
    events = {line["event"] for line in mine}
    assert {"request", "prediction", "job_run", "upload_done", "training_done"} <= events
    assert "document_read" in events
    trained = [line for line in mine if line.get("model") == model_id and "message_id" in line]
    assert {line["event"] for line in trained} >= {"training_done", "job_run"}


def test_one_line_a_request(stack, life, read):
    """Every answered request has exactly one log line with route, status and size."""
    client, _ = life
    answers = [client.get("/v2/apiusage") for _ in range(5)]
    answers.append(client.get(f"{LANGUAGE}/datasets/zyzzyva"))
    by_id = {a.headers["x-amzn-requestid"]: a for a in answers}

    found = [line for line in read() if line.get("request_id") in by_id]
    assert Counter(line["event"] for line in found) == {"request": len(answers)}
    for line in found:
        answer = by_id[line["request_id"]]
        assert (line["status"], line["bytes"]) == (answer.status, len(answer.body))
        assert line["route"] in ("/v2/apiusage", "/v2/language/datasets/{dataset_id}")


def test_sixteen_callers_keep_their_ids(world, life, read):
    """Account and request ids of simultaneous requests are not mixed."""
    _, model_id = life
    callers = [world.caller() for _ in range(16)]
    accounts = [world.account_id(caller) for caller in callers]
    seen: dict[str, str] = {}

    def work(caller, account):
        for _ in range(6):
            answer = caller.predict(model_id, "sell it")
            assert answer.status == 404
            seen[answer.headers["x-amzn-requestid"]] = account

    threads = [
        threading.Thread(target=work, args=pair) for pair in zip(callers, accounts, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = {line["request_id"]: line for line in read() if line.get("request_id") in seen}
    assert len(found) == 16 * 6
    assert all(found[request]["account"] == account for request, account in seen.items())


def test_audit_agrees_with_the_counters(stack, world, life, capsys):
    """The audit of the log equals the usage counter; a wrong counter is detected."""
    client, _ = life
    caller = world.caller()
    for _ in range(3):
        assert caller.predict("CommunitySentiment", "good", "sentiment").status == 200
    assert caller.predict("CommunitySentiment", " ", "sentiment").status == 400
    environment = {"PRESAGE_STATE_DIR": str(stack.state.folder)}

    assert main(["audit", caller.email], environment) == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    assert row[1:] == [caller.email, "3", "3", "0", "0", "0", "0"]
    world.set_used(caller, 2)
    assert main(["audit", caller.email, "--tolerance", "100"], environment) == 1
    assert main(["audit", client.email], environment) == 0

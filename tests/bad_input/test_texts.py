"""Odd texts: the valid ones are kept and echoed unchanged, the others refused."""

from __future__ import annotations

import json
import unicodedata

import pytest

from tests.live import INTENT, SYNC, Caller

VALID = {
    "emoji": "🙂👩‍👩‍👧‍👦🏳️‍🌈🇨🇭",
    "right-to-left": "\u202eمرحبا، أين طلبي؟\u202c שלום",
    "combining": "e\u0301" + "\u0300\u0316" * 200,
    "decomposed": unicodedata.normalize("NFD", "Zürich é ñ 각"),
    "composed": unicodedata.normalize("NFC", "Zürich é ñ 각"),
    "spaces around": "  \t where is it \u00a0\n",
    "line ends": "one\r\ntwo\rthree\nfour",
    "zero width": "a\u200b\u200d\ufeffb",
    "noncharacter": "a\ufffe\uffffb\U0010ffff",
    "controls": "a\x01\x1b[31mb\x7f",
    "private use": "\ue000\U000f0000",
    "markup": "<script>alert(1)</script>&amp;%00%0a'\";--",
    "json-like": '{"modelId": "x"}\\u0000',
    "formula": "=1+1",
    "longest": "é" * 20_000,
    "one letter": "x",
}


@pytest.fixture(scope="module")
def dataset(maker: Caller) -> int:
    """A dataset that takes texts."""
    fields = {"name": "odd texts", "type": "text-intent", "labels": "odd"}
    return int(maker.json("POST", "/v2/language/datasets", fields).ok()["id"])


@pytest.mark.parametrize("kind", VALID)
def test_valid_text_is_echoed_unchanged(maker, dataset, kind):
    """A text comes back character for character, from JSON, a form and the list."""
    text = VALID[kind]
    path = f"/v2/language/datasets/{dataset}/examples"

    by_json = maker.json("POST", path, {"document": text, "label": kind}).ok()
    by_form = maker.fields("POST", path, document=text, label=kind).ok()
    listed = maker.get(f"/v2/language/examples/{dataset}/label/{by_json['label']['id']}").ok()[
        "data"
    ]

    assert by_json["name"] == by_json["location"] == by_form["name"] == text
    assert by_json["id"] == by_form["id"]
    assert [item["name"] for item in listed] == [text]


@pytest.mark.parametrize("kind", VALID)
def test_valid_text_is_predicted_and_its_tag_echoed(live, victim, kind):
    """Any text is predicted, and `sampleId` is echoed unchanged."""
    text = VALID[kind]
    fields = {"document": text, "modelId": live.model_id, "sampleId": text}

    for answer in (victim.json("POST", INTENT, fields), victim.fields("POST", INTENT, **fields)):
        record = answer.ok()
        assert record["sampleId"] == text
        assert len(record["probabilities"]) == 2


@pytest.mark.parametrize("label", ["🙂", "שלום", "a" * 180, "=1", "é" * 180, "a\u200bb"])
def test_valid_label_is_kept_unchanged(maker, dataset, label):
    """A label comes back character for character."""
    path = f"/v2/language/datasets/{dataset}/examples"

    assert (
        maker.json("POST", path, {"document": "x", "label": label}).ok()["label"]["name"] == label
    )
    names = [
        item["name"]
        for item in maker.get(f"/v2/language/datasets/{dataset}").ok()["labelSummary"]["labels"]
    ]
    assert label in names


def test_label_is_composed_and_shows_something(maker, dataset):
    """A decomposed accent is composed; an invisible label is refused."""
    path = f"/v2/language/datasets/{dataset}/examples"

    kept = maker.json("POST", path, {"document": "y", "label": "cafe\u0301"}).ok()
    assert kept["label"]["name"] == "caf\u00e9"
    again = maker.json("POST", path, {"document": "y", "label": "caf\u00e9"}).ok()
    assert again["label"] == kept["label"]
    maker.json("POST", path, {"document": "y", "label": "\u200b"}).refused(400, "'label'", "shows")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v2/language/datasets/{shop}/examples", "label"),
        ("/v2/language/feedback", "expectedLabel"),
    ],
)
def test_text_with_nul_is_refused(live, victim, path, name):
    """A text with NUL is refused with a remedy."""
    fields = {"document": "a\x00b", "modelId": live.model_id, name: "refund"}
    target = path.format(shop=live.shop["id"])

    victim.json("POST", target, fields).refused(400, "document", "NUL", "remove")
    victim.fields("POST", target, **fields).refused(400, "document", "NUL", "remove")


@pytest.mark.parametrize("half", ["\\ud800", "\\udfff", "\\udc00\\ud800", "ok \\ud83d"])
@pytest.mark.parametrize("field", ["document", "sampleId", "modelId"])
def test_lone_surrogate_is_refused(live, victim, half, field):
    """A lone surrogate is a 400 that names its field."""
    fields = {"document": "x", "modelId": live.model_id, "sampleId": "x", field: "HALF"}
    body = json.dumps(fields).replace("HALF", half).encode()

    answer = victim("POST", INTENT, body, "application/json")

    answer.refused(400, field, "surrogate")


def test_surrogate_bytes_in_a_form_are_refused(live, victim):
    """The bytes of half a surrogate pair are not UTF-8."""
    parts = [("document", b"\xed\xa0\x80", None), ("modelId", live.model_id.encode(), None)]

    victim.form("POST", INTENT, *parts).refused(400, "document", "UTF-8")


@pytest.mark.parametrize("text", ["d" * 20_001, "d" * 1_000_000, "🙂" * 250_000])
def test_long_text_is_refused_with_both_numbers(live, victim, text):
    """A text over 20,000 characters names its length, the limit and the remedy."""
    fields = {"document": text, "modelId": live.model_id}
    words = ("document", str(len(text)), "20000", "shorten")

    victim.json("POST", INTENT, fields).refused(400, *words)
    victim.fields("POST", INTENT, **fields).refused(400, *words)


def test_text_in_latin_1_is_read_when_the_part_says_so(live, victim):
    """A part may name its character set."""
    body = (
        b"--B\r\nContent-Disposition: form-data; name=sampleId\r\n"
        b"Content-Type: text/plain; charset=ISO-8859-1\r\n\r\nZ\xfcrich\r\n"
        b"--B\r\nContent-Disposition: form-data; name=document\r\n\r\nx\r\n"
        b"--B\r\nContent-Disposition: form-data; name=modelId\r\n\r\n"
        + live.model_id.encode()
        + b"\r\n--B--"
    )

    answer = victim("POST", INTENT, body, "multipart/form-data;boundary=B")

    assert answer.ok()["sampleId"] == "Zürich"


def test_names_with_odd_characters_are_kept(maker):
    """A dataset's name comes back as it was sent, without the spaces around it."""
    name = "  שלום 🙂 e\u0301 <b>  "

    dataset = maker.upload(b"x,a\ny,b\n", name="x.csv").ok()
    renamed = maker.form(
        "POST",
        SYNC,
        ("type", b"text-intent", None),
        ("name", name.encode(), None),
        ("data", b"x,a\ny,b\n", "x.csv"),
    ).ok()

    assert dataset["name"] == "x"
    assert renamed["name"] == name.strip()

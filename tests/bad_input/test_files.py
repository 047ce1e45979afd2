"""Files that are broken, empty, too large, or of another kind than they say."""

from __future__ import annotations

import codecs
import gzip
import json
import random
import zipfile
from io import BytesIO

import pytest

from tests.live import SHOP, SYNC

ROWS = "where is it,delivery\nmoney back,refund\nZürich naïve €,delivery\n"


def read(caller, content, **options):
    """Upload a file that can be read; return its dataset and receipt."""
    dataset = caller.upload(content, **options).ok()
    receipts = caller.get(f"/v2/language/datasets/{dataset['id']}/receipts").ok()["data"]
    assert len(receipts) == 1
    receipt = receipts[0]
    assert receipt["seen"] == receipt["kept"] + receipt["duplicates"] + receipt["rejected"]
    assert dataset["totalExamples"] == receipt["kept"]
    return dataset, receipt


def labels(dataset):
    """Label names with their counts."""
    return {x["name"]: x["numExamples"] for x in dataset["labelSummary"]["labels"]}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"text,label\n", ("no rows",)),
        (b"\n\n\r\n \n", ("no rows",)),
        (b"just one column\nand another\n", ("None of the 2", "comma")),
        (b"text only,\nanother,\n", ("None of the 2", "label is missing")),
        (b",label\n ,label\n", ("text is missing",)),
        (b'{"a": 1}', ("shape", "text")),
        (b"[1, 2]", ("shape",)),
        (b"[", ("JSON",)),
        (b'[{"text": "x", "label": "a"}', ("JSON",)),
        (b'{"text": [1], "label": "a"}', ("text",)),
        (b'{"text": "x", "label": "a"}\n5\n', ("line 2", "object")),
        (b"[" * 100_000, ("JSON",)),
        ("".join(f"text {i},label {i}\n" for i in range(1001)).encode(), ("1,001", "1,000")),
        (("x" * 20_001 + ",a\n").encode(), ("20,001", "20,000")),
        (codecs.BOM_UTF16_LE + b"a", ("UTF-16",)),
    ],
)
def test_unusable_file_has_failed_with_a_reason(maker, content, words):
    """A text file without usable rows becomes a FAILED dataset with a reason."""
    dataset, receipt = read(maker, content)

    assert dataset["statusMsg"].startswith("FAILED: ")
    assert dataset["available"] is False
    assert dataset["labelSummary"]["labels"] == []
    assert all(word in dataset["statusMsg"] for word in words), dataset["statusMsg"]
    assert (receipt["status"], receipt["message"]) == ("FAILED", dataset["statusMsg"][8:])


def zipped():
    """Make a zip archive."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", ROWS)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(100), ("PNG",)),
        (b"GIF89a" + bytes(100), ("GIF",)),
        (b"%PDF-1.7\n" + bytes(100), ("PDF",)),
        (b"<!DOCTYPE html><html></html>", ("HTML",)),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", ("SVG",)),
        (b"\x00" * 5000, ("binary",)),
        (random.Random(1).randbytes(5000), ("binary",)),
        (zipped(), ("zip",)),
        (gzip.compress(bytes(10_000_000)), ("gzip",)),
        ("a,b\n".encode("utf-16-le") * 9, ("UTF-16", "byte order mark")),
    ],
)
def test_binary_file_is_a_415(live, victim, content, words):
    """Bytes of no supported type are refused in the call, whatever the name says."""
    check_binary(live, victim, "POST", content, words)


def test_binary_file_is_not_added_either(live, victim):
    """The same for a file that would be added to a dataset, which stays as it is."""
    check_binary(live, victim, "PUT", zipped(), ("zip",))


def check_binary(live, victim, method, content, words):
    """Send a file of another kind and check its refusal."""
    path = SYNC if method == "POST" else f"/v2/language/datasets/{live.shop['id']}/upload"

    answer = victim.form(
        method, path, ("type", b"text-intent", None), ("data", content, "rows.csv")
    )

    answer.refused(415, *words, "csv", "UTF-8")


@pytest.mark.parametrize("path", [SYNC, "/v2/language/datasets/upload"])
def test_file_of_25_mb_and_a_byte_is_a_413(victim, path):
    """One byte more than the limit is refused, naming both and the remedy."""
    size = 25 * 1024 * 1024 + 1

    victim.upload(b"a" * size, path=path).refused(413, str(size), str(size - 1), "Split")


def test_empty_file_is_a_400(victim):
    """An empty part counts as absent."""
    victim.upload(b"").refused(400, "'data'", "'path'")


@pytest.mark.parametrize(
    "content",
    [
        ROWS.encode("utf-8"),
        codecs.BOM_UTF8 + ROWS.encode("utf-8"),
        ROWS.encode("utf-16"),
        codecs.BOM_UTF16_BE + ROWS.encode("utf-16-be"),
        ROWS.replace("€", "EUR").encode("latin-1"),
        ROWS.replace("\n", "\r").encode(),
        ROWS.replace("\n", "\r\n").encode(),
        ROWS.replace(",", "\t").encode(),
        ("text,label\n" + ROWS).encode(),
        ROWS.removesuffix("\n").encode(),
        ROWS.replace("\n", "\n\n\n").encode(),
        json.dumps(
            [{"text": r.split(",")[0], "label": r.split(",")[1]} for r in ROWS.split("\n")[:3]]
        ).encode(),
    ],
)
def test_every_encoding_and_line_end_gives_the_same_dataset(maker, content):
    """Encoding, line ends, delimiter and header do not change the dataset."""
    dataset, receipt = read(maker, content)

    assert dataset["statusMsg"] == "SUCCEEDED"
    assert labels(dataset) == {"delivery": 2, "refund": 1}
    assert (receipt["kept"], receipt["rejected"]) == (3, 0)
    names = [
        example["name"]
        for example in maker.get(f"/v2/language/datasets/{dataset['id']}/examples").ok()["data"]
    ]
    assert "Zürich naïve" in names[1]


@pytest.mark.parametrize(
    ("content", "kept", "rejected"),
    [
        (b'"never closed,a\nfine,b\nfine too,b\n', {"b": 2}, [(1, "quote")]),
        (b'one,a\n"two" three,a\nfour,a\n', {"a": 2}, [(2, "quote")]),
        (b"one,a\ntwo\nthree,a,b\nfour,a\n", {"a": 2}, [(2, "one cell"), (3, "3 cells")]),
        (b"one,a\ntwo,\nthree, \n", {"a": 1}, [(2, "label is missing"), (3, "label is missing")]),
        (b"one,a\n,a\n", {"a": 1}, [(2, "text is missing")]),
        (b"one,a\ntw\x00o,a\n", {"a": 1}, [(2, "NUL")]),
        (b"one,a\ntwo,a\x01b\n", {"a": 1}, [(2, "U+0001")]),
        (b'{"text":"one","label":"a"}\n{"text":"t"}\n', {"a": 1}, [(2, "label")]),
        (b'[{"text":"one","label":"a"}, 5, null]', {"a": 1}, [(2, "object"), (3, "null")]),
    ],
)
def test_broken_rows_cost_only_themselves(maker, content, kept, rejected):
    """An unreadable row is rejected with number and reason; the others are stored."""
    dataset, receipt = read(maker, content)

    assert labels(dataset) == kept
    assert [item["row"] for item in receipt["rejections"]] == [row for row, _ in rejected]
    for item, (_, word) in zip(receipt["rejections"], rejected, strict=True):
        assert word in item["reason"], item


def test_long_label_is_cut_and_never_merged(maker):
    """A label of 181 characters is truncated; two that would become equal are rejected."""
    alone, twin = "a" * 181, "b" * 180
    rows = f"one,{alone}\ntwo,{twin}x\nthree,{twin}y\nfour,c\n"

    dataset, receipt = read(maker, rows.encode())

    assert labels(dataset) == {"a" * 180: 1, "c": 1}
    assert [item["row"] for item in receipt["rejections"]] == [2, 3]
    assert all("181" in item["reason"] for item in receipt["rejections"])


def test_long_label_never_joins_a_whole_one(maker):
    """A cut label that equals a label of 180 characters is rejected with it."""
    label = "b" * 180

    dataset, receipt = read(maker, f"one,{label}\ntwo,{label}x\nthree,c\n".encode())

    assert sum(labels(dataset).values()) + receipt["rejected"] == 3
    assert labels(dataset).get(label, 0) <= 1


def test_fourth_sentiment_is_rejected(maker):
    """A fourth sentiment rejects its row with a helpful reason."""
    rows = b"good,Positive\nbad,NEGATIVE\nmeh,neutral\nodd,mixed\n"

    dataset, receipt = read(maker, rows, dataset_type="text-sentiment")

    assert labels(dataset) == {"positive": 1, "negative": 1, "neutral": 1}
    reason = (
        'the label is "mixed"; use positive, negative or neutral, or upload the file as type '
        "text-intent, which takes any label."
    )
    assert receipt["rejections"] == [{"row": 4, "reason": reason}]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (SHOP.replace(b"refund", b"delivery"), ("2 labels", "has 1")),
        (SHOP + b"odd one,other\n", ("'other' has 1", "at least 5")),
        (SHOP.rpartition(b"please give my money back 4")[0], ("'refund' has 4", "at least 5")),
        (b"a,b\nc,d\n", ("'b' has 1", "'d' has 1")),
    ],
)
def test_too_few_examples_are_a_400(maker, content, words):
    """A training names every label that is short, with its count."""
    dataset, _ = read(maker, content)

    assert maker.train(dataset["id"]).refused(400, *words) == "too_few_examples"
    assert maker.get(f"/v2/language/datasets/{dataset['id']}/models").ok()["data"] == []


def test_dataset_without_examples_cannot_be_trained(maker):
    """An empty dataset is refused like one with too few examples."""
    fields = {"name": "empty", "type": "text-intent", "labels": "a,b"}
    dataset = maker.json("POST", "/v2/language/datasets", fields).ok()

    maker.train(dataset["id"]).refused(400, "'a' has 0", "'b' has 0")


def test_three_million_and_one_words_are_a_400(live):
    """More than 3,000,000 words are refused with the number and the limit."""
    caller = live.caller("words")
    rows = [f"{'a ' * i}{'b ' * (10_000 - i)}".strip() + f",{'xy'[i % 2]}" for i in range(300)]
    dataset, _ = read(caller, "\n".join([*rows, "one,x"]).encode())

    answer = caller.train(dataset["id"])
    caller.delete(f"/v2/language/datasets/{dataset['id']}").ok()

    assert answer.refused(400, "3,000,001", "3,000,000") == "too_many_words"


def test_file_names_are_made_harmless(maker):
    """A dataset's name comes from the last part of the file's name, cut to 100 characters."""
    for sent, name in (
        ("../../etc/passwd.csv", "passwd"),
        ("C:\\files\\rows.csv", "rows"),
        ("n" * 200 + ".csv", "n" * 100),
        (".csv", ".csv"),
        ("a\tb.csv", "ab"),
    ):
        assert maker.upload(b"x,a\ny,b\n", name=sent).ok()["name"] == name

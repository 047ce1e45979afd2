"""Batch results as csv and xlsx with all input columns. beyond.md, section 14."""

from __future__ import annotations

import csv
import io
import json

import pytest
from python_calamine import CalamineWorkbook

from tests.api.prepared import ALBUM_ID, DATASET_ID, IMAGE_MODEL_ID, MODEL_ID
from tests.pictures import draw, make_zip
from tests.workbooks import sheet, workbook

URL = "/v2/language/batches"
PICTURES_URL = "/v2/vision/batches"
TICKETS = [
    ["nr", "Subject", "Body", "label", "error"],
    ["007", "=1+1", "where is my parcel", "old", ""],
    ["008", "", "", "none", "-"],
    ["009", "refund", "I want my money back, please", "", "", "more"],
]


def as_csv(rows, delimiter=",", encoding="utf-8"):
    """Encode rows as delimiter-separated text."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode(encoding)


def result(call, world, url, content, name, **fields):
    """Send a file as a batch; return its record and the rows of its result."""
    sent = [(key, str(value).encode(), None) for key, value in fields.items()]
    made = call.form("POST", url, ("data", content, name), *sent)
    assert made.status == 200, made.text
    world.work()
    record = call("GET", f"{url}/{made.json['id']}").json
    assert record["status"] == "SUCCEEDED", record
    [key] = world.objects(f"batches/{record['id']}/")
    stored = world.stores.artifacts.get(key)
    assert len(stored) == record["resultBytes"]
    return record, read_rows(stored, record["format"])


def read_rows(content, kind):
    """Read the rows of a result."""
    if kind == "csv":
        return list(csv.reader(io.StringIO(content.decode(), newline="")))
    return CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0).to_python()


def single(call, document):
    """Return the most probable label of the single call, and its probability."""
    answer = call.json("POST", "/v2/language/intent", modelId=MODEL_ID, document=document).json
    best = answer["probabilities"][0]
    return [best["label"], best["probability"]]


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_all_columns_come_back(call, world, kind):
    """Ragged rows, result-like column names, formula-like texts and failed rows are returned."""
    content = as_csv(TICKETS) if kind == "csv" else workbook({"My tickets": sheet(TICKETS)})
    fields = {"format": kind, "columns": "input", "reviewBelow": 1, "textColumn": "Subject,Body"}
    _, rows = result(call, world, URL, content, f"t.{kind}", modelId=MODEL_ID, **fields)

    assert rows[0] == [
        *TICKETS[0], "", "presage_label", "probability", "review", "presage_error",
    ]  # fmt: skip
    label, probability = single(call, "refund\n\nI want my money back, please")
    shown = repr(probability) if kind == "csv" else probability
    assert rows[3] == [*TICKETS[3], label, shown, "yes", ""]
    assert rows[1][:7] == [*TICKETS[1], "", single(call, "=1+1\n\nwhere is my parcel")[0]]
    assert rows[2][:9] == [*TICKETS[2], "", "", "", ""]
    assert "required" in rows[2][9]


def test_several_labels_and_old_encodings(call, world):
    """A cp1252 table with semicolons is read, and its text column is recognized by name."""
    rows = [["Id", "Kunde", "Nachricht"], *[[n, "Müller", f"Wo ist Paket {n}?"] for n in "123"]]
    content = as_csv(rows, ";", "cp1252")
    fields = {"format": "csv", "columns": "input", "numResults": 2, "modelId": MODEL_ID}
    record, found = result(call, world, URL, content, "t.csv", **fields)

    assert found[0] == [*rows[0], "label", "probability", "label_2", "probability_2", "error"]
    assert [row[:3] for row in found[1:]] == rows[1:]
    assert [warning["code"] for warning in record["warnings"]] == ["columnsGuessed"]
    assert float(found[1][4]) >= float(found[1][6]) > 0


def test_a_table_without_header(call, world):
    """With `header=false`, columns are named by position, and the result names them."""
    content = as_csv([["a1", "where is it"], ["a2", "money back"], [], ["", ""]])
    fields = {"format": "csv", "columns": "input", "header": "false", "modelId": MODEL_ID}
    _, found = result(call, world, URL, content, "t.csv", textColumn=2, **fields)

    assert found[0] == ["column_1", "column_2", "label", "probability", "error"]
    assert [row[:2] for row in found[1:]] == [["a1", "where is it"], ["a2", "money back"]]


def test_a_named_sheet_and_header_row_are_read(call, world):
    """`sheet` and `header` select what is read; the result has the same sheet, values only."""
    rows = [["Report"], ["Subject", "when"], ["where is it", 3.5], ["money", "007"]]
    content = workbook({"first": sheet([["text"], ["x"]]), "Wanted": sheet(rows)})
    fields = {"format": "xlsx", "columns": "input", "sheet": "Wanted", "header": 2}
    _, found = result(call, world, URL, content, "t.xlsx", modelId=MODEL_ID, **fields)

    assert found[0] == ["Subject", "when", "label", "probability", "error"]
    assert [row[:2] for row in found[1:]] == rows[2:]


def test_titles_above_the_header_are_left_out(call, world):
    """Title rows above the header are skipped; `Subject` and `Body` are found below them."""
    rows = [["Tickets of May"], [], ["Subject", "Body", "nr"], ["it", "where", 7]]
    content = workbook({"s": sheet(rows)})
    fields = {"format": "xlsx", "columns": "input", "textColumn": '["Subject", "Body"]'}
    _, found = result(call, world, URL, content, "t.xlsx", modelId=MODEL_ID, **fields)

    assert found[0] == ["Subject", "Body", "nr", "label", "probability", "error"]
    assert found[1][:4] == ["it", "where", 7.0, single(call, "it\n\nwhere")[0]]


def test_json_lines_as_a_table(call, world):
    """Members of JSON lines become columns in the order of their first appearance."""
    content = b'{"text": "where is it", "n": 1}\n{"text": "money", "x": [2], "id": "b"}\n'
    fields = {"format": "xlsx", "columns": "input", "modelId": MODEL_ID}
    _, found = result(call, world, URL, content, "t.jsonl", **fields)

    assert found[0][:4] == ["text", "n", "x", "id"]
    assert [row[:4] for row in found[1:]] == [
        ["where is it", "1", "", ""], ["money", "", '["2"]', "b"],
    ]  # fmt: skip


def test_answers_alone_in_a_workbook(call, world):
    """With `columns=answer` a workbook has the same columns as csv; uncertain rows are marked."""
    content = as_csv([["id", "text"], ["a", "where is it"], ["b", ""]])
    fields = {"format": "xlsx", "reviewBelow": 0, "modelId": MODEL_ID}
    _, found = result(call, world, URL, content, "t.csv", **fields)

    assert found[0] == ["row", "id", "label", "probability", "review", "code", "message"]
    assert found[1] == [2.0, "a", *single(call, "where is it"), "", "", ""]
    assert found[2][:6] == [3.0, "b", "", "", "", "missing_parameter"]


def test_files_of_an_archive_as_a_table(call, world):
    """A zip has the columns `file`, `label`, `probability` and `error`."""
    files = {"a.png": draw("square", "red"), "b/c.png": b"none"}
    fields = {"format": "csv", "columns": "input", "modelId": IMAGE_MODEL_ID}
    _, found = result(call, world, PICTURES_URL, make_zip(files), "p.zip", **fields)

    assert found[0] == ["file", "label", "probability", "error"]
    assert (found[1][0], found[1][3], found[2][:3]) == ("a.png", "", ["b/c.png", "", ""])
    assert "unsupported" in found[2][3] or found[2][3]


@pytest.mark.parametrize(("family", "dataset"), [("language", DATASET_ID), ("vision", ALBUM_ID)])
def test_a_dataset_as_a_table(call, world, family, dataset):
    """Examples of a dataset come back with their ids."""
    model = MODEL_ID if family == "language" else IMAGE_MODEL_ID
    asked = {"modelId": model, "datasetId": dataset, "format": "xlsx", "columns": "input"}
    made = call.json("POST", f"/v2/{family}/batches", **asked).json
    world.work()
    [key] = world.objects(f"batches/{made['id']}/")
    found = read_rows(world.stores.artifacts.get(key), "xlsx")

    first = ["id", "text"] if family == "language" else ["file"]
    assert found[0] == [*first, "label", "probability", "error"]
    assert all(row[0].isdecimal() and row[-3] for row in found[1:])


MANY = as_csv([["id", "text", *(f"c{n}" for n in range(16_380))], ["a", "where is it"]])
LONG = as_csv([["text", "log"], ["where is it", "x" * 32_768]])
WIDE_NAME = as_csv([["text", "x" * 32_768], ["where is it"]])
ALIKE = as_csv([["a", "b", "c"], *[[f"{n} x y z", f"{n} k l m", f"{n} p q r"] for n in range(9)]])


@pytest.mark.parametrize(
    ("content", "fields", "texts"),
    [
        (b"text\na\n", {"columns": "input"}, ["'columns'", "jsonl", "format=csv"]),
        (b"text\na\n", {"columns": "all", "format": "csv"}, ["'columns'"]),
        (b"text\na\n", {"reviewBelow": 2, "format": "csv"}, ["'reviewBelow'", "1"]),
        (b"text\na\n", {"reviewBelow": 0.5}, ["'reviewBelow'", "jsonl", "format=csv"]),
        (b"text\na\n", {"delimiter": "x"}, ["'delimiter'"]),
        (b"text\na\n", {"sheet": "two"}, ["'sheet'", "not a workbook"]),
        (b"text\na\n", {"header": "-1"}, ["'header'"]),
        (b"text\na\n", {"format": "xlsx", "numResults": 9000}, []),
        (MANY, {"format": "xlsx", "columns": "input"}, ["16,38", "16,384", "format=csv"]),
        (LONG, {"format": "xlsx", "columns": "input"}, ["Row 2, column 2", "32,768", "32,767"]),
        (WIDE_NAME, {"format": "xlsx", "columns": "input"}, ["Row 1, column 2", "32,768"]),
        (
            b"text\na\n",
            {"format": "csv", "columns": "input", "numResults": 1001},
            ["'numResults'", "1,001", "1,000"],
        ),
        (ALIKE, {}, ["textColumn", "'a'", "3 'c': 9 values"]),
    ],
)
def test_what_is_refused(call, world, content, fields, texts):
    """Errors name the parameter or place, the value, the limit and the remedy."""
    sent = [(key, str(value).encode(), None) for key, value in fields.items()]
    model = ("modelId", MODEL_ID.encode(), None)
    answer = call.form("POST", URL, ("data", content, "t.csv"), model, *sent)
    if not texts:  # only with all columns each label has its own column
        assert answer.status == 200
        return

    assert answer.status == 400, answer.text
    assert [text for text in texts if text not in json.dumps(answer.json)] == []
    assert world.objects("batches/") == []


@pytest.mark.parametrize(("codec", "name"), [("cp1251", "windows-1251"), ("utf-16-le", "utf-16")])
def test_file_is_read_by_the_named_encoding(call, world, codec, name):
    """`encoding` decodes the file of a batch as it does for uploads."""
    rows = [["id", "text"], ["1", "где моя посылка"], ["2", "верните деньги"]]
    asked = {"format": "csv", "columns": "input", "modelId": MODEL_ID, "encoding": name}

    _, (_, *found) = result(call, world, URL, as_csv(rows, encoding=codec), "a.csv", **asked)

    assert [row[:2] for row in found] == rows[1:]


def test_wrong_encodings_of_a_batch(call, world):
    """An unknown encoding is a 400; a file in another encoding fails the batch with its name."""
    content = ("data", as_csv([["id", "text"], ["1", "größe"]], encoding="cp1252"), "a.csv")
    model = ("modelId", MODEL_ID.encode(), None)

    unknown = call.form("POST", URL, content, model, ("encoding", b"klingon", None))
    wrong = call.form("POST", URL, content, model, ("encoding", b"utf-8", None))

    assert (unknown.status, "encoding" in unknown.json["message"]) == (400, True)
    if wrong.status == 200:
        world.work()
        record = call("GET", f"{URL}/{wrong.json['id']}").json
        assert (record["status"], "utf-8" in record["failureMsg"]) == ("FAILED", True), record
    else:
        assert (wrong.status, "utf-8" in wrong.json["message"]) == (400, True), wrong

"""Files of texts: delimiters, headers, columns, encodings, workbooks, exports of other tools."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence

from chalicelib.domain.datasets.upload_format import ReadingOptions
from tests.corpus.case import UploadCase
from tests.workbooks import sheet, workbook

PLACES = ("Köln", "Zürich", "Nîmes", "Málaga", "Évora", "Århus")
PAIRS = [(f"where is my parcel to {place}, please", "shipping") for place in PLACES]
PAIRS += [(f"pay back my order from {place}; thank you", "refund") for place in PLACES]
LABELS = {"shipping": 6, "refund": 6}
LONE = frozenset({"headerGuessed"})
COLUMNS = frozenset({"columnsGuessed"})
_JAPANESE = [(f"{word}の荷物はどこですか", "配送") for word in "東西南北前後"]
_JAPANESE += [(f"{word}の代金を返してください", "返金") for word in "東西南北前後"]
_CHINESE = [(f"我的{word}包裹在哪里", "物流") for word in "红黄蓝白黑绿"]
_CHINESE += [(f"请退还{word}订单的钱", "退款") for word in "红黄蓝白黑绿"]
_RUSSIAN = [(f"где моя посылка в город {word}", "доставка") for word in ("Омск", "Тула", "Псков")]
_RUSSIAN += [(f"верните деньги за заказ из {word}", "возврат") for word in ("Омска", "Тулы", "Уфы")]


def rows_of(rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Write rows as the csv module does."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _csv(rows: Iterable[Sequence[object]], delimiter: str = ",", encoding: str = "utf-8") -> bytes:
    return rows_of(rows, delimiter).encode(encoding)


def _lines(values: Iterable[object]) -> bytes:
    return "\n".join(json.dumps(value) for value in values).encode()


def _wide(header: Sequence[str]) -> list[Sequence[object]]:
    return [header, *((n, text, "open", label) for n, (text, label) in enumerate(PAIRS))]


def _ok(name: str, content: bytes, **more: object) -> UploadCase:
    return UploadCase(name, content, **{"labels": LABELS, "kind": "csv", **more})


def _no(name: str, content: bytes, refusal: str, **more: object) -> UploadCase:
    return UploadCase(name, content, refusal=refusal, **more)


_HEADED = [("Subject", "Category"), *PAIRS]
_SWAPPED = [(label, text) for text, label in PAIRS]
_PLAIN = [(text.replace(",", "").replace(";", ""), label) for text, label in PAIRS]

DELIMITED = [
    _ok("plain", _csv(PAIRS)),
    _ok("documented header", _csv([("text", "label"), *PAIRS])),
    _ok("header of known names", _csv(_HEADED), warnings=LONE),
    _ok("header of unknown names", _csv([("Anliegen", "Rubrik"), *PAIRS]), warnings=LONE),
    _ok("label before text in the header", _csv([("label", "text"), *_SWAPPED])),
    _ok("columns swapped", _csv(_SWAPPED), warnings=frozenset({"columnsSwapped"})),
    _ok(
        "swapped and unknown names",
        _csv([("Rubrik", "Anliegen"), *_SWAPPED]),
        warnings=frozenset({"columnsSwapped", "headerGuessed"}),
    ),
    _ok("semicolons", _csv(_HEADED, ";"), warnings=LONE | {"delimiterGuessed"}),
    _ok(
        "semicolons, texts with commas, no header",
        _csv([(text.replace(";", ""), label) for text, label in PAIRS], ";"),
        warnings=frozenset({"delimiterGuessed"}),
    ),
    _ok("semicolons named by sep=", b"sep=;\n" + _csv(PAIRS, ";")),
    _ok("semicolons named by sep= in quotes", b'"sep=;"\r\n' + _csv(PAIRS, ";")),
    _ok("a title above the header", b"Tickets of May\n\n" + _csv(_HEADED), warnings=LONE),
    _ok(
        "a title above a documented header",
        _csv([("Tickets of May", ""), ("text", "label"), *PAIRS]),
        warnings=LONE,
    ),
    _ok(
        "a row without label above what may be an example",
        _csv([("Subject", ""), ("A text", "of a kind"), *PAIRS]),
        labels={"of a kind": 1, **LABELS},
        warnings=frozenset({"fewExamples"}),
        rejected=1,
    ),
    _no(
        "two columns of one name",
        _csv([("text", "text", "label"), *((text, text, label) for text, label in PAIRS)]),
        "1, 'text', or 2, 'text'",
    ),
    _ok("tabs", _csv(PAIRS, "\t"), kind="tsv"),
    _ok("vertical bars", _csv(_PLAIN, "|")),
    _ok("delimiter inside quotes", _csv([(f"a,{text}", label) for text, label in PAIRS])),
    _ok("more columns", _csv(_wide(("id", "Message", "state", "Category"))), warnings=LONE),
    _ok(
        "columns named by the caller",
        _csv(_wide(("a", "b", "c", "d"))),
        options=ReadingOptions(text_column="b", label_column="4"),
    ),
    _ok("repeated header", _csv([("text", "label"), *PAIRS, ("text", "label")]), rejected=1),
    _ok("columns by their content", _csv(_wide(("a", "b", "c", "d"))), warnings=COLUMNS),
    _ok(
        "two columns of text, one with texts",
        _csv(
            [("Subject", "Message", "Category"), *(("order", text, label) for text, label in PAIRS)]
        ),
        warnings=COLUMNS,
    ),
    _no(
        "two columns of equal texts",
        _csv([("Subject", "Message", "Category"), *((t, t, label) for t, label in PAIRS)]),
        "the field 'textColumn'",
    ),
    _no(
        "columns whose values never repeat",
        _csv(
            [("a", "b", "c"), *((n, text, f"{n} {label}") for n, (text, label) in enumerate(PAIRS))]
        ),
        "'labelColumn'",
    ),
    _ok(
        "two columns joined to a text",
        _csv([("Subject", "Body", "Queue"), *(("order", text, label) for text, label in PAIRS)]),
        options=ReadingOptions(text_column="Subject, Body", label_column="Queue"),
    ),
    _ok(
        "two members joined to a text",
        _lines({"s": "order", "b": text, "q": label} for text, label in PAIRS),
        kind="jsonl",
        options=ReadingOptions(text_column='["s", "b"]', label_column="q"),
    ),
    _ok(
        "one column named by the caller",
        _csv(_wide(("a", "b", "c", "d"))),
        options=ReadingOptions(text_column="b"),
        warnings=COLUMNS,
    ),
    _ok(
        "groups of columns above their names",
        _csv([("Message", "", "Routing", ""), *_wide(("Id", "Text", "State", "Team"))]),
        warnings=COLUMNS,
    ),
    _ok(
        "a header by its row number",
        _csv([("May", "of", "2026", "x"), *_wide(("a", "b", "c", "d"))]),
        options=ReadingOptions(header=2),
        warnings=COLUMNS,
    ),
    _ok(
        "a label that occurs once below unknown names",
        _csv([("Anliegen", "Rubrik"), *PAIRS, ("how can I close my account", "closing")]),
        labels={**LABELS, "closing": 1},
        warnings=LONE | {"fewExamples"},
    ),
    _no(
        "a column that is not there",
        _csv(_HEADED),
        "no such column",
        options=ReadingOptions(text_column="Betreff"),
    ),
    _no("one column", _csv([(text.replace(",", ""),) for text, _ in PAIRS]), "one cell"),
    _no("two delimiters", b"a b|x;c\nd e|y;f\n", "the field 'delimiter'"),
    _no(
        "fastText",
        "".join(f"__label__{label} {text}\n" for text, label in PAIRS).encode(),
        "Write text and label into two columns",
    ),
    _ok(
        "texts that begin as fastText's lines, said to be texts",
        _csv([(f"__label__ {text}", label) for text, label in PAIRS]),
        options=ReadingOptions(delimiter=","),
    ),
    _no("strict", _csv(_HEADED), "'strict' allows none", options=ReadingOptions(strict=True)),
    _no("empty", b"", "0 bytes"),
]
ODD = [
    _ok(
        "typing errors",
        _csv([*PAIRS, ("parcel lost", "shiping"), ("parcel gone", "Shipping")]),
        labels={**LABELS, "shiping": 1, "Shipping": 1},
        warnings=frozenset({"labelsAlmostEqual", "fewExamples"}),
    ),
    _ok(
        "a label per text",
        _csv([(f"text {n}", f"kind of {chr(97 + n) * 4}") for n in range(12)]),
        labels={f"kind of {chr(97 + n) * 4}": 1 for n in range(12)},
        warnings=frozenset({"labelPerText", "fewExamples"}),
    ),
    _ok(
        "contradictions",
        _csv([*PAIRS, (PAIRS[0][0], "refund")]),
        labels={"shipping": 6, "refund": 7},
        warnings=frozenset({"contradictingTexts"}),
    ),
    _ok("many duplicates", _csv([*PAIRS, *PAIRS]), warnings=frozenset({"manyDuplicates"})),
]
ENCODED = [
    _ok("UTF-8 with a mark", _csv(_HEADED, encoding="utf-8-sig"), warnings=LONE),
    _ok("UTF-16", _csv(PAIRS, "\t", "utf-16"), kind="tsv"),
    _ok(
        "Windows-1252",
        _csv([(f"“{text}”", label) for text, label in PAIRS], encoding="cp1252"),
        warnings=frozenset({"encodingGuessed"}),
    ),
    _ok("Latin-1", _csv(PAIRS, encoding="latin-1"), warnings=frozenset({"encodingGuessed"})),
    _ok(
        "Shift-JIS",
        _csv(_JAPANESE, encoding="cp932"),
        labels={"配送": 6, "返金": 6},
        warnings=frozenset({"encodingGuessed"}),
        language="ja",
    ),
    _ok(
        "GB18030",
        _csv(_CHINESE, encoding="gb18030"),
        labels={"物流": 6, "退款": 6},
        warnings=frozenset({"encodingGuessed"}),
        language="zh_CN",
    ),
    _ok(
        "Windows-1251",
        _csv(_RUSSIAN, encoding="cp1251"),
        labels={"доставка": 3, "возврат": 3},
        warnings=frozenset({"encodingGuessed", "fewExamples"}),
    ),
    _no("UTF-16 without a mark", _csv(PAIRS, encoding="utf-16-le"), "without a byte order mark"),
]
_FORMULA = '<c r="A13" t="str"><f>1+1</f><v>two parcels</v></c><c r="B13" t="str"><v>refund</v></c>'
_FAR = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
_BOOK = {"xlsx": workbook({"Tickets": sheet([("Message", "Topic"), *PAIRS])})}
WORKBOOKS = [
    _ok("workbook", _BOOK["xlsx"], kind="xlsx", warnings=LONE),
    _ok(
        "workbook with a title",
        workbook({"Tickets": sheet([("Tickets of May",), (), ("Message", "Topic"), *PAIRS])}),
        kind="xlsx",
        warnings=LONE,
    ),
    _ok(
        "workbook of which a hidden sheet comes first",
        workbook({"Lists": sheet([("x", "y")]), "Tickets": sheet(PAIRS)}, hidden="Lists"),
        kind="xlsx",
    ),
    _ok(
        "workbook of two sheets",
        workbook({"May": sheet(PAIRS), "June": sheet(PAIRS)}),
        kind="xlsx",
        warnings=frozenset({"sheetGuessed"}),
    ),
    _no(
        "a cover before the sheet",
        workbook({"Cover": sheet([("Read me",)]), "Tickets": sheet(PAIRS)}),
        "there is also 'Tickets'",
    ),
    _ok(
        "a cover of two columns before a sheet with known names",
        workbook(
            {
                "Cover": sheet([("Sheet", "Contents"), ("Tickets", "All tickets")]),
                "Tickets": sheet([("Message", "Topic"), *PAIRS]),
            }
        ),
        kind="xlsx",
        warnings=LONE | {"sheetGuessed"},
    ),
    _ok(
        "an empty sheet before the sheet",
        workbook({"Sheet1": sheet([]), "Tickets": sheet(PAIRS)}),
        kind="xlsx",
    ),
    _ok(
        "a sheet without names before one of names that explains the labels",
        workbook(
            {
                "Tickets": sheet(PAIRS),
                "Labels": sheet([("Category", "Description"), *((b, a) for a, b in PAIRS)]),
            }
        ),
        kind="xlsx",
        warnings=frozenset({"sheetGuessed"}),
    ),
    _no(
        "formulas whose results were not saved",
        workbook(
            {"a": sheet((text,) for text, _ in PAIRS).replace("</row>", "<c><f>A1</f></c></row>")}
        ),
        "formulas whose results were not saved",
    ),
    _ok(
        "workbook with a formula",
        workbook(
            {"a": sheet(PAIRS).replace("</sheetData>", f'<row r="13">{_FORMULA}</row></sheetData>')}
        ),
        kind="xlsx",
        labels={"shipping": 6, "refund": 7},
    ),
    _ok(
        "workbook with merged labels",
        workbook(
            {
                "a": sheet(
                    [
                        (text, label if n % 6 == 0 else None)
                        for n, (text, label) in enumerate(PAIRS)
                    ],
                    '<mergeCells><mergeCell ref="B1:B6"/><mergeCell ref="B7:B12"/></mergeCells>',
                )
            }
        ),
        kind="xlsx",
    ),
    _ok(
        "workbook with macros",
        workbook({"a": sheet(PAIRS)}, {"xl/vbaProject.bin": b"\0" * 99}),
        kind="xlsx",
    ),
    _ok(
        "second sheet",
        workbook({"a": sheet([("x",)]), "b": sheet(PAIRS)}),
        kind="xlsx",
        options=ReadingOptions(sheet="b"),
    ),
    _ok(
        "numbers as labels",
        workbook({"a": sheet([(t, len(k) // 8) for t, k in PAIRS])}),
        kind="xlsx",
        labels={"1": 6, "0": 6},
    ),
    _ok(
        "rows that are only formatted",
        workbook(
            {
                "a": sheet(PAIRS).replace(
                    "</sheetData>", '<row r="1048576"><c r="Z1048576" s="1"/></row></sheetData>'
                )
            }
        ),
        kind="xlsx",
    ),
    _no(
        "a cell in the far corner",
        workbook({"a": sheet(PAIRS).replace("</sheetData>", _FAR)}),
        "1,048,576 rows and 16,384 columns",
    ),
    _no("a bomb", workbook({"a": sheet(PAIRS) + " " * (101 * 1024 * 1024)}), "unpacks to more"),
    _no("encrypted workbook", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504, "password"),
    _no(
        "a document of words",
        workbook({}).replace(b"xl/workbook.xml", b"wo/document.xml"),
        "a zip archive or an office document",
    ),
    _no(
        "no such sheet",
        _BOOK["xlsx"],
        "has the sheets 'Tickets'",
        options=ReadingOptions(sheet="Kunden"),
    ),
]


def _task(text: str, *choices: str) -> dict[str, object]:
    results = [{"type": "choices", "value": {"choices": [choice]}} for choice in choices]
    return {"data": {"text": text}, "annotations": [{"result": [item]} for item in results]}


def _chat(text: str, label: str) -> dict[str, object]:
    said = [("system", "Sort it."), ("user", text), ("assistant", label)]
    return {"messages": [{"role": role, "content": content} for role, content in said]}


JSON_FILES = [
    _ok("JSONL of other names", _lines({"Message": t, "Topic": k} for t, k in PAIRS), kind="jsonl"),
    _ok(
        "JSON of documented names",
        json.dumps([{"text": t, "intent": k} for t, k in PAIRS]).encode(),
        kind="json",
    ),
    _ok(
        "members named by the caller",
        _lines({"a": t, "b": k} for t, k in PAIRS),
        kind="jsonl",
        options=ReadingOptions(text_column="a", label_column="b"),
    ),
    _ok(
        "Label Studio",
        json.dumps([*(_task(*pair) for pair in PAIRS), _task("x", "a", "b"), _task("y")]).encode(),
        kind="labelStudio",
        rejected=2,
    ),
    _ok("conversations", _lines(_chat(*pair) for pair in PAIRS), kind="jsonl"),
    _ok(
        "prompt and completion",
        _lines({"prompt": f"{t}\n\n###\n\n", "completion": f" {k}"} for t, k in PAIRS),
        kind="jsonl",
    ),
    _ok(
        "Prodigy",
        _lines(
            [
                *({"text": t, "label": k, "answer": "accept"} for t, k in PAIRS),
                {"text": "no", "label": "refund", "answer": "reject"},
            ]
        ),
        kind="jsonl",
        rejected=1,
    ),
    _no("arrays of arrays", json.dumps(PAIRS).encode(), "an array first"),
    _no("JSON of nothing known", _lines([{"a": "b", "c": "d"}]), "'textColumn' and 'labelColumn'"),
]
TEXTS = [*DELIMITED, *ODD, *ENCODED, *WORKBOOKS, *JSON_FILES]

"""Files of texts as forms, spreadsheets and tools write them: stray marks, bytes and lists."""

from __future__ import annotations

import json

from tests.corpus.case import UploadCase
from tests.corpus.texts import LABELS, PAIRS, rows_of
from tests.workbooks import sheet, workbook

MISSING = frozenset({"missingLabel"})
SEVERAL = frozenset({"severalLabels"})
MIXED = frozenset({"encodingMixed"})
HEADER = ("text", "label")
_MARKS = ("#N/A", "nan", "NULL", "None", "\\N", "-")
_MARKED = [HEADER, *PAIRS, *((f"an open ticket about {mark}", mark) for mark in _MARKS)]
_ERRORS = [HEADER, *PAIRS] + [
    (f"an open ticket about {mark}", mark)
    for mark in ("#NV", "#N/D", "#REF!", "#WERT!", "#¡VALOR!", "<NA>", "N/A", "NA")
]
_LISTS = {"shipping|urgent": 6, "refund|urgent": 6}
_FRENCH = [(f"la facture n° {number} est erronée", "Réclamation") for number in range(20)]
_FRENCH += [(f"où est le colis n° {number}", "Expédition") for number in range(20)]
_FRENCH_LABELS = {"Réclamation": 20, "Expédition": 20}


def _file(rows: list[tuple[str, str]], delimiter: str = ",") -> bytes:
    return rows_of([HEADER, *rows], delimiter).encode()


def _listed(mark: str, end: str = "") -> list[tuple[str, str]]:
    return [(text, f"{label}{mark}urgent{end}") for text, label in PAIRS]


def _ok(name: str, content: bytes, **more: object) -> UploadCase:
    return UploadCase(name, content, **{"labels": LABELS, "kind": "csv", **more})


def _book(rows: list[tuple[str, str]]) -> bytes:
    return workbook({"Tickets": sheet(rows)})


def _unquoted() -> bytes:
    """Return rows whose texts have different numbers of commas and no quotes; few have none."""
    return "\n".join(
        f"where is it{', and why' * (1 + number % 3 if number % 8 else 0)} {number},shipping"
        for number in range(40)
    ).encode()


def _french(*replaced: tuple[str, bytes]) -> bytes:
    content = _file(_FRENCH)
    for text, stray in replaced:
        content = content.replace(text.encode(), stray, 1)
    return content


def _accented(word: str = "la") -> bytes:
    """Return half of the French rows, with a header of unknown names and other texts."""
    rows = [(f"{text} pr\u00e9vu {word}", label) for text, label in _FRENCH[::2]]
    return rows_of([("Commentaire", "Rubrique"), *rows]).encode()


def _polish(encoding: str) -> bytes:
    rows = [(f"zgłoszenie {n}: paczka się spóźniła", list(_POLISH)[n % 2]) for n in range(20)]
    return rows_of([("Wiadomość", "Dział"), *rows]).encode(encoding)


def _escaped(delimiter: str) -> bytes:
    # A quoted text with a delimiter must end in its line: the next one could be a row of its own.
    more = {text: "" if delimiter in text else "\n" for text, _ in PAIRS}
    rows = [HEADER, *((f'say "{text}"{more[text]}to C:\\new', label) for text, label in PAIRS)]
    marks = str.maketrans({'"': '\\"', "\\": "\\\\"})
    lines = (delimiter.join(f'"{cell.translate(marks)}"' for cell in row) for row in rows)
    return "\n".join(lines).encode()


_COMMAS = [
    (text, (label, f"{label}, {other}")[number % 2])
    for number, (text, label) in enumerate(PAIRS)
    for other in {"shipping", "refund"} - {label}
]
_NUMBERED = list(enumerate(PAIRS))
_WORDS = ("(none)", "(blank)", "undefined", "not set", "—", "?", "keine Angabe", "未入力", "k. A.")
LONE = frozenset({"headerGuessed"})
_POLISH = {"Zwrot pieniędzy": 10, "Usterka": 10}
_STRAY = ("n° 7 est erronée", b"n\xb0 7 est erron\xe9e")
_CONTROL = ("n° 7 est erronée", b"n\xc2\xb0 7 est erron\x81e")

UNCLEAN = [
    _ok("bars in labels below a documented header", _file(_listed("|")), labels=_LISTS,
        warnings=SEVERAL),
    _ok("semicolons in labels below a documented header", _file(_listed(";")),
        labels={name.replace("|", ";"): count for name, count in _LISTS.items()}, warnings=SEVERAL),
    _ok("answers of a form that end in a semicolon", _file([(t, f"{k};") for t, k in PAIRS])),
    _ok("semicolons in texts and at the ends of labels, below names with commas", rows_of([
        ("Created", "Words", "Area"), *(
            (f"2026-05-{n + 1:02d}", text.replace(";", ".") + "; now" * (n % 3 == 0), f"{label};")
            for n, (text, label) in _NUMBERED)]).encode(),
        warnings=frozenset({"columnsGuessed", "delimiterGuessed"})),
    *(_ok(f"quotes with a backslash, {name}", _escaped(mark), kind=kind)
        for name, mark, kind in (("commas", ",", "csv"), ("tabs", "\t", "tsv"))),
    _ok("several answers of a form", _file(_listed(";", ";")),
        labels={name.replace("|", ";"): count for name, count in _LISTS.items()}, warnings=SEVERAL),
    _ok("a workbook of a form", _book([HEADER, *((t, f"{k};") for t, k in PAIRS)]),
        kind="xlsx"),
    _ok("lists of labels that share no part",
        _file([(text, f"{label}|{label} now") for text, label in PAIRS]),
        labels={"shipping|shipping now": 6, "refund|refund now": 6}, warnings=SEVERAL),
    _ok("labels with entities", _file([(text, f"{label[0]}&amp;{label}") for text, label in PAIRS]),
        labels={"s&amp;shipping": 6, "r&amp;refund": 6}),
    _ok("one label with a bar in its name",
        _file([(text, label.replace("refund", "refund|credit")) for text, label in PAIRS]),
        labels={"shipping": 6, "refund|credit": 6}),
    _ok("marks for missing labels", rows_of(_MARKED).encode(), warnings=MISSING, rejected=6),
    _ok("marks for missing labels in tabs", rows_of(_MARKED, "\t").encode(), kind="tsv",
        warnings=MISSING, rejected=6),
    _ok("marks for missing labels in a workbook", _book(_MARKED), kind="xlsx",
        warnings=MISSING, rejected=6),
    _ok("marks for missing labels in JSON",
        json.dumps([{"text": text, "label": label} for text, label in _MARKED[1:]]).encode(),
        kind="json", warnings=MISSING, rejected=6),
    _ok("cell errors in other languages and marks of programs", rows_of(_ERRORS).encode(),
        warnings=MISSING, rejected=8),
    _ok("a workbook of cell errors", _book(_ERRORS), kind="xlsx", warnings=MISSING, rejected=8),
    _ok("a label called NA", _file([*PAIRS, *((f"hello {n}", "NA") for n in range(5))]),
        labels={**LABELS, "NA": 5}, warnings=MISSING),
    _ok("a label called None", _file([*PAIRS, *((f"hello {n}", "None") for n in range(5))]),
        labels={**LABELS, "None": 5}, warnings=MISSING),
    _ok("one row of Windows-1252 in UTF-8", _french(_STRAY), labels=_FRENCH_LABELS,
        warnings=MIXED),
    _ok("one byte that is no letter in UTF-8", _french(_CONTROL),
        labels={**_FRENCH_LABELS, "Réclamation": 19}, warnings=MIXED, rejected=1),
    _ok("a last character that is cut", _french() + "où est le colis,Expédié".encode()[:-1],
        labels=_FRENCH_LABELS, warnings=MIXED, rejected=1),
    _ok("doccano", "\n".join(
        json.dumps({"id": n, "text": text, "label": [label]})
        for n, (text, label) in enumerate([*PAIRS, ("both", "a"), ("none", "b")])
    ).encode().replace(b'["a"]', b'["refund", "shipping"]').replace(b'["b"]', b"[]"),
        kind="jsonl", rejected=2),
    _ok("lists of labels with commas", _file(_COMMAS), warnings=SEVERAL | {"fewExamples"},
        labels={"shipping": 3, "refund": 3, "shipping, refund": 3, "refund, shipping": 3}),
    _ok("labels with commas in their names",
        _file([(text, f"{label}, returns") for text, label in PAIRS]),
        labels={"shipping, returns": 6, "refund, returns": 6}),
    _ok("names and questions of a survey tool", rows_of([
        ("StartDate", "ResponseId", "Q1", "Q2"), ("Start", "Response", "What is wrong?", "Area"),
        ('{"id":"start"}', '{"id":"record"}', '{"id":"QID1"}', '{"id":"QID2"}'),
        *((f"2026-05-{n + 1:02d}", f"R_{n:04d}", *pair) for n, pair in enumerate(PAIRS)),
    ]).encode(), warnings=frozenset({"columnsGuessed", "headerGuessed"})),
    _ok("a title above a header of several texts", workbook({"Tickets": sheet([
        ("Tickets of May",), (), ("Id", "Subject", "Description", "Category"),
        *((n, "hello", *pair) for n, pair in enumerate(PAIRS)),
    ])}), kind="xlsx", warnings=frozenset({"columnsGuessed"})),
    _ok("a question as a name", _file(PAIRS).replace(b"text,label", b"Message,Is it late?"),
        warnings=frozenset({"headerGuessed"})),
    _ok("Turkish of Windows", rows_of([
        ("Mesaj", "Kategori"), *((f"şu sipariş {n} yapılmadı", ("İade", "ığne")[n % 2])
        for n in range(12))], ";").encode("cp1254"), labels={"İade": 6, "ığne": 6},
        warnings=frozenset({"encodingGuessed", "headerGuessed"})),
    _ok("texts with commas and no quotes", _unquoted(), labels={"shipping": 5}, rejected=35),
    _ok("labels that end in a comma", rows_of(
        [HEADER, *((text.replace(",", ""), f"{label},") for text, label in PAIRS)]).encode()),
    _ok("labels that end in a semicolon, in tabs", rows_of(
        [("Bericht", "Team"), *((text.replace(";", ""), f"{label};") for text, label in PAIRS)],
        "\t").encode(), kind="tsv", warnings=LONE),
    _ok("labels that end in a semicolon, in a wide table", rows_of([
        ("Created", "Topic", "Message", "E-mail"), *(
            (f"2026-05-{n + 1:02d}", f"{label};", text.replace(";", ""), f"a{n}@example.org")
            for n, (text, label) in _NUMBERED)]).encode(),
        warnings=LONE),
    _ok("labels before texts with commas, in semicolons", rows_of(
        [("Setor", "Detalhe"), *((label, text.replace(";", "").replace(",", "," * (n % 4 == 0)))
            for n, (text, label) in _NUMBERED)], ";").encode(),
        warnings=frozenset({"headerGuessed", "delimiterGuessed", "columnsSwapped"})),
    _ok("as many commas in each text as in no header, in semicolons", rows_of(
        [("Text", "Agent", "Area"), *((f"where, when, {n} {text[:12]}", "xyz"[n % 3], label)
            for n, (text, label) in _NUMBERED)], ";").encode(),
        warnings=frozenset({"columnsGuessed", "delimiterGuessed"})),
    _ok("a title above two columns of csv", b"Export of May\n" + rows_of(
        [("Detalhe", "Setor"), *PAIRS]).encode(), warnings=LONE),
    _ok("a title with an empty cell above two columns of csv", rows_of(
        [("Export of May", ""), ("Detalhe", "Setor"), *PAIRS]).encode(), warnings=LONE),
    _ok("names and values above two columns of csv", rows_of(
        [("Author", "Ann"), ("Date", "2026-05-01"), ("Message", "Category"), *PAIRS]).encode(),
        warnings=LONE),
    _ok("a question of unknown words above a label that occurs once", rows_of(
        [("Was ist?", "Setor"), *PAIRS, ("an odd case of all", "odd")]).encode(),
        labels={**LABELS, "odd": 1}, warnings=LONE | {"fewExamples"}),
    _ok("numbers above two questions", rows_of(
        [("Q1", "Q2"), ("What is wrong?", "Which team?"), *PAIRS]).encode(), warnings=LONE),
    _ok("a name of a column as a text of few rows",
        _file([*PAIRS[:4], ("message", "odd"), *PAIRS[-3:]]).replace(b"text,label\r\n", b""),
        labels={"shipping": 4, "odd": 1, "refund": 3}, warnings=frozenset({"fewExamples"})),
    _ok("a row that could be names at the end of rows of its label", rows_of(
        [*((text, "contact") for text, _ in PAIRS[:5]), ("message", "contact"),
         *PAIRS[5:], *((f"{text} now", label) for text, label in PAIRS[5:])]).encode(),
        labels={"contact": 6, "shipping": 2, "refund": 12}, warnings=frozenset({"fewExamples"})),
    _ok("a row that could be names with a label of its own", rows_of(
        [*PAIRS[:3], ("message", "contact"), *PAIRS[6:], *(
            (f"{text} now", label) for text, label in PAIRS[6:])]).encode(),
        labels={"shipping": 3, "contact": 1, "refund": 12}, warnings=frozenset({"fewExamples"})),
    _ok("names and values above a known and an unknown name", rows_of(
        [("Report", ""), ("As of", "May"), ("Anfrage", "Team"), *PAIRS]).encode(), warnings=LONE),
    _ok("names and values above four columns", rows_of(
        [("Report", "Cases", "", ""), ("From", "May", "", ""), ("Nr", "Agent", "Frage", "Motivo"),
         *((n, "abc"[n % 3], *pair) for n, pair in _NUMBERED)]).encode(),
        warnings=frozenset({"columnsGuessed"})),
    _ok("a long question next to a known name above a label that occurs once", rows_of(
        [("What can we please do for you today?", "Topic"), *PAIRS, ("odd", "odd")]).encode(),
        labels={**LABELS, "odd": 1}, warnings=LONE | {"fewExamples"}),
    _ok("a wide table with its header in the middle", rows_of(
        2 * [("No.", "message", "queue"), *((n, *pair) for n, pair in _NUMBERED)]).encode(),
        warnings=frozenset({"columnsGuessed", "manyDuplicates"}), rejected=1),
    _ok("a page of facts before the table", workbook({
        "Cover": sheet([("Cases",), ("As of", "May"), ("By", "Ann")]),
        "Data": sheet([("Anfrage", "Team"), *PAIRS])}), kind="xlsx",
        warnings=LONE | {"sheetGuessed"}),
    _ok("a few examples before another table", workbook({
        "New": sheet([*PAIRS[:4], *PAIRS[-4:]]), "Old": sheet([("Anfrage", "Team"), *PAIRS])}),
        kind="xlsx", labels={"shipping": 4, "refund": 4},
        warnings=frozenset({"sheetGuessed", "fewExamples"})),
    _ok("single quotes as databases write them", "\n".join(
        "'" + "','".join(pair) + "'" for pair in [HEADER, *PAIRS]).encode()),
    _ok("labels of which half end in a semicolon, which stays", _file(
        [(text, f"{label};" if n % 4 < 2 else label) for n, (text, label) in _NUMBERED]),
        labels={"shipping": 2, "shipping;": 4, "refund": 4, "refund;": 2},
        warnings=frozenset({"fewExamples", "labelsAlmostEqual"})),
    _ok("doccano without comments", "\n".join(
        json.dumps({"id": n, "data": text, "label": [label], "Comments": []})
        for n, (text, label) in _NUMBERED).encode(), kind="jsonl",
        warnings=frozenset({"columnsGuessed"})),
    _ok("Chinese texts that are a third digits", rows_of([
        ("单号", "客户", "描述", "类别"), *(
            (f"{n:010d}", "小阿"[n % 2], f"订单12{n:02d}什么时候退款", label)
            for n, (_, label) in _NUMBERED)]).encode(), warnings=frozenset({"columnsGuessed"})),
    _ok("a question as a name above a label that occurs once",
        rows_of([("What happened?", "Category"), *PAIRS, ("an odd case of all", "odd")]).encode(),
        labels={**LABELS, "odd": 1}, warnings=LONE | {"fewExamples"}),
    _ok("labels that end in a bar", _file([(text, f"{label} |") for text, label in PAIRS])),
    _ok("labels of two parts with a slash",
        _file([(text, f"{label} / now" if n % 2 else label) for n, (text, label) in _NUMBERED]),
        labels={"shipping": 3, "refund": 3, "shipping / now": 3, "refund / now": 3},
        warnings=SEVERAL | {"fewExamples"}),
    _ok("labels as lists of programs", _file([(text, f"['{label}']") for text, label in PAIRS]),
        labels={"['shipping']": 6, "['refund']": 6}, warnings=SEVERAL),
    _ok("words for missing labels", _file([*PAIRS, *(
        (f"an open ticket about {n}", mark) for n, mark in enumerate(_WORDS))]),
        warnings=MISSING, rejected=len(_WORDS)),
    _ok("a title above two columns of a workbook", workbook({"Tickets": sheet(
        [("Tickets of May",), (), ("Frage", "Team"), *PAIRS])}), kind="xlsx", warnings=LONE),
    _ok("a subject that is always the same", rows_of([
        ("Date", "Subject", "Snippet", "Labels"),
        *((f"2026-05-{n % 28 + 1:02d}", "Re: order", f"{text} {n}", label)
        for n, (text, label) in enumerate(PAIRS * 2))]).encode(),
        labels={"shipping": 12, "refund": 12}, warnings=frozenset({"columnsGuessed"})),
    _ok("two files in one, each with mark and header",
        (_accented() + b"\xef\xbb\xbf" + _accented("du")),
        labels=_FRENCH_LABELS, warnings=LONE, rejected=1),
    _ok("French of a Mac", _accented(" le ").decode().encode("mac-roman"),
        labels={"Réclamation": 10, "Expédition": 10}, warnings=LONE | {"encodingGuessed"}),
    _ok("Polish of Windows", _polish("cp1250"), labels=_POLISH,
        warnings=LONE | {"encodingGuessed"}),
    _ok("a total below word labels", _file([*PAIRS, ("Total", "12")]), rejected=1),
    _ok("counts of the labels and a date below the table", _file(
        [*PAIRS, ("shipping", "6"), ("refund", "6"), ("Generated on", "2026-05-02 10:11")]),
        rejected=3),
    _ok("average and median below ratings", rows_of([
        ("text", "label"), *((text, "45"[n % 2]) for n, (text, _) in _NUMBERED),
        ("Average", "4"), ("Median", "4.5")]).encode(), labels={"4": 6, "5": 6}, rejected=2),
    _ok("a text about a total", _file([*PAIRS, ("The total is wrong", "refund")]),
        labels={**LABELS, "refund": 7}),
    _ok("a few rows of an unknown label", _file([*PAIRS, ("what is it", "unknown")]),
        warnings=MISSING, rejected=1),
    _ok("a row of notes below the header", workbook({"Tickets": sheet([
        ("No.", "Issue", "Category"), (None, "(text of the customer)", "(please choose)"),
        *((n, *pair) for n, pair in _NUMBERED)])}), kind="xlsx",
        warnings=LONE | {"columnsGuessed"}),
    _ok("filters above a wide table and a total below", workbook({"Report": sheet([
        ("Open cases",), ("Filtered by", "all cases"), (),
        ("Case", "Opened", "Priority", "Description", "Category"), *(
            (f"{n:06d}", f"2026-05-{n + 1:02d}", "Low", *pair) for n, pair in _NUMBERED),
        ("Total", "12"), ("Confidential",)])}), kind="xlsx", warnings=LONE, rejected=2),
    _ok("one comma in each text of a semicolon file of three columns", rows_of([
        ("Datum", "Meldung", "Art"), *((f"{n + 1}.5.2026", f"Nr. {n}, {text[:9]}", label)
            for n, (text, label) in _NUMBERED)], ";").encode(),
        warnings=frozenset({"delimiterGuessed", "columnsGuessed"})),
    _ok("Japanese texts with numbers next to names", rows_of([
        ("受付日", "担当者", "お問い合わせ内容", "種別"), *(
            (f"2026/05/{n + 1:02d}", "佐鈴田"[n % 3], f"注文{n}がまだ届いていません", label)
            for n, (_, label) in _NUMBERED)]).encode(), warnings=frozenset({"columnsGuessed"})),
    _ok("Polish of ISO", _polish("iso8859-2"), labels=_POLISH,
        warnings=LONE | {"encodingGuessed"}),
]  # fmt: skip

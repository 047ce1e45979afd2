"""Wrong values for every field of every operation of the language family."""

from __future__ import annotations

import pytest

from tests.live import INTENT, SENTIMENT, SYNC, TRAIN, UPLOAD

RETRAIN = "/v2/language/retrain"
FEEDBACK = "/v2/language/feedback"
CREATE = "/v2/language/datasets"
EXAMPLES = "/v2/language/datasets/{shop}/examples"
GROW = "/v2/language/datasets/{shop}/upload"
TOKEN = "/v2/oauth2/token"

OBJECT, LIST, YES, NUMBER, FRACTION = {"a": 1}, [1, 2], True, 12, 1.5
NO_TEXTS = (OBJECT, LIST, YES, NUMBER)
LONG = "n" * 181

NEW = {"name": "x", "type": "text-intent"}
FILE = {"path": "{honest}", "type": "text-intent"}
EXAMPLE = {"document": "x", "label": "refund"}
ASKED = {"modelId": "{model}", "document": "where"}
WRONG_CALL = {**ASKED, "expectedLabel": "refund"}
NEW_MODEL = {"name": "m", "datasetId": "{shop}"}
SAME_MODEL = {"modelId": "{model}"}

WRONG = [
    ("POST", CREATE, NEW, "name", (*NO_TEXTS, LONG, "a\x00b", "a\nb", "   ")),
    ("POST", CREATE, NEW, "type", (*NO_TEXTS, "image", "text", "TEXT-INTENT")),
    ("POST", CREATE, NEW, "labels", (*NO_TEXTS, "a,a", LONG, "a,b\x07", "a,A" + ",a" * 1000)),
    ("POST", CREATE, NEW, "labels", (",".join(map(str, range(1001))),)),
    ("POST", CREATE, NEW, "language", (*NO_TEXTS, "en", "klingon", "EN_us")),
    ("POST", SYNC, FILE, "path", (*NO_TEXTS, "x", "ftp://x/y", "http://", "file:///etc/passwd")),
    ("POST", SYNC, FILE, "type", (*NO_TEXTS, "image", "x")),
    ("POST", SYNC, FILE, "name", (*NO_TEXTS, LONG, "a\x1bb")),
    ("POST", SYNC, FILE, "language", (*NO_TEXTS, "xx")),
    ("POST", UPLOAD, FILE, "path", (OBJECT, "x")),
    ("POST", UPLOAD, FILE, "type", (OBJECT, "x")),
    ("POST", UPLOAD, FILE, "name", (OBJECT, LONG)),
    ("POST", UPLOAD, FILE, "language", (OBJECT, "xx")),
    ("PUT", GROW, {}, "path", (*NO_TEXTS, "x", "ftp://x/y")),
    ("POST", EXAMPLES, EXAMPLE, "document", (*NO_TEXTS, " \n\t", "d" * 20_001, "a\x00b")),
    ("POST", EXAMPLES, EXAMPLE, "label", (*NO_TEXTS, LONG, "a\tb")),
    ("POST", EXAMPLES, {"document": "x"}, "labelId", (OBJECT, LIST, YES, FRACTION, "x")),
    ("POST", FEEDBACK, WRONG_CALL, "modelId", NO_TEXTS),
    ("POST", FEEDBACK, WRONG_CALL, "document", (*NO_TEXTS, "  ", "d" * 20_001, "a\x00b")),
    ("POST", FEEDBACK, WRONG_CALL, "expectedLabel", (*NO_TEXTS, "unknown", "a\x00")),
    ("POST", TRAIN, NEW_MODEL, "name", (*NO_TEXTS, LONG, "\x00")),
    ("POST", TRAIN, NEW_MODEL, "datasetId", (OBJECT, LIST, YES, FRACTION, "x", "1x")),
    ("POST", TRAIN, NEW_MODEL, "epochs", (OBJECT, LIST, YES, "x", FRACTION, 0, -1, 1001, 10**30)),
    ("POST", TRAIN, NEW_MODEL, "learningRate", (OBJECT, LIST, YES, "x", 0, 0.00001, 0.1, "nan")),
    ("POST", TRAIN, NEW_MODEL, "learningRate", ("inf", -1)),
    ("POST", TRAIN, NEW_MODEL, "algorithm", (*NO_TEXTS, "object", "x")),
    ("POST", TRAIN, NEW_MODEL, "trainParams", (LIST, YES, NUMBER, "x", "[1]", "{", "12", "\x01")),
    ("POST", RETRAIN, SAME_MODEL, "modelId", NO_TEXTS),
    ("POST", RETRAIN, SAME_MODEL, "epochs", (OBJECT, "x", 0)),
    ("POST", RETRAIN, SAME_MODEL, "learningRate", (OBJECT, "x", 0)),
    ("POST", RETRAIN, SAME_MODEL, "algorithm", (OBJECT, "x")),
    ("POST", RETRAIN, SAME_MODEL, "trainParams", (LIST, "x")),
    ("POST", INTENT, ASKED, "modelId", NO_TEXTS),
    ("POST", INTENT, ASKED, "document", (*NO_TEXTS, " \r\n ", "\u2003", "d" * 20_001)),
    ("POST", INTENT, ASKED, "numResults", (OBJECT, LIST, YES, FRACTION, "x", 0, -1, "0")),
    ("POST", INTENT, ASKED, "sampleId", NO_TEXTS),
    ("POST", SENTIMENT, ASKED, "modelId", (OBJECT,)),
    ("POST", SENTIMENT, ASKED, "document", (OBJECT, " ")),
    ("POST", SENTIMENT, ASKED, "numResults", (OBJECT, 0)),
    ("POST", SENTIMENT, ASKED, "sampleId", (OBJECT,)),
]
CASES = [(*row[:4], value) for row in WRONG for value in row[4]]
REQUIRED = [
    (CREATE, {"name": "x"}, ()),
    (UPLOAD, {"path": "{honest}", "type": "text-intent"}, ()),
    (SYNC, {"path": "{honest}", "type": "text-intent"}, ()),
    (EXAMPLES, {"document": "x", "label": "refund"}, ()),
    (FEEDBACK, {"modelId": "{model}", "document": "x", "expectedLabel": "refund"}, ()),
    (TRAIN, {"name": "x", "datasetId": "{shop}"}, ()),
    (RETRAIN, {"modelId": "{model}"}, ()),
    (INTENT, {"modelId": "{model}", "document": "x"}, ()),
    (SENTIMENT, {"modelId": "{model}", "document": "x"}, ()),
]


def filled(live, value):
    """Put the real ids into a path or field."""
    if not isinstance(value, str) or "{" not in value or len(value) < 3:
        return value
    for name, real in (
        ("{shop}", live.shop["id"]),
        ("{model}", live.model_id),
        ("{label}", live.shop["labelSummary"]["labels"][0]["id"]),
        ("{honest}", live.tricks.url("/honest.csv")),
    ):
        value = value.replace(name, str(real))
    return value


@pytest.mark.parametrize(
    ("method", "path", "fields", "name", "value"),
    CASES,
    ids=[f"{p.rsplit('/', 1)[-1]}-{n}-{str(v)[:12]!r}" for _, p, _, n, v in CASES],
)
def test_wrong_value_is_a_400_that_names_the_field(live, victim, method, path, fields, name, value):
    """The text names the field at fault, and nothing is created."""
    sent = {key: filled(live, given) for key, given in fields.items()} | {name: value}

    answer = victim.json(method, filled(live, path), sent)

    answer.refused(400, "URL" if name == "path" and isinstance(value, str) else name)
    assert len(answer.message) < 600


@pytest.mark.parametrize(
    ("path", "fields", "name"),
    [(path, fields, name) for path, fields, _ in REQUIRED for name in fields],
)
@pytest.mark.parametrize("absent", ["null", "empty"])
def test_missing_field_is_a_400_that_names_it(live, victim, path, fields, name, absent):
    """A required field that is null, empty or absent is named, in JSON and in a form."""
    sent = {key: filled(live, given) for key, given in fields.items() if key != name}
    sent |= {name: None if absent == "null" else ""}
    target = filled(live, path)
    named = {"label": "labelId", "path": "path"}.get(name, name)

    victim.json("POST", target, sent).refused(400, named)
    form = {key: value for key, value in sent.items() if value is not None}
    victim.fields("POST", target, **form, ignored="x").refused(400, named)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({}, "grant_type"),
        ({"grant_type": 1}, "grant_type"),
        ({"grant_type": ["refresh_token"]}, "grant_type"),
        ({"grant_type": "password"}, "grant_type"),
        ({"grant_type": "refresh_token"}, "refresh_token"),
        ({"grant_type": "refresh_token", "refresh_token": {}}, "refresh_token"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion"),
        (
            {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": 7},
            "assertion",
        ),
        ({"grant_type": "refresh_token", "refresh_token": "x", "scope": 1}, "scope"),
        ({"grant_type": "refresh_token", "refresh_token": "x", "valid_for": [1]}, "valid_for"),
    ],
)
def test_token_fields(victim, fields, name):
    """The token endpoint names the field at fault too."""
    victim.json("POST", TOKEN, fields).refused(400, name)


def test_numbers_may_be_texts(live, maker):
    """Decimal strings count as numbers in JSON and in forms."""
    answer = maker.json("POST", TRAIN, {"name": "m", "datasetId": "999999", "epochs": "5"})
    answer.refused(404, "999999")
    maker.fields("POST", TRAIN, name="m", datasetId=" 999999 ", epochs=" 5 ").refused(404, "999999")

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
NO_TEXTS = (OBJECT, LIST, YES, NUMBER, FRACTION)
NO_NUMBERS = (OBJECT, LIST, YES, "x", "1x", "½", "١x", "0x1", "")


def wrong():
    """List method, path, whole fields, field, and the wrong values of it."""
    train = {"name": "m", "datasetId": "{shop}"}
    retrain = {"modelId": "{model}"}
    predict = {"modelId": "{model}", "document": "where"}
    feedback = {**predict, "expectedLabel": "refund"}
    example = {"document": "x", "label": "refund"}
    common = [
        ("epochs", (OBJECT, LIST, YES, "x", FRACTION, 0, -1, 1001, 10**30)),
        ("learningRate", (OBJECT, LIST, YES, "x", 0, 0.00001, 0.1, "nan", "inf", -1)),
        ("algorithm", (*NO_TEXTS, "object-detection", "intents", "retail-execution")),
        ("trainParams", (LIST, YES, NUMBER, FRACTION, "x", "[1]", "{", "12", '"a"', "\x01")),
    ]
    yield "POST", CREATE, {"name": "x", "type": "text-intent"}, [
        ("name", (*NO_TEXTS, "n" * 181, "a\x00b", "a\nb", "   ")),
        ("type", (*NO_TEXTS, "image", "text", "TEXT-INTENT")),
        ("labels", (*NO_TEXTS, "a,a", "n" * 181, "a,b\x07", ",".join(map(str, range(1001))))),
        ("language", (*NO_TEXTS, "en", "klingon", "EN_us")),
    ]
    for path in (UPLOAD, SYNC):
        yield "POST", path, {"path": "{honest}", "type": "text-intent"}, [
            ("path", (*NO_TEXTS, "x", "ftp://x/y", "http://", "file:///etc/passwd")),
            ("type", (*NO_TEXTS, "image", "x")),
            ("name", (*NO_TEXTS, "n" * 181, "a\x1bb")),
            ("language", (*NO_TEXTS, "xx")),
        ]
    yield "PUT", GROW, {"path": "{honest}"}, [("path", (*NO_TEXTS, "x", "ftp://x/y"))]
    yield "POST", EXAMPLES, example, [
        ("document", (*NO_TEXTS, " \n\t", "d" * 20_001, "a\x00b")),
        ("label", (*NO_TEXTS, "n" * 181, "a\tb", " ")),
    ]
    yield "POST", EXAMPLES, {"document": "x", "labelId": "{label}"}, [
        ("labelId", (OBJECT, LIST, YES, FRACTION, "x")),
    ]
    yield "POST", FEEDBACK, feedback, [
        ("modelId", NO_TEXTS),
        ("document", (*NO_TEXTS, "  ", "d" * 20_001, "a\x00b")),
        ("expectedLabel", (*NO_TEXTS, "unknown", " ", "a\x00")),
    ]
    yield "POST", TRAIN, train, [
        ("name", (*NO_TEXTS, "n" * 181, "\x00", " ")),
        ("datasetId", (OBJECT, LIST, YES, FRACTION, "x", "1x")),
        *common,
    ]
    yield "POST", RETRAIN, retrain, [("modelId", NO_TEXTS), *common]
    for path in (INTENT, SENTIMENT):
        yield "POST", path, predict, [
            ("modelId", NO_TEXTS),
            ("document", (*NO_TEXTS, " \r\n ", "\u2003", "d" * 20_001)),
            ("numResults", (OBJECT, LIST, YES, FRACTION, "x", 0, -1, "0")),
            ("sampleId", NO_TEXTS),
        ]


CASES = [
    (method, path, fields, name, value)
    for method, path, fields, names in wrong()
    for name, values in names
    for value in values
]
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
@pytest.mark.parametrize("absent", ["missing", "null", "empty"])
def test_missing_field_is_a_400_that_names_it(live, victim, path, fields, name, absent):
    """A required field that is absent, null or empty is named, in JSON and in a form."""
    sent = {key: filled(live, given) for key, given in fields.items() if key != name}
    if absent != "missing":
        sent[name] = None if absent == "null" else ""
    target = filled(live, path)
    named = {"label": "labelId", "path": "path"}.get(name, name)

    victim.json("POST", target, sent).refused(400, named)
    form = {key: "" if value is None else value for key, value in sent.items()}
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
        ({"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": 7}, "assertion"),
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

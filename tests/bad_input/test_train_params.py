"""`trainParams` of every broken kind, in JSON and in a form."""

from __future__ import annotations

import json

import pytest

from tests.live import SHOP, TRAIN

BAD = [
    ("trainSplitRatio", 0),
    ("trainSplitRatio", 1),
    ("trainSplitRatio", 2),
    ("trainSplitRatio", -0.5),
    ("trainSplitRatio", 1.0000001),
    ("trainSplitRatio", "x"),
    ("trainSplitRatio", "0"),
    ("trainSplitRatio", "NaN"),
    ("trainSplitRatio", "Infinity"),
    ("trainSplitRatio", [0.5]),
    ("trainSplitRatio", {}),
    ("trainSplitRatio", True),
    ("withFeedback", "x"),
    ("withFeedback", 2),
    ("withFeedback", []),
    ("withFeedback", "yes please"),
    ("withGlobalDatasetId", "x"),
    ("withGlobalDatasetId", 0),
    ("withGlobalDatasetId", -1),
    ("withGlobalDatasetId", 1.5),
    ("withGlobalDatasetId", [1, 2]),
    ("withGlobalDatasetId", 999999),
    ("withGlobalDatasetId", 2**70),
    ("augmentData", "x"),
    ("augmentData", {}),
    ("profile", "slow"),
    ("profile", 1),
    ("profile", True),
    ("outOfDomainRate", 0),
    ("outOfDomainRate", 1),
    ("outOfDomainRate", -1),
    ("outOfDomainRate", "x"),
    ("outOfDomainRate", "NaN"),
    ("outOfDomainRate", True),
    ("outOfDomainRate", [0.05]),
    ("outOfDomainRate", 1e-400),
    ("profile", ["fast"]),
    ("profile", "FAST"),
    ("unlabelled", 0),
    ("unlabelled", True),
    ("unlabelled", 1.5),
    ("unlabelled", [1]),
    ("unlabelled", "texts.csv"),
    ("unlabelled", "presage:upload/x"),
]


@pytest.mark.parametrize(("number", "name", "value"), [(n, *bad) for n, bad in enumerate(BAD)])
def test_bad_member_is_a_400_that_names_it(live, victim, number, name, value):
    """Object, text and form field are read alike; the cases take turns."""
    shop, text = live.shop["id"], json.dumps({name: value})

    if number % 3 == 0:
        answer = victim.train(shop, trainParams={name: value})
    elif number % 3 == 1:
        answer = victim.train(shop, trainParams=text)
    else:
        answer = victim.fields("POST", TRAIN, name="m", datasetId=shop, trainParams=text)

    answer.refused(400, name)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a":}',
        "{'trainSplitRatio': 0.5}",
        "trainSplitRatio=0.5",
        "[" * 100_000,
        '{"a":' * 100_000,
        "[]",
        "1",
        '"{}"',
        "true",
        '{"trainSplitRatio": NaN}',
        "\x00",
        "{}{}",
    ],
)
def test_broken_text_is_a_400(live, victim, text):
    """A text that is not a JSON object is refused by name."""
    shop = live.shop["id"]

    victim.train(shop, trainParams=text).refused(400, "trainParams", "JSON")
    victim.fields("POST", TRAIN, name="m", datasetId=shop, trainParams=text).refused(
        400, "trainParams", "JSON"
    )


ECHOES = [
    ({"trainSplitRatio": "0.7"}, {"trainSplitRatio": 0.7}),
    ({"withFeedback": "true", "unknown": [1], "x" * 1000: None}, {"withFeedback": True}),
    ({}, {}),
    ('{"withFeedback": false, "other": {"deep": []}}', {"withFeedback": False}),
    (" ", None),
]


def test_known_members_are_echoed_with_proper_types(live):
    """Unknown members are ignored; texts become numbers and booleans."""
    caller = live.caller("echoes")
    dataset = caller.upload(SHOP).ok()["id"]

    for sent, echo in ECHOES:
        assert caller.train(dataset, trainParams=sent).ok()["trainParams"] == echo

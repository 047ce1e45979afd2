"""The field `encoding` of uploads and validations. beyond.md, section 14."""

from __future__ import annotations

import pytest

from tests.pictures import draw, make_zip

URL = "/v2/language/datasets"
TYPE = ("type", b"text-intent", None)
ROWS = "text,label\nдверь открыта,дом\nсвет горит,дом\nкот спит,кот\n"


@pytest.fixture
def labels(call):
    """Return a function that validates a text in an encoding and returns labels and warnings."""

    def validate(content, *names):
        fields = [("encoding", name.encode(), None) for name in names]
        shown = call.form("POST", f"{URL}/validate", ("data", content, "a.csv"), TYPE, *fields)
        assert shown.status == 200, shown.text
        return [one["name"] for one in shown.json["labels"]], [
            one["code"] for one in shown.json["warnings"] if one["code"].startswith("encoding")
        ]

    return validate


@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ("cp1251", "Windows-1251"),
        ("koi8_r", "koi8-r"),
        ("iso8859_5", "iso-8859-5"),
        ("utf-8", "utf8"),
        ("utf-16-le", "utf-16"),
        ("utf-16-be", "utf-16-be"),
        ("utf-16", "UTF-16LE"),
    ],
)
def test_file_is_read_by_the_named_encoding(labels, codec, name):
    """Any common spelling of an encoding is accepted, without a warning about guessing."""
    assert labels(ROWS.encode(codec), name) == (["дом", "кот"], [])


def test_named_encoding_wins_over_the_recognised_one(labels, call):
    """A given encoding wins even if the bytes are valid UTF-8; upload and validation agree."""
    content = ROWS.encode()
    found, _ = labels(content, "windows-1251")
    fields = TYPE, ("encoding", b"cp1251", None)
    made = call.form("POST", f"{URL}/upload/sync", ("data", content, "a.csv"), *fields).json
    more = call.form(
        "PUT",
        f"{URL}/{made['id']}/upload",
        ("data", "text,label\nдом,новый\n".encode("cp1251"), "b.csv"),
        fields[1],
    )

    assert found == [name.encode().decode("cp1251") for name in ("дом", "кот")]
    assert [one["name"] for one in made["labelSummary"]["labels"]] == found
    assert more.status == 200, more.text


@pytest.mark.parametrize("path", ["validate", "upload", "upload/sync"])
def test_unknown_encoding_lists_the_known_ones(call, path):
    """An unknown encoding is a 400 that lists the valid ones; names are never imported."""
    for name in (b"klingon", b"base64", b"../../etc", "ütf-8".encode()):
        file = ("data", ROWS.encode(), "a.csv")
        answer = call.form("POST", f"{URL}/{path}", file, TYPE, ("encoding", name, None))
        assert (answer.status, answer.json["code"]) == (400, "invalid_parameter")
        assert "windows-1252" in answer.json["message"]


@pytest.mark.parametrize(
    ("content", "name"),
    [(b"text,label\nf\xfcr,a\n", b"utf-8"), (b"text,label\n\xff\xff,a\n", b"gbk")],
)
def test_file_in_another_encoding_is_refused(call, content, name):
    """A file that cannot be decoded with the given encoding is refused with a remedy."""
    file = ("data", content, "a.csv")
    answer = call.form("POST", f"{URL}/validate", file, TYPE, ("encoding", name, None))

    assert answer.status == 400
    assert f"The file is not {name.decode()}" in answer.json["message"]
    assert "Leave 'encoding' out" in answer.json["message"]


def test_a_few_wrong_bytes_do_not_spoil_a_named_encoding(labels):
    """A file declared as UTF-8 with one undecodable row is read, with a warning."""
    rows = b"".join(f"text,ä{n % 2}\n".encode() for n in range(300))

    assert labels(b"text,label\n" + rows + b"f\xfcr,\xc3\xa40\n", "utf-8")[1] == ["encodingMixed"]


def test_names_in_an_archive_are_read_by_the_named_encoding(call):
    """The encoding decodes file names that are not UTF-8; undecodable names refuse the file."""
    url = URL.replace("language", "vision")
    # Same length in UTF-8, so that the raw bytes can be replaced in the finished archive.
    content = make_zip({"####/1.png": draw(1), "####/2.png": draw(2), "b/1.png": draw(3)})
    content = content.replace(b"####", "крот".encode("koi8_r"))
    answers = [
        call.form(
            "POST",
            f"{url}/validate",
            ("data", content, "a.zip"),
            ("encoding", name, None),
        )
        for name in (b"koi8-r", b"cp866", b"utf-8")
    ]

    assert [one["name"] for one in answers[0].json["labels"]] == ["крот", "b"]
    assert "encodingGuessed" not in [one["code"] for one in answers[0].json["warnings"]]
    assert answers[1].json["labels"][0]["name"] == "крот".encode("koi8_r").decode("cp866")
    assert (answers[2].status, "is not utf-8" in answers[2].json["message"]) == (400, True)

"""Tests of what the command prints: errors in its own words, tables, contacts and cards."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer.main
from presage import Presage, _sources
from presage.cli import batches, context, datasets, models, options, predictions
from presage.cli.app import app, main

from tests.client.test_calls import DATASET, LISTED

MODEL, WHEN = "A" * 26, "2026-11-21T09:30:00.000+0000"
BOX = {"minX": 1, "minY": 2, "maxX": 3, "maxY": 4}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def answers() -> dict[str, Any]:
    """Return the service's answer of each path, which a test fills."""
    return {}


@pytest.fixture
def sent() -> list[bytes]:
    """Collect the bodies of all calls."""
    return []


@pytest.fixture
def presage(
    answers: dict[str, Any],
    sent: list[bytes],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run the command with a service that answers as a test says."""

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.read())
        found = answers[request.url.path.removeprefix("/v2")]
        status, members = found if isinstance(found, tuple) else (200, found)
        return httpx.Response(status, json=members)

    transport = httpx.MockTransport(answer)
    settings = {"transport": transport}
    for module in (batches, datasets, models, predictions):
        monkeypatch.setattr(
            module, "client", lambda: Presage("http://service", token="t", http=settings)
        )
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["presage", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


def command(*words: str) -> Any:
    """Return a command of `presage`."""
    found: Any = typer.main.get_command(app)
    for word in words:
        found = found.commands[word]
    return found


UPLOAD, TRAIN = ("datasets", "upload"), ("models", "train")


@pytest.mark.parametrize(
    ("words", "message", "expected"),
    [
        (
            UPLOAD,
            "Choose one with the field 'textColumn'.",
            "Choose one with the option --text-column.",
        ),
        (
            UPLOAD,
            "Send textColumn=2 and labelColumn=1 to confirm it.",
            "Send --text-column=2 and --label-column=1 to confirm it.",
        ),
        (
            UPLOAD,
            "'format' is csv, and the file is a workbook. Leave 'format' out.",
            "--format is csv, and the file is a workbook. Leave --format out.",
        ),
        (
            UPLOAD,
            "`textColumn` names no column. Columns: 'Subject', 'name', 'format'.",
            "--text-column names no column. Columns: 'Subject', 'name', 'format'.",
        ),
        (UPLOAD, "The 'data' parameter is required.", "The FILE argument is required."),
        (
            TRAIN,
            "The 'trainParams.outOfDomainRate' parameter is not valid: 2.",
            "The --param out-of-domain-rate option is not valid: 2.",
        ),
        (
            ("ocr",),
            "It needs either the 'formType' or the 'formTemplate' field.",
            "It needs either the --form-type or the --template option.",
        ),
        (
            ("batch", "run"),
            "Name the column of the texts by 'textColumn'.",
            "Name the column of the texts by --set text-column.",
        ),
        (("datasets", "show"), "Send 'textColumn' to be sure.", "Send 'textColumn' to be sure."),
    ],
)
def test_messages_name_options(words: tuple[str, ...], message: str, expected: str) -> None:
    """Fields of the API become options of the command; names in the user's file stay."""
    assert options.in_options(message, command(*words)) == expected


def test_refusals_name_options(presage: Run, answers: dict[str, Any]) -> None:
    """A refused file ends with status 1 and a remedy that the command can do."""
    message = "Choose one with the field 'textColumn'."
    answers["/language/datasets/upload"] = 400, {"message": message, "code": "invalid_upload"}
    status, _, error = presage("datasets", "upload", "http://there/t.csv")
    assert (status, error) == (1, "presage: Choose one with the option --text-column.\n")


def test_reading_options_are_sent(presage: Run, answers: dict[str, Any], sent: list[bytes]) -> None:
    """Each reading option is an option of the command; `--set` of older scripts still works."""
    answers["/language/datasets/validate"] = 400, {"message": "x"}
    named = ("--text-column", "2", "--header", "false", "--strict", "--set", "label-column=Kind")
    presage("datasets", "check", "http://there/t.csv", *named)
    members = {"textColumn": 2, "header": False, "strict": True, "labelColumn": "Kind"}
    path = {"path": "http://there/t.csv", "type": "text-intent"}
    assert json.loads(sent[0]) == {**path, **members}


@pytest.mark.parametrize(
    ("file", "output", "more", "fields"),
    [
        ("t.csv", "out.xlsx", (), {"format": "xlsx", "columns": "input"}),
        ("t.xlsx", "out.CSV", (), {"format": "csv", "columns": "input"}),
        ("t.csv", "out.csv", ("columns=answer",), {"format": "csv", "columns": "answer"}),
        ("t.jsonl?a=b.csv", "out.csv", (), {"format": "csv"}),
        ("t.csv", "out.jsonl", (), {"format": "jsonl"}),
        ("t.csv", "", ("review-below=0.5", "format=csv"), {"format": "csv", "reviewBelow": 0.5}),
        ("t.csv", "", (), {}),
    ],
)
def test_the_output_decides_the_format(
    presage: Run,
    answers: dict[str, Any],
    sent: list[bytes],
    file: str,
    output: str,
    more: tuple[str, ...],
    fields: dict[str, Any],
) -> None:
    """The ending of the output is the format of the result, with all columns of a table."""
    answers["/language/train/GlobalX"] = 404, {"message": "no model", "code": "model_not_found"}
    answers["/language/batches"] = 400, {"message": "enough seen"}
    settings = [word for one in more for word in ("--set", one)]
    place = ("--output", output) if output else ()
    presage("batch", "run", f"http://there/{file}", "--model", "GlobalX", *place, *settings)
    assert json.loads(sent[-1]) == {
        "modelId": "GlobalX", "path": f"http://there/{file}", **fields
    }  # fmt: skip


@pytest.mark.parametrize(
    ("output", "more", "text"),
    [
        ("out.txt", (), "out.txt: the name must end in .jsonl or .csv or .xlsx."),
        ("out", (), "out: the name must end in .jsonl or .csv or .xlsx."),
        ("out.csv", ("--set", "format=xlsx"), "out.csv ends in .csv, and --set format is xlsx"),
    ],
)
def test_other_outputs_are_refused(
    presage: Run, answers: dict[str, Any], sent: list[bytes], output: str, more: Any, text: str
) -> None:
    """Nothing is predicted if the name of the output does not fit a format."""
    answers["/language/train/GlobalX"] = 404, {"message": "no model", "code": "model_not_found"}
    words = ("batch", "run", "http://there/t.csv", "--model", "GlobalX", "--output", output)
    status, _, error = presage(*words, *more)
    assert (status, text in error, len(sent) <= 1) == (1, True, True), error


def test_warnings_of_batches_name_options(presage: Run, answers: dict[str, Any]) -> None:
    """A warning of a batch names the option of the command instead of the field."""
    answers["/language/train/GlobalX"] = 404, {"message": "no model", "code": "model_not_found"}
    warning = {"code": "columnsGuessed", "message": "Send 'textColumn'.", "count": 1, "places": []}
    times = {"createdAt": WHEN, "updatedAt": WHEN, "expiresAt": WHEN}
    counts = {"total": 1, "done": 0, "failed": 0}
    answers["/language/batches"] = {
        "id": "B" * 26, "name": "t", "modelId": "GlobalX", "kind": "intent", "status": "QUEUED",
        "progress": 0, "counts": counts, "format": "jsonl", "warnings": [warning], **times,
        "object": "batch",
    }  # fmt: skip
    words = ("batch", "run", "http://there/t.csv", "--model", "GlobalX", "--no-wait")
    _, said, _ = presage(*words)
    assert said.endswith("warning: Send --set text-column.\n")


def test_stored_warnings_name_options(presage: Run, answers: dict[str, Any]) -> None:
    """A warning of an earlier upload names the option of the command for uploads."""
    warning = {"code": "columnsGuessed", "message": "Send 'textColumn'.", "count": 1, "places": []}
    counts = {"seen": 1, "kept": 1, "duplicates": 0, "rejected": 0}
    receipt = {
        "id": "R", "createdAt": WHEN, "status": "SUCCEEDED", "message": None, **counts,
        "rejections": [], "warnings": [warning],
    }  # fmt: skip
    path = "/language/datasets/7"
    answers[path] = {**DATASET, "statusMsg": "SUCCEEDED"}
    answers[f"{path}/receipts"] = {"object": "list", "data": [receipt]}
    answers[f"{path}/corrections"] = {"object": "list", "data": []}
    _, said, _ = presage("datasets", "show", 7)
    assert said.endswith("  warning: Send --text-column.\n")


def test_login_uses_the_address_of_the_environment(
    presage: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without --url, login calls the service that PRESAGE_URL names, as all other commands do."""
    key = tmp_path / "key"
    key.write_text("pk_" + "a" * 43)
    monkeypatch.setenv("PRESAGE_URL", "http://127.0.0.1:1")
    _, _, error = presage("login", "--api-key-file", key)
    assert error.startswith("presage: Cannot connect to http://127.0.0.1:1.")


def test_login_uses_the_port_of_the_local_stack(
    presage: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without an address, commands call the port on which PRESAGE_PORT starts the local stack."""
    key = tmp_path / "key"
    key.write_text("pk_" + "a" * 43)
    monkeypatch.delenv("PRESAGE_URL", raising=False)
    monkeypatch.setenv("PRESAGE_LOGIN_FILE", str(tmp_path / "login.json"))
    monkeypatch.setenv("PRESAGE_PORT", "1")
    for words in (("login", "--api-key-file", key), ("version",)):
        _, _, error = presage(*words)
        assert error.startswith("presage: Cannot connect to http://127.0.0.1:1.")


def test_keys_of_the_scope_predict_predict(presage: Run, answers: dict[str, Any]) -> None:
    """A key that may not read the model's training still predicts with the model."""
    answers[f"/language/train/{MODEL}"] = 403, {"message": "no", "code": "insufficient_scope"}
    found = [{"label": "late", "probability": 0.9}]
    answers["/language/intent"] = {"probabilities": found, "object": "predictresponse"}
    status, said, _ = presage("predict", MODEL, "Where is it?")
    assert (status, said) == (0, "late 0.900\tWhere is it?\n")


def test_a_table_is_no_text(presage: Run, answers: dict[str, Any], tmp_path: Path) -> None:
    """A table is refused before any text is predicted; the error names the command for tables."""
    answers["/language/train/GlobalX"] = 404, {"message": "no model", "code": "model_not_found"}
    (tmp_path / "new.csv").write_text("text\nhello\n")
    status, _, error = presage("predict", "GlobalX", "a long text " * 99, str(tmp_path / "new.csv"))
    assert (status, "presage batch run" in error.replace("\n", " ")) == (1, True), error


def test_every_reading_option_is_described() -> None:
    """Uploads, additions and checks have a described option for each field of the service."""
    for name in ("upload", "add", "check"):
        found = {item.name: item.help for item in command("datasets", name).params}
        assert all(found[option] for option in _sources.ReadingOptions.__annotations__)


@pytest.mark.parametrize(
    "words",
    [
        ("datasets", "upload", "http://there/t.csv", "--set", "label-colum=Kind"),
        ("models", "train", "1", "--param", "profil=fast"),
    ],
)
def test_unknown_names_are_wrong_usage(
    presage: Run, sent: list[bytes], words: tuple[str, ...]
) -> None:
    """A misspelt name ends with status 2 and the known names, and nothing is sent."""
    status, _, error = presage(*words)
    assert (status, "is unknown; known: " in error, sent) == (2, True, [])


@pytest.mark.parametrize("name", ["skip-small-labels", "skip_small_labels", "skipSmallLabels"])
def test_members_are_named_as_options_or_as_in_the_api(name: str) -> None:
    """A member of trainParams may be written as the command, the client and the API write it."""
    found = context.pairs([f"{name}=true"], "--param", _sources.TrainParams.__annotations__)

    assert found == {"skip_small_labels": True}


def test_tables_are_aligned(presage: Run, answers: dict[str, Any]) -> None:
    """`--task table` prints the cells of each table in columns."""
    example = Path(__file__).parents[1] / "spec" / "examples" / "ocr_table.json"
    found = json.loads(example.read_text("utf-8"))
    answers["/vision/ocr"] = found
    url = "http://there/a.pdf"
    assert presage("ocr", url, "--task", "table")[1] == "Item  Price\nPen   2.50\n"
    found["probabilities"] *= 2
    assert presage("ocr", url, "--task", "table")[1].splitlines()[3] == "table 2, page 1:"


def test_form_prints_the_states_of_tick_boxes(
    presage: Run, answers: dict[str, Any], sent: list[bytes]
) -> None:
    """Task form asks for the states of tick boxes, and prints them after the values."""
    items = []
    for entity, text, more in (("total", "9.50", {}), ("paid", "", {"checked": False})):
        part = {"entity": entity, "text": text, "boundingBox": BOX}
        pair = {"key": part, "value": part | more, "blockId": 1, "language": "English"}
        item = {"label": "key-value", "probability": 0.9, "boundingBox": BOX}
        items.append(item | {"attributes": pair | {"pageNumber": 1}})
    answers["/vision/ocr"] = {"task": "form", "probabilities": items, "formFields": []}

    words = ("ocr", "http://there/a.png", "--task", "form", "--form-type", "w2")
    assert presage(*words)[1].splitlines() == ["0.900  total: 9.50", "0.900  paid:  (not ticked)"]
    assert b"formFields" in sent[-1]


def test_lines_without_contact_data_are_hidden(presage: Run, answers: dict[str, Any]) -> None:
    """`--task contact` hides OTHER and says so; `--all` and `--json` show everything."""
    items = [
        {
            "probability": 0.9,
            "label": text,
            "boundingBox": BOX,
            "attributes": {"tag": tag, "pageNumber": 1},
        }
        for text, tag in (("lorem", "OTHER"), ("Ann Lee", "PERSON"))
    ]
    answers["/vision/ocr"] = {"task": "contact", "probabilities": items}
    words = ("ocr", "http://there/a.png", "--task", "contact")

    _, out, error = presage(*words)
    assert (out, error[:2]) == ("0.900  PERSON: Ann Lee\n", "1 ")
    _, out, error = presage(*words, "--all")
    assert (len(out.splitlines()), error) == (2, "")
    assert len(json.loads(presage(*words, "--json")[1])["probabilities"]) == 2


def test_cards_show_threshold_and_accuracy_of_each_label(
    presage: Run, answers: dict[str, Any]
) -> None:
    """The card of a multi-label model has a line for each label."""
    share = {"value": 0.95, "low": 0.9, "high": 0.98, "level": 0.95, "examples": 40}
    answers[f"/language/models/{MODEL}/card"] = {
        "modelId": MODEL,
        "name": "rooms",
        "language": "N/A",
        "createdAt": WHEN,
        "trainedOn": {},
        "engine": {"thresholds": {"indoor": 0.41}},
        "artifactSha256": "",
        "metrics": {"testAccuracies": {"indoor": share, "people": None}},
        "advice": [{"code": "moreExamples", "message": "Add examples.", "expectedGain": 0.012}],
        "limits": "Trained on 40 images.",
        "object": "card",
    }
    lines = presage("models", "card", MODEL)[1].splitlines()
    assert [line.split() for line in lines[2:5]] == [
        ["THRESHOLD", "ACCURACY", "LABEL"],
        ["0.410", "95.0%", "(90.0%", "to", "98.0%)", "indoor"],
        ["none", "not", "measured", "people"],
    ]
    assert lines[5:] == ["advice (+1.2%): Add examples.", "Trained on 40 images."]


def _card_with(*thresholds: dict[str, Any]) -> dict[str, Any]:
    return {
        "modelId": MODEL,
        "name": "rooms",
        "language": "N/A",
        "createdAt": WHEN,
        "trainedOn": {},
        "engine": {},
        "artifactSha256": "",
        "metrics": {},
        "limits": "",
        "object": "card",
        "thresholds": list(thresholds),
    }


def _target(precision: float, threshold: float | None, coverage: float) -> dict[str, Any]:
    ends = {"coverageLow": coverage / 2, "coverageHigh": coverage / 2 + 0.5}
    return {"precision": precision, "threshold": threshold, "coverage": coverage, **ends}


def test_cards_show_labels_that_were_left_out(presage: Run, answers: dict[str, Any]) -> None:
    """Labels that `skipSmallLabels` left out are listed with their numbers of examples."""
    skipped = [{"name": "Lost", "numExamples": 1}, {"name": "Other", "numExamples": 3}]
    answers[f"/language/models/{MODEL}/card"] = {**_card_with(), "skippedLabels": skipped}

    lines = presage("models", "card", MODEL)[1].splitlines()

    assert "labels left out, with their examples: Lost (1), Other (3)" in lines


def test_cards_show_thresholds_for_target_precisions(presage: Run, answers: dict[str, Any]) -> None:
    """Each target has its threshold and coverage; one that no answers reach has none."""
    answers[f"/language/models/{MODEL}/card"] = _card_with(
        _target(0.9, 0.31, 0.8), _target(0.95, None, 0.0)
    )
    lines = presage("models", "card", MODEL, "--thresholds")[1].splitlines()
    assert [line.split() for line in lines] == [
        ["PRECISION", "THRESHOLD", "COVERAGE", "LABEL"],
        ["90.0%", "0.310", "80.0%", "(40.0%", "to", "90.0%)", "all"],
        ["95.0%", "none", "0.0%", "(0.0%", "to", "50.0%)", "all"],
    ]


@pytest.mark.parametrize(
    ("asked", "code", "first"),
    [
        (("0.9", "0.8"), 0, "pass  coverage 80.0% at threshold 0.310, wanted 80.0%"),
        (("0.9", "0.81"), 1, "FAIL  coverage 80.0% at threshold 0.310, wanted 81.0%"),
        (("0.95", "0"), 1, "FAIL  coverage 0.0% at threshold none, wanted 0.0%"),
    ],
)
def test_check_fails_below_the_coverage(
    presage: Run, answers: dict[str, Any], asked: tuple[str, str], code: int, first: str
) -> None:
    """CI stops when too little is answered, or no threshold reaches the precision."""
    answers[f"/language/models/{MODEL}/card"] = _card_with(
        _target(0.9, 0.31, 0.8), _target(0.95, None, 0.0)
    )
    words = ("models", "check", MODEL, "--precision", asked[0], "--coverage", asked[1])
    ended, out, _ = presage(*words)
    assert (ended, out.splitlines()[0]) == (code, first)


def test_check_examines_every_label(presage: Run, answers: dict[str, Any]) -> None:
    """One label below the coverage fails the model."""
    answers[f"/language/models/{MODEL}/card"] = _card_with(
        {**_target(0.9, 0.31, 0.8), "label": "indoor"},
        {**_target(0.9, 0.35, 0.3), "label": "people"},
    )
    words = ("models", "check", MODEL, "--precision", "0.9", "--coverage", "0.5")
    ended, out, _ = presage(*words)
    assert ended == 1
    assert [line[:12] for line in out.splitlines()] == ["pass  indoor", "FAIL  people"]


def test_check_refuses_what_the_card_does_not_have(presage: Run, answers: dict[str, Any]) -> None:
    """Another precision, or a card without thresholds, is wrong usage and says what to do."""
    words = ("models", "check", MODEL, "--coverage", "0.5", "--precision")
    answers[f"/language/models/{MODEL}/card"] = _card_with(_target(0.9, 0.31, 0.8))
    ended, _, error = presage(*words, "0.8")
    assert (ended, "Use 0.90." in error) == (2, True)
    answers[f"/language/models/{MODEL}/card"] = _card_with()
    ended, _, error = presage(*words, "0.9")
    assert (ended, "Train the model again" in error) == (2, True)


@pytest.mark.parametrize(
    "words", ["--profile shop usage", "usage --profile shop", "usage --profile=shop"]
)
def test_profile_stands_anywhere(words: str, presage: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile is found before and behind the command."""
    monkeypatch.setenv("PRESAGE_LOGIN_FILE", "/nowhere/login.json")

    status, _, error = presage(*words.split())

    assert (status, "has no profile 'shop'" in error) == (2, True)


@pytest.mark.parametrize("words", ["usage --profile", "usage --profile --json"])
def test_a_profile_without_a_name_is_refused(words: str, presage: Run) -> None:
    """Neither the command nor another option is taken as the name of a profile."""
    status, _, error = presage(*words.split())

    assert (status, "--profile" in error) == (2, True)


@pytest.mark.parametrize("name", ["mail.txt", "mail", "mail.eml"])
def test_text_of_a_file_is_predicted(
    name: str, presage: Run, answers: dict[str, Any], sent: list[bytes], tmp_path: Path
) -> None:
    """A text file stands for its text, whatever its name, in predictions and in feedback."""
    mail = tmp_path / name
    mail.write_text("\ufeffI love it", "utf-8")
    found = {"probabilities": [{"label": "positive", "probability": 0.9}]}
    answers["/language/sentiment"] = found
    more = {"learningRate": 0, "epochs": 1, "trainParams": None, "trainStats": None}
    answers[f"/language/train/{MODEL}"] = LISTED | more
    answers["/language/feedback"] = 400, {"message": "no", "code": "invalid_parameter"}

    status, out, error = presage("sentiment", mail)
    assert (status, out) == (0, f"positive 0.900\t{mail}\n"), error
    assert b'"document":"I love it"' in sent[-1]
    status, _, error = presage("feedback", MODEL, mail, "late")
    assert (status, error) == (1, "presage: no\n")
    assert b'"document":"I love it"' in sent[-1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("my mails.csv", b"text", "presage batch run '{}' --model CommunitySentiment"),
        ("mails.json", b"[]", "presage batch run {} --model CommunitySentiment"),
        ("scan.dat", b"\xff\xfe\xfd", "{} is not a readable text file"),
        ("empty.txt", b" \n", "{} has no text."),
        (".", b"", "{} is a folder."),
    ],
)
def test_files_without_a_text_are_refused(
    name: str, content: bytes, message: str, presage: Run, sent: list[bytes], tmp_path: Path
) -> None:
    """Tables, other files and folders are refused before the call; their names are no texts."""
    place = tmp_path / name
    if name != ".":
        place.write_bytes(content)
    status, _, error = presage("sentiment", place)
    assert (status, message.format(place) in error, sent) == (1, True, []), error


def test_form_template_of_a_batch_is_a_file_or_json(
    presage: Run, answers: dict[str, Any], sent: list[bytes], tmp_path: Path
) -> None:
    """`--set form-template` is the path of a JSON file, or the JSON itself."""
    answers["/language/train/OCRModel"] = 404, {"message": "no", "code": "model_not_found"}
    answers["/vision/batches"] = 400, {"message": "no", "code": "invalid_parameter"}
    (tmp_path / "new.zip").write_bytes(b"PK")
    words = ("batch", "run", tmp_path / "new.zip", "--model", "OCRModel", "--set")
    (tmp_path / "t.json").write_text('{"keys": []}')
    for template in (tmp_path / "t.json", '{"keys": []}'):
        assert presage(*words, f"form-template={template}")[0] == 1
        assert b'{"keys": []}' in sent[-1]
    _, _, error = presage(*words, "form-template=none.json")
    assert error.startswith("presage: The template none.json cannot be read")


@pytest.mark.parametrize(
    ("model", "name", "command"),
    [
        ("OCRModel", "one.pdf", "ocr"),
        ("tabulatev2", "one.tif", "ocr"),
        ("FoodImageClassifier", "one.PNG", "predict FoodImageClassifier"),
    ],
)
def test_batch_of_a_single_file_names_the_command(
    model: str, name: str, command: str, presage: Run, answers: dict[str, Any], tmp_path: Path
) -> None:
    """A batch of one image or document is refused with the command that reads the file."""
    answers[f"/language/train/{model}"] = 404, {"message": "no", "code": "model_not_found"}
    (tmp_path / name).write_bytes(b"x")
    status, _, error = presage("batch", "run", tmp_path / name, "--model", model)
    assert (status, f"`presage {command} {tmp_path / name}`" in error) == (1, True), error

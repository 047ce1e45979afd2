"""The command `presage` against the whole service: output and exit status."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import re
import stat
import subprocess
import sys

import pytest
from PIL import Image
from presage.cli.app import main

from tests.flows.pictures import fruit_scenes, scenes_zip
from tests.flows.presage_client import WEATHER
from tests.flows.presage_client.bad_network import answered


@pytest.fixture
def presage(world, account, tmp_path, monkeypatch, capfd):
    """Run the command as a logged-in user; return exit status, output and errors."""
    key = tmp_path / "key.pem"
    key.write_text(account[1])
    for name in [name for name in os.environ if name.startswith("PRESAGE_")]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PRESAGE_LOGIN_FILE", str(tmp_path / "login.json"))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["presage", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as ended:
            main()
        said = capfd.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    status, _, error = run(
        "login", "--email", account[0], "--key-file", key, "--url", world.stack.url
    )
    assert status == 0, error
    return run


def test_login_remembers_where_the_key_is_and_not_the_key(presage, tmp_path):
    """Only its owner can read the login file, which holds no key; --json prints the same."""
    file = tmp_path / "login.json"
    known = json.loads(file.read_text())
    words = ("--email", known["email"], "--key-file", known["key_file"], "--url", known["url"])
    assert json.loads(presage("login", *words, "--json")[1]) == known
    assert set(json.loads(presage("version", "--json")[1])) == {"presage-client", "service"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "PRIVATE" not in file.read_text()


def test_whoami_names_the_account(presage, account):
    """`whoami` prints account, plan and service; --json prints the record."""
    status, said, _ = presage("whoami")
    record = json.loads(presage("whoami", "--json")[1])

    assert (status, said.startswith(f"{account[0]} (account {record['id']}, plan ")) == (0, True)
    assert (record["email"], record["scope"], record["object"]) == (account[0], "all", "account")


def come_and_go(presage, model_id, file):
    """Export a model and import it again."""
    assert presage("models", "export", model_id, file)[0] == 0
    status, out, error = presage("models", "import", file, "--name", "theirs", "--json")
    assert (status, json.loads(out)["status"]) == (0, "SUCCEEDED"), error


def retrained(presage, model: str) -> int:
    """Retrain a model with options and a file of unlabelled texts; return the status."""
    params = ("--param", "profile=fast", "--param", f"unlabelled={WEATHER}")
    return presage("models", "retrain", model, *params)[0]


def test_from_a_file_to_a_prediction(presage, tmp_path):
    """From upload to prediction by commands alone; --json prints the service's answers."""
    status, out, _ = presage("datasets", "upload", WEATHER, "--json")
    data = json.loads(out)
    assert (status, data["totalExamples"]) == (0, 73)
    status, out, _ = presage("models", "train", data["id"], "--name", "weather", "--json")
    model = json.loads(out)
    assert (status, model["status"]) == (0, "SUCCEEDED")
    status, out, _ = presage("predict", model["modelId"], "-", stdin="is it hot\nwill it snow\n")
    assert (status, len(out.splitlines())) == (0, 2)
    assert (
        "hot" in presage("predict", model["modelId"], "is it hot", "--explain")[1].splitlines()[3]
    )
    assert "73 kept, 1 duplicates" in presage("datasets", "show", data["id"])[1]
    assert model["modelId"] in presage("models", "list", data["id"])[1]
    assert model["modelId"] in presage("models", "list", "--name", "weather")[1]
    assert presage("models", "list", data["id"], "--name", "x")[0] == 2
    assert "accuracy on held-out" in presage("models", "card", model["modelId"])[1]
    assert "TRUE" in presage("models", "card", model["modelId"], "--matrix")[1]
    assert "%" in presage("models", "curve", model["modelId"])[1]
    status, out, _ = presage("models", "evaluation", model["modelId"], "-n", "5")
    assert (status, len(out.splitlines())) == (0, 6)
    label = data["labelSummary"]["labels"][0]["name"]
    assert label in presage("feedback", model["modelId"], "foggy?", label)[1]
    assert presage("models", "wait", model["modelId"])[0] == 0
    assert retrained(presage, model["modelId"]) == 0
    come_and_go(presage, model["modelId"], tmp_path / "model.zip")
    status, out, error = presage("models", "adjust", model["modelId"], WEATHER, "--with-feedback")
    assert (status, model["modelId"] in out) == (0, True), error
    assert str(data["id"]) in presage("datasets", "list")[1]
    assert presage("models", "delete", model["modelId"])[0] == 0
    assert presage("datasets", "add", data["id"], WEATHER)[0] == 0
    assert presage("datasets", "delete", data["id"])[0] == 0


def test_files_are_checked_before_and_exported_after(presage, tmp_path):
    """`check` shows what an upload would become, `browse` its examples, `export` its file."""
    table = tmp_path / "table.csv"
    rows = [f"{label};text {label} {n};{n}" for n in range(6) for label in ("up", "down")]
    table.write_text("\r\n".join(["Kind;Words;Number", *rows, "odd;;9", ""]))
    reading = ("--set", "text-column=Words", "--set", "label-column=Kind")
    status, out, error = presage("datasets", "check", table, *reading)
    assert (status, "12 kept" in out, "1 rejected" in out) == (0, True, True), (out, error)
    assert presage("datasets", "check", table, *reading, "--json")[1].startswith('{"format"')
    shown = presage("datasets", "check", table, *reading, "--preview")[1]
    assert "text up 0" in shown
    assert "the label is missing" not in shown
    assert [line.split()[:2] for line in shown.splitlines() if "Kind" in line] == [["1", "Kind"]]
    wide = tmp_path / "wide.csv"
    wide.write_text("\n".join(["P,Q,R", *(f"word {n},word {n},word {n}" for n in range(9))]))
    status, out, error = presage("datasets", "check", wide, "--preview")
    assert (status, [line.split()[:2] for line in out.splitlines()[-3:]]) == (
        1,
        [["1", "P"], ["2", "Q"], ["3", "R"]],
    ), (out, error)
    (tmp_path / "one.csv").write_text("a text,alone\n")
    status, out, _ = presage("datasets", "check", tmp_path / "one.csv")
    assert (status, "cannot be trained" in out) == (1, True)
    data = json.loads(presage("datasets", "upload", table, *reading, "--json")[1])["id"]
    shown = presage("datasets", "browse", data, "--label", "up", "-n", 3)[1]
    assert [line.split("\t")[1:] for line in shown.splitlines()] == [
        ["up", f"text up {number}"] for number in range(3)
    ]
    assert "has no label 'left'" in presage("datasets", "browse", data, "--label", "left")[2]
    file = tmp_path / "back.csv"
    status, out, error = presage("datasets", "export", data, "--output", file)
    assert (status, "12 examples" in out) == (0, True), error
    assert file.read_text().splitlines()[1] == "text up 0,up"
    assert presage("datasets", "export", data, "-o", file)[::2] == (
        1,
        f"presage: {file} already exists: --force overwrites it.\n",
    )
    assert presage("datasets", "export", data, "-o", file, "--force", "--format", "jsonl")[0] == 0
    assert "cannot be written" in presage("datasets", "export", data, "-o", "/no/x.csv")[2]


def test_boxes_of_a_picture_are_replaced(presage, tmp_path):
    """`fix --boxes` needs a JSON file and no other correction; errors name the problem."""
    (tmp_path / "scenes.zip").write_bytes(scenes_zip(fruit_scenes(1)))
    kind = ("--type", "image-detection")
    data = json.loads(presage("datasets", "upload", tmp_path / "scenes.zip", *kind, "--json")[1])
    number = presage("datasets", "browse", data["id"])[1].split("\t")[0]
    label = data["labelSummary"]["labels"][0]["name"]
    file = tmp_path / "boxes.json"
    file.write_text(json.dumps([{"label": label, "x": 1, "y": 1, "width": 9, "height": 9}]))
    status, out, error = presage("datasets", "fix", data["id"], "--boxes", f"{number}={file}")
    removed = data["totalExamples"]
    assert (status, out) == (0, f"1 new, {removed} removed, 0 moved\n"), error
    assert f"0 moved, 1 new, {removed} removed" in presage("datasets", "show", data["id"])[1]
    assert len(json.loads(presage("datasets", "show", data["id"], "--json")[1])["corrections"]) == 1
    item = f"{number}={file}"
    assert presage("datasets", "fix", data["id"], "--boxes", item, "--remove", number)[0] == 2
    assert presage("datasets", "fix", data["id"], "--boxes", "x=y")[0] == 2
    assert "not a JSON file" in presage("datasets", "fix", data["id"], "--boxes", f"{number}=/x")[2]


def test_failed_uploads_are_cleared_away(presage, tmp_path):
    """Failed uploads are listed as failed and removed with one command."""
    broken = tmp_path / "broken.csv"
    broken.write_text("only one column\n")
    assert presage("datasets", "upload", broken)[0] == 1
    assert "  broken\n" in presage("datasets", "list", "--status", "FAILED")[1]
    assert " datasets are being deleted" in presage("datasets", "delete", "--failed")[1]
    assert "  broken\n" not in presage("datasets", "list", "--status", "FAILED")[1]
    assert presage("datasets", "delete")[0] == 2


def test_curves_and_matrices_are_drawn(presage, tmp_path):
    """With --plot, learning curves and confusion matrices are saved as PNG files."""
    data = json.loads(presage("datasets", "upload", WEATHER, "--json")[1])["id"]
    model = json.loads(presage("models", "train", data, "--json")[1])["modelId"]
    for words in (("curve", model), ("card", model, "--matrix")):
        file = tmp_path / f"{words[0]}.png"
        status, _, error = presage("models", *words, "--plot", file)
        assert status == 0, error
        with Image.open(file) as picture:
            assert picture.format == "PNG"


def test_ends_tell_what_went_wrong(presage, tmp_path):
    """Errors are one line, with exit code 1 for refused, 2 for wrong usage, 3 for no answer."""
    for words, status, text in (
        (("datasets", "show", "1"), 1, "dataset"),
        (("datasets", "upload", tmp_path / "absent.csv"), 1, "No such file"),
        (("datasets", "upload", tmp_path), 1, "has no PNG or JPEG"),
        (("datasets", "show", "abc"), 2, "valid integer"),
        (("login", "--email", "a@b.example", "--key-file", tmp_path / "none.pem"), 2, "read"),
        (("models", "train", "1", "--param", "x"), 2, "NAME=VALUE"),
    ):
        ended, _, error = presage(*words)
        assert (ended, text in error) == (status, True), error
    login = tmp_path / "login.json"
    login.write_text(json.dumps({**json.loads(login.read_text()), "url": "http://127.0.0.1:9"}))
    ended, _, error = presage("usage")
    assert (ended, error.count("\n")) == (3, 1)


def test_recorded_calls_are_compared(presage, tmp_path):
    """Recorded answers of another service are replayed; agreement has a confidence interval."""
    data = json.loads(presage("datasets", "upload", WEATHER, "--json")[1])["id"]
    model = json.loads(presage("models", "train", data, "--json")[1])["modelId"]
    text = "Will it rain tomorrow?"
    label = json.loads(presage("predict", model, text, "--json")[1])["probabilities"][0]["label"]
    calls = [
        {
            "path": "/v2/language/intent",
            "fields": {"modelId": "OLD", "document": text},
            "answer": {"probabilities": [{"label": said, "probability": 0.8}]},
        }
        for said in (label, "something else")
    ]
    recorded = tmp_path / "recorded.jsonl"
    recorded.write_text("\r\n".join(map(json.dumps, calls)))
    words = ("compare", "--old", recorded, "--model", f"OLD={model}", "--json")
    found = json.loads(presage(*words)[1])
    assert (found["calls"], found["agree"]) == (2, 1)
    assert found["interval"][0] < 0.5 < found["interval"][1]
    recorded.write_text("{}")
    assert "line 1" in presage("compare", "--old", recorded)[2]


def test_closed_pipes_end_quietly(presage, tmp_path):
    """A closed pipe, as in `presage … | head`, is not an error, for help and for data."""
    for words in (["datasets", "--help"], ["datasets", "list"], ["datasets", "list", "--json"]):
        with process(tmp_path, *words) as run:
            run.stdout.close()
            assert run.stderr.read() == b""
            assert run.wait(60) == 0 or words[-1] == "--help"


def test_narrow_terminals_and_those_without_colour_are_heeded(presage, tmp_path):
    """At 40 columns help is neither wider nor cut off, and NO_COLOR disables colours."""
    for words in (["--help"], ["datasets", "upload", "--help"], ["models", "train", "x"]):
        with process(tmp_path, *words) as run:
            out, error = (said.decode() for said in run.communicate(timeout=60))
        assert max((len(line) for line in out.splitlines()), default=0) <= 40
        assert "\x1b[" not in out + error
        assert "\N{HORIZONTAL ELLIPSIS}" not in out + error


def test_people_see_how_far_a_folder_is(presage, tmp_path):
    """A terminal shows the progress of packing and reading; --id prints only the id."""
    for number in range(12):
        picture = tmp_path / "signs" / ("round", "square")[number % 2] / f"{number}.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (number, 99, 9)).save(picture)
    ours, theirs = pty.openpty()
    words = ("datasets", "upload", str(tmp_path / "signs"), "--id")
    with process(tmp_path, *words, stderr=theirs, TERM="xterm", COLUMNS="80") as run:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # a terminal reports the last writer's end so
            while part := os.read(ours, 4096):
                seen += part
        shown = seen.decode()
        assert (run.wait(60), run.stdout.read().strip().isdigit()) == (0, True)
    os.close(ours)
    assert re.search(r"Packing signs\D+100%", shown)
    assert "Reading signs" in shown


def process(folder, *words, stderr=subprocess.PIPE, **variables):
    """Start the command on a narrow terminal without colours."""
    environment = {
        **os.environ,
        "PYTHONPATH": "client/src",
        "NO_COLOR": "1",
        "COLUMNS": "40",
        "PRESAGE_LOGIN_FILE": str(folder / "login.json"),
        **variables,
    }
    command = [sys.executable, "-m", "presage", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, env=environment)


def test_wrong_addresses_are_reported(presage, monkeypatch, network, tmp_path):
    """An invalid URL is wrong usage; one of another server reports that no service answers."""
    for url in ("ftp://x", "http://", "http://[", "presage.example", "http://a b"):
        monkeypatch.setenv("PRESAGE_URL", url)
        status, _, error = presage("usage")
        assert (status, error.count("\n")) == (2, 1), error
    monkeypatch.setenv("PRESAGE_URL", network.url)
    network.faults = [answered(200, b"<html>", Content_Type="text/html")]
    status, _, error = presage("usage")
    assert (status, "check the address" in error) == (3, True)
    monkeypatch.setenv("PRESAGE_TOKEN", "no\ttoken")
    assert presage("usage")[0] == 2


def test_wrong_keys_and_unwritable_places_are_reported(presage, monkeypatch, world, tmp_path):
    """A wrong key and an unwritable login file are each reported in one line."""
    login = ("login", "--key-file", tmp_path / "key.pem", "--url", world.stack.url, "--email")
    status, _, error = presage(*login, "unknown@flows.example")
    assert (status, error.count("\n")) == (1, 1)
    monkeypatch.setenv("PRESAGE_LOGIN_FILE", "/proc/none/login.json")
    status, _, error = presage(*login, str(world.new_email()))
    assert status == 1
    monkeypatch.setenv("PRESAGE_LOGIN_FILE", str(tmp_path / "key.pem" / "login.json"))
    status, _, error = presage("usage")
    assert (status, error.count("\n")) == (2, 1)


def test_windows_line_ends_are_line_ends(presage, tmp_path):
    """Files and standard input with CRLF line ends are read like others."""
    file = tmp_path / "windows.csv"
    file.write_bytes("".join(f"{k} {n},{k}\r\n" for n in range(6) for k in ("up", "down")).encode())
    data = json.loads(presage("datasets", "upload", file, "--json")[1])
    assert {item["name"] for item in data["labelSummary"]["labels"]} == {"up", "down"}
    model = json.loads(presage("models", "train", data["id"], "--json")[1])["modelId"]
    out = presage("predict", model, "-", stdin="up 1\r\ndown 2\r\n")[1]
    assert [line.partition("\t")[2] for line in out.splitlines()] == ["up 1", "down 2"]


def test_completion_is_offered():
    """Shell completion is available."""
    environment = {**os.environ, "PYTHONPATH": "client/src", "_PRESAGE_COMPLETE": "complete_bash"}
    environment |= {"COMP_WORDS": "presage datasets ex", "COMP_CWORD": "2"}
    command = [sys.executable, "-m", "presage"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.stdout.split() == ["export"]


def test_api_key_signs_in_and_ends(presage, tmp_path, monkeypatch, world):
    """A new API key is stored in a file, used in calls, and refused once it is deleted."""
    file = tmp_path / "api.key"
    status, out, _ = presage("keys", "create", "shop", "--scope", "predict", "--output", file)
    key_id, secret = out.split()[1], file.read_text().strip()
    assert (status, stat.S_IMODE(file.stat().st_mode)) == (0, 0o600)
    assert secret not in out
    assert presage("keys", "create", "other", "--output", file)[0] == 2
    assert file.read_text().strip() == secret
    assert len(json.loads(presage("keys", "list", "--json")[1].splitlines()[0])) > 0

    signed = presage("--profile", "shop", "login", "--api-key-file", file, "--url", world.stack.url)
    assert signed[0] == 0, signed
    assert secret not in f"{signed}{(tmp_path / 'login.json').read_text()}"
    assert "scope predict" in presage("--profile", "shop", "whoami")[1]
    assert "scope" not in presage("whoami")[1]
    monkeypatch.setenv("PRESAGE_PROFILE", "shop")
    assert presage("datasets", "list")[0] == 1
    assert "scope" in presage("datasets", "list")[2]
    monkeypatch.delenv("PRESAGE_PROFILE")
    monkeypatch.setenv("PRESAGE_API_KEY", secret)
    assert "scope predict" in presage("whoami")[1]
    assert presage("keys", "list")[0] == 1
    monkeypatch.delenv("PRESAGE_API_KEY")

    wrong = presage("keys", "delete", secret)
    assert (wrong[0], secret in wrong[2]) == (2, False)
    assert presage("keys", "delete", key_id)[0] == 0
    status, _, error = presage("--profile", "shop", "usage")
    assert (status, "revoked" in error, secret in error) == (1, True, False)


def test_logout_removes_a_login(presage, tmp_path):
    """`logout` removes the default login or a profile; the key file stays."""
    assert presage("--profile", "none", "usage")[0] == 2
    assert presage("logout")[0] == 0
    status, _, error = presage("usage")
    assert (status, "presage login" in error) == (2, True)
    assert not (tmp_path / "login.json").exists()
    assert (tmp_path / "key.pem").exists()
    assert presage("logout")[0] == 0


def test_new_key_is_printed_once(presage):
    """Without a file the new key is printed once; the list shows its first characters."""
    made = json.loads(presage("keys", "create", "printed", "--json")[1])
    assert presage("keys", "list")[1].count(made["prefix"]) == 1
    assert made["secret"] not in presage("keys", "list", "--json")[1]
    assert json.loads(presage("keys", "delete", made["id"], "--json")[1])["id"] == made["id"]
    status, _, error = presage("keys", "create", "a" * 65)
    assert (status, "64" in error) == (1, True)

"""The client and the command, as people have them, against the deployed stage."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from presage import NotFoundError, Presage

from tests.deployed.client import SECONDS
from tests.deployed.stage import Deployment
from tests.flows.presage_client import WEATHER

EMAIL = "person@deployed.example"
QUESTION = "will it rain tomorrow"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def key(stage: Deployment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The private key of a person whom the administrator gave an account."""
    file = tmp_path_factory.mktemp("person") / "key.pem"
    place = {"PRESAGE_NAME": stage.name, "PRESAGE_BUCKET": stage.bucket}
    words = ("create", EMAIL, "--plan", "GOLD", "--key-file", str(file))
    done = stage.command("infra.accounts", *words, **place)
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture
def presage(stage: Deployment, key: Path) -> Iterator[Presage]:
    """The client."""
    with Presage(stage.url, EMAIL, key) as made:
        yield made


@pytest.fixture
def command(stage: Deployment, key: Path, tmp_path: Path) -> Callable[..., str]:
    """Run the command as that person, who has logged in; returns what it printed."""
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    own |= {"PYTHONPATH": "client/src", "PRESAGE_LOGIN_FILE": str(tmp_path / "login.json")}

    def run(*words: str) -> str:
        line = [sys.executable, "-m", "presage", *words]
        done = subprocess.run(line, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    run("login", "--url", stage.url, "--email", EMAIL, "--key-file", str(key))
    return run


def test_from_a_large_file_to_a_prediction(presage: Presage, monkeypatch: pytest.MonkeyPatch):
    """A file that goes by a form into the bucket is read, trained and asked, and then deleted."""
    monkeypatch.setattr("presage._sync.uploads.LARGEST_IN_CALL", 100)
    data = presage.language.datasets.upload(WEATHER, type="text-intent", timeout=SECONDS)
    model = data.train("weather").wait(timeout=SECONDS)

    assert model.predict(QUESTION).label == "five-day-forecast"
    assert len(data.examples().list()) == data.total_examples == 73
    assert data.models().first().model_id == model.model_id
    model.delete()
    with pytest.raises(NotFoundError):
        model.predict(QUESTION)


def test_commands_do_the_same(command: Callable[..., str], tmp_path: Path):
    """Login, upload, training, prediction, export and usage by the command alone."""
    data = command("datasets", "upload", str(WEATHER), "--id")
    model = command("models", "train", data, "--name", "weather", "--id")
    before = command("usage")
    output = command("predict", model, QUESTION)
    after = command("usage")

    assert output.startswith("five-day-forecast ")
    assert int(after.split(" ")[0]) == int(before.split(" ")[0]) + 1
    lines = tmp_path / "lines.csv"
    lines.write_text(f"text\n{QUESTION}\n", "utf-8")
    command("batch", "run", str(lines), "--model", model, "--output", str(tmp_path / "said.jsonl"))
    assert '"label":"five-day-forecast"' in (tmp_path / "said.jsonl").read_text("utf-8")
    command("datasets", "export", data, "--output", str(tmp_path / "back.csv"))
    assert len((tmp_path / "back.csv").read_text("utf-8").splitlines()) > 70

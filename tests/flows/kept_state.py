"""Creates the state folder that tests/flows/test_kept_state.py opens, with an earlier version.

Run: python -m tests.flows.kept_state TREE FILE [--large], where TREE is a checkout of that version
with its `.venv` and `.models`, and FILE the archive to write, such as tests/data/state_of_0_2.zip.
Without --large the image and detection datasets have no models, whose artifacts are large. With
--large the archive also holds a backup that the version itself has written: `make test-update`
makes such an archive, opens its state and restores its backup (`BEFORE=COMMIT`: of any commit).

Everything goes through the stack's command, the administrator's command and HTTP, so any version
can be driven. The archive holds the state folder as the stopped stack left it, without the
features of pictures, a cache of megabytes; the key of its one account, made for it and good for
nothing else; and what the stack answered.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3

from tests.flows.client import LANGUAGE, VISION, Answer, Client
from tests.flows.pictures import basket_files, fruit_scenes, scenes_zip
from tests.flows.world import GRANT_TYPE, TOKEN, assertion, csv_file
from tests.pictures import draw, label_folders, make_zip

EMAIL = "kept@flows.example"
LONG_TEXT = "a lovely clock and a lovely radio " * 50
KEY_FILE = "kept.pem"
ANSWERS = "answers.json"
STATE = "state"
DUMP = "dump"
HOOKS = "/v2/webhooks"
READY = "Presage is ready on "
ROWS = [
    (f"{words} {number}", label)
    for label, words in (("book", "please book a table"), ("cancel", "cancel my order number"))
    for number in range(8)
]
MOODS = [
    (f"this {thing} is {word}", label)
    for label, word in (("positive", "lovely"), ("negative", "awful"), ("neutral", "grey"))
    for thing in ("lamp", "tent", "sofa", "radio", "chair", "clock")
]


def sign_in(url: str, private_pem: str) -> Client:
    """Sign the archive's account in."""
    client = Client(url)
    fields = {"grant_type": GRANT_TYPE, "assertion": assertion(EMAIL, private_pem)}
    client.token = client.form(TOKEN, fields).ok["access_token"]
    return client


ADDED_MEMBERS = {"receipt": {"warnings": []}}
"""Members that records of ours got since, by `object`, with their values for what was kept."""


def lasting(answer: Answer) -> dict[str, Any]:
    """Return an answer without temporary URLs and without members that later versions added."""
    return {"status": answer.status, "data": _lasting(answer.data)}


def _lasting(value: Any) -> Any:
    if isinstance(value, list):
        return [_lasting(item) for item in value]
    if isinstance(value, dict):
        added = ADDED_MEMBERS.get(value.get("object", ""), {})
        return {
            name: _lasting(member)
            for name, member in value.items()
            if "X-Amz-" not in str(member)[:2000] and not (name in added and member == added[name])
        }
    return value


class Maker:
    """Fills a stack, and records requests and their answers."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.seen = client.vision()
        self.deletion_id = ""
        self.paths: list[str] = ["/v2/apiusage"]
        self.predictions: list[dict[str, Any]] = []
        self.trainings: list[dict[str, Any]] = []

    def texts(self) -> None:
        """Create text datasets, one with feedback and a model that was trained twice."""
        client = self.client
        made = client.dataset(csv_file(ROWS), file_name="shop.csv")
        more = {"data": ("more.csv", csv_file([("book it now", "book"), ("no label", "")]))}
        client.multipart("PUT", f"{LANGUAGE}/datasets/{made['id']}/upload", {}, more)
        client.wait_dataset(made["id"])
        sent = {"document": "call it off", "label": "cancel"}
        assert client.json("POST", f"{LANGUAGE}/datasets/{made['id']}/examples", sent).ok
        model = client.model(made["id"], "shop", algorithm="multilingual-intent-ood")
        sent = {"modelId": model, "document": "drop that", "expectedLabel": "cancel"}
        assert client.json("POST", f"{LANGUAGE}/feedback", sent).ok
        again = {"trainParams": {"withFeedback": True}}
        assert client.json("POST", f"{LANGUAGE}/retrain", {"modelId": model, **again}).ok
        assert client.wait_model(model)["status"] == "SUCCEEDED"
        self.note(LANGUAGE, made["id"], model, again)
        for text in ("please book a chair", "cancel everything", "the treaty of 1648"):
            self.ask(f"{LANGUAGE}/intent", {"modelId": model, "document": text})
        moods = client.dataset(csv_file(MOODS), file_name="moods.csv", type="text-sentiment")
        model = client.model(moods["id"], "moods")
        self.note(LANGUAGE, moods["id"], model)
        # Models of earlier versions still read only the first 128 tokens of the long text.
        for text in ("a lovely clock", LONG_TEXT):
            self.ask(f"{LANGUAGE}/sentiment", {"modelId": model, "document": text})

    def webhook(self) -> None:
        """Create a webhook, disabled so that no test calls its URL."""
        sent = {"url": "https://93.184.216.34/kept", "events": ["dataset.ready"]}
        hook = self.client.json("POST", HOOKS, sent).ok
        assert self.client.json("PUT", f"{HOOKS}/{hook['id']}", {"enabled": False}).ok
        self.paths += [HOOKS, f"{HOOKS}/{hook['id']}"]

    def pictures(self, *, is_large: bool) -> None:
        """Create image datasets of every type, with models."""
        baskets = self.picture_set(make_zip(basket_files(6)), "image-multi-label")
        model = self.picture_model(baskets, "baskets")
        self.look(f"{VISION}/predict", model, next(iter(basket_files(1).values())))
        shapes = self.picture_set(make_zip(label_folders({"ball": 6, "box": 6})), "image")
        files = {"data": ("one.png", draw("square", salt=77))}
        path = f"{VISION}/datasets/{shapes}/examples"
        assert self.client.multipart("POST", path, {"label": "box"}, files).ok
        scenes = fruit_scenes(3)
        tables = self.picture_set(scenes_zip(scenes), "image-detection")
        if is_large:
            model = self.picture_model(shapes, "shapes")
            files = {"data": ("wrong.png", draw("square", salt=78))}
            sent = {"modelId": model, "expectedLabel": "box"}
            assert self.client.multipart("POST", f"{VISION}/feedback", sent, files).ok
            self.look(f"{VISION}/predict", model, draw("square", salt=9))
            self.look(f"{VISION}/detect", self.picture_model(tables, "tables"), scenes[0][1])

    def picture_set(self, archive: bytes, kind: str) -> int:
        """Upload an archive."""
        made = self.seen.dataset(archive, file_name=f"{kind}.zip", type=kind)
        self.note(VISION, made["id"])
        return int(made["id"])

    def picture_model(self, dataset: int, name: str) -> str:
        """Train an image model."""
        request = {"epochs": 3}
        model = self.seen.model(dataset, name, **request)
        self.note(VISION, dataset, model, request)
        return model

    def deletion(self) -> None:
        """Delete a dataset and a model, and record their deletions."""
        made = self.client.dataset(csv_file(ROWS[:4]), file_name="gone.csv")
        record = self.client.delete(f"{LANGUAGE}/datasets/{made['id']}").ok
        self.client.wait_deletion(record["id"])
        self.deletion_id = record["id"]
        self.paths += [f"{LANGUAGE}/deletion/{record['id']}", f"{LANGUAGE}/datasets/{made['id']}"]

    def note(
        self,
        base: str,
        dataset: int,
        model: str | None = None,
        request: Mapping[str, Any] | None = None,
    ) -> None:
        """Record the requests about a dataset and its model, and its training parameters."""
        self.paths += [
            f"{base}/datasets",
            *(f"{base}/datasets/{dataset}{more}" for more in ("", "/receipts", "/models")),
            f"{base}/datasets/{dataset}/examples?source=all",
        ]
        if model is not None:
            retrain = f"{base}/retrain"
            self.trainings.append(
                {"path": retrain, "fields": {"modelId": model, **(request or {})}}
            )
            self.paths.append(f"{base}/train/{model}")
            self.paths += [f"{base}/models/{model}{more}" for more in ("", "/lc", "/card")]

    def ask(self, path: str, fields: dict[str, Any]) -> None:
        """Record a text prediction."""
        self.predictions.append({"path": path, "fields": fields})

    def look(self, path: str, model: str, picture: bytes) -> None:
        """Record an image prediction."""
        encoded = base64.b64encode(picture).decode("ascii")
        self.ask(path, {"modelId": model, "sampleBase64Content": encoded})

    def answers(self) -> dict[str, Any]:
        """Send all requests and record the answers; usage last, since predictions count."""
        for prediction in self.predictions:
            answer = self.client.json("POST", prediction["path"], prediction["fields"])
            prediction["answer"] = lasting(answer)
        paths = {path: lasting(self.client.get(path)) for path in sorted(set(self.paths))}
        return {
            "deletion": self.deletion_id,
            "trainings": self.trainings,
            "predictions": self.predictions,
            "paths": paths,
        }


def make(tree: Path, target: Path, folder: Path, *, is_large: bool) -> None:
    """Run the stack of a version, fill it, and pack its state."""
    python = str(tree / ".venv/bin/python")
    environment = {name: value for name, value in os.environ.items() if "AWS" not in name}
    environment |= {
        "PRESAGE_STATE_DIR": str(folder / STATE),
        "PRESAGE_PORT": "0",
        "PRESAGE_AWS_PORT": "0",
        "PRESAGE_TEXT_PROFILE": "fast",
        "PRESAGE_SWEEP_SECONDS": "1",
        "PRESAGE_DIE_WITH_PARENT": "1",
    }
    log = folder / "log"
    with log.open("wb") as output:
        stack = subprocess.Popen(
            [python, "-m", "infra.local", "--bare"],
            cwd=tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        while READY not in log.read_text():
            assert stack.poll() is None, log.read_text()
            time.sleep(0.1)
        command = [python, "-m", "infra.accounts", "create", EMAIL, "--plan", "GOLD"]
        command += ["--key-file", str(folder / KEY_FILE)]
        subprocess.run(command, cwd=tree, env=environment, check=True)
        described = json.loads((folder / STATE / "stack.json").read_text())
        maker = Maker(sign_in(described["url"], (folder / KEY_FILE).read_text("ascii")))
        maker.texts()
        maker.pictures(is_large=is_large)
        maker.webhook()
        maker.deletion()
        (folder / ANSWERS).write_text(json.dumps(maker.answers(), indent=1))
        _drop_features(described["environment"])
        if is_large:
            command = [python, "-m", "infra.backup", "dump", str(folder / DUMP)]
            subprocess.run(command, cwd=tree, env=environment, check=True)
    finally:
        stack.terminate()
        stack.wait(90)
    _pack(folder, target)


def _drop_features(environment: dict[str, str]) -> None:
    """Remove the cached image features."""
    session = boto3.session.Session(
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        region_name=environment["AWS_REGION"],
    )
    s3 = session.client("s3", endpoint_url=environment["AWS_ENDPOINT_URL"])
    bucket = environment.get("PRESAGE_BUCKET", "presage-data")
    for item in s3.list_objects_v2(Bucket=bucket)["Contents"]:
        if "/features/" in item["Key"]:
            s3.delete_object(Bucket=bucket, Key=item["Key"])


def _pack(folder: Path, target: Path) -> None:
    """Write the archive: state folder without logs, key and answers."""
    logs = folder / STATE / "logs"
    kept = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in kept:
            if path.name not in ("log", "stack.json") and not path.is_relative_to(logs):
                archive.write(path, path.relative_to(folder))


def main() -> None:
    """Parse the command line and create the archive."""
    tree, target = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory(prefix="presage-kept-") as folder:
        make(tree, target, Path(folder), is_large="--large" in sys.argv)


if __name__ == "__main__":
    main()

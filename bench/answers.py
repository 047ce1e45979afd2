"""Records about 250 answers of a running service, to compare two versions byte for byte.

Run it against each version, started with an empty state, and compare the two files:

    python -m bench.answers record URL KEY_FILE answers.json
    python -m bench.answers compare before.json after.json

The program uses only HTTP, so it can also record versions older than this module. Random ids, dates
and URLs are replaced by counters. All other values, such as the sha256 of artifacts, must be equal.
"""

from __future__ import annotations

import base64
import csv
import difflib
import io
import json
import re
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import jwt
from PIL import Image, ImageDraw

SAMPLES = Path(__file__).parents[1] / "chalicelib" / "assets" / "samples"
EMAIL = "demo@presage.example"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
JOB_SECONDS = 900
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:\+0000|Z)")
_URL = re.compile(r"https?://[^\s\"\\]+")
_RANDOM_ID = re.compile(r"\b[A-Z2-7]{26}\b|\b[0-9a-f]{32}\b")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DURATION = re.compile(r"\d\d:\d\d:\d\d:\d{3}")
_VOLATILE = {
    "access_token", "refresh_token", "secret", "licenseId", "queuePosition", "progress",
    "trainingTime", "seconds", "expires_in", "policy", "unsaved", "version", "x-amz-date",
    "x-amz-signature",
}  # fmt: skip
"""Members that differ from run to run, and the version; they are not compared."""

Answers = dict[str, dict[str, Any]]


class Recorder:
    """Calls the service, and stores each answer by name, without random values."""

    def __init__(self, url: str, key_file: Path) -> None:
        """Sign in with the private key of the demo account."""
        self.answers: Answers = {}
        self._known: dict[str, str] = {}
        self._client = httpx.Client(base_url=url, timeout=120)
        claims = {"sub": EMAIL, "aud": f"{url}/v2/oauth2/token", "exp": int(time.time()) + 7200}
        assertion = jwt.encode(claims, key_file.read_bytes(), algorithm="RS256")
        token = self.call(
            "token",
            "POST",
            "/v2/oauth2/token",
            token=False,
            data={"grant_type": GRANT, "assertion": assertion, "scope": "offline"},
        )
        self._client.headers["Authorization"] = f"Bearer {token['access_token']}"

    def call(self, name: str, method: str, path: str, token: bool = True, **options: Any) -> Any:
        """Make one call, store its answer and return the JSON body."""
        headers = {} if token else {"Authorization": ""}
        for _ in range(100):
            answer = self._client.request(method, path, headers=headers, **options)
            if answer.status_code not in (429, 503) or "rate" not in answer.text:
                break
            # A call that is refused for its rate is retried, because rates are not compared.
            time.sleep(1)
        kind = answer.headers.get("content-type", "")
        body = answer.json() if "json" in kind and answer.content else answer.text
        if name:
            if name in self.answers:
                raise ValueError(f"two answers have the name {name}")
            self.answers[name] = {
                "status": answer.status_code,
                "type": kind,
                "headers": sorted(set(answer.headers) - {"date", "retry-after"}),
                "body": self._stable(body),
            }
        return body

    def wait(self, path: str, member: str = "status") -> Any:
        """Poll a job until it has ended; return the last answer. The answers are not stored."""
        deadline = time.monotonic() + JOB_SECONDS
        while time.monotonic() < deadline:
            body = self.call("", "GET", path)
            if str(body[member]).startswith(("SUCCEEDED", "FAILED", "PARTIAL", "CANCELED")):
                return body
            time.sleep(0.3)
        raise TimeoutError(path)

    def _stable(self, value: Any, member: str = "") -> Any:
        """Replace values, such as ids and dates, that differ between two runs of a version."""
        if member in _VOLATILE:
            return type(value).__name__
        if isinstance(value, dict):
            return {key: self._stable(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self._stable(item, member) for item in value]
        if isinstance(value, str):
            for pattern, kind in (
                (_DATE, "DATE"),
                (_URL, "URL"),
                (_UUID, "UUID"),
                (_DURATION, "TIME"),
            ):
                value = pattern.sub(kind, value)
            return _RANDOM_ID.sub(lambda found: self._number(found.group()), value)
        return value

    def _number(self, random_id: str) -> str:
        return self._known.setdefault(random_id, f"ID{len(self._known) + 1}")


def shape(kind: str, color: str, number: int) -> Image.Image:
    """Draw an image of 96 x 96 pixels with one shape, whose position depends on `number`."""
    image = Image.new("RGB", (96, 96), (200 - number % 7 * 9, 210, 190 + number % 5 * 8))
    left, top, side = 4 + number * 7 % 40, 5 + number * 11 % 38, 30 + number % 6 * 3
    draw = ImageDraw.Draw(image)
    box = (left, top, left + side, top + side)
    (draw.ellipse if kind == "circle" else draw.rectangle)(box, fill=color)
    return image


def png(image: Image.Image) -> bytes:
    """Encode an image as PNG."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def packed(files: Mapping[str, bytes]) -> bytes:
    """Pack files, given by name, into a zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def multi_label_archive() -> bytes:
    """Draw images that show a circle, a square or both; return them as a zip archive."""
    files = {}
    for number in range(24):
        image = Image.new("RGB", (96, 96), "white")
        shown = [("circle",), ("square",), ("circle", "square")][number % 3]
        if "circle" in shown:
            image.paste(shape("circle", "red", number).crop((0, 0, 48, 96)), (0, 0))
        if "square" in shown:
            image.paste(shape("square", "blue", number).crop((0, 0, 48, 96)), (48, 0))
        for label in shown:
            files[f"{label}/{number:02d}.png"] = png(image)
    return packed(files)


def detection_archive() -> bytes:
    """Draw 16 images with one box each; return a zip archive with their annotations."""
    table = io.StringIO()
    rows = csv.writer(table)
    rows.writerow(["image", "box0"])
    files = {}
    for number in range(16):
        kind, color = [("circle", "red"), ("square", "blue")][number % 2]
        files[f"{number:02d}.png"] = png(shape(kind, color, number))
        side = 30 + number % 6 * 3
        box = {"label": kind, "x": 4 + number * 7 % 40, "y": 5 + number * 11 % 38}
        rows.writerow([f"{number:02d}.png", json.dumps(box | {"width": side, "height": side})])
    return packed(files | {"annotations.csv": table.getvalue().encode()})


TEXTS = (
    "Where is my parcel?", "I want my money back", "Do you ship to Norway?", "x", "???",
    "The size is wrong, can I swap it?", "Wo ist mein Paket?", "Où est mon colis ?",
    "My card was charged twice", "Lovely!", "This is the worst shop ever.", "ok", "你好", "I am",
    "When will the blue jacket be available again in size M, and does it cost the same as before?",
    "Terrible, it broke after two days and nobody answered my mails.", "How do I reset my password",
    "Great service, thank you so much", "It is a table.", "Cancel my order 4711 please",
)  # fmt: skip
ERRORS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST", "/v2/language/intent", {"json": {}}),
    ("POST", "/v2/language/intent", {"json": {"modelId": "NONE", "document": "x"}}),
    ("POST", "/v2/language/intent", {"content": b"{"}),
    ("POST", "/v2/language/sentiment", {"json": {"modelId": "CommunitySentiment"}}),
    ("POST", "/v2/vision/predict", {"json": {"modelId": "GeneralImageClassifier"}}),
    ("POST", "/v2/vision/datasets", {"json": {}}),
    ("POST", "/v2/vision/datasets/upload", {"json": {}}),
    ("POST", "/v2/language/datasets/upload", {"json": {}}),
    ("POST", "/v2/language/datasets/upload", {"json": {"path": "http://127.0.0.1:1/x.csv"}}),
    ("GET", "/v2/vision/datasets/999999", {}),
    ("GET", "/v2/language/datasets/nine", {}),
    ("GET", "/v2/language/datasets?count=0", {}),
    ("GET", "/v2/language/datasets?offset=-1", {}),
    ("GET", "/v2/language/train/NONE", {}),
    ("GET", "/v2/vision/models/NONE/lc", {}),
    ("GET", "/v2/vision/deletion/NONE", {}),
    ("POST", "/v2/language/train", {"json": {"name": "x"}}),
    ("POST", "/v2/language/train", {"json": {"datasetId": 1}}),
    ("POST", "/v2/vision/train", {"json": {"datasetId": 1, "name": "x", "epochs": 0}}),
    ("POST", "/v2/language/train", {"json": {"datasetId": 1, "name": "x", "algorithm": "no"}}),
    ("POST", "/v2/language/train", {"json": {"datasetId": 1, "name": "x", "trainParams": "["}}),
    ("POST", "/v2/oauth2/token", {"data": {"grant_type": "no"}}),
    ("POST", "/v2/oauth2/token", {"data": {}}),
    ("GET", "/v2/none", {}),
    ("PATCH", "/v2/language/datasets", {}),
    ("POST", "/v2/language/entities", {"json": {}}),
    ("POST", "/v2/webhooks", {"json": {"url": "http://10.0.0.1/x", "events": []}}),
    ("POST", "/v2/vision/ocr", {"json": {"modelId": "OCRModel", "task": "no"}}),
    ("POST", "/v2/language/batches", {"json": {"modelId": "CommunitySentiment"}}),
    ("POST", "/v2/language/rankings", {"json": {}}),
    ("POST", "/v2/uploads", {"json": {}}),
    ("GET", "/v2/vision/examples", {}),
    ("PUT", "/v2/language/datasets/999999", {"json": {"name": "x"}}),
    ("DELETE", "/v2/language/models/NONE", {}),
    ("DELETE", "/v2/language/datasets", {}),
)
OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("GET", "/v2/apiusage", {}),
    ("GET", "/v2/health", {}),
    ("GET", "/v2/openapi.json", {}),
    ("GET", "/v2/webhooks", {}),
    ("GET", "/v2/vision/datasets?global=true", {}),
    ("GET", "/v2/language/datasets?global=true", {}),
    ("OPTIONS", "/v2/language/intent", {}),
    ("GET", "/v1/apiusage", {}),
)


def record_texts(recorder: Recorder) -> None:
    """Record the answers to calls that upload, read, train on and predict texts."""
    call = recorder.call
    shop = {"data": ("shop.csv", (SAMPLES / "shop_intents.csv").read_bytes())}
    form = {"type": "text-intent", "name": "shop"}
    path = "/v2/language/datasets"
    call("validate texts", "POST", f"{path}/validate", data=form, files=shop)
    data = call("upload texts", "POST", f"{path}/upload/sync", data=form, files=shop)["id"]
    own = f"{path}/{data}"
    call("list datasets", "GET", path)
    for what in ("", "/examples?count=5", "/browse?count=7", "/receipts", "/corrections"):
        call(f"texts{what}", "GET", own + what)
    moods = "".join(
        f"{word} thing number {number},{label}\n"
        for number in range(12)
        for word, label in (("lovely", "positive"), ("awful", "negative"), ("plain", "neutral"))
    )
    mood = call(
        "upload sentiment",
        "POST",
        f"{path}/upload/sync",
        data={"type": "text-sentiment", "name": "moods"},
        files={"data": ("moods.csv", moods.encode())},
    )["id"]
    trainings: tuple[tuple[str, int, dict[str, Any]], ...] = (
        ("intent", data, {}),
        ("multilingual-intent", data, {"algorithm": "multilingual-intent"}),
        ("multilingual-intent-ood", data, {"algorithm": "multilingual-intent-ood"}),
        ("rejecting", data, {"trainParams": {"outOfDomainRate": 0.05, "trainSplitRatio": 0.7}}),
        ("sentiment", mood, {}),
    )
    for name, dataset, fields in trainings:
        body = {"name": name, "datasetId": dataset, **fields}
        model = call(f"train {name}", "POST", "/v2/language/train", json=body)["modelId"]
        recorder.wait(f"/v2/language/train/{model}")
        read_model(recorder, name, "language", model)
        route = "sentiment" if name == "sentiment" else "intent"
        for number, text in enumerate(TEXTS):
            body = {"modelId": model, "document": text, "sampleId": f"s{number}"}
            call(f"{name} answers {number}", "POST", f"/v2/language/{route}", json=body)
        body = {"modelId": model, "document": TEXTS[0], "explain": True, "numResults": 2}
        call(f"{name} explains", "POST", f"/v2/language/{route}", json=body)
    for number, text in enumerate(TEXTS):
        body = {"modelId": "CommunitySentiment", "document": text}
        call(f"mood {number}", "POST", "/v2/language/sentiment", json=body)
        body = {"modelId": "GlobalIntentModel", "document": text, "numResults": 3}
        call(f"global {number}", "POST", "/v2/language/intent", json=body)
    lines = "id,text\n" + "".join(f'{number},"{text}"\n' for number, text in enumerate(TEXTS))
    batch = call(
        "batch of texts",
        "POST",
        "/v2/language/batches",
        data={"modelId": "CommunitySentiment"},
        files={"data": ("texts.csv", lines.encode())},
    )["id"]
    ended = recorder.wait(f"/v2/language/batches/{batch}")
    recorder.answers["result of the batch"] = {"body": httpx.get(ended["resultUrl"]).text}


def record_images(recorder: Recorder) -> None:
    """Record the answers to calls that upload, read, train on and predict images of each type."""
    call = recorder.call
    path = "/v2/vision/datasets/upload/sync"
    signs = (SAMPLES / "road_signs.zip").read_bytes()
    stop = (SAMPLES / "stop_sign.jpg").read_bytes()
    archives = {
        "image": signs,
        "image-multi-label": multi_label_archive(),
        "image-detection": detection_archive(),
    }
    for kind, content in archives.items():
        data = call(
            f"upload {kind}",
            "POST",
            path,
            data={"type": kind, "name": kind},
            files={"data": (f"{kind}.zip", content)},
        )["id"]
        for what in ("", "/browse?count=5", "/receipts"):
            call(f"{kind}{what}", "GET", f"/v2/vision/datasets/{data}{what}")
        body = {"name": kind, "datasetId": data, "epochs": 3}
        model = call(f"train {kind}", "POST", "/v2/vision/train", json=body)["modelId"]
        recorder.wait(f"/v2/vision/train/{model}")
        read_model(recorder, kind, "vision", model)
        route = "detect" if kind == "image-detection" else "predict"
        samples = [stop, *(png(shape("circle", "red", number)) for number in range(60, 64))]
        for number, sample in enumerate(samples):
            body = {"modelId": model, "sampleBase64Content": base64.b64encode(sample).decode()}
            call(f"{kind} answers {number}", "POST", f"/v2/vision/{route}", json=body)
    for model in ("GeneralImageClassifier", "FoodImageClassifier", "SceneClassifier"):
        body = {"modelId": model, "sampleBase64Content": base64.b64encode(stop).decode()}
        call(f"{model} answers", "POST", "/v2/vision/predict", json=body)
    page = base64.b64encode((SAMPLES / "sample_page.png").read_bytes()).decode()
    template = (SAMPLES / "sample_template.json").read_text(encoding="utf-8")
    for task in ("text", "contact", "table", "form"):
        fields = {"modelId": "OCRModel", "task": task, "sampleBase64Content": page}
        extra = {"formTemplate": json.loads(template)} if task == "form" else {}
        call(f"ocr {task}", "POST", "/v2/vision/ocr", json=fields | extra)


def read_model(recorder: Recorder, name: str, family: str, model: str) -> None:
    """Record the answers to calls that read a model and everything that belongs to it."""
    for what in ("train/{}", "models/{}", "models/{}/lc", "models/{}/card", "models/{}/evaluation"):
        recorder.call(f"{name}: {what}", "GET", f"/v2/{family}/{what.format(model)}")


def record(url: str, key_file: Path) -> Answers:
    """Make all calls, and return the answers by name."""
    recorder = Recorder(url, key_file)
    for number, (method, path, options) in enumerate((*ERRORS, *OPTIONS)):
        recorder.call(f"{number} {method} {path}", method, path, **options)
    recorder.call("no token", "GET", "/v2/apiusage", token=False)
    record_texts(recorder)
    record_images(recorder)
    recorder.call("usage at the end", "GET", "/v2/apiusage")
    return recorder.answers


def differences(before: Answers, after: Answers) -> Iterator[str]:
    """Yield a unified diff for each answer that differs between `before` and `after`."""
    for name in before.keys() | after.keys():
        pair = [
            json.dumps(answers.get(name), indent=1, ensure_ascii=False).splitlines()
            for answers in (before, after)
        ]
        if pair[0] != pair[1]:
            yield "\n".join(difflib.unified_diff(*pair, f"{name} (before)", name, "", "", 0, ""))


def main(arguments: list[str]) -> int:
    """Record or compare; return the exit status."""
    if len(arguments) == 4 and arguments[0] == "record":
        answers = record(arguments[1], Path(arguments[2]))
        text = json.dumps(answers, indent=1, ensure_ascii=False)
        Path(arguments[3]).write_text(f"{text}\n", encoding="utf-8")
        sys.stdout.write(f"{len(answers)} answers recorded\n")
        return 0
    if len(arguments) == 3 and arguments[0] == "compare":
        before, after = (json.loads(Path(name).read_bytes()) for name in arguments[1:])
        found = list(differences(before, after))
        sys.stdout.write("\n".join([*found, f"{len(found)} of {len(before)} answers differ\n"]))
        return int(bool(found))
    sys.stderr.write(f"{__doc__}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Measures the times of vision calls over HTTP, on a local stack with datasets of real size."""

from __future__ import annotations

import io
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from bench.bench_http import ceiling, milliseconds, peak_bytes, quantile, resident_bytes
from bench.report import Report, say
from tests.flows.client import Client
from tests.flows.world import World
from tests.local_stack import LocalStack

WARM_UP = 5
CALLS = 40
GROCERY_PICTURES = 1_000
BIG_ZIP_BYTES = 50 * 1024 * 1024
TRAIN_SECONDS = 900
PREBUILT = (
    "GeneralImageClassifier",
    "FoodImageClassifier",
    "SceneClassifier",
    "MultiLabelImageClassifier",
)


@dataclass
class Bench:
    """The stack, the accounts and the report that all sections of this benchmark use."""

    stack: LocalStack
    report: Report
    data: Path
    caller: Client

    def archive(self, name: str) -> bytes:
        """Read an evaluation archive."""
        return (self.data / "vision" / f"{name}.zip").read_bytes()

    def health(self) -> float:
        """Return the median latency of the health route, in milliseconds."""
        durations = [milliseconds(lambda: self.caller.get("/v2/health")) for _ in range(100)]
        return quantile(durations, 0.5)


def pictures_of(archive: bytes, limit: int | None = None) -> list[bytes]:
    """Return the image files of an archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        names = [name for name in opened.namelist() if name.lower().endswith(".jpg")]
        return [opened.read(name) for name in names[:limit]]


def first_files(archive: bytes, count: int) -> bytes:
    """Return an archive with `count` images in total, equally many from each folder."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        by_folder: dict[str, list[str]] = {}
        for name in opened.namelist():
            if name.lower().endswith(".jpg"):
                by_folder.setdefault(name.rsplit("/", 1)[0], []).append(name)
        turns = max(map(len, by_folder.values()))
        order = [
            names[at] for at in range(turns) for names in by_folder.values() if at < len(names)
        ]
        return packed({name: opened.read(name) for name in order[:count]})


def packed(files: dict[str, bytes]) -> bytes:
    """Pack files into a zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def large_photo(content: bytes) -> bytes:
    """Enlarge a photograph to 12 megapixels, the size of a phone's photographs."""
    picture = Image.open(io.BytesIO(content)).convert("RGB").resize((4000, 3000))
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=75)
    return stream.getvalue()


def bench_latency(bench: Bench) -> None:
    """Measure the latency of warm predictions of one client, for each kind of model."""
    caller, add = bench.caller, bench.report.add
    dogs = pictures_of(bench.archive("dogcat_test"), 40)
    dataset_id = int(caller.dataset(bench.archive("dogcat_train"), type="image")["id"])
    model_id = caller.model(dataset_id, "dogs")
    peer = ("GET /v2/health", round(bench.health(), 2))
    times = asked(caller, model_id, dogs, "predict")
    add("predict, 320-px JPEG, HTTP: p50", quantile(times, 0.5), "ms", ceiling(90), peer)
    times = asked(caller, model_id, [large_photo(dogs[0])], "predict")
    add("predict, 12-MP JPEG, HTTP: p50", quantile(times, 0.5), "ms", ceiling(90), peer)
    for name in PREBUILT:
        times = asked(caller, name, dogs, "predict")
        add(f"{name}, HTTP: p50", quantile(times, 0.5), "ms", None, peer)


def asked(caller: Client, model_id: str, pictures: list[bytes], call: str) -> list[float]:
    """Predict images one by one after some to warm up; return the times in milliseconds."""

    def ask(number: int) -> None:
        answer = caller.picture(model_id, pictures[number % len(pictures)], call)
        assert answer.status == 200, answer.body

    for number in range(WARM_UP):
        ask(number)
    return [milliseconds(lambda n=n: ask(n)) for n in range(CALLS)]


def bench_grocery(bench: Bench) -> None:
    """Measure the time from the upload of 1,000 images to a model trained for 30 epochs."""
    content = first_files(bench.archive("grocery81_train"), GROCERY_PICTURES)
    caller, started = bench.caller, time.perf_counter()
    dataset = caller.wait_dataset(caller.upload(content, "grocery.zip")["id"], TRAIN_SECONDS)
    uploaded = time.perf_counter() - started
    model_id = str(caller.train(int(dataset["id"]), "grocery", epochs=30)["modelId"])
    ended = caller.wait_model(model_id, TRAIN_SECONDS)
    seconds = time.perf_counter() - started
    say(f"available after {uploaded:.1f} s, {ended['status']}, {ended['trainStats']}")
    off = abs(dataset["totalExamples"] - GROCERY_PICTURES) + (ended["status"] != "SUCCEEDED")
    bench.report.add("grocery, 1,000 images: examples that are off", off, "", ceiling(0))
    bench.report.add("grocery: POST upload to SUCCEEDED", seconds, "s", ceiling(90))


def bench_raccoon(bench: Bench) -> None:
    """Measure the time of training a detector, and of its predictions."""
    caller, add = bench.caller, bench.report.add
    dataset = caller.dataset(bench.archive("raccoon_train"), type="image-detection")
    started = time.perf_counter()
    model_id = str(caller.train(int(dataset["id"]), "raccoon")["modelId"])
    ended = caller.wait_model(model_id, TRAIN_SECONDS)
    seconds = time.perf_counter() - started
    say(f"{ended['status']}, {ended['trainStats']}")
    add("raccoon: POST train to SUCCEEDED", seconds, "s", ceiling(360))
    peer = ("GET /v2/health", round(bench.health(), 2))
    times = asked(caller, model_id, pictures_of(bench.archive("raccoon_test")), "detect")
    add("detect, HTTP: p50", quantile(times, 0.5), "ms", ceiling(375), peer)


def bench_shelf(bench: Bench) -> None:
    """Measure the time of training a detector for shelves, and of its predictions."""
    caller, add = bench.caller, bench.report.add
    dataset = caller.dataset(bench.archive("shelf_train"), type="image-detection")
    started = time.perf_counter()
    request = {"algorithm": "retail-execution"}
    model_id = str(caller.train(int(dataset["id"]), "shelf", **request)["modelId"])
    ended = caller.wait_model(model_id, 2 * TRAIN_SECONDS)
    assert ended["status"] == "SUCCEEDED", ended
    add("shelf: POST train to SUCCEEDED", time.perf_counter() - started, "s")
    times = asked(caller, model_id, pictures_of(bench.archive("shelf_test")), "detect")
    add("retail-execution, 1200 x 900, HTTP: p50", quantile(times, 0.5), "ms", ceiling(2700))


def bench_big(bench: Bench) -> None:
    """Measure how long it takes until a zip of 50 MB becomes an available dataset."""
    files: dict[str, bytes] = {}
    names = ("coco256_train", "coco256_test", "dogcat_train", "grocery81_train")
    for name in names:
        for number, content in enumerate(pictures_of(bench.archive(name))):
            if sum(map(len, files.values())) + len(content) < BIG_ZIP_BYTES - 400_000:
                files[f"{name}/{number}.jpg"] = content
    content = packed(files)
    say(f"a zip of {len(content) / 1e6:.1f} MB, {len(files)} images")
    started = time.perf_counter()
    posted = bench.caller.upload(content, "big.zip")
    done = bench.caller.wait_dataset(posted["id"], 300)
    seconds = time.perf_counter() - started
    off = int(done["statusMsg"] != "SUCCEEDED")
    off += abs(done["totalExamples"] + done["numOfDuplicates"] - len(files))
    bench.report.add("50 MB zip: images that are off", off, "", ceiling(0))
    bench.report.add("50 MB zip: POST to available", seconds, "s", ceiling(60))
    peak = peak_bytes(bench.stack.processes["ingest"]) / 1e6
    bench.report.add("peak memory of the ingest worker, features included", peak, "MB")
    peak = peak_bytes(bench.stack.processes["front"]) / 1e6
    bench.report.add("peak memory of the API process, 50 MB zip in the call", peak, "MB")


def bench_memory(bench: Bench) -> None:
    """Measure the memory of the answering process after calls to every vision model."""
    picture = pictures_of(bench.archive("dogcat_test"), 1)[0]
    for name in PREBUILT:
        assert bench.caller.picture(name, picture).status == 200
    front = bench.stack.processes["front"]
    used = resident_bytes(front) / 1e6
    bench.report.add("API process, every vision model loaded", used, "MB", ceiling(500))
    bench.report.add("API process, most so far", peak_bytes(front) / 1e6, "MB")


SECTIONS: dict[str, Callable[[Bench], None]] = {
    "latency": bench_latency,
    "grocery": bench_grocery,
    "raccoon": bench_raccoon,
    "shelf": bench_shelf,
    "memory": bench_memory,
    "big": bench_big,
}


@contextmanager
def running(report: Report, data: Path) -> Iterator[Bench]:
    """Start a service and sign in an account."""
    with LocalStack() as stack, tempfile.TemporaryDirectory() as folder:
        world = World(stack, Path(folder))
        try:
            yield Bench(stack, report, data, world.caller("GOLD").vision())
        finally:
            world.close()

"""Large files: presigned form, upload, notification and use over real HTTP."""

from __future__ import annotations

import http.client
import json
import os
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from tests.flows.big_archive import post_file
from tests.flows.client import LANGUAGE, VISION, Answer, Client, encode_multipart
from tests.flows.memory import watched
from tests.formats.drawn import encoded
from tests.local_stack import LocalStack
from tests.papers import paper
from tests.pictures import draw, make_zip

EXAMPLE = Path(__file__).parents[1] / "spec" / "examples" / "upload.json"
ENTRY_BYTES = 1_000_000
CSV = b"".join(b"text number %d,label%d\n" % (n, n % 3) for n in range(60))


def form(client: Client, name: str = "mine.csv") -> dict:
    """Request a form."""
    return client.json("POST", "/v2/uploads", {"name": name}).ok


def post(issued: dict, content: bytes, **changes: str) -> int:
    """Send a file by a form; return the bucket's status."""
    fields = {**issued["fields"], **changes}
    kind, body = encode_multipart(fields.items(), {"file": ("x", content)})
    place = urlsplit(issued["url"])
    connection = http.client.HTTPConnection(place.netloc, timeout=60)
    connection.request("POST", place.path, body, {"Content-Type": kind})
    status = connection.getresponse().status
    connection.close()
    return status


def dataset(client: Client, path: str, kind: str = "text-intent") -> Answer:
    """Create a dataset from an uploaded file."""
    base = LANGUAGE if kind.startswith("text") else "/v2/vision"
    return client.json("POST", f"{base}/datasets/upload/sync", {"path": path, "type": kind})


def test_a_form_looks_as_documented(client: Client):
    """A form has the members, order and types of the contract's example."""
    issued, wanted = form(client), json.loads(EXAMPLE.read_text())

    assert list(issued) == list(wanted)
    assert set(wanted["fields"]) <= set(issued["fields"])
    assert (issued["maxBytes"], issued["object"]) == (wanted["maxBytes"], "upload")
    assert issued["path"].startswith("presage:upload/")
    assert len(issued["expiresAt"]) == len(wanted["expiresAt"])


def test_a_file_becomes_a_dataset(client: Client):
    """A file sent with a form becomes a dataset when its path is named."""
    issued = form(client)

    assert dataset(client, issued["path"]).status == 400
    assert post(issued, CSV) == 204
    made = dataset(client, issued["path"]).ok

    assert (made["name"], made["totalExamples"]) == ("mine", 60)
    again = dataset(client, issued["path"])
    assert (again.status, "used already" in again.data["detail"]) == (400, True)


def test_an_archive_becomes_a_dataset(client: Client):
    """A zip sent with a form becomes a dataset, too."""
    issued = form(client, "shapes.zip")
    files = {f"{label}/{n}.png": draw(salt=n) for n, label in enumerate(("a", "b", "a"))}

    assert post(issued, make_zip(files)) == 204

    assert dataset(client, issued["path"], "image").ok["totalExamples"] == 3


def test_another_account_has_no_use_of_a_path(world, client: Client):
    """Another account cannot use the path of an upload."""
    issued = form(client)
    assert post(issued, CSV) == 204

    stranger = dataset(world.caller(), issued["path"])

    assert (stranger.status, "No upload" in stranger.data["detail"]) == (400, True)
    assert dataset(client, issued["path"]).status == 200


def test_a_form_takes_nothing_else(client: Client):
    """The bucket refuses another key, another content type, an empty file, a changed policy."""
    issued = form(client)
    other = issued["fields"]["key"].replace("incoming/", "datasets/")

    assert post(issued, CSV, key=other) == 403
    assert post(issued, CSV, **{"Content-Type": "text/html"}) == 403
    assert post(issued, b"") >= 400
    assert post(issued, CSV, policy=issued["fields"]["policy"][::-1]) >= 400


def test_a_sample_goes_by_its_path(client: Client):
    """A prediction accepts an uploaded image as `sampleLocation`, once."""
    issued = form(client, "shape.png")
    assert post(issued, draw("circle", size=(64, 64))) == 204
    ask = {"modelId": "GeneralImageClassifier", "sampleLocation": issued["path"]}

    answer = client.json("POST", "/v2/vision/predict", ask)

    assert answer.ok["object"] == "predictresponse"
    assert client.json("POST", "/v2/vision/predict", ask).status == 400


def wait_received(stack: LocalStack, issued: dict) -> None:
    """Wait until the bucket's notification has marked a file as received."""
    upload_id = issued["path"].rpartition("/")[2]

    def is_received() -> bool:
        table = f"{stack.settings.name}-incoming"
        rows = stack.client("dynamodb").scan(TableName=table)["Items"]
        mine = next(row for row in rows if row["upload_id"]["S"] == upload_id)
        return mine["status"]["S"] == "RECEIVED"

    deadline = time.monotonic() + 60
    while not is_received() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert is_received()


def test_the_notification_marks_the_file(stack: LocalStack, client: Client):
    """The bucket's notification marks an uploaded file as received."""
    issued = form(client)
    assert post(issued, CSV) == 204

    wait_received(stack, issued)


def write_zip(path: Path, megabytes: int) -> Path:
    """Write an archive of two small images and of files that are not images."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number, label in enumerate(("left", "right")):
            archive.writestr(f"{label}/{number}.png", draw(salt=number))
        for number in range(megabytes):
            archive.writestr(f"left/{number}.bin", os.urandom(ENTRY_BYTES))
    return path


def test_memory_does_not_grow_with_the_upload(stack: LocalStack, world, tmp_path: Path):
    """Uploading 64 MB takes little more memory than 5 MB, in storage and worker."""
    client, grown = world.photographer(), {}
    for megabytes in (5, 64):
        file = write_zip(tmp_path / f"{megabytes}.zip", megabytes)
        issued = form(client, "big.zip")
        with watched(stack) as sending:
            assert post_file(issued, file)[0] == 204
            ask = {"path": issued["path"], "type": "image"}
            made = client.json("POST", f"{VISION}/datasets/upload", ask).ok
        with watched(stack) as reading:
            assert client.wait_dataset(made["id"])["totalExamples"] == 2
        grown[megabytes] = sending.grown("aws"), reading.grown("ingest")

    # Of the emulator's sides only the sending is ours: it takes an object in parts whole.
    assert grown[64][0] - grown[5][0] < 40, grown
    assert grown[64][1] - grown[5][1] < 60, grown


def test_of_many_uses_at_once_one_wins(client: Client):
    """Of eight simultaneous uses of a path one succeeds; the others are refused with a reason."""
    issued = form(client)
    assert post(issued, CSV) == 204
    ask = {"path": issued["path"], "type": "text-intent"}

    def use(_: int) -> Answer:
        """Make one call on a separate connection."""
        with client.clone() as other:
            return other.json("POST", f"{LANGUAGE}/datasets/upload", ask)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(use, range(8)))

    assert sorted(answer.status for answer in answers) == [200] + 7 * [400]
    refused = [answer.data["detail"] for answer in answers if answer.status == 400]
    assert all("used already" in detail for detail in refused)
    [made] = [answer.data for answer in answers if answer.status == 200]
    assert client.wait_dataset(made["id"])["totalExamples"] == 60
    assert len(client.get(f"{LANGUAGE}/datasets").ok["data"]) == 1


def test_a_form_sent_twice_counts_once(stack: LocalStack, client: Client):
    """A form that is sent twice is accepted with the same file and refused with another one."""
    issued = form(client)
    assert (post(issued, CSV), post(issued, CSV)) == (204, 204)
    wait_received(stack, issued)
    assert dataset(client, issued["path"]).ok["totalExamples"] == 60

    issued = form(client)
    assert post(issued, CSV) == 204
    wait_received(stack, issued)
    assert post(issued, CSV[:300]) == 204
    refused = dataset(client, issued["path"])
    assert (refused.status, "sent twice" in refused.data["detail"]) == (400, True)


def test_the_date_of_a_form_cannot_be_changed(client: Client):
    """The date of a form is signed: a form with a changed date is refused."""
    issued = form(client)
    fields = {**issued["fields"], "x-amz-date": "20200101T000000Z"}

    assert post({**issued, "fields": fields}, CSV) == 403
    assert dataset(client, issued["path"]).status == 400


def test_a_larger_file_than_allowed(client: Client):
    """A sample over the limit of its call is a 413, although the form accepts 2 GB."""
    issued = form(client, "photo.png")
    assert post(issued, bytes(5 * 1024**2 + 1)) == 204
    ask = {"modelId": "GeneralImageClassifier", "sampleLocation": issued["path"]}

    refused = client.json("POST", f"{VISION}/predict", ask)

    assert (refused.status, refused.data["code"]) == (413, "too_large")
    assert "5242881 bytes; at most 5242880 are allowed" in refused.data["message"]


def test_odd_names(client: Client):
    """A name with any Unicode characters becomes the dataset's name; invalid ones are a 400."""
    name = "Übersicht 猫 \U0001f600 'a' & <b>.csv"
    issued = form(client, name)
    assert post(issued, CSV) == 204
    assert dataset(client, issued["path"]).ok["name"] == name.removesuffix(".csv")

    for bad in ("a\x00b", "n" * 181, ["x"]):
        assert client.json("POST", "/v2/uploads", {"name": bad}).status == 400


def test_every_call_that_takes_a_location_takes_an_upload(world, client: Client):
    """The OCR call reads an uploaded path once; refused calls do not use it up."""
    issued = form(client, "page.png")
    assert post(issued, encoded(paper(["EXIT"]), "PNG")) == 204
    ask = {"modelId": "OCRModel", "sampleLocation": issued["path"], "task": "text"}
    wrong = client.json("POST", f"{VISION}/detect", ask)
    assert wrong.status in (400, 404)
    stranger = world.caller().json("POST", f"{VISION}/ocr", ask)
    assert (stranger.status, "No upload" in stranger.data["detail"]) == (400, True)

    read = client.json("POST", f"{VISION}/ocr", ask).ok

    assert "EXIT" in " ".join(item["label"] for item in read["probabilities"])
    again = client.json("POST", f"{VISION}/ocr", ask)
    assert (again.status, "used already" in again.data["detail"]) == (400, True)


def test_an_upload_for_the_detector(gallery: Client, tables_model: str):
    """A custom detection model accepts an uploaded path, once."""
    issued = form(gallery, "scene.png")
    assert post(issued, draw("circle", size=(96, 96))) == 204
    ask = {"modelId": tables_model, "sampleLocation": issued["path"]}

    assert gallery.json("POST", f"{VISION}/detect", ask).status == 200
    assert gallery.json("POST", f"{VISION}/detect", ask).status == 400


def test_an_upload_is_added_to_a_dataset(client: Client):
    """PUT accepts an uploaded path, once."""
    made = client.dataset(CSV)
    issued = form(client, "more.csv")
    assert post(issued, b"another text,label0\n") == 204
    address = f"{LANGUAGE}/datasets/{made['id']}/upload"

    assert client.json("PUT", address, {"path": issued["path"]}).status == 200
    assert client.wait_dataset(made["id"])["totalExamples"] == 61
    assert client.json("PUT", address, {"path": issued["path"]}).status == 400

"""On a full disk a stack reports it, refuses new data, and otherwise keeps working."""

from __future__ import annotations

import resource
import signal
import time
from typing import Any
from urllib.parse import urlsplit

from infra.backups.folder import PIECES, BackupFolder
from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.conftest import SavedState
from tests.flows.kills.killing import limit_saves, wait
from tests.flows.world import csv_file, made_rows
from tests.local_stack import LocalStack

MOST_BYTES = 16 * 1024
"""Size of the largest file that can be saved on a disk that counts as full."""
BIG = 800
"""Rows of a dataset whose file is larger."""


def fill(stack: LocalStack) -> None:
    """Stop the saving process from writing large files, as on a full disk."""
    limit_saves(stack, MOST_BYTES)


def health(client: Client) -> dict[str, Any]:
    """Return the stack's health."""
    return dict(client.get("/v2/health").ok)


def post_form(issued: dict[str, Any]) -> int:
    """Send a file by a form and return the status."""
    place = urlsplit(issued["url"])
    with Client(f"http://{place.netloc}") as bucket:
        files = {"file": ("texts.csv", b"a,b\n")}
        return bucket.multipart("POST", place.path, issued["fields"], files).status


def test_full_disk_refuses_new_data_only(
    saving: LocalStack, saving_client: Client, saved_state: SavedState
):
    """While saving fails, uploads are a 503 and all else works; with free space uploads work."""
    issued = saving_client.json("POST", "/v2/uploads", {"name": "texts.csv"}).ok
    assert "unsaved" not in health(saving_client)
    fill(saving)

    saving_client.dataset(csv_file(made_rows(BIG)), name="big")
    wait(lambda: "unsaved" in health(saving_client))
    wait(lambda: health(saving_client)["unsaved"]["datasets"] >= 1)

    upload = {"data": ("texts.csv", csv_file(made_rows(20)))}
    path, sent = f"{LANGUAGE}/datasets/{saved_state.first['id']}", {"type": "text-intent"}
    refused = [
        saving_client.multipart("POST", f"{LANGUAGE}/datasets/upload", sent, upload),
        saving_client.multipart("POST", f"{LANGUAGE}/datasets/upload/sync", sent, upload),
        saving_client.multipart("PUT", f"{path}/upload", {}, upload),
        saving_client.json("POST", f"{path}/examples", {"document": "new", "label": "label-1"}),
        saving_client.json("POST", "/v2/uploads", {"name": "texts.csv"}),
    ]
    assert {(answer.status, answer.data["code"]) for answer in refused} == {
        (503, "nothing_is_saved")
    }
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
    assert post_form(issued) == 503
    texts = [answer.body.decode() for answer in refused] + [str(health(saving_client))]
    assert not [text for text in texts if str(saving.state.folder) in text or "pieces" in text]
    assert str(saving.state.folder) in saving.log()
    assert saving_client.get(path).status == 200
    assert saving_client.predict("CommunitySentiment", "fine", "sentiment").status == 200
    assert saving_client.delete(path).status == 200

    limit_saves(saving, resource.RLIM_INFINITY)
    wait(lambda: "unsaved" not in health(saving_client))
    assert saving_client.dataset(csv_file(made_rows(20)))["totalExamples"] == 20


def test_full_disk_keeps_the_save_before_and_nothing_else(
    saving: LocalStack, saving_client: Client
):
    """A failed save leaves no temporary or unreferenced file behind."""
    folder = BackupFolder(saving.state.data)
    fill(saving)

    saving_client.dataset(csv_file(made_rows(BIG)))
    wait(lambda: "unsaved" in health(saving_client))

    for _ in range(20):
        saving.kill_worker("keeper", signal.SIGSTOP)
        if not left_behind(folder):
            break
        # It was stopped in the middle of another try.
        saving.kill_worker("keeper", signal.SIGCONT)
        time.sleep(0.2)
    assert left_behind(folder) == set()


def left_behind(folder: BackupFolder) -> set[str]:
    """Return the names of files that no save refers to."""
    manifest, former = folder.manifest(), folder.previous()
    assert manifest is not None
    saved = manifest.pieces() | (former.pieces() if former else set())
    drafts = {path.name for path in folder.path.glob("draft-*")}
    return drafts | {path.name for path in (folder.path / PIECES).glob("*/*")} - saved


def test_stop_and_start_report_what_a_full_disk_lost(
    saving: LocalStack, saving_client: Client, saved_state: SavedState
):
    """A stop that cannot save names the loss and fails; the next start says since when."""
    fill(saving)
    lost = saving_client.dataset(csv_file(made_rows(BIG)), name="big one")

    assert saving.pause() == 1

    (line,) = [line for line in saving.log().splitlines() if "are lost" in line]
    assert f"dataset {lost['id']} (big one)" in line
    assert str(saving.state.folder) in line
    saving.start()
    assert "ended without its last save" in saving.log()
    with Client(saving.url, saved_state.token) as after:
        first = saved_state.first
        assert after.get(f"{LANGUAGE}/datasets/{first['id']}").ok == first
        assert after.get(f"{LANGUAGE}/datasets/{lost['id']}").status == 404
    assert saving.pause() == 0
    saving.start()
    assert "ended without its last save" not in saving.log()

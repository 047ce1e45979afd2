"""A stack whose disk is full says so, refuses what it could not save, and goes on with the rest."""

from __future__ import annotations

import resource
import signal
import time
from typing import Any
from urllib.parse import urlsplit

from infra.backups.folder import PIECES, BackupFolder
from tests.flows.client import LANGUAGE, Client
from tests.flows.kills.killing import has_saved, set_room, wait
from tests.flows.world import csv_file, made_rows
from tests.local_stack import LocalStack

ROOM = 64 * 1024
"""No file grows beyond so many bytes on a disk that counts as full."""
BIG = 3_000
"""Rows of a dataset whose file needs more."""


def fill(stack: LocalStack) -> None:
    """Let the process that saves write no large file any more, whatever the disk has."""
    set_room(stack, ROOM)


def health(client: Client) -> dict[str, Any]:
    """What the stack says of itself."""
    return dict(client.get("/v2/health").ok)


def post_form(issued: dict[str, Any]) -> int:
    """Send a file by a form and return the status."""
    place = urlsplit(issued["url"])
    with Client(f"http://{place.netloc}") as bucket:
        files = {"file": ("texts.csv", b"a,b\n")}
        return bucket.multipart("POST", place.path, issued["fields"], files).status


def test_full_disk_refuses_new_data_only(kept: LocalStack, kept_client: Client):
    """While nothing can be saved, uploads are 503, all else goes on; with room they go on too."""
    small = kept_client.dataset(csv_file(made_rows(60)))
    issued = kept_client.json("POST", "/v2/uploads", {"name": "texts.csv"}).ok
    assert "unsaved" not in health(kept_client)
    fill(kept)

    kept_client.dataset(csv_file(made_rows(BIG)), name="big")
    wait(lambda: "unsaved" in health(kept_client))
    wait(lambda: health(kept_client)["unsaved"]["datasets"] >= 1)

    upload = {"data": ("texts.csv", csv_file(made_rows(20)))}
    path, sent = f"{LANGUAGE}/datasets/{small['id']}", {"type": "text-intent"}
    refused = [
        kept_client.multipart("POST", f"{LANGUAGE}/datasets/upload", sent, upload),
        kept_client.multipart("POST", f"{LANGUAGE}/datasets/upload/sync", sent, upload),
        kept_client.multipart("PUT", f"{path}/upload", {}, upload),
        kept_client.json("POST", f"{path}/examples", {"document": "new", "label": "label-1"}),
        kept_client.json("POST", "/v2/uploads", {"name": "texts.csv"}),
    ]
    assert {(answer.status, answer.data["code"]) for answer in refused} == {
        (503, "nothing_is_saved")
    }
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
    assert post_form(issued) == 503
    told = [answer.body.decode() for answer in refused] + [str(health(kept_client))]
    assert not [text for text in told if str(kept.state.folder) in text or "pieces" in text]
    assert str(kept.state.folder) in kept.log()
    assert kept_client.get(path).status == 200
    assert kept_client.predict("CommunitySentiment", "fine", "sentiment").status == 200
    assert kept_client.delete(path).status == 200

    set_room(kept, resource.RLIM_INFINITY)
    wait(lambda: "unsaved" not in health(kept_client))
    assert kept_client.dataset(csv_file(made_rows(20)))["totalExamples"] == 20


def test_full_disk_keeps_the_save_before_and_nothing_else(kept: LocalStack, kept_client: Client):
    """A save that fails leaves no draft and no piece behind."""
    folder = BackupFolder(kept.state.data)
    kept_client.dataset(csv_file(made_rows(60)))
    wait(lambda: has_saved(kept))
    fill(kept)

    kept_client.dataset(csv_file(made_rows(BIG)))
    wait(lambda: "unsaved" in health(kept_client))

    for _ in range(20):
        kept.kill_worker("keeper", signal.SIGSTOP)
        if not left_behind(folder):
            break
        # It was stopped in the middle of another try.
        kept.kill_worker("keeper", signal.SIGCONT)
        time.sleep(0.2)
    assert left_behind(folder) == set()


def left_behind(folder: BackupFolder) -> set[str]:
    """Name the files that no save holds."""
    manifest, former = folder.manifest(), folder.former()
    assert manifest is not None
    kept_pieces = manifest.pieces() | (former.pieces() if former else set())
    drafts = {path.name for path in folder.path.glob("draft-*")}
    return drafts | {path.name for path in (folder.path / PIECES).glob("*/*")} - kept_pieces


def test_stop_and_start_tell_what_a_full_disk_lost(kept: LocalStack, kept_client: Client):
    """A stop that cannot save names what is lost and fails; the start after it says since when."""
    saved = kept_client.dataset(csv_file(made_rows(60)))
    kept.pause()
    kept.start()
    fill(kept)
    with Client(kept.url, kept_client.token) as again:
        lost = again.dataset(csv_file(made_rows(BIG)), name="big one")

    assert kept.pause() == 1

    (said,) = [line for line in kept.log().splitlines() if "is lost" in line]
    assert f"dataset {lost['id']} (big one)" in said
    assert str(kept.state.folder) in said
    kept.start()
    assert "ended without its last save" in kept.log()
    with Client(kept.url, kept_client.token) as after:
        assert after.get(f"{LANGUAGE}/datasets/{saved['id']}").ok == saved
        assert after.get(f"{LANGUAGE}/datasets/{lost['id']}").status == 404
    assert kept.pause() == 0
    kept.start()
    assert "ended without its last save" not in kept.log()

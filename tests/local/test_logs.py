"""Log files of the local stack: origin, archiving, rotation."""

from __future__ import annotations

import json
import stat
import subprocess
import sys

from infra.local import logs
from infra.local.state import State

WRITE = """
import logging, sys
from pathlib import Path
from chalicelib import log
from infra.local import logs
from infra.local.state import State
logs.MAX_BYTES, logs.ROTATED_FILES = 2_000, 3
logs.write_logs(State(Path(sys.argv[1])), "front")
log.configure("INFO", "stdout")
for number in range(150):
    log.record("request", number=number)
log.warning("trouble")
logging.getLogger("library").error("failed for %s", "secret")
"""


def test_lines_go_to_a_file_that_turns(tmp_path):
    """Log files are rotated in whole lines; the terminal shows only warnings."""
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(tmp_path)], capture_output=True, text=True, check=True
    )

    folder = State(tmp_path).logs
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = logs.log_files(folder)
    assert {path.name for path in files} == {
        "front.jsonl",
        *(f"front.jsonl.{n}" for n in (1, 2, 3)),
    }
    assert all(path.stat().st_size <= 2_000 for path in files)
    found = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    numbers = sorted(line["number"] for line in found if "number" in line)
    assert numbers == list(range(numbers[0], 150))
    assert done.stdout == ""
    shown = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert shown == ["trouble", "library"]


def test_disk_that_is_full_is_said_once(tmp_path):
    """If the log cannot be written, one line on the terminal says so and the stack runs on."""
    folder = State(tmp_path).logs
    (folder / "front.jsonl").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert done.stderr.count("log lines are lost") == 1
    assert "Traceback" not in done.stderr


def test_former_lines_are_put_aside(tmp_path):
    """An empty start archives the previous logs, and keeps only the latest archive."""
    state = State(tmp_path)
    for world in ("first", "second"):
        state.logs.mkdir()
        (state.logs / "front.jsonl").write_text(world)
        logs.archive_logs(state)
    logs.archive_logs(state)

    assert not state.logs.exists()
    assert (tmp_path / "logs.former" / "front.jsonl").read_text() == "second"

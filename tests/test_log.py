"""Log lines are JSON objects with the ids of their own call, and have no prefix."""

from __future__ import annotations

import json
import logging
import math
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from chalicelib import log

ON_LAMBDA = """
import logging, sys
root = logging.StreamHandler(sys.stdout)
root.setFormatter(logging.Formatter("[%(levelname)s] PREFIX %(message)s"))
logging.getLogger().addHandler(root)
from chalicelib import log
log.configure("INFO", "stdout")
log.info("one", text="a\\nb")
log.capture_libraries()
logging.getLogger("library").warning("failed for %s", "secret")
logging.getLogger("library").info("chatter")
"""


def test_line_has_time_level_and_facts(lines):
    """Every line contains its time, its level and the facts of the event."""
    before = datetime.now(UTC)
    log.configure("INFO")
    log.warning("disk_full", bytes=7)

    (line,) = lines()
    assert list(line) == ["time", "level", "event", "bytes"]
    assert (line["level"], line["event"], line["bytes"]) == ("WARNING", "disk_full", 7)
    assert abs(datetime.fromisoformat(line["time"]) - before) < timedelta(seconds=5)
    assert line["time"].endswith("Z")


def test_facts_cannot_replace_what_is_always_there(lines):
    """A fact with the name of a fixed member does not replace this member."""
    log.record("real", time="x", level="x", **{"event": "x"})

    (line,) = lines()
    assert (line["event"], line["level"]) == ("real", "INFO")


def test_level_holds_back_all_but_records(lines):
    """Lines below the level are not written, except records that bills are made of."""
    log.configure("ERROR")
    log.info("a")
    log.warning("b")
    log.error("c")
    log.record("d")
    log.configure("INFO")

    assert [line["event"] for line in lines()] == ["c", "d"]


def test_every_value_makes_a_valid_line(lines):
    """Line breaks, odd numbers, half surrogate pairs and long texts give valid lines."""
    odd = {"a": "x\ny\u2028", "b": math.nan, "c": math.inf, "d": "\ud800", "e": {1}, "f": None}
    log.record("odd", **odd, long="z" * 10_000)

    (line,) = lines()
    assert (line["a"], line["b"], line["c"], line["f"]) == ("x\ny\u2028", "nan", "inf", None)
    assert len(line["long"]) == log.MAX_TEXT + 1


def test_bound_facts_end_with_their_block(lines):
    """Bound facts are in all lines of their block; facts added in the block end with it."""
    with log.bound(request_id="r"):
        log.add(account="2")
        with log.bound(page=1):
            log.record("inner")
        log.record("middle")
    log.record("outer")

    inner, middle, outer = lines()
    assert (inner["request_id"], inner["account"], inner["page"]) == ("r", "2", 1)
    assert "page" not in middle
    assert middle["account"] == "2"
    assert not {"request_id", "account"} & set(outer)


def test_threads_do_not_mix_their_ids(lines):
    """Sixteen requests at once, each with helper threads, have their own ids in every line."""
    gate = threading.Barrier(16)

    def work(number: int) -> None:
        with log.bound(request_id=f"r-{number}"):
            gate.wait()
            log.add(account=str(number))
            with ThreadPoolExecutor(2) as pool:
                tell = log.with_context(lambda turn: log.record("helper", number=number, turn=turn))
                for turn in range(50):
                    log.record("own", number=number)
                    pool.submit(tell, turn)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = lines()
    assert len(found) == 16 * 100
    assert all(
        (line["request_id"], line["account"]) == (f"r-{line['number']}", str(line["number"]))
        for line in found
    )


def test_carried_facts_leave_no_trace_in_a_thread(lines):
    """After running another request's work, a thread has its own facts again."""
    with log.bound(request_id="a"):
        tell = log.with_context(lambda: log.record("carried"))
    with log.bound(request_id="b"):
        tell()
        log.record("own")

    assert [line["request_id"] for line in lines()] == ["a", "b"]


def test_lines_have_no_prefix_where_a_host_has_handlers():
    """On Lambda, each line is written once and unchanged, and so are lines of libraries."""
    done = subprocess.run(
        [sys.executable, "-c", ON_LAMBDA], capture_output=True, text=True, check=True
    )

    first, second = [json.loads(line) for line in done.stdout.splitlines()]
    assert (first["event"], first["text"]) == ("one", "a\nb")
    assert (second["event"], second["logger"], second["level"]) == ("library", "library", "WARNING")
    assert (second["text"], done.stderr) == ("failed for %s", "")


def test_command_shows_warnings_only():
    """Without a stream, a command shows only warnings, not lines of normal work."""
    code = "from chalicelib import log; log.configure('INFO'); log.record('a'); log.warning('b')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == ""
    assert [json.loads(line)["event"] for line in done.stderr.splitlines()] == ["b"]


def test_closed_stream_fails_no_call(monkeypatch):
    """If the stream is closed, lines are lost but no call fails."""

    class Closed:
        def write(self, text: str) -> None:
            raise OSError

    monkeypatch.setattr(sys, "stderr", Closed())
    log.warning("lost")


def test_chalice_has_another_logger():
    """Lines of Chalice's logger are not mistaken for lines of the service's logger."""
    assert not logging.getLogger("presage").handlers

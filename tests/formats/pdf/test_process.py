"""The PDF process: isolation, limits, and how it ends."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from chalicelib.errors import BadRequest, MachineBusy, TimedOut
from chalicelib.formats.pdf import process as pdf_process
from chalicelib.formats.pdf.document import PdfDocument
from chalicelib.formats.pdf.process import MAX_MEMORY_BYTES, PdfProcess
from tests.formats.opened import LINES, texts
from tests.pdfs import text_pdf


@pytest.fixture
def process():
    """Start a process and end it."""
    found = PdfProcess(cpu_seconds=20)
    assert found.frames.receive(time.monotonic() + 60) == b"ready"
    yield found
    found.close()
    found.release()


def about(process, name):
    """Return the system's facts about a process."""
    return Path(f"/proc/{process.pid}/{name}").read_bytes()


def test_it_is_given_no_secret(process, monkeypatch):
    """The service's environment variables do not reach the process."""
    assert b"AWS_ACCESS_KEY_ID" not in about(process, "environ")
    assert about(process, "environ").count(b"=") <= 3
    assert os.readlink(f"/proc/{process.pid}/cwd") == "/"


def test_it_has_no_files_of_the_service(process):
    """The process has only its two pipes open."""
    kinds = [
        os.readlink(f"/proc/{process.pid}/fd/{number}")
        for number in os.listdir(f"/proc/{process.pid}/fd")
    ]
    assert sorted(kind.partition(":")[0] for kind in kinds) == ["/dev/null", "pipe", "pipe"]


def test_it_is_limited(process):
    """The system limits its memory, processor time, files and core dumps."""
    rows = about(process, "limits").decode().splitlines()
    limits = {row[:26].strip(): row[26:].split()[:2] for row in rows}
    assert limits["Max address space"] == [str(MAX_MEMORY_BYTES)] * 2
    assert limits["Max cpu time"] == ["20", "20"]
    assert limits["Max core file size"] == ["0", "0"]
    assert limits["Max file size"] == ["0", "0"]
    assert limits["Max open files"] == ["16", "16"]


def test_it_takes_little(process):
    """An idle process takes at most 40 MB."""
    status = about(process, "status").decode()
    row = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    assert int(row.split()[1]) < 40_000


def test_closing_ends_it(process):
    """Closing ends the process without a zombie."""
    process.close()
    process.close()
    assert not Path(f"/proc/{process.pid}").exists()


def test_it_ends_with_its_parent(process):
    """The process ends when its pipes are closed."""
    process.release()
    for _ in range(1200):
        if b"Z" in about(process, "stat").rpartition(b")")[2].split()[:1]:
            return
        time.sleep(0.05)
    pytest.fail("the process still runs")


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_crash_names_the_page(number):
    """A crash while reading a page is a 400 that names the page, also for later pages."""
    with PdfDocument(text_pdf(LINES, LINES), 8, 5, math.inf) as document:
        assert texts(document.page(1, False)) == LINES
        os.kill(document._process.pid, number)
        with pytest.raises(BadRequest) as caught:
            document.page(2, False)
        assert caught.value.code == "broken_document"
        assert "page 2 is damaged or takes too much memory" in caught.value.message
        with pytest.raises(BadRequest, match="page 2"):
            document.page(1, False)


def test_standstill_names_the_page():
    """A process starved of processor time ends in time, without blaming the document."""
    with PdfDocument(text_pdf(LINES), 8, 0.5, math.inf) as document:
        os.kill(document._process.pid, signal.SIGSTOP)
        for _ in range(2):
            with pytest.raises(
                MachineBusy, match="Page 1 of the PDF was not read: other work"
            ) as caught:
                document.page(1, False)
            assert (caught.value.status, caught.value.retry_after_seconds) == (503, 10)
        assert not Path(f"/proc/{document._process.pid}").exists()


def test_interpreter_that_does_not_start(monkeypatch):
    """If the process cannot start, the document is not blamed and nothing is left behind."""
    before = len(os.listdir("/proc/self/fd"))
    for command in ("/bin/false", "/no/such/interpreter"):
        monkeypatch.setattr(pdf_process.sys, "executable", command)
        with pytest.raises(TimedOut, match="did not start"):
            PdfDocument(text_pdf(LINES), 8, 5, math.inf)
    assert len(os.listdir("/proc/self/fd")) == before


def test_page_that_waits_for_a_processor_is_read():
    """A page may take more wall-clock time than its limit of processor time."""
    with PdfDocument(text_pdf(LINES), 8, 1.0, math.inf) as document:
        pid = document._process.pid
        os.kill(pid, signal.SIGSTOP)
        wake = threading.Timer(2.0, os.kill, (pid, signal.SIGCONT))
        wake.start()
        assert [line.text for line in document.page(1, False).layer] == LINES
        wake.join()

"""ministack is started on the loopback address, waited for, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from infra.packaging.lock import pins
from infra.packaging.target import RUNTIMES, PackageError, Runtime
from tests.emulators import ministack
from tests.emulators.errors import EmulatorError
from tests.emulators.ministack import Ministack, environment, lock

SERVER = """\
#!{python}
import http.server, os, subprocess, sys
if {fails!r}:
    sys.exit("the port is taken")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(child.pid).encode())
    def log_message(self, *args):
        pass
child = subprocess.Popen(["sleep", "100"], start_new_session=True)
place = ({host!r} or os.environ["BIND_HOST"], int(os.environ["GATEWAY_PORT"]))
http.server.HTTPServer(place, Handler).serve_forever()
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a small server, whose function never ends, where ministack is started."""

    def use(host: str = "", *, fails: bool = False) -> None:
        """Take its place."""
        program = tmp_path / "python"
        program.write_text(SERVER.format(python=sys.executable, host=host, fails=fails))
        program.chmod(0o755)
        monkeypatch.setattr(ministack, "prepare", lambda *args, **kwargs: program)

    return use


def _is_running(pid: int) -> bool:
    """Return whether a process still runs; one that has not been waited for counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_it_answers_and_leaves_nothing(stand_in):
    """It is ready when entered; afterwards no process, function or folder is left."""
    stand_in()
    said: list[str] = []
    with Ministack(progress=said.append) as server:
        with urllib.request.urlopen(server.url, timeout=60) as answer:  # noqa: S310
            function = int(answer.read())
        pid, folder = server.pid, server.folder
        assert folder.is_dir()
        assert server.environment["AWS_ENDPOINT_URL"] == server.url
        assert _is_running(function)

    deadline = time.monotonic() + 60
    while _is_running(function) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _is_running(function)
    assert not _is_running(pid)
    assert not folder.exists()
    assert said == [f"ministack: answers on {server.url}"]
    with pytest.raises(EmulatorError, match="does not run"):
        server.pid  # noqa: B018 - a property that raises


def test_one_that_ends_reports_why(stand_in):
    """When it does not start, the error holds what it said last, and the folder is gone."""
    stand_in(fails=True)
    server = Ministack(progress=lambda line: None)

    with pytest.raises(EmulatorError, match="the port is taken"):
        server.__enter__()

    assert not server.folder.exists()


def test_other_machines_cannot_reach_it(stand_in):
    """An emulator that listens on every address is stopped at once."""
    stand_in(host="0.0.0.0")  # noqa: S104 - what must be refused

    with (
        pytest.raises(EmulatorError, match=r"listens beyond this machine, on 0\.0\.0\.0:\d+"),
        Ministack(progress=lambda line: None),
    ):
        pass


def test_it_ends_with_who_started_it(stand_in, tmp_path: Path):
    """A run that is killed leaves no emulator."""
    stand_in()
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from tests.emulators import ministack\n"
        f"program = Path({str(tmp_path / 'python')!r})\n"
        "ministack.prepare = lambda *a, **k: program\n"
        "server = ministack.Ministack().__enter__()\n"
        "print(server.pid, server.url, server.folder, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent:
        pid, url, folder = parent.stdout.readline().split()
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310
            function = int(answer.read())
        os.kill(parent.pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while _is_running(int(pid)) and time.monotonic() < deadline:
        time.sleep(0.01)

    assert not _is_running(int(pid))
    # Real functions end when the pipe to ministack closes; this one does not read it.
    os.kill(function, signal.SIGKILL)
    shutil.rmtree(folder)


def test_environment_is_bare(tmp_path: Path):
    """Nothing of the caller's Python, AWS account or service reaches ministack's functions."""
    given = {
        "PATH": "/bin",
        "HOME": "/home/me",
        "AWS_PROFILE": "mine",
        "AWS_ACCESS_KEY_ID": "real",
        "PYTHONPATH": "/src",
        "PRESAGE_BUCKET": "mine",
    }
    found = environment(given, tmp_path, 4700)

    assert found["PATH"] == "/bin"
    assert (found["BIND_HOST"], found["GATEWAY_PORT"]) == ("127.0.0.1", "4700")
    assert not {n for n in found if n.startswith(("PRESAGE_", "PYTHONPATH", "AWS_PROFILE"))}
    assert "real" not in found.values()
    folders = {found[name] for name in ("HOME", "TMPDIR", "STATE_DIR", "S3_DATA_DIR")}
    assert all(name.startswith(str(tmp_path)) for name in folders)
    assert found["AUTH"] == "true"


def test_it_runs_in_the_python_that_builds(monkeypatch: pytest.MonkeyPatch):
    """Functions run in the Python of their byte code; another one is refused with the remedy."""
    asked: list[object] = []
    monkeypatch.setattr(ministack, "prepare", lambda *words, **more: asked.extend(words))

    ministack.install()

    own = RUNTIMES["{}.{}".format(*sys.version_info)]
    assert asked == ["ministack", Path(sys.executable), lock(own)]

    def not_offered():
        raise PackageError("This is Python 3.10")

    monkeypatch.setattr(ministack, "own_runtime", not_offered)
    with pytest.raises(EmulatorError, match=r"This is Python 3\.10"):
        ministack.install()


@pytest.mark.parametrize("runtime", RUNTIMES.values(), ids=lambda runtime: runtime.name)
def test_lock_is_bare_and_whole(runtime: Runtime):
    """The lock names every package with its digest, and none that the zip itself must bring."""
    text = lock(runtime).read_text("utf-8")
    locked = pins(text)

    assert locked["ministack"] == "1.5.33"
    assert text.count("--hash=sha256:") >= len(locked)
    native = {
        "numpy",
        "onnxruntime",
        "pillow",
        "tokenizers",
        "pypdfium2",
        "msgspec",
        "cryptography",
    }
    assert not native & set(locked)
    assert not {"chalice", "pynamodb", "rapidfuzz", "usaddress", "pytesseract"} & set(locked)

"""Start and stop of the stack: no orphans, clear messages, a state folder that closes behind."""

# ruff: noqa: S310 - the URLs are the running stack's

from __future__ import annotations

import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from infra.local import supervisor
from infra.local.environment import ROOT
from infra.local.options import parse
from infra.local.process import fork
from infra.local.state import State
from tests.local.wire import TINY, is_alive, talk, wait_until
from tests.local_stack import LocalStack


def test_killed_supervisor_leaves_no_orphan(fresh):
    """SIGKILL of the supervisor takes every child with it."""
    pids = list(fresh.processes.values())

    fresh.stop(signal.SIGKILL)

    wait_until(lambda: not [pid for pid in pids if is_alive(pid)])


def test_killed_front_is_started_again_on_its_port(fresh):
    """A dead front comes back without a refused connection."""
    fresh.kill_worker("front", signal.SIGKILL)

    with urllib.request.urlopen(fresh.url + "/v2/nothing", timeout=60) as answer:
        assert answer.status == 200


def test_number_of_an_ended_task_may_be_used_again(tmp_path, monkeypatch):
    """A new process may have the number of an ended task."""
    stack = supervisor.Supervisor(parse([], {"PRESAGE_STATE_DIR": str(tmp_path)}), {})
    stack._signals, written = os.pipe()
    os.write(written, b"x")
    stack._tasks[7], replaced = 0, []
    monkeypatch.setattr(supervisor, "_ended", lambda: [(7, signal.SIGKILL)])
    monkeypatch.setattr(stack, "_replace", lambda *died: replaced.append(died))

    stack._wait(0)
    os.close(stack._signals)
    os.close(written)

    assert replaced == [(7, signal.SIGKILL)]


def test_stop_during_the_start_is_not_a_failure(tmp_path):
    """SIGTERM before the service is ready ends with status 0 and one line that says so."""
    with subprocess.Popen(
        [sys.executable, "-m", "infra.local", "--bare"],
        cwd=ROOT,
        env=stack_environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as stack:
        # The first child is the emulated AWS: the tables do not exist yet.
        children = Path(f"/proc/{stack.pid}/task/{stack.pid}/children")
        wait_until(children.read_text)
        stack.send_signal(signal.SIGTERM)
        out, said = stack.communicate(timeout=60)

    assert (stack.returncode, out) == (0, "")
    assert [line.partition("stack: ")[2] for line in said.splitlines()] == [
        "stopped before the service was ready."
    ]


def test_killed_container_starts_again(tmp_path):
    """A description with this process's own id belongs to a killed stack and is ignored."""
    stack = supervisor.Supervisor(parse([], {"PRESAGE_STATE_DIR": str(tmp_path)}), {})
    State(tmp_path).write_stack({"pid": os.getpid(), "url": "http://127.0.0.1:1"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("infra.local.state._is_stack", lambda pid: True)
        assert State(tmp_path).read_stack() is not None
        stack._claim_folder()
        patch.setattr(os, "getpid", lambda: 1)
        with pytest.raises(supervisor.CannotStart):
            stack._claim_folder()


def test_dead_data_plane_stops_the_stack(fresh):
    """If the emulated AWS dies, the stack reports it and exits with status 1."""
    fresh.kill_worker("aws", signal.SIGKILL)

    wait_until(lambda: "changes since the last save are lost" in fresh.log())
    assert fresh.stop() == 1


def test_workers_step_back_for_the_front(fresh):
    """Workers have the configured niceness, by default 10; front and data have none."""
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    found = fresh.processes

    wait_until(lambda: all(niceness(found[name]) == usual + 3 for name in ("ingest", "train")))
    assert {niceness(found[name]) for name in ("aws", "front")} == {usual}
    assert parse([], {}).niceness == 10


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PRESAGE_PORT", "65536"),
        ("PRESAGE_METRICS_PORT", "-1"),
        ("PRESAGE_SWEEP_SECONDS", "nan"),
        ("PRESAGE_SAVE_SECONDS", "inf"),
        ("PRESAGE_DRAIN_SECONDS", "-1"),
    ],
)
def test_ports_and_times_out_of_range_are_refused(variable, value, capsys):
    """A number that no socket or clock takes is refused with its limits, not with a traceback."""
    with pytest.raises(SystemExit):
        parse([], {variable: value})

    assert "is not a number from 0 to " in capsys.readouterr().err


def niceness(pid):
    """Read how far a process steps back."""
    return os.getpriority(os.PRIO_PROCESS, pid)


def test_state_folder_is_private_and_closes_behind(fresh):
    """The signing key is private, and stack.json is removed at the end."""
    secret = fresh.state.folder / "token.secret"

    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert len(secret.read_text("ascii")) >= 32
    assert fresh.environment["PRESAGE_TOKEN_SECRET"] == secret.read_text("ascii")


def stack_environment(state_dir):
    """Return the variables of a stack with a tiny application on free ports."""
    return {
        **os.environ,
        "PRESAGE_APP": TINY,
        "PRESAGE_STATE_DIR": str(state_dir),
        "PRESAGE_PORT": "0",
        "PRESAGE_AWS_PORT": "0",
    }


def start(tmp_path, limits=None, **environment):
    """Start the command, under limits of the system, and return how it ended."""

    def set_limits():
        for kind, limit in (limits or {}).items():
            resource.setrlimit(kind, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "infra.local", "--bare"],
        cwd=ROOT,
        env={**stack_environment(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=set_limits,
    )


@pytest.mark.parametrize("variable", ["PRESAGE_PORT", "PRESAGE_AWS_PORT"])
def test_used_port_is_one_clear_line(tmp_path, variable):
    """A port that is used is named in one line, with the way around, and ends with status 2."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = str(holder.getsockname()[1])

        ended = start(tmp_path, **{variable: port})

    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert f"port {port} of 127.0.0.1" in ended.stderr
    assert variable in ended.stderr


@pytest.mark.parametrize(
    ("variable", "value", "status"),
    [("PRESAGE_PORT", "many", 2), ("PRESAGE_LEASE_SECONDS", "long", 1)],
)
def test_unreadable_variable_is_named(tmp_path, variable, value, status):
    """A variable that cannot be read is named without a traceback."""
    ended = start(tmp_path, **{variable: value})

    assert ended.returncode == status
    assert value in ended.stderr
    assert "Traceback" not in ended.stderr


def test_empty_signing_key_is_said(tmp_path):
    """A start with an empty token.secret makes a new key and says that old tokens are invalid."""
    secret = tmp_path / "token.secret"
    secret.touch()

    # A variable that cannot be read ends the start right after the key was looked for.
    ended = start(tmp_path, PRESAGE_LEASE_SECONDS="long")

    assert len(secret.read_text("ascii")) >= 32
    (said,) = [line for line in ended.stderr.splitlines() if "token.secret" in line]
    assert "earlier tokens are invalid" in said


def test_full_disk_is_one_clear_line(tmp_path):
    """A start that can write nothing names the folder and the remedy in one line, status 2."""
    ended = start(tmp_path, limits={resource.RLIMIT_FSIZE: 1000})

    assert ended.returncode == 2
    (said,) = ended.stderr.splitlines()
    assert str(tmp_path) in said
    assert "Free some space" in said
    assert list(tmp_path.iterdir()) == []


def test_description_of_a_dead_stack_is_ignored(tmp_path):
    """The stack.json of a dead stack is ignored, also if its process id is reused."""
    state = State(tmp_path)
    for pid in (os.getpid(), 2**22 + 1):
        state.write_stack({"pid": pid, "url": "http://127.0.0.1:1", "environment": {}})

        assert state.read_stack() is None


def test_state_folder_that_is_none_is_one_line(tmp_path):
    """An error other than a full disk has its own remedy."""
    (tmp_path / "file").write_text("no folder")

    ended = start(tmp_path / "file")

    (said,) = ended.stderr.splitlines()
    assert ended.returncode == 2
    assert "(File exists)" in said
    assert said.endswith("or fix its permissions.")


def test_second_stack_with_one_state_folder_is_refused(fresh):
    """Two stacks never share a state folder."""
    ended = start(fresh.state.folder)

    assert ended.returncode == 2
    assert fresh.url in ended.stderr


def test_unreachable_endpoint_is_said(tmp_path):
    """An AWS endpoint that is set but does not answer is named, and the start fails."""
    ended = start(
        tmp_path,
        AWS_ENDPOINT_URL="http://127.0.0.1:9",
        AWS_MAX_ATTEMPTS="1",
        AWS_RETRY_MODE="legacy",
    )

    assert ended.returncode == 1
    assert "http://127.0.0.1:9" in ended.stderr


def test_running_endpoint_is_used_with_another_name(fresh, tmp_path):
    """With AWS_ENDPOINT_URL no emulated AWS starts, and names follow PRESAGE_NAME."""
    notes = tmp_path / "other.txt"
    environment = {
        **{name: value for name, value in fresh.environment.items() if name.startswith("AWS_")},
        "PRESAGE_NAME": "other",
        "TINY_DIARY": str(notes),
    }
    with LocalStack(TINY, environment=environment) as second:
        sqs = second.client("sqs")
        url = sqs.get_queue_url(QueueName="other-train-free")["QueueUrl"]
        sqs.send_message(QueueUrl=url, MessageBody="hello other")

        wait_until(lambda: notes.exists() and "hello other" in notes.read_text("utf-8"))

        assert "aws" not in second.processes
        assert second.settings.bucket == "other-data"


def test_gateway_limits_are_enforced_when_asked(tmp_path):
    """10 MB at the gateway and 6 MB at the function, base64 included, are refused with a 413."""
    environment = {"TINY_DIARY": str(tmp_path / "notes.txt")}
    with LocalStack(TINY, ("--bare", "--gateway-limits"), environment) as stack:
        for size, status in ((4_500_000, 200), (5_000_000, 413), (10_485_761, 413)):
            head = (
                "POST /v2/echo HTTP/1.1\r\nHost:\r\nContent-Type: application/octet-stream\r\n"
                f"Connection: close\r\nContent-Length: {size}\r\n\r\n"
            )
            answer = talk(stack.url, head.encode(), bytes(size))
            assert answer.status == status
            assert status == 200 or b"POST /v2/uploads" in answer.body


def test_fork_is_refused_under_threads():
    """A process with threads is not forked."""
    import threading

    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    try:
        with pytest.raises(RuntimeError):
            fork("never", lambda: None)
    finally:
        release.set()
        thread.join()

"""Child processes of the local stack."""

from __future__ import annotations

import subprocess
import sys

from infra.local.process import SWITCH_SECONDS

FORKED = """
import os, sys
from infra.local.process import fork
os.waitpid(fork("child", lambda: print(sys.getswitchinterval(), flush=True)), 0)
"""


def test_threads_of_a_child_take_turns_quickly() -> None:
    """A shorter switch interval than 5 ms keeps computing calls from delaying others."""
    said = subprocess.run(
        [sys.executable, "-c", FORKED], check=True, capture_output=True, text=True, timeout=60
    )

    assert float(said.stdout) == SWITCH_SECONDS <= 0.001


GROUP_STOPPED = """
import os, signal
from infra.local.process import fork
ready, is_ready = os.pipe()
begun, begin = os.pipe()
signal.signal(signal.SIGTERM, lambda *_: print("supervisor", flush=True))

def work():
    os.write(is_ready, b"x")
    os.read(begun, 1)
    print("child", flush=True)

child = fork("child", work)
os.read(ready, 1)
os.killpg(0, signal.SIGTERM)
os.write(begin, b"x")
print(os.waitpid(child, 0)[1])
"""


def test_a_signal_to_the_group_reaches_only_the_supervisor() -> None:
    """A signal to the process group reaches only the supervisor, which stops in order."""
    output = subprocess.run(
        [sys.executable, "-c", GROUP_STOPPED],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        process_group=0,
    ).stdout

    assert output.split() == ["supervisor", "child", "0"]


STOPPED_EARLY = """
import os, signal
from infra.local.process import fork, handle_stop
begun, begin = os.pipe()

def work():
    os.read(begun, 1)
    handle_stop(lambda: print("saved", flush=True))

child = fork("child", work, holds_stop=True)
os.kill(child, signal.SIGTERM)
os.write(begin, b"x")
print(os.waitpid(child, 0)[1])
"""


def test_a_stop_right_after_the_fork_reaches_the_handler() -> None:
    """A SIGTERM before the child has set its handler is handled afterwards."""
    output = subprocess.run(
        [sys.executable, "-c", STOPPED_EARLY],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout

    assert output.split() == ["saved", "0"]


OFFLINE = """
import socket
import waitress
from infra.local.process import refuse_network
refuse_network()
with socket.create_server(("127.0.0.1", 0)) as listener:
    socket.create_connection(listener.getsockname()).close()
    waitress.create_server(print, sockets=[listener]).close()  # looks up 0.0.0.0
socket.getaddrinfo("localhost", 80)
for call in (
    lambda: socket.create_connection(("192.0.2.1", 9), timeout=1),
    lambda: socket.getaddrinfo("presage.example", 80),
    lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"", ("192.0.2.1", 9)),
):
    try:
        call()
    except OSError as error:
        assert "--offline" in str(error), error
    else:
        raise SystemExit("not refused")
"""


def test_offline_refuses_other_machines_only() -> None:
    """With --offline connections to other machines fail, and local ones work."""
    subprocess.run([sys.executable, "-c", OFFLINE], check=True)


PAUSED = """
import gc, os
from infra.local.process import fork, pause_collections, resume_collections
pause_collections()
print(gc.isenabled(), flush=True)
import json
resume_collections()
child = fork("child", lambda: print(gc.isenabled(), gc.get_freeze_count() > 1000, flush=True))
os.waitpid(child, 0)
"""


def test_modules_are_never_looked_at_for_garbage() -> None:
    """Imports run without collections, and children collect garbage but leave modules out."""
    output = subprocess.run(
        [sys.executable, "-c", PAUSED], check=True, capture_output=True, text=True, timeout=60
    ).stdout

    assert output.split() == ["False", "True", "True"]

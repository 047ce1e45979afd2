"""The machine's clock jumps by two hours while the whole stack works: `make clocks`.

A preloaded library adds an offset to the clock of all processes of the stack. libfaketime cannot be
used: it also changes waits of threads, with which Python stands still.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.accounts import GRANT_TYPE
from tests.flows.client import LANGUAGE, Client
from tests.flows.world import TOKEN, World, assertion, csv_file, made_rows
from tests.local_stack import LocalStack

OPERATIONS = 20
# The offset in hours is the content of the file that CLOCK_FILE names.
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(id, at);
    char text[16] = "";
    int file = id == CLOCK_REALTIME ? open(getenv("CLOCK_FILE"), O_RDONLY) : -1;
    if (file >= 0) {
        if (read(file, text, 15) > 0) at->tv_sec += 3600 * atol(text);
        close(file);
    }
    return status;
}
time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return at ? (*at = now.tv_sec) : now.tv_sec;
}
"""


class JumpingStack:
    """A stack whose clock can be set, and accounts on it."""

    def __init__(self, folder: Path) -> None:
        self._time, library = folder / "hours", folder / "clock.so"
        self._time.write_text("0", "ascii")
        self.hours = 0
        compile_shim = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library), "-ldl"]
        subprocess.run(compile_shim, input=SHIM, text=True, check=True)
        environment = {
            "LD_PRELOAD": str(library),
            "CLOCK_FILE": str(self._time),
            "PRESAGE_SWEEP_SECONDS": "1",
        }
        self.stack = LocalStack(environment=environment, ready_seconds=240)
        self.stack.start()
        self.world = World(self.stack, folder)

    def jump(self, hours: int) -> None:
        """Set the clock forward or back."""
        self.hours += hours
        self._time.write_text(str(self.hours), "ascii")

    def sign_in(self, client: Client) -> None:
        """Get a token as a program on the same machine does."""
        expiry = time.time() + self.hours * 3600 + 600
        signed = assertion(client.email, self.world.private_pem, exp=expiry)
        answer = client.form(TOKEN, {"grant_type": GRANT_TYPE, "assertion": signed})
        client.token = answer.ok["access_token"]


@pytest.fixture
def jumping(closed_network: None, tmp_path: Path) -> Iterator[JumpingStack]:
    """A stack with a clock that tests set."""
    made = JumpingStack(tmp_path)
    try:
        yield made
    finally:
        made.world.close()
        made.stack.stop()


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("hours", [-2, 2])
def test_jumps_of_the_clock_refuse_and_lose_nothing(jumping: JumpingStack, hours: int) -> None:
    """Open jobs finish, and calls and tokens are accepted five seconds after a clock jump."""
    caller = jumping.world.caller("GOLD", example_calls=1_000)
    rows = made_rows(60)
    ready = caller.dataset(csv_file(rows))
    model = caller.train(ready["id"])["modelId"]
    assert caller.wait_model(model, 600)["status"] == "SUCCEEDED"
    gone = caller.dataset(csv_file(rows))
    for _ in range(200):
        caller.get(f"{LANGUAGE}/datasets/{ready['id']}")
    # Open at the jump: an upload, a training and a deletion.
    uploaded = caller.upload(csv_file(rows))["id"]
    trained = caller.train(ready["id"])["modelId"]
    deletion = caller.delete(f"{LANGUAGE}/datasets/{gone['id']}").ok["id"]
    jumping.jump(hours)
    time.sleep(5)

    if hours > 0:
        # The first token has lived for an hour by the new clock.
        assert caller.get(f"{LANGUAGE}/datasets/{ready['id']}").status == 401
        jumping.sign_in(caller)
    statuses = [caller.get(f"{LANGUAGE}/datasets/{ready['id']}").status for _ in range(OPERATIONS)]
    statuses += [caller.predict(model, rows[0][0]).status for _ in range(OPERATIONS)]
    assert set(statuses) == {200}, statuses
    for _ in range(OPERATIONS):
        jumping.sign_in(caller)
    assert caller.wait_dataset(uploaded, 600)["statusMsg"] == "SUCCEEDED"
    assert caller.wait_model(trained, 600)["status"] == "SUCCEEDED"
    assert caller.wait_deletion(deletion, 600)[-1]["status"] == "SUCCEEDED"
    # The clock is corrected, and new work of every kind is done.
    jumping.jump(-hours)
    time.sleep(5)
    jumping.sign_in(caller)
    found = caller.dataset(csv_file(rows))
    assert caller.get(f"{LANGUAGE}/datasets/{found['id']}").ok["totalExamples"] == len(
        {text for text, _ in rows}
    )
    assert caller.wait_model(caller.train(found["id"])["modelId"], 600)["status"] == "SUCCEEDED"

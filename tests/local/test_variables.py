"""The command that prints how other tools reach the emulated AWS."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from infra.local.environment import ROOT
from tests.local_stack import LocalStack


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command on a state folder."""
    return subprocess.run(
        [sys.executable, "-m", "infra.local.variables"],
        cwd=ROOT,
        env={**os.environ, "PRESAGE_STATE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_variables_of_the_running_stack_are_printed(stack: LocalStack) -> None:
    """A shell that evaluates the output has address and keys."""
    done = run(stack.state.folder)

    words = [shlex.split(line) for line in done.stdout.splitlines()]
    found = dict(word.split("=", 1) for export, word in words if export == "export")
    names = ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION")
    assert {name: found[name] for name in names} == {
        name: stack.environment[name] for name in names
    }
    assert "PRESAGE_TOKEN_SECRET" not in found


def test_no_stack_is_one_line(tmp_path: Path) -> None:
    """Without a running stack the remedy is named."""
    done = run(tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"No local stack is described in {tmp_path}. Start it: make run"
    ]

"""The commit-msg hook keeps the history readable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HOOK = Path(__file__).parents[2] / ".ci" / "commit_message.py"
BODY = "\n\nThe old name sent readers to the wrong module.\n"


def run(folder: Path, message: str) -> subprocess.CompletedProcess[str]:
    """Run the hook on a message, as git does."""
    file = folder / "COMMIT_EDITMSG"
    file.write_text(message, "utf-8")
    return subprocess.run(
        [sys.executable, str(HOOK), str(file)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "message", [f"Rename edits to corrections{BODY}", "Merge branch 'main' into topic"]
)
def test_plain_messages_pass(tmp_path: Path, message: str) -> None:
    """An imperative subject with a body passes, and so do subjects that git writes."""
    assert run(tmp_path, message).returncode == 0


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (f"Let a page that merely mentions a key not count{BODY}", "begins with 'Let'"),
        (f"Renamed edits{BODY}", "begins with 'Renamed'"),
        (f"rename edits{BODY}", "begins with 'rename'"),
        (f"Rename {'a' * 70}{BODY}", "77 characters"),
        (f"Rename edits.{BODY}", "full stop"),
        ("Rename edits\nto corrections\n\nbody\n", "second line"),
        ("Rename edits\n\n# a comment of git\n", "no body"),
        ("", "no body"),
    ],
)
def test_other_messages_are_refused_with_the_fault(
    tmp_path: Path, message: str, fault: str
) -> None:
    """A message with a vague verb, a long subject or no body is refused, and the fault is named."""
    result = run(tmp_path, message)

    assert result.returncode == 1
    assert fault in result.stderr

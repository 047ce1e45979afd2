"""Type checkers can use the client: code of the documentation and every kind of call."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "client" / "README.md"])
TYPED_CALLS = Path(__file__).with_name("typed_calls.py")
EVERY_CALL = ROOT / "tests" / "flows" / "presage_client" / "every_call.py"


def documented_code(folder: Path) -> list[Path]:
    """Write the Python blocks of each page that use the client, as one file for each page."""
    written = []
    for page in PAGES:
        found = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
        if blocks := [block for block in found if "presage" in block and "client" in block]:
            name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
            written.append(folder / f"{name}.py")
            written[-1].write_text("".join(blocks), "utf-8")
    return written


def check_types(*files: Path) -> str:
    """Run `mypy --strict` on files that import the client, and return what it reports."""
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.11"]
    # Errors of the client itself are reported by its own run of mypy.
    command += ["--follow-imports", "silent", "--config-file", os.devnull]
    variables = {**os.environ, "MYPYPATH": str(ROOT / "client" / "src")}
    run = subprocess.run(
        [*command, *files], cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    return run.stdout + run.stderr


def test_documented_code_and_calls_have_types(tmp_path: Path) -> None:
    """Code of the documentation and every method pass `mypy --strict`; calls have exact types."""
    pages = documented_code(tmp_path)
    assert {"README.py", "docs_client.py"} <= {path.name for path in pages}

    assert "Success" in (said := check_types(*pages, TYPED_CALLS, EVERY_CALL)), said

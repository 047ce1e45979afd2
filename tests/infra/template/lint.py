"""Runs cfn-lint over both templates, warnings included: a step of `make check`.

Run: python -m tests.infra.template.lint. It prints what it finds and sets the exit status. A check
takes seconds, so templates that have passed are not checked again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import cfnlint.version
from cfnlint import runner

from infra.template.storage import data_template
from tests.infra.template.conftest import ROOT, whole_template

PASSED = ROOT / "build" / "cfn-lint.passed"
"""Has the digest of the templates that passed last, with the version of cfn-lint."""


def main() -> None:
    """Write both templates, let cfn-lint look at them, and end with its status."""
    check({"template.json": json.dumps(whole_template()), "data.json": json.dumps(data_template())})


def check(files: dict[str, str]) -> None:
    """Let cfn-lint look at templates by file name, unless the same ones passed last."""
    asked = json.dumps([cfnlint.version.__version__, sys.version, files])
    digest = hashlib.sha256(asked.encode()).hexdigest()
    if PASSED.exists() and PASSED.read_text() == digest:
        return
    with TemporaryDirectory() as name:
        for file, content in files.items():
            Path(name, file).write_text(content)
        sys.argv = ["cfn-lint", "--template", *(str(Path(name, file)) for file in files)]
        try:
            runner.main()
        except SystemExit as end:
            if end.code:
                raise
    PASSED.parent.mkdir(exist_ok=True)
    PASSED.write_text(digest)


if __name__ == "__main__":
    main()

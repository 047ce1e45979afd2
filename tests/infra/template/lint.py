"""Runs cfn-lint over both templates, warnings included: a step of `make check`.

Run: python -m tests.infra.template.lint. It prints what it finds and sets the exit status.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from cfnlint import runner

from infra.template.storage import data_template
from tests.infra.template.conftest import whole_template


def main() -> None:
    """Write both templates, let cfn-lint look at them, and end with its status."""
    with TemporaryDirectory() as name:
        files = {"template.json": whole_template(), "data.json": data_template()}
        for file, content in files.items():
            Path(name, file).write_text(json.dumps(content))
        sys.argv = ["cfn-lint", "--template", *(str(Path(name, file)) for file in files)]
        runner.main()


if __name__ == "__main__":
    main()

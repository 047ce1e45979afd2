"""Fits the classifier head of CommunitySentiment on rated sentences.

Maintainers run `python -m bench.sentiment`, which takes about three minutes on one processor. It
writes infra/model_files/fitted/, which installations use. Processors round sums differently, so the
result differs slightly between machines.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.sentiment import run
from bench.sentiment.packages import CLEAR_SENTENCES, VADER
from infra.downloads.errors import InstallError
from infra.downloads.fetch import extract, fetch
from infra.model_files.install import install
from infra.model_files.sentiment_head import FOLDER
from infra.models import default_directory

_BUILD = Path(__file__).parents[2] / "build" / "sentiment"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.sentiment", description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to")
    options = parser.parse_args(arguments)
    try:
        install(default_directory(), (run.BASE,), _say)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for source in (VADER, CLEAR_SENTENCES):
                extract(source, fetch(source, _BUILD, _say), folder)
            run.run(run.Folders(default_directory(), folder, options.out), _say)
    except InstallError as error:
        _say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

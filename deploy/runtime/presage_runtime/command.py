"""The command `presage-runtime`."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from chalicelib.domain.models.prediction import Detection, Probability, as_json
from presage_runtime.bundle import BundleError, load


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 1 refused or different, 2 usage."""
    parser = argparse.ArgumentParser("presage-runtime", description="Predict with exported models.")
    commands = parser.add_subparsers(dest="command", required=True)
    verify = commands.add_parser("verify", help="compare with the answers of the service")
    predict = commands.add_parser("predict", help="predict the lines of a text file, or an image")
    for one in (verify, predict):
        one.add_argument("model", help="folder or zip archive of the exported model")
    predict.add_argument("file", help="text file, one text a line, or PNG or JPEG image; - reads")
    predict.add_argument("--count", type=int, help="number of labels")
    asked = parser.parse_args(arguments)
    try:
        return _verify(asked) if asked.command == "verify" else _predict(asked)
    except (BundleError, OSError) as refusal:
        print(refusal, file=sys.stderr)
        return 1


def _verify(asked: argparse.Namespace) -> int:
    found = load(asked.model).verify()
    if found.is_equal:
        print(f"{found.inputs} inputs: all answers are equal to those of the service")
        return 0
    print(f"{found.inputs} inputs: the largest difference is {found.largest_difference:.3g}")
    return 1


def _predict(asked: argparse.Namespace) -> int:
    model = load(asked.model)
    content = sys.stdin.buffer.read() if asked.file == "-" else Path(asked.file).read_bytes()
    if model.facts["family"] == "language":
        for line in _lines(content, asked.file):
            _show(model.predict(line, asked.count))
    else:
        _show(model.predict(content, asked.count))
    return 0


def _lines(content: bytes, name: str) -> list[str]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise BundleError(f"{name} is no text in UTF-8, which this model predicts.") from cause
    # Other line separators than these may be part of a text.
    return [line.removesuffix("\n") for line in io.StringIO(text, newline=None)]


def _show(items: Sequence[Probability | Detection]) -> None:
    print(json.dumps([as_json(item) for item in items], ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())

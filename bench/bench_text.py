"""Measures accuracy, calibration, rejection, languages and speed of the text engine.

Run with `make bench-text` or `python -m bench.bench_text [--data FOLDER] [--only PART ...]`. The
data is public. Vectors are cached in build/bench, so a second run only trains. Prints a table,
writes build/bench/text.json, and fails if a value misses its limit. Intervals are 95 % bootstrap
intervals over the test texts. The peers of bench/peers.py use the same files in the same run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.report import Report
from bench.text_commands import bench_commands
from bench.text_data import BUILD, LANGUAGES, PROFILES, ROOT, Embedder
from bench.text_data_report import bench_data_report
from bench.text_default import bench_default
from bench.text_intents import bench_intents
from bench.text_ladder import bench_choice, bench_ladder
from bench.text_languages import bench_languages
from bench.text_long import bench_long
from bench.text_names import bench_names
from bench.text_prebuilt import bench_prebuilt
from bench.text_rejection import bench_rejection
from bench.text_speed import bench_speed
from bench.text_users import bench_users
from chalicelib.engines.text.encoding.encoders import is_installed

Part = Callable[[Report, Embedder, Sequence[str]], None]
PARTS: Mapping[str, Part] = {
    "speed": bench_speed,
    "intents": bench_intents,
    "rejection": bench_rejection,
    "users": bench_users,
    "languages": bench_languages,
    "prebuilt": bench_prebuilt,
    "data-report": bench_data_report,
    "commands": bench_commands,
    "default": bench_default,
    "ladder": bench_ladder,
    "choice": bench_choice,
    "long": bench_long,
    "names": bench_names,
}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / ".models")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--profiles", nargs="+", choices=list(PROFILES), default=list(PROFILES))
    return parser.parse_args()


def main() -> int:
    """Run the selected parts; the exit status is 0 if every value meets its limit."""
    asked = arguments()
    if not (asked.data / "text").is_dir():
        print(f"The evaluation data is absent: {asked.data} has no folder text. Use --data.")
        return 2
    needed = {name for profile in asked.profiles for name in PROFILES[profile] + LANGUAGES[profile]}
    missing = [name for name in sorted(needed) if not is_installed(asked.models, name)]
    if missing:
        print(f"Not installed: {', '.join(missing)}. Run: python -m infra.models install")
        return 2
    embedder = Embedder(asked.data, asked.models)
    report = Report("Text engine: frozen encoders, linear head")
    for name in asked.only:
        PARTS[name](report, embedder, asked.profiles)
    return report.finish(BUILD / "text.json")


if __name__ == "__main__":
    sys.exit(main())

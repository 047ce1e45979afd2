"""The command `python -m infra.models`: installs, lists and verifies model files.

`python -m infra.models install` needs the package registries the first time and nothing afterwards.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from chalicelib.commands import administrator_command
from chalicelib.config import Settings
from infra.downloads.errors import InstallError
from infra.downloads.packages import MEGABYTE
from infra.model_files import install as files
from infra.model_files.install import download_megabytes, install, missing
from infra.model_files.manifest import ACCURATE, FAST, MODELS, weights_source

__all__ = [
    "ACCURATE",
    "FAST",
    "InstallError",
    "default_directory",
    "download_megabytes",
    "install",
    "missing",
]

_ROOT = Path(__file__).resolve().parent.parent
_FAILED = 1
# Sets of models by the word that selects them, and their names in the command's output.
_SAID = {"fast": "all fast", "accurate": "all accurate", "all": "all"}


def default_directory() -> Path:
    """Return the model directory of the settings; relative paths start at the project's folder."""
    return _ROOT / Settings.from_environment(os.environ).model_dir


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _chosen(options: argparse.Namespace) -> tuple[str, ...]:
    if options.only:
        return tuple(options.only)
    return {"fast": FAST, "accurate": ACCURATE, "all": tuple(MODELS)}[options.set]


def _install(options: argparse.Namespace) -> int:
    names = _chosen(options)
    if not missing(options.dir, files.with_needs(names)):
        _say(f"{_SAID[options.set]} model files are installed in {options.dir}")
        return 0
    install(options.dir, names, _say, keep_downloads=options.keep_downloads, terminal=sys.stderr)
    _say("done")
    return 0


def _status(options: argparse.Namespace) -> int:
    absent = missing(options.dir, tuple(MODELS))
    for name, model in MODELS.items():
        state = "missing" if name in absent else "installed"
        packages = [f"{source.package} {source.version}" for source in model.sources]
        origin = ", ".join(packages or model.needs)
        size = f"{model.installed_bytes / MEGABYTE:g} MB"
        print(f"{name:26} {state:10} {size:>6}  {weights_source(model).licence:10}  from {origin}")
    return _FAILED if absent else 0


def _verify(options: argparse.Namespace) -> int:
    """Read every file again; mark damaged models as missing, so that `install` replaces them.

    If no names are given, optional models, such as the accurate set, may be missing.
    """
    absent = set() if options.only else set(ACCURATE) & set(missing(options.dir, tuple(MODELS)))
    left_out = {name for name in absent if not (options.dir / MODELS[name].folder).exists()}
    broken = files.broken(options.dir, [name for name in _chosen(options) if name not in left_out])
    for name, names in broken.items():
        print(f"{name}: missing or broken: {', '.join(names)}")
    files.remove(options.dir, list(broken))
    if broken:
        print(f"Install them again with: {administrator_command('models')} install")
        return _FAILED
    print("every model file is the one that was installed")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=administrator_command("models"), description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function, text in (
        ("install", _install, "fetch, check and convert what is missing"),
        ("status", _status, "list what is installed"),
        ("verify", _verify, "read every installed file and compare its sha256"),
    ):
        command = commands.add_parser(name, help=text)
        command.set_defaults(run=function)
        command.add_argument("--dir", type=Path, help="model directory (PRESAGE_MODEL_DIR)")
        if name != "status":
            command.add_argument("--only", nargs="+", choices=list(MODELS), metavar="NAME")
            command.add_argument(
                "--set",
                choices=list(_SAID),
                default="all",
                help="fast: what the service needs; accurate: large encoders of text",
            )
        if name == "install":
            command.add_argument("--keep-downloads", action="store_true")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    options.dir = options.dir or default_directory()
    try:
        code: int = options.run(options)
    except InstallError as error:
        _say(f"error: {error}")
        return _FAILED
    except KeyboardInterrupt:
        _say("interrupted; start again to resume")
        return _FAILED
    return code


if __name__ == "__main__":
    sys.exit(main())

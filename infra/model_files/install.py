"""Installs model files: fetch, check, convert, check again, put in place.

Interrupted at any moment, the next call goes on: finished models and complete downloads are kept.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from infra.model_files import installed
from infra.model_files.errors import InstallError
from infra.model_files.manifest import FAST, MEGABYTE, MODELS, InstallableModel, Progress
from infra.model_files.sources.fetch import disk_full, extract, fetch, remove_partial

Build = Callable[[InstallableModel, Path, Path, Path, Progress], None]

DOWNLOADS = "downloads"


def missing(directory: Path, names: Sequence[str] = FAST) -> list[str]:
    """Return those of the names that are not installed whole; takes milliseconds when all are."""
    return [name for name in names if not _is_intact(directory, MODELS[name])]


def _is_intact(directory: Path, model: InstallableModel) -> bool:
    if installed.broken_files(directory, model):
        return False
    installed.touch_record(directory, model)
    return True


def broken(directory: Path, names: Sequence[str] = FAST) -> dict[str, list[str]]:
    """Read every installed file and return the broken ones of each model that has any."""
    found = {name: installed.broken_files(directory, MODELS[name], thorough=True) for name in names}
    return {name: files for name, files in found.items() if files}


def remove(directory: Path, names: Sequence[str]) -> None:
    """Forget that models are installed, so that the next installation makes them again."""
    for name in names:
        (directory / MODELS[name].folder / installed.RECORD).unlink(missing_ok=True)


def install(
    directory: Path,
    names: Sequence[str] = FAST,
    progress: Progress = lambda _: None,
    *,
    keep_downloads: bool = False,
) -> None:
    """Install models that are not yet there, with what they need.

    Args:
        directory: the model directory, made when it is missing.
        names: keys of the manifest.
        progress: takes lines for the user.
        keep_downloads: leave the packages in the directory's `downloads`.

    Raises:
        InstallError: a download, the disk or a check failed; the text says what to do.
    """
    wanted = with_needs(names)
    if not missing(directory, wanted):
        return
    try:
        with installed.locked(directory, progress):
            todo = [MODELS[name] for name in missing(directory, wanted)]
            # What a kill left takes room that the check below would miss.
            remove_partial(directory / DOWNLOADS)
            shutil.rmtree(directory / installed.STAGING, ignore_errors=True)
            _check_room(directory, todo, progress)
            for name in wanted:
                # Looked at in its turn: what it is made with may just have become another.
                if missing(directory, [name]):
                    _install_one(directory, MODELS[name], progress)
            if not keep_downloads:
                shutil.rmtree(directory / DOWNLOADS, ignore_errors=True)
    except OSError as error:
        if _is_full(error):
            left = [MODELS[name] for name in missing(directory, wanted)]
            raise disk_full(directory, _needed_bytes(directory, left)) from error
        raise InstallError(
            f"The model files cannot be written: {error}. Make {directory} a folder that this "
            "user may write to, or set PRESAGE_MODEL_DIR to another one, and start again."
        ) from error


def _is_full(error: OSError) -> bool:
    """Say whether writing failed for want of room; a short write of numpy's bears no number."""
    if error.errno is None:
        return str(error).endswith("written")
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def with_needs(names: Sequence[str]) -> list[str]:
    """Return the names and what they need, in the manifest's order."""
    wanted = set(names)
    for name in reversed(list(MODELS)):
        wanted.update(MODELS[name].needs if name in wanted else ())
    return [name for name in MODELS if name in wanted]


def _needed_bytes(directory: Path, models: Sequence[InstallableModel]) -> int:
    """Return the room an installation takes at its peak, beside downloads already there."""
    here = sum(
        source.archive_bytes
        for model in models
        for source in model.sources
        if (directory / DOWNLOADS / source.file).exists()
    )
    working = max((model.working_bytes for model in models), default=0)
    kept = sum(model.installed_bytes + model.archive_bytes for model in models)
    return max(0, kept + working - here)


def _check_room(directory: Path, models: Sequence[InstallableModel], progress: Progress) -> None:
    """Say how much room is needed."""
    if not models:
        return
    needed = _needed_bytes(directory, models)
    kept = sum(model.installed_bytes for model in models)
    names = ", ".join(model.name for model in models)
    progress(
        f"installing {names} into {directory}: takes {needed / MEGABYTE:.0f} MB while working, "
        f"{kept / MEGABYTE:.0f} MB afterwards"
    )
    if shutil.disk_usage(directory).free < needed:
        raise disk_full(directory, needed)


def _install_one(directory: Path, model: InstallableModel, progress: Progress) -> None:
    """Fetch, convert, check and put one model in place."""
    archives = [fetch(source, directory / DOWNLOADS, progress) for source in model.sources]
    with installed.staging(directory, model) as (folder, result):
        progress(f"{model.name}: converting")
        for source, archive in zip(model.sources, archives, strict=True):
            extract(source, archive, folder)
        _BUILDS[model.name](model, directory, folder, result, progress)
        installed.write_record(directory, result, model)
        installed.put_in_place(result, directory, model)
    progress(f"{model.name}: installed")


def _lazily(module: str, function: str = "build") -> Build:
    """Import a build, with onnx and the engines, when it is called; it names what it takes."""

    def build(
        model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
    ) -> None:
        arguments: dict[str, Any] = {"model": model, "directory": directory, "source": source}
        arguments |= {"result": result, "progress": progress}
        call = getattr(import_module(f"infra.model_files.{module}"), function)
        call(**{name: arguments[name] for name in signature(call).parameters})

    return build


_BUILDS: dict[str, Build] = {
    "use": _lazily("conversion.text_encoders", "build_use"),
    "minilm": _lazily("conversion.text_encoders", "build_minilm"),
    "bge": _lazily("conversion.text_encoders", "build_transformer"),
    "mpnet": _lazily("conversion.text_encoders", "build_transformer"),
    "e5": _lazily("conversion.text_encoders", "build_transformer"),
    "lite2": _lazily("conversion.backbones"),
    "nanodet": _lazily("conversion.backbones"),
    "ppocr": _lazily("conversion.ocr_models"),
    "slanet": _lazily("conversion.ocr_models"),
    "OCRModel": _lazily("prebuilt.ocr_cards"),
    "tabulatev2": _lazily("prebuilt.ocr_cards"),
    "bge-sentiment": _lazily("prebuilt.sentiment_model", "build_encoder"),
    "CommunitySentiment": _lazily("prebuilt.sentiment_model"),
    "GlobalIntentModel": _lazily("prebuilt.intent_model"),
    "GeneralImageClassifier": _lazily("prebuilt.vision_prebuilt"),
    "FoodImageClassifier": _lazily("prebuilt.vision_prebuilt"),
    "SceneClassifier": _lazily("prebuilt.vision_prebuilt"),
    "MultiLabelImageClassifier": _lazily("prebuilt.vision_prebuilt"),
}

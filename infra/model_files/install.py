"""Installs model files: fetch, check, convert, check again, put in place.

Interrupted at any moment, the next call goes on: finished models and complete downloads are kept.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from infra.model_files import installed
from infra.model_files.errors import InstallError
from infra.model_files.manifest import FAST, MEGABYTE, MODELS, InstallableModel
from infra.model_files.sources.fetch import disk_full, extract, fetch, remove_partial

Progress = Callable[[str], None]
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


def _build_use(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    from infra.model_files.conversion import convert_use, text_encoders
    from infra.model_files.verification import text_references

    convert_use.convert(source, result)
    text_encoders.write_encoder_facts(model, result)
    progress(f"{model.name}: checking against the reference vectors")
    text_references.check_vectors(text_encoders.load(result), model.name, text_references.EXACT)


def _build_minilm(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    """Check all-MiniLM-L6-v2 as it came, quantise it, check it again."""
    from infra.model_files.conversion import convert_minilm, text_encoders
    from infra.model_files.verification import text_references

    # Loaded like an encoder, the source needs the folder's name and a facts file of its own.
    original = source.rename(source.with_name("original"))
    named = original / model.name
    named.mkdir()
    for name in model.source.members:
        (original / name).rename(named / name)
    text_encoders.write_encoder_facts(model, named)
    text_references.check_vectors(text_encoders.load(named), model.name, text_references.EXACT)
    convert_minilm.convert(named, result)
    text_encoders.write_encoder_facts(model, result)
    progress(f"{model.name}: checking against the reference vectors")
    text_references.check_vectors(text_encoders.load(result), model.name, text_references.QUANTISED)


def _build_mpnet(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    from infra.model_files.conversion import convert_mpnet, text_encoders

    text_encoders.build(model, convert_mpnet, source, result, progress)


def _build_e5(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    from infra.model_files.conversion import convert_e5, text_encoders

    text_encoders.build(model, convert_e5, source, result, progress)


def _build_backbone(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    from infra.model_files.conversion import backbones

    backbones.build(model, source, result, progress)


def _build_vision_prebuilt(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    from infra.model_files.prebuilt import vision_prebuilt

    vision_prebuilt.build(model, directory, result)


def _build_ocr(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    from infra.model_files.conversion import ocr_models

    ocr_models.build(model, source, result, progress)


def _build_ocr_card(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    from infra.model_files.prebuilt import ocr_cards

    ocr_cards.build(model, directory, result)


def _build_sentiment_encoder(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    from infra.model_files.prebuilt import sentiment_model

    sentiment_model.build_encoder(model, directory, result, progress)


def _build_sentiment(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    from infra.model_files.prebuilt import sentiment_model

    sentiment_model.build(model, directory, result)


def _build_intents(
    model: InstallableModel, directory: Path, source: Path, result: Path, progress: Progress
) -> None:
    from infra.model_files.prebuilt import intent_model

    intent_model.build(model, directory, result, progress)


_BUILDS: dict[str, Build] = {
    "use": _build_use,
    "minilm": _build_minilm,
    "mpnet": _build_mpnet,
    "e5": _build_e5,
    "lite2": _build_backbone,
    "nanodet": _build_backbone,
    "ppocr": _build_ocr,
    "slanet": _build_ocr,
    "OCRModel": _build_ocr_card,
    "tabulatev2": _build_ocr_card,
    "minilm-sentiment": _build_sentiment_encoder,
    "CommunitySentiment": _build_sentiment,
    "GlobalIntentModel": _build_intents,
    "GeneralImageClassifier": _build_vision_prebuilt,
    "FoodImageClassifier": _build_vision_prebuilt,
    "SceneClassifier": _build_vision_prebuilt,
    "MultiLabelImageClassifier": _build_vision_prebuilt,
}

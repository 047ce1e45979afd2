"""Every file of the corpus is right, right with a warning, or refused; validation agrees."""

from __future__ import annotations

import pytest

from chalicelib.config import Settings
from chalicelib.domain.datasets.dataset import FAMILY_TYPES, LANGUAGE, VISION
from chalicelib.domain.datasets.upload import UploadFields, UploadSource
from chalicelib.errors import ServiceError
from tests.builders import World, empty_aws
from tests.conftest import MovableClock
from tests.corpus.box_exports import BOX_EXPORTS
from tests.corpus.case import UploadCase
from tests.corpus.exports import EXPORTS
from tests.corpus.folders import FOLDERS
from tests.corpus.pictures import PICTURES
from tests.corpus.texts import TEXTS
from tests.corpus.unclean import UNCLEAN

CASES = [*TEXTS, *UNCLEAN, *PICTURES, *FOLDERS, *EXPORTS, *BOX_EXPORTS]


@pytest.fixture
def world(aws_in_memory: None, settings: Settings, clock: MovableClock) -> World:
    """The service."""
    empty_aws(settings)
    return World(settings, clock)


def _validated(world: World, case: UploadCase) -> tuple[dict[str, int], set[str], int, str, str]:
    """Return labels, warnings, rejected, kind and refusal of a validation."""
    family, source, fields = _asked(case)
    try:
        found = world.container.uploads.validate(world.account, family, source, fields, 25.0)
    except ServiceError as refusal:
        return {}, set(), 0, "", f"{refusal} {refusal.detail}"
    warnings = {warning.code for warning in found.scan.warnings}
    return dict(found.scan.kept_by_label), warnings, found.scan.rejected, found.format.kind, ""


def _uploaded(world: World, case: UploadCase) -> tuple[dict[str, int], set[str], int, str]:
    """Return labels, warnings, rejected and refusal of an upload."""
    family, source, fields = _asked(case)
    try:
        view = world.container.uploads.create_sync(
            world.account, family, source, fields, float("inf")
        )
    except ServiceError as refusal:
        return {}, set(), 0, f"{refusal} {refusal.detail}"
    [receipt] = world.container.receipts.list(view, 0, 25).items
    if view.dataset.status == "FAILED":
        return {}, set(), 0, receipt.message or ""
    labels = {label.name: label.examples for label in view.labels}
    return labels, {warning.code for warning in receipt.warnings}, receipt.rejected, ""


def _asked(case: UploadCase) -> tuple[str, UploadSource, UploadFields]:
    family = LANGUAGE if case.type in FAMILY_TYPES[LANGUAGE] else VISION
    source = UploadSource(content=case.content, file_name="file", options=case.options)
    return family, source, UploadFields("file", case.type, case.language)


@pytest.mark.usefixtures("aws_in_memory")  # as the others here: the corpus is slow to make
def test_the_corpus_is_large() -> None:
    """There are sixty files with distinct names."""
    assert len({case.name for case in CASES}) == len(CASES) >= 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_file_is_read_rightly_or_refused(world: World, case: UploadCase) -> None:
    """Labels, warnings and refusal are the expected ones, in validation and upload alike."""
    labels, warnings, rejected, kind, refusal = _validated(world, case)
    made = _uploaded(world, case)

    if case.refusal:
        assert case.refusal in refusal
        assert case.refusal in made[3]
        return
    assert (refusal, made[3]) == ("", "")
    assert (labels, warnings, rejected) == (case.labels, case.warnings, case.rejected)
    assert made[:3] == (labels, warnings, rejected)
    assert kind == case.kind

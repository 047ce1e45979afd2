"""Loading the installed folder."""

import shutil

import pytest

from chalicelib.engines.ocr.interface import OcrNotInstalled
from chalicelib.engines.ocr.ppocr.loading import FILES, load_ppocr
from tests.engines.ocr.ppocr.pages import FOLDER


def test_an_empty_folder_is_not_installed(tmp_path):
    """The error names the engine and the install command."""
    with pytest.raises(OcrNotInstalled, match=r"ppocr.*infra\.models install"):
        load_ppocr(tmp_path)


@pytest.mark.parametrize("name", [*FILES, "engine.json"])
def test_a_damaged_file_is_noticed(tmp_path, name):
    """A file with an extra byte, or an invalid card, counts as not installed."""
    folder = tmp_path / "ppocr"
    shutil.copytree(FOLDER, folder)
    with (folder / name).open("ab") as file:
        file.write(b"\0")

    with pytest.raises(OcrNotInstalled):
        load_ppocr(folder)

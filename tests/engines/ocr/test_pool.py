"""The choice of the OCR engine, and errors for missing or damaged files."""

import json
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.engines.ocr import pool as pools
from chalicelib.engines.ocr.interface import PPOCR, TESSERACT, OcrNotInstalled
from chalicelib.engines.ocr.pool import SLANET, OcrPool
from chalicelib.engines.ocr.ppocr import loading
from chalicelib.engines.ocr.tesseract import program
from infra.models import default_directory

DIRECTORY = default_directory()


@pytest.fixture
def without_tesseract(monkeypatch):
    """A machine without the program."""
    monkeypatch.setattr(program, "find_program", lambda: None)


@pytest.fixture
def copy(tmp_path):
    """A separate model folder with the text and table networks."""
    for name in (PPOCR, SLANET):
        shutil.copytree(DIRECTORY / name, tmp_path / name)
    return tmp_path


def test_the_engine_of_the_settings_is_in_use():
    """The configured engine is used, and the state names it."""
    for name in (PPOCR, TESSERACT):
        pool = OcrPool(DIRECTORY, name)
        assert pool.state() == {"ocr": name}
        assert pool.engine().name == name
        assert pool.facts().name == name
        assert pool.engine() is pool.engine()


def test_tesseract_serves_while_the_networks_are_missing(tmp_path):
    """Without model files Tesseract is used, and health and cards name it."""
    pool = OcrPool(tmp_path, PPOCR)

    assert pool.state() == {"ocr": TESSERACT}
    assert pool.engine().name == TESSERACT
    assert pool.facts().title == "Tesseract"
    assert len(pool.facts().sha256) == 64
    assert pool.structure() is None


def test_networks_that_are_installed_later_are_used(tmp_path):
    """Networks installed later are used without a restart."""
    pool = OcrPool(tmp_path, PPOCR)
    assert pool.engine().name == TESSERACT

    shutil.copytree(DIRECTORY / PPOCR, tmp_path / PPOCR)

    assert pool.engine().name == PPOCR


def test_without_any_engine_the_error_says_what_to_do(tmp_path, without_tesseract):
    """With no engine the state is missing, and calls say how to install one."""
    for name in (PPOCR, TESSERACT):
        pool = OcrPool(tmp_path, name)
        assert pool.state() == {"ocr": "missing"}
        for call in (pool.engine, pool.facts):
            with pytest.raises(OcrNotInstalled, match=f"{name}.*infra.models install"):
                call()
        pool.warm()


def test_the_setting_tesseract_does_not_fall_back(without_tesseract):
    """With the setting tesseract a missing program is an error, without a fallback."""
    with pytest.raises(OcrNotInstalled, match=TESSERACT):
        OcrPool(DIRECTORY, TESSERACT).engine()


@pytest.mark.parametrize("file", ["detector.onnx", "recogniser.onnx", "alphabet.json"])
def test_damaged_networks_are_refused(copy, file):
    """A network file with another digest is not used."""
    content = (copy / PPOCR / file).read_bytes()
    (copy / PPOCR / file).write_bytes(content[:-2] + b"!!")

    with pytest.raises(OcrNotInstalled, match=PPOCR):
        OcrPool(copy, PPOCR).engine()


def test_damaged_facts_are_refused(copy):
    """A damaged file gives neither facts nor an engine."""
    for content in ("", "[]", json.dumps({"title": "x"})):
        (copy / PPOCR / "engine.json").write_text(content)
        for call in (OcrPool(copy, PPOCR).facts, OcrPool(copy, PPOCR).engine):
            with pytest.raises(OcrNotInstalled):
                call()


def test_facts_are_those_of_the_installation():
    """Title, digest and licence are those of engine.json."""
    known = json.loads((DIRECTORY / PPOCR / "engine.json").read_text())

    facts = OcrPool(DIRECTORY, PPOCR).facts()

    assert (facts.title, facts.sha256, facts.licence) == (
        known["title"],
        known["sha256"],
        known["licence"],
    )


def test_the_structure_network_is_loaded_once():
    """The structure network is loaded once for all calls."""
    pool = OcrPool(DIRECTORY, PPOCR)

    assert pool.structure() is pool.structure() is not None


def test_threads_load_an_engine_once(monkeypatch):
    """Simultaneous callers wait for one load of an engine."""
    loaded = []
    barrier = threading.Barrier(4)

    def load(folder):
        loaded.append(folder)
        return object()

    monkeypatch.setattr(loading, "load_ppocr", load)
    pool = OcrPool(DIRECTORY, PPOCR)

    def get(_):
        barrier.wait(60)
        return pool.engine()

    with ThreadPoolExecutor(4) as threads:
        engines = set(threads.map(get, range(4)))

    assert len(engines) == len(loaded) == 1


def test_warming_loads_what_is_installed():
    """After warming the first call loads nothing."""
    pool = OcrPool(DIRECTORY, PPOCR)

    pool.warm()

    assert pool._engines[PPOCR] is pool.engine()
    assert pool._structure is not None


def test_nothing_native_is_imported_before_it_is_needed():
    """Importing the module loads no native package."""
    native = ("numpy", "onnxruntime", "PIL", "pytesseract", "rapidfuzz")
    code = (
        "import sys; from pathlib import Path; from chalicelib.engines.ocr.pool import OcrPool; "
        "OcrPool(Path('.models'), 'ppocr').state(); OcrPool(Path('none'), 'ppocr').facts(); "
        f"print([name for name in {native} if name in sys.modules])"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"
    assert pools.FACTS_FILE == "engine.json"

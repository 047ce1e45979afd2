"""Calling the Tesseract program: results, failures, leftovers."""

import os
import tempfile

import pytest
from PIL import Image, ImageDraw, ImageFont
from pytesseract import pytesseract

from chalicelib.engines.ocr.interface import OcrNotInstalled
from chalicelib.engines.ocr.tesseract import caller as callers
from chalicelib.engines.ocr.tesseract.caller import BLOCK, PAGE, Caller, TesseractFailed, read_words
from chalicelib.engines.ocr.tesseract.program import Executable, Program, find_program
from chalicelib.errors import TimedOut
from tests.local.wire import wait_until

HEADING = "level\tpage\tblock\tpar\tline\tword\tleft\ttop\twidth\theight\tconf\ttext"


def program_of(folder, script):
    """Write a program that behaves as a test needs."""
    path = folder / "tesseract"
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo tesseract 5.5; exit; fi\n{script}'
    )
    path.chmod(0o755)
    return Caller(Executable(Program(path, folder)))


def page():
    """Return a page with a drawn line."""
    image = Image.new("L", (300, 80), 255)
    ImageDraw.Draw(image).text((20, 20), "Total 42", fill=0, font=ImageFont.load_default(size=30))
    return image


def go_on():
    """Let the program continue."""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """A temporary folder per test; pytesseract's settings are restored."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(pytesseract, "tesseract_cmd", pytesseract.tesseract_cmd)
    monkeypatch.setattr(pytesseract, "environ", pytesseract.environ)
    return folder


def test_reads_words_and_leaves_no_file(own_folder):
    """Words have positions and probabilities; no file is left and the environment is unchanged."""
    before = dict(os.environ)

    for mode in (PAGE, BLOCK):
        words = Caller(Executable(find_program())).words(page(), mode, go_on)
        assert [word.text for word in words] == ["Total", "42"]
        assert all(0.5 < word.probability <= 1 for word in words)
        assert 15 < words[0].box.min_x < 30 < words[0].box.max_x < words[1].box.min_x

    assert list(own_folder.iterdir()) == []
    assert dict(os.environ) == before


def test_the_program_runs_with_one_thread_and_the_packages_data(tmp_path):
    """A call runs the program with one thread and with the package's data."""
    script = f'echo "$OMP_THREAD_LIMIT $@" > "{tmp_path}/said"; : > "$2.tsv"\n'

    assert program_of(tmp_path, script).words(page(), PAGE, go_on) == []

    said = (tmp_path / "said").read_text()
    assert said.startswith("1 ")
    assert f"--psm 4 --dpi 300 --tessdata-dir {tmp_path}" in said


def test_a_folder_with_spaces_and_quotes_is_passed_on(tmp_path):
    """A data folder with spaces and quotes reaches the program as one argument."""
    folder = tmp_path / "a 'folder' here"
    folder.mkdir()
    script = 'while [ "$1" != --tessdata-dir ]; do shift; done; echo "$2" > "$0.said"; exit 1\n'

    with pytest.raises(TesseractFailed):
        program_of(folder, script).words(page(), PAGE, go_on)

    assert (folder / "tesseract.said").read_text().strip() == str(folder)


@pytest.mark.parametrize("end", ["exit 3", "kill -SEGV $$", "kill -KILL $$"])
def test_a_program_that_fails_is_reported_with_its_output(tmp_path, own_folder, end):
    """A failure has a remedy and the program's output as its cause; no file remains."""
    caller = program_of(tmp_path, f"echo cannot read this >&2; {end}\n")

    with pytest.raises(TesseractFailed, match=r"could not be read.*Save the document") as caught:
        caller.words(page(), PAGE, go_on)

    assert caught.value.status == 400
    assert "cannot read this" in str(caught.value.__cause__)
    assert list(own_folder.iterdir()) == []


@pytest.mark.parametrize(
    "said",
    [
        "Error opening data file /x/tessdata/eng.traineddata",
        "tesseract: error while loading shared libraries: libleptonica.so.6",
    ],
)
def test_a_program_without_its_data_is_not_installed(tmp_path, said):
    """A program without its language data counts as not installed."""
    with pytest.raises(OcrNotInstalled):
        program_of(tmp_path, f"echo '{said}' >&2; exit 1\n").words(page(), PAGE, go_on)


def test_a_program_that_does_not_start_is_not_installed(tmp_path):
    """A program that cannot be started counts as not installed."""
    caller = program_of(tmp_path, "")
    pytesseract.tesseract_cmd = str(tmp_path / "nothing")
    with pytest.raises(OcrNotInstalled):
        caller.words(page(), PAGE, go_on)
    (tmp_path / "broken").write_bytes(b"\x7fELF no program")
    (tmp_path / "broken").chmod(0o755)
    pytesseract.tesseract_cmd = str(tmp_path / "broken")
    with pytest.raises(OcrNotInstalled):
        caller.words(page(), PAGE, go_on)


def test_a_program_that_does_not_end_is_stopped(tmp_path, own_folder, monkeypatch):
    """A program that exceeds its time limit is killed, and its files are removed."""
    monkeypatch.setattr(callers, "SECONDS", 1)
    caller = program_of(tmp_path, "exec sleep 600\n")
    with pytest.raises(TimedOut, match="longer than 1 seconds"):
        caller.words(page(), PAGE, go_on)

    assert list(own_folder.iterdir()) == []


def test_a_caller_without_time_is_not_kept_waiting(tmp_path, own_folder, monkeypatch):
    """When the check raises, the call ends at once; the program ends later."""
    monkeypatch.setattr(callers, "SECONDS", 60)
    end = tmp_path / "end"
    caller = program_of(tmp_path, f"while [ ! -e {end} ]; do sleep 0.05; done\n")
    asked = []

    def check():
        asked.append("may this continue?")
        if len(asked) >= 3 and list(own_folder.iterdir()):
            raise TimeoutError

    with pytest.raises(TimeoutError):
        caller.words(page(), PAGE, check)

    assert list(own_folder.iterdir()) != [], "the program still runs"
    end.touch()
    wait_until(lambda: list(own_folder.iterdir()) == [])


@pytest.mark.parametrize(
    "row",
    [
        "4\t1\t1\t1\t1\t0\t1\t2\t3\t4\t-1\t",
        "5\t1\t1\t1\t1\t1\t1\t2\t3\t4\t90\t漢字",
        "5\t1\t1\t1\t1\t1\t1\t2\t3\t4\t90\t ",
        "5\t1\t1\t1\t1\t1\t1\t2",
        "",
    ],
)
def test_rows_that_are_no_words_are_left_out(row):
    """Rows of the program's table that are not words are skipped."""
    assert read_words(f"{HEADING}\n{row}\n") == []


def test_words_are_brought_to_documented_characters():
    """Words are mapped to documented characters, with position and a probability from 0 to 1."""
    table = f"{HEADING}\n5\t1\t2\t3\t4\t5\t10\t20\t30\t40\t96.5\tcafé—ﬁn\n"

    (word,) = read_words(table)

    assert word.text == "cafe—fin"
    assert word.probability == 0.965
    assert (word.box.min_x, word.box.max_x, word.box.min_y, word.box.max_y) == (10, 40, 20, 60)
    assert word.line == ("2", "3", "4")

"""Runs the program Tesseract on an image and parses its output."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from chalicelib.domain.documents.characters import DOCUMENTED, to_documented, to_latin
from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.interface import TESSERACT, CancelCheck, OcrNotInstalled
from chalicelib.engines.ocr.tesseract.program import LANGUAGE, Executable
from chalicelib.errors import BadRequest, TimedOut

if TYPE_CHECKING:
    from PIL import Image


# Maximum time of one run in seconds; the program is then stopped.
SECONDS = 20
# How the program looks for text: columns of lines of any size, or one block of lines.
PAGE, BLOCK = 4, 6
_FORMAT = "PPM"
_DPI = 300  # Passed to the program, which otherwise warns and guesses.
_POLL_SECONDS = 0.1
_WORD = "5"
_COLUMNS = 12
_TIMED_OUT = "process timeout"  # message of pytesseract
_NOT_INSTALLED = ("tessdata", "shared librar")  # in the program's error output
_SURROUNDINGS = {"OMP_THREAD_LIMIT": "1"}


class TesseractFailed(BadRequest):
    """Raised if the program ended without output; the cause has its error output."""

    code = "unreadable_page"

    def __init__(self) -> None:
        super().__init__(
            "A page could not be read: Tesseract stopped without an answer. "
            "Save the document again, smaller if it is large, and send that."
        )


@dataclass(frozen=True, slots=True)
class Word:
    """A word that was recognised, with its box."""

    text: str
    """Text of the word: characters of the alphabet, without spaces."""
    probability: float
    """Probability of the word, 0 to 1."""
    box: Rect
    """Box in pixels of the image that was read."""
    line: tuple[str, str, str]
    """Numbers of the block, the paragraph and the line of the word."""


class Caller:
    """Runs the program; safe to share between threads."""

    def __init__(self, executable: Executable, alphabet: str = DOCUMENTED) -> None:
        from pytesseract import pytesseract

        # These two are pytesseract's own settings. Its environment is a copy, so that the one of
        # this process is not changed. Pages are read by several threads, so the program needs only
        # one.
        pytesseract.tesseract_cmd = str(executable.path)
        pytesseract.environ = {**os.environ, **_SURROUNDINGS}
        self._executable = executable
        self._alphabet = alphabet
        self._pytesseract = pytesseract

    def in_alphabet(self, alphabet: str) -> Caller:
        """Return a caller that only returns characters of an alphabet."""
        return Caller(self._executable, alphabet)

    def words(self, image: Image.Image, mode: int, check: CancelCheck) -> list[Word]:
        """Recognise the words of an image.

        Args:
            image: grey or RGB.
            mode: PAGE or BLOCK.
            check: called many times a second. If it raises an exception, this call ends at once,
                and the program ends within SECONDS.

        Returns:
            The words in the program's order.

        Raises:
            OcrNotInstalled: the program cannot be started, or its language data is missing.
            TesseractFailed: the program ended without an answer.
            TimedOut: the program took longer than SECONDS.
        """
        answers: SimpleQueue[str | BaseException] = SimpleQueue()
        caller = Thread(target=self._call, args=(image, mode, answers), daemon=True)
        caller.start()
        while True:
            try:
                answer = answers.get(timeout=_POLL_SECONDS)
                break
            except Empty:
                check()
        caller.join()
        if isinstance(answer, str):
            return list(read_words(answer, self._alphabet))
        raise _explained(answer) from answer

    def _call(
        self, image: Image.Image, mode: int, answers: SimpleQueue[str | BaseException]
    ) -> None:
        """Run the program, and put its output or its exception into a queue."""
        try:
            image.format = _FORMAT  # pytesseract writes this format, uncompressed
            answers.put(
                self._pytesseract.image_to_data(
                    image, LANGUAGE, self._arguments(mode), timeout=SECONDS
                )
            )
        except (RuntimeError, OSError, SystemExit, subprocess.SubprocessError, ValueError) as error:
            answers.put(error)

    def _arguments(self, mode: int) -> str:
        arguments = ["--psm", str(mode), "--dpi", str(_DPI)]
        if self._executable.data is not None:
            arguments += ["--tessdata-dir", str(self._executable.data)]
        return shlex.join(arguments)


def _explained(error: BaseException) -> Exception:
    """Convert an exception of pytesseract to one of this package."""
    said = str(error)
    if isinstance(error, OSError | SystemExit) or any(word in said for word in _NOT_INSTALLED):
        return OcrNotInstalled(TESSERACT)
    if _TIMED_OUT in said:
        return TimedOut(
            f"One page took longer than {SECONDS} seconds to read. Send a smaller or clearer one."
        )
    return TesseractFailed()


def read_words(table: str, alphabet: str = DOCUMENTED) -> list[Word]:
    """Parse the program's table of tab-separated values; only some of its rows are words.

    Args:
        table: a header, then rows of level, page, block, paragraph, line, word, left, top, width,
            height, confidence from 0 to 100, text.
        alphabet: one of ALPHABETS.

    Returns:
        The words with characters of the alphabet.
    """
    reduced = to_documented if alphabet == DOCUMENTED else to_latin
    words = []
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) != _COLUMNS or cells[0] != _WORD:
            continue
        text = reduced(cells[11]).replace(" ", "")
        if text:
            left, top, width, height = map(float, cells[6:10])
            words.append(
                Word(
                    text,
                    min(1.0, max(0.0, float(cells[10]) / 100)),
                    Rect(left, top, left + width, top + height),
                    (cells[2], cells[3], cells[4]),
                )
            )
    return words

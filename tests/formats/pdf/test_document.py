"""Hostile PDFs, threads, and leftovers."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chalicelib.errors import BadRequest, MachineBusy, TimedOut
from chalicelib.formats.documents import open_document
from chalicelib.formats.pdf import frames
from chalicelib.formats.pdf import process as pdf_process
from chalicelib.formats.pdf.frames import Frames
from chalicelib.formats.pdf.geometry import MAX_RASTER_PIXELS
from tests.formats.drawn import zeros
from tests.formats.opened import LINES, first_page, page_or_code, refusal, texts
from tests.full_size import size
from tests.pdfs import (
    Lock,
    Sheet,
    Writer,
    add_sheets,
    flat_image,
    image_sheet,
    pdf,
    text_pdf,
    text_sheet,
    words,
)


def open_files():
    """Return how many files this process has open."""
    return len(os.listdir("/proc/self/fd"))


def children():
    """Return how many child processes exist, including zombies."""
    found = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = status.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        found += parent == str(os.getpid())
    return found


class TestHostile:
    @pytest.fixture(autouse=True)
    def is_patient(self, monkeypatch):
        """Only processor time counts: the limit for busy machines is tested elsewhere."""
        monkeypatch.setattr(frames, "MAX_SLOWDOWN", 100.0)

    def test_scripts_are_never_run(self):
        """JavaScript in a file is never run."""
        script = b"<< /S /JavaScript /JS (while(1){}) >>"
        root = b"/OpenAction %s /AA << /WC %s /DC %s >>" % (script, script, script)
        assert texts(first_page(pdf([text_sheet(LINES)], root=root))) == LINES

    def test_pdfium_has_no_scripts(self):
        """PDFium is built without JavaScript and XFA."""
        import pypdfium2

        assert pypdfium2.PDFIUM_INFO.flags == ()

    def test_page_that_takes_too_long(self):
        """A page of 300,000 paths is refused in time with its number, the limit and the remedy."""
        draw = random.Random(1)
        path = b"%d %d m %d %d l S\n"
        paths = b"".join(path % tuple(draw.randrange(600) for _ in range(4)) for _ in range(3_000))
        data = pdf([text_sheet(LINES), Sheet(paths * 100)])
        with open_document(data, 8, page_seconds=0.4) as document:
            assert texts(document.page(1, False)) == LINES
            with pytest.raises(BadRequest) as caught:
                document.page(2, False)
            assert caught.value.code == "document_too_slow"
            assert caught.value.message == (
                "Page 2 of the PDF could not be read within 0.4 seconds. "
                "Simplify it, or send it as PNG or JPEG."
            )
            with pytest.raises(BadRequest, match="Page 2"):
                document.page(1, False)

    def test_page_of_a_hundred_metres(self):
        """A huge page is drawn at low resolution; boxes are still at 200 dpi."""
        page = first_page(pdf([Sheet(media=(0, 0, 283_465, 283_465))]))
        assert page.width * page.height <= MAX_RASTER_PIXELS
        assert page.width * page.scale == pytest.approx(283_465 * 200 / 72, rel=1e-3)
        page = first_page(pdf([Sheet(media=(0, 0, 283_465, 595))]))
        assert max(page.width, page.height) <= 10_000

    def test_text_of_a_huge_page_needs_no_raster(self):
        """Text boxes of a huge page are in the raster that would have been drawn."""
        page = first_page(
            pdf([Sheet(words(LINES[0], 7200, 7200, 100), media=(0, 0, 14400, 14400))])
        )
        assert page.pixels is None
        box = page.answer_box(page.layer[0].box)
        assert box.min_x == pytest.approx(20_000, abs=40)
        assert box.max_y == pytest.approx(20_000, abs=80)

    @pytest.mark.parametrize(
        "media",
        [
            b"[0 0 0 0]",
            b"[0 0 -100 -100]",
            b"[0 0 nan nan]",
            b"[0 0 1000000000 1000000000]",
            b"[0 0 99999999999999999999999999999999999999999999 5]",
            b"[0 0 0.0001 500]",
            b"[1 2]",
            b"null",
            b"99 0 R",
        ],
    )
    def test_absurd_sizes(self, media):
        """An absurd page size is limited or refused."""
        page = page_or_code(pdf([Sheet(media=media)]))
        if page != "broken_document":
            assert 1 <= page.width <= 10_000
            assert page.pixels.shape == (page.height, page.width, 3)

    @pytest.mark.parametrize(("side", "packed"), [(20_000, 400_000_000), (2_000_000_000, 9_000)])
    def test_gigantic_embedded_picture(self, side, packed):
        """A 400-megapixel image is drawn in strips, and a much larger one omitted."""
        writer = Writer()
        image = flat_image(writer, side, side, zeros(packed))
        root = add_sheets(writer, [image_sheet(image, 300, 300)])
        page = first_page(writer.finish(root))
        assert page.pixels.shape == (2339, 1653, 3)

    def test_compressed_gigabytes(self, monkeypatch):
        """Content that unpacks to 4 GB ends the PDF process, not the service."""
        # The end does not matter, and a quarter of the way takes a quarter of the time.
        monkeypatch.setattr(pdf_process, "MAX_MEMORY_BYTES", 256 << 20)
        writer = Writer()
        content = writer.add(b"/Filter /FlateDecode", zeros(4_000_000_000))
        tree = writer.add(b"")
        page = writer.add(
            b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 99 99] /Contents %d 0 R >>"
            % (tree, content)
        )
        writer.put(tree, b"<< /Type /Pages /Count 1 /Kids [%d 0 R] >>" % page)
        data = writer.finish(writer.add(b"<< /Type /Catalog /Pages %d 0 R >>" % tree))
        error = refusal(data)
        assert (error.status, error.code) == (400, "broken_document")
        assert "page 1 is damaged or takes too much memory" in error.message

    @pytest.mark.parametrize(
        "garbage",
        [
            random.Random(2).randbytes(3_000_000),
            b"1 0 obj\n<<" * 300_000,
            b"1 0 obj\n" + b"[" * 3_000_000,
            b"1 0 obj\n" + b"<</A" * 700_000,
            b"trailer << /Root 1 0 R >> " * 100_000,
        ],
        ids=["random", "objects", "arrays", "dictionaries", "trailers"],
    )
    def test_garbage(self, garbage):
        """Megabytes of nonsense after the signature are a 400."""
        assert refusal(b"%PDF-1.7\n" + garbage).status == 400

    def test_page_tree_without_end(self):
        """A page tree that contains itself is a 400."""
        writer = Writer()
        tree = writer.add(b"")
        inner = writer.add(b"<< /Type /Pages /Count 1 /Kids [%d 0 R] /Parent 1 0 R >>" % tree)
        writer.put(tree, b"<< /Type /Pages /Count 1 /Kids [%d 0 R] >>" % inner)
        assert (
            refusal(writer.finish(writer.add(b"<< /Type /Catalog /Pages 1 0 R >>"))).status == 400
        )

    def test_pages_that_are_not_there(self):
        """A tree that declares missing pages is a 400 that names the first one."""
        assert (
            "page 2 is damaged"
            in refusal(text_pdf(LINES).replace(b"/Count 1", b"/Count 3")).message
        )

    @pytest.mark.parametrize("copies", [2, 10])
    def test_forms_in_forms(self, copies):
        """Forms that contain each other are drawn or refused within time and memory."""
        writer = Writer()
        body = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800]"
        form = writer.add(body, b"0 0 m 9 9 l S")
        for _ in range(12):
            inner = body + b" /Resources << /XObject << /I %d 0 R >> >>" % form
            form = writer.add(inner, b"/I Do " * copies)
        data = writer.finish(add_sheets(writer, [image_sheet(form, 1, 1)]))
        page = page_or_code(data, page_seconds=0.3)
        if page not in ("broken_document", "document_too_slow"):
            assert page.pixels is not None

    @pytest.mark.parametrize("content", [b"[" * 1_000_000, b"q " * 500_000, b"/A <<" * 500_000])
    def test_deep_nesting(self, content):
        """Endless nesting is drawn as far as possible."""
        assert first_page(pdf([Sheet(content)])).pixels.shape == (2339, 1653, 3)

    def test_too_many_characters(self):
        """More text than fits on a page is not taken from the layer."""
        row = b"(" + b"a" * 150 + b") Tj 0 1 Td "
        page = first_page(pdf([Sheet(b"BT /F1 1 Tf 10 10 Td " + row * 700 + b"ET")]))
        assert page.layer is None

    def test_every_cut_and_flip_is_answered(self):
        """Any damaged file gives a page or a 400."""
        whole = text_pdf(LINES)
        draw = random.Random(3)
        for _ in range(size(12, 100)):
            damaged = bytearray(whole)
            for _ in range(draw.randrange(1, 30)):
                damaged[draw.randrange(9, len(whole))] = draw.randrange(256)
            cut = bytes(damaged[: draw.randrange(100, len(whole) + 1)])
            page = page_or_code(cut)
            if page not in ("broken_document", "document_password"):
                assert page.layer is not None or page.pixels is not None


class TestUse:
    def test_two_threads(self):
        """Simultaneous threads each get the page they requested."""
        sheets = [text_sheet([f"This is page number {number}", *LINES]) for number in range(1, 9)]
        with (
            open_document(pdf(sheets), 8) as document,
            ThreadPoolExecutor(2) as threads,
        ):
            pages = list(threads.map(lambda n: document.page(n, n % 3 == 0), range(1, 9)))
        for number, page in enumerate(pages, 1):
            assert page.number == number
            assert texts(page) == [f"This is page number {number}", *LINES]
            assert (page.pixels is not None) == (number % 3 == 0)

    def test_pages_that_are_not_asked_for_by_number(self):
        """A page number of 0 or beyond the last page is a programming error."""
        with open_document(text_pdf(LINES), 8) as document:
            for number in (0, 2):
                with pytest.raises(IndexError):
                    document.page(number, False)

    def test_a_page_may_be_read_again(self):
        """Reading a page's text first and its pixels later gives the same text."""
        with open_document(text_pdf(LINES), 8) as document:
            first, second = document.page(1, False), document.page(1, True)
        assert first.layer == second.layer

    def test_nothing_is_left_behind(self):
        """After valid and invalid documents no process and no open file is left."""
        good, bad, locked = text_pdf(LINES), b"%PDF-1.7", text_pdf(LINES, lock=Lock(user=b"x"))
        first_page(good)
        before = open_files(), children()
        for number in range(4):
            data = (good, bad, locked, good)[number % 4]
            try:
                first_page(data)
            except BadRequest:
                assert number % 4 in (1, 2)
        assert (open_files(), children()) == before

    def test_closing_ends_a_thread_that_waits(self):
        """Closing a document ends a thread that reads it with an error."""
        paths = b"0 0 m 600 800 l S [0.01] 0 d\n" * 100_000
        document = open_document(pdf([Sheet(paths)]), 8, page_seconds=30)
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(document.page, 1, True)
            time.sleep(0.2)
            document.close()
            with pytest.raises(BadRequest):
                waiting.result(60)
        document.close()
        with pytest.raises(BadRequest):
            document.page(1, True)

    def test_works_from_any_folder_without_an_environment(self, tmp_path):
        """The PDF process finds its code from any working folder, as in Lambda."""
        (tmp_path / "a.pdf").write_bytes(text_pdf(LINES))
        (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
        code = (
            f"import sys; sys.path += {sys.path!r}\n"
            "import json\n"
            "from chalicelib.formats.documents import open_document\n"
            "with open_document(open('a.pdf', 'rb').read(), 8) as document:\n"
            "    print(json.dumps([line.text for line in document.page(1, True).layer]))\n"
        )
        done = subprocess.run(
            [sys.executable, "-I", "-c", code], cwd=tmp_path, env={}, capture_output=True, text=True
        )
        assert json.loads(done.stdout) == LINES, done.stderr

    @pytest.mark.parametrize("seconds_left", [0.0, 0.5])
    def test_opening_ends_with_the_callers_time(self, monkeypatch, seconds_left):
        """A process that does not start is abandoned when the caller's time is up."""
        monkeypatch.setattr(pdf_process, "_START", "import time; time.sleep(600)")
        before = children()
        with pytest.raises(TimedOut, match="in the time that was left"):
            open_document(text_pdf(LINES), 8, seconds_left=seconds_left)
        assert children() == before

    def test_little_time_is_not_a_fault_of_the_document(self, monkeypatch):
        """A caller with too little time gets that error, not one about a slow PDF."""
        monkeypatch.setattr(Frames, "send", lambda frames, body, deadline: None)
        with pytest.raises(TimedOut, match="in the time that was left"):
            open_document(text_pdf(LINES), 8, page_seconds=60, seconds_left=3)
        with pytest.raises(MachineBusy, match=r"^The PDF was not read: other work"):
            open_document(text_pdf(LINES), 8, page_seconds=0.5, seconds_left=60)

    def test_cost(self):
        """A digital page takes far less than half a second of processor time."""
        lines = [f"Line {n} of a page of running text that is as long as one." for n in range(40)]
        data = text_pdf(lines)
        first_page(data)
        before = os.times()
        assert len(first_page(data).layer) == 40
        after = os.times()
        assert sum(after[:4]) - sum(before[:4]) < 0.5

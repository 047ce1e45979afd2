"""Detecting the encoding of a text upload."""

from __future__ import annotations

import codecs
import io

import pytest

from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.encoding import find_encoding, name_foreign_type, open_text


@pytest.mark.parametrize("shift", range(3))
def test_find_encoding_when_the_sample_ends_inside_a_character(shift: int) -> None:
    """A long file is sampled in whole lines, so that no character is split."""
    lines = [f"荷物{n}がまだ届いていません。ご確認をお願いします。,配送\n" for n in range(900)]
    file = io.BytesIO(b"x" * shift + "".join(lines).encode("cp932"))

    assert find_encoding(file) == "cp932"


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("utf-8-sig", "grüße,x\n".encode()),
        ("utf-8-sig", codecs.BOM_UTF8 + b"a,b\n"),
        ("utf-16", codecs.BOM_UTF16_LE + "grüße,x".encode("utf-16-le")),
        ("utf-16", codecs.BOM_UTF16_BE + "漢,x".encode("utf-16-be")),
        ("latin-1", "grüße,x\n".encode("latin-1")),
        ("latin-1", b"a,b\n" * 300_000 + b"caf\xe9,x\n"),
        ("utf-8-sig", b"a,b\n" * 65_535 + "abcé".encode() * 100_000),
        ("utf-8-sig", b"half \xed\xa0\x80 pair,x"),
        ("latin-1", b"ends early \xc3"),
    ],
)
def test_find_encoding_when_the_bytes_decide(encoding: str, data: bytes) -> None:
    """The whole file decides, also by a byte far from the start."""
    assert encoding == find_encoding(io.BytesIO(data))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty (0 bytes)"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "PNG image"),
        (b"PK\x03\x04" + bytes(50), "zip archive"),
        (b"%PDF-1.7\n", "PDF"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (
            b"From a@x Mon\nReceived: from x\n by y\nTo: a@y\nSubject: hi, there\n\nhello\n",
            "e-mail",
        ),
        (b" \n<!DOCTYPE html><html>", "HTML page"),
        (b'<svg xmlns="x"/>', "SVG"),
        ("text,label\n".encode("utf-16-le"), "byte order mark"),
        (codecs.BOM_UTF32_LE + "a,b".encode("utf-32-le"), "UTF-32"),
        (bytes(range(256)) * 4, "binary data"),
        (codecs.BOM_UTF16_LE + b"a\x00b", "mid-character"),
    ],
)
def test_find_encoding_when_the_file_is_not_text(data: bytes, words: str) -> None:
    """A file that is not text is refused with what it looks like."""
    with pytest.raises(InvalidUpload) as caught:
        find_encoding(io.BytesIO(data))

    assert words in caught.value.message
    assert "Send" in caught.value.message


@pytest.mark.parametrize(
    ("row", "encoding"),
    [
        ("ask Du\u0161an, or Jan\u0161a and Lu\u017eic", "cp1252"),
        ("they don\u2018t know", "cp1252"),
        ("hola\u00bfcuando llega", "latin-1"),
        ("\u00fcber schl\u00f6sser f\u00e4hrt", "mac-roman"),
        ("by\u0142by m\u0105dry", "cp1250"),
        ("Zboží přišlo poškozené, kůň chybí", "cp1250"),
        ("Služba byla špatná", "cp1250"),
        ("heats to 180°C", "latin-1"),
        ("geht´s noch", "latin-1"),
        ("Ärger mit der Lieferung", "latin-1"),
        ("CARTÃO", "latin-1"),
        ("a pump for 20 m³", "latin-1"),
    ],
)
def test_names_and_signs_of_windows_are_not_letters_of_others(row: str, encoding: str) -> None:
    """A few foreign names or signs do not change the detected encoding."""
    content = f"{row},a\n{row},b\n{row},c\n{row},d\n".encode(encoding)
    found = find_encoding(io.BytesIO(content))

    assert content.decode(found) == content.decode(encoding)


def test_a_sign_far_behind_the_beginning_shows_windows() -> None:
    """A euro sign far from the start shows a Windows encoding instead of Latin-1."""
    rows = ["Le colis est abîmé, où est-il passé ?,a\n"] * 900 + ["Ça coûte 20€,b\n"]

    assert find_encoding(io.BytesIO("".join(rows).encode("cp1252"))) == "cp1252"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("text,label\ngrün,a\nblau,b\nweiß".encode()[:-1], "utf-8-mixed"),
        ("text,label\nblau,b\nweiß".encode()[:-1], "latin-1"),
        ("text,label\ngrün,a\nrot,b\n".encode() + "weiß,a\n".encode("cp1252"), "latin-1"),
    ],
)
def test_a_file_that_ends_inside_a_character_is_utf_8(content: bytes, encoding: str) -> None:
    """One line of UTF-8 is enough if only the last character is not whole."""
    assert find_encoding(io.BytesIO(content)) == encoding


def test_a_guess_has_a_character_for_each_byte() -> None:
    """A byte that Windows-1250 lacks makes Polish rows Latin-2."""
    file = io.BytesIO("by\u0142by m\u0142ody,a\n".encode("cp1250") * 5 + b"x\x81y,b\n")

    assert find_encoding(file) == "iso8859_2"


@pytest.mark.parametrize(
    ("encoding", "line"),
    [
        ("cp850", "Die Lieferung für März kam verspätet, Größe und Rückgabe fehlen"),
        ("cp850", "Le colis est abîmé, où est-il passé ? La facture a été payée à temps"),
        ("cp866", "Заказ до сих пор не доставлен, где посылка?"),
        ("koi8_r", "Неверная сумма в счёте, прошу исправить"),
        ("cp1251", "Не могу войти в личный кабинет"),
        ("cp1253", "Η παραγγελία μου δεν έχει φτάσει ακόμα"),
        ("cp1256", "لم يصل طلبي حتى الآن أين الشحنة"),
        ("cp1254", "Siparişim hâlâ gelmedi, kargo nerede? Ürün kırık geldi"),
        ("latin-1", "Pakkinn minn er ekki kominn, hvar er hann? Þakka fyrir góða þjónustu"),
        ("euc_jp", "注文した商品がまだ届いていません"),
        ("gb18030", "订单还没有收到，请帮我查询一下物流信息"),
        ("big5", "訂單還沒有收到，請幫我查詢一下物流資訊"),
        ("cp949", "주문한 상품이 아직 도착하지 않았습니다"),
    ],
)
def test_a_few_words_show_the_code_page(encoding: str, line: str) -> None:
    """One line of text is enough to find the code page in which it was written."""
    assert find_encoding(io.BytesIO(f"{line},x\n".encode(encoding))) == encoding


def test_name_foreign_type_when_it_is_text() -> None:
    """Text with a stray control character is not binary."""
    assert name_foreign_type(b"a\x00b,label") == ""


def test_open_text_leaves_the_file_open() -> None:
    """The caller's file stays open after the text was read."""
    file = io.BytesIO(b"a\r\nb\rc\n")

    with open_text(file, "utf-8-sig") as stream:
        lines = list(stream)

    assert lines == ["a\r\n", "b\r", "c\n"]
    assert not file.closed


def test_open_text_of_a_file_that_its_owner_has_closed() -> None:
    """An unfinished reading may end after its file was closed."""
    file = io.BytesIO(b"a\nb\n")

    with open_text(file, "utf-8-sig") as stream:
        assert next(stream) == "a\n"
        file.close()

"""Counting words for the limit on training."""

from __future__ import annotations

import time

import pytest

from chalicelib.domain.datasets.fields import count_words


@pytest.mark.parametrize(
    ("count", "text", "language"),
    [
        (0, "", "en_US"),
        (0, " \t\n ", "ja"),
        (4, "where  is my\nparcel", "en_US"),
        (3, "yes - no", "en_US"),
        (2, "guten\u00a0Tag", "de"),
        (1, "今天天气很好", "en_US"),
        (6, "今天天气很好", "zh_CN"),
        (6, "今天天气很好。", "zh_CN"),
        (6, "今天 天气\n很好！", "zh_TW"),
        (8, "ラーメンを食べる", "ja"),
        (6, "私は iPhone を買う。", "ja"),
        (6, "私はiPhoneを買う", "ja"),
        (4, "ﾗｰﾒﾝ", "ja"),
        (2, "佐々", "ja"),
        (4, "東京・大阪", "ja"),
        (3, "hello big world", "ja"),
        (1, "𠮷", "zh_TW"),
        (2, "A4 ... 版", "zh_CN"),
    ],
)
def test_count_words_when_languages_differ(count: int, text: str, language: str) -> None:
    """Words are runs between white space; Han and kana characters count one by one."""
    assert count == count_words(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [("hello " * 3_000_000, "en_US"), ("漢a" * 1_500_000, "ja"), ("!" * 3_000_000, "ja")],
)
def test_count_words_when_the_limit_is_reached(text: str, language: str) -> None:
    """Three million words are counted within two seconds, however they are mixed."""
    started = time.process_time()

    count_words(text, language)

    assert time.process_time() - started < 2.0

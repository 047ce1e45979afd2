"""Replaces emoji by words, so that a tokeniser can read them.

English encoders have one unknown token for all emoji. The words were chosen by the names of the
emoji and by their usual meaning. infra/model_files/sentiment_head.py uses this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_SIGNS_OF_WORDS = {
    "happy": "😀😃😄😁😆😊🙂☺😺🤗😸😌",
    "very funny": "😂🤣😹",
    "love": "❤♥😍🥰😘💕💖💗💓💘💙💚💛🧡💜🖤💞😻🤍🫶",
    "cool": "😎🤩",
    "great": "👍👌💯🔥⭐🌟✨🏆🥇",
    "celebrate": "🎉🥳🎊🙌👏💪",
    "thanks": "🙏",
    "wink": "😉😜😝😛",
    "sad": "😢😭😞😔😟🙁☹😿😩😫🥺😥😓",
    "broken heart": "💔",
    "angry": "😠😡🤬😤👿",
    "bad": "👎💩🤮🤢😖😣",
    "annoyed": "🙄😒😑😕😬",
    "afraid": "😱😨😰😧",
    "tired": "😴🥱",
    "thinking": "🤔😐😶",
}
"""Emoji by the words that replace them; modifiers of skin colour are dropped."""
_DROPPED = "\ufe0f\ufe0e\u200d🏻🏼🏽🏾🏿"

WORDS: Mapping[str, str] = MappingProxyType(
    {sign: words for words, signs in _SIGNS_OF_WORDS.items() for sign in signs}
)
"""The words that replace each emoji."""


def reading_emoji(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a tokeniser, extended to read emoji as words.

    There is one rule for all emoji with the same words, so that a text is searched only a few
    times.

    Args:
        tokenizer: content of a `tokenizer.json` with a single normaliser.
    """
    rules = [("", _DROPPED), *((f" {words} ", signs) for words, signs in _SIGNS_OF_WORDS.items())]
    replacing = [
        {"type": "Replace", "pattern": {"Regex": f"[{signs}]"}, "content": content}
        for content, signs in rules
    ]
    sequence = {"type": "Sequence", "normalizers": [*replacing, tokenizer["normalizer"]]}
    return {**tokenizer, "normalizer": sequence}

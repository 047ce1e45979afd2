"""Words for signs that English encoders do not know, so that a tokeniser can read them.

To these vocabularies every emoji is the same unknown sign. Source of the choice: what the signs
are called, and what people mean by them. Called by infra/model_files/sentiment_head.py.
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
"""Single signs; what modifies the colour of a sign is dropped."""
_DROPPED = "\ufe0f\ufe0e\u200d🏻🏼🏽🏾🏿"

WORDS: Mapping[str, str] = MappingProxyType(
    {sign: words for words, signs in _SIGNS_OF_WORDS.items() for sign in signs}
)
"""Words by sign."""


def reading_emoji(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tokeniser's description that reads emoji as words.

    One rule stands for all signs of the same words, so that a text is searched a few times only.

    Args:
        tokenizer: content of a `tokenizer.json` whose normaliser is a single one.
    """
    rules = [("", _DROPPED), *((f" {words} ", signs) for words, signs in _SIGNS_OF_WORDS.items())]
    replacing = [
        {"type": "Replace", "pattern": {"Regex": f"[{signs}]"}, "content": content}
        for content, signs in rules
    ]
    sequence = {"type": "Sequence", "normalizers": [*replacing, tokenizer["normalizer"]]}
    return {**tokenizer, "normalizer": sequence}

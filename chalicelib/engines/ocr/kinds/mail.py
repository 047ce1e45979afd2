"""Mail addresses, as they are read: with spaces around their marks, commas for dots.

Only marks are mended; no character that is missing is made up.
"""

from __future__ import annotations

import re

from chalicelib.engines.ocr.kinds.domains import GENERIC, is_ending
from chalicelib.engines.ocr.kinds.span import Span
from chalicelib.engines.ocr.kinds.word_set import word_set

_LOCAL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+'-&")
_LONGEST_LOCAL = 64
_AT = re.compile(r" ?@ ?|(?<=[A-Za-z0-9_])[©®](?=[A-Za-z0-9])|(?<=[A-Za-z0-9_]) ?[(\[]at[)\]] ?")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_\-]{0,62}[A-Za-z0-9])?")
_DOT = re.compile(r" ?[.,·] ?|\.\.| (?=(?:com|net|org|edu|gov|co)\b)", re.IGNORECASE)
_BEFORE_DOT = re.compile(r"([A-Za-z0-9_\-]{1,40}[._]) $")
_LABEL_WORDS = word_set("e m mail email e-mail mail. courriel correo web fax tel")
_MOST_LABELS = 6


def find_mails(text: str) -> tuple[Span, ...]:
    """Return the mail addresses of a line in its order; labels not included."""
    spans: list[Span] = []
    for match in _AT.finditer(text):
        span = _around(text, match)
        if span is not None and not (spans and span.meets(spans[-1])):
            spans.append(span)
    return tuple(spans)


def _around(text: str, match: re.Match[str]) -> Span | None:
    """Return the address around an at sign."""
    start = _local_start(text, match.start())
    local = text[start : match.start()].replace(" ", "")
    name, end = _name_after(text, match.end())
    if not local.strip("._-'") or not name:
        return None
    cut = len(local) - len(local.lstrip(".'-&"))
    labels = name.replace(" ", ".").split(".")
    known = len(labels) > 1 and is_ending(labels[-1])
    if not known and (len(labels) == 1 or "@" not in match.group() or not labels[-1].isalpha()):
        return None
    sureness = 0.99 if known else 0.8
    return Span(start + cut, end, f"{local[cut:]}@{name}", sureness)


def _local_start(text: str, at: int) -> int:
    """Return where the part before the at sign begins."""
    start = at
    while start and at - start < _LONGEST_LOCAL and text[start - 1] in _LOCAL:
        start -= 1
    # A reader puts a space after a dot inside a name now and then: "dana. reyes@".
    before = _BEFORE_DOT.search(text[max(0, start - 42) : start])
    if before and before.group(1).lower().rstrip("._") not in _LABEL_WORDS:
        start -= len(before.group())
    return start


def _name_after(text: str, at: int) -> tuple[str, int]:
    """Return the internet name that begins at a place, dots mended, and where it ends."""
    labels: list[str] = []
    end = at
    place = at
    while len(labels) < _MOST_LABELS:
        label = _LABEL.match(text, place)
        if label is None or (labels and not _goes_on(text, (end, place), labels, label.group())):
            break
        if labels and text[end:place] == " ":
            labels[-1] += " "
        labels.append(label.group())
        end = label.end()
        dot = _DOT.match(text, end)
        if dot is None:
            break
        place = dot.end()
    return ".".join(labels).replace(" .", " "), end


def _goes_on(text: str, gap: tuple[int, int], labels: list[str], label: str) -> bool:
    """Return whether the label after a gap belongs to the same internet name."""
    mark = text[gap[0] : gap[1]]
    if mark == ".":
        return True
    ended = len(labels) > 1 and is_ending(labels[-1])
    if ended and (labels[-1].lower() in GENERIC and labels[-1].lower() not in ("co", "com")):
        return False
    return is_ending(label) if ended or " " in mark else True

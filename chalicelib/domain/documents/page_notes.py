"""Notes on pages whose results may be incomplete. See contract section 16, pageNotes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

NoteCode = Literal["unreadInk", "hiddenText", "empty", "notCompared", "xfa"]
UNREAD_INK: Final = "unreadInk"
HIDDEN_TEXT: Final = "hiddenText"
EMPTY: Final = "empty"
NOT_COMPARED: Final = "notCompared"
XFA: Final = "xfa"
_MESSAGES: Mapping[NoteCode, str] = {
    UNREAD_INK: "The page shows something that was not read as text.",
    HIDDEN_TEXT: "The page's text layer has text that the page does not show; it was left out.",
    EMPTY: "The page is blank.",
    NOT_COMPARED: "The page has too many objects to find out which of its text is covered.",
    XFA: "The PDF has an XFA form, which is ignored.",
}


@dataclass(frozen=True, slots=True)
class PageNote:
    """A note on a page."""

    page_number: int
    """Number of the page, from 1."""
    code: NoteCode

    @property
    def message(self) -> str:
        """Return the text of the note, one sentence."""
        return _MESSAGES[self.code]

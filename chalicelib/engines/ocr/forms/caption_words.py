"""Words and sentences that are printed on forms, and are therefore rarely values."""

from __future__ import annotations

import re
from collections.abc import Collection

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.spelling import tokens

_WORDS = frozenset(
    token.folded
    for token in tokens(
        """
        # account acct address age amount applicant apt area balance bank bill birth box branch
        budget by card category cell charge check city claim class client code comments company
        completed completion contact country county course customer date dates day department dept
        description dob
        due effective eligible email employee employer employment end ending expiration expires
        extension family fax fee file first for from full gender given gross group head height
        home hours id identification income initial initials insured invoice issue issued item
        job last license location lot maiden mail mailing manager marital member membership
        method middle mobile model mr mrs name nationality net no nos notes number numbers
        occupation of office order organization owner paid parcel passport patient payment
        period person phone place policy position postal price print printed project purpose
        quantity rank rate reason received ref reference registration relationship remarks
        report requested residence school section serial sex ship signature signed social spouse
        ssn start state status street student subject subtotal supervisor surname tax tel
        telephone term time title to total type unit vehicle vendor vin weight witness work year
        your zip
        """
    )
)
# Caption words that alone are also common as handwritten values.
_ALSO_VALUES = frozenset(
    token.folded
    for token in tokens(
        "bank check family home mail manager mobile no office owner supervisor year"
    )
)

_INSTRUCTION = re.compile(
    r"(?:\W?\d{1,2}[a-z]?\W? )?"
    r"(?:If|Enter|Attach|Check|See|Go to|Add|Subtract|Multiply|Complete|Do not)"
    r"(?: [\w'’().,/-]+){3}"
    r"|\(?[Ss]ee (?:page|instructions?|notes?|reverse|back|below|line)\b"
)


def looks_like_label(text: str) -> bool:
    """Return whether a short text consists only of words that forms print as captions."""
    words = {word.folded for word in tokens(text)}
    return (
        0 < len(words) <= settings.FEW_WORDS_AROUND_KEY
        and words <= _WORDS
        and not words <= _ALSO_VALUES
    )


def is_another_caption(wanted: Collection[str], read: Collection[str]) -> bool:
    """Return whether a text is a different caption, and not a misread key.

    "First name" differs from "Firm's name" by only two letters. Singular and plural count as the
    same word.
    """
    missing = set(wanted) - set(read)
    return bool(missing) and any(
        word in _WORDS
        and word not in wanted
        and not any(word.rstrip("s") == other.rstrip("s") for other in missing)
        for word in read
    )


def is_instruction(text: str) -> bool:
    """Return whether a text begins like an instruction on a form."""
    return _INSTRUCTION.match(text) is not None

"""Checks a commit message: a short imperative subject with an ordinary verb, and a body.

Git calls it through pre-commit with the path of the message:

    python .ci/commit_message.py .git/COMMIT_EDITMSG
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

MOST_CHARACTERS = 72
# Verbs of scenes, which say nothing of what a change does: "Let a page that merely mentions ..."
VAGUE = {"Ask", "Give", "Go", "Hear", "Hold", "Let", "Look", "Say", "Take", "Tell"}
_WRITTEN_BY_GIT = re.compile(r"(Merge|Revert|fixup!|squash!|amend!) ")


def faults(message: str) -> Iterator[str]:
    """Yield what is wrong with a message, each with its remedy."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if _WRITTEN_BY_GIT.match(subject):
        return
    verb = subject.split(" ")[0]
    if len(subject) > MOST_CHARACTERS:
        yield f"The subject has {len(subject)} characters; use at most {MOST_CHARACTERS}."
    if subject.endswith("."):
        yield "The subject ends in a full stop; remove it."
    if not re.fullmatch(r"[A-Z][a-z-]+", verb) or verb.endswith(("ed", "ing")) or verb in VAGUE:
        yield f"The subject begins with {verb!r}; use an imperative verb such as Add or Fix."
    if len(lines) > 1 and lines[1].strip():
        yield "The second line is not empty; separate subject and body by an empty line."
    if not any(line.strip() for line in lines[2:]):
        yield "The message has no body; say why the change is made and what was checked."


def main(arguments: list[str]) -> int:
    """Print the faults of the message in a file; return the exit status."""
    found = list(faults(Path(arguments[0]).read_text("utf-8")))
    sys.stderr.write("".join(f"{fault}\n" for fault in found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

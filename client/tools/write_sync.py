"""Generates `presage._sync` from `presage._async`, so that no code is written twice.

Run: python client/tools/write_sync.py [--check]. With --check it writes nothing, and exits with
status 1 if the files would change.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "presage"
SOURCE, TARGET = PACKAGE / "_async", PACKAGE / "_sync"
NAMES = {
    "_async": "_sync",
    "asynccontextmanager": "contextmanager",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "anyio": "time",
}
DROPPED = frozenset({"async", "await"})
HEAD = "# Written by client/tools/write_sync.py from presage._async: do not edit.\n"


def synchronous(source: str) -> str:
    """Return the source of a module without `async` and `await`, in the same layout."""
    lines = source.splitlines(keepends=True)
    for token in reversed([*tokenize.generate_tokens(io.StringIO(source).readline)]):
        if token.type != tokenize.NAME:
            continue
        (row, begin), (_, end) = token.start, token.end
        line = lines[row - 1]
        if token.string in DROPPED:
            lines[row - 1] = line[:begin] + line[end + 1 :]
        else:
            lines[row - 1] = line[:begin] + _sync_name(token.string) + line[end:]
    text = re.sub(r"\bAwaitable\[(\w+)\]", r"\1", "".join(lines))
    text = text.replace("import Awaitable, Callable", "import Callable")
    text = text.replace("from time import Lock", "from threading import Lock")
    # The remaining words are in the examples of docstrings, which are not tokens.
    return HEAD + re.sub(r"\b(async |await |Async(?=[A-Z]))", "", text)


def _sync_name(name: str) -> str:
    """Return the synchronous counterpart of a name."""
    return NAMES.get(name) or re.sub(r"^Async(?=[A-Z])", "", name)


def files() -> dict[Path, str]:
    """Return the files of the synchronous package with their content."""
    return {
        TARGET / path.name: synchronous(path.read_text("utf-8"))
        for path in sorted(SOURCE.glob("*.py"))
    }


def main(arguments: list[str]) -> int:
    """Write the files, or compare them with --check."""
    wanted = files()
    changed = [
        path
        for path, text in wanted.items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    if "--check" in arguments:
        for path in changed:
            sys.stderr.write(f"outdated, run python client/tools/write_sync.py: {path.name}\n")
        return 1 if changed else 0
    TARGET.mkdir(exist_ok=True)
    for path in changed:
        path.write_text(wanted[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Writes the byte code of all Python files below a folder; runs in the target's own Python.

Started by infra/packaging/bytecode.py, by path: it must not import the project, and Python 3.13 on
WebAssembly runs it as well as a native one. Prints one JSON object.

The files are found like this by Python without a look at the source's time: flag 1 of PEP 552,
"hash-based and unchecked". The same folder gives the same files each time: they are compiled in
one order, because a text that an earlier file held is written down in another way.
"""

from __future__ import annotations

import importlib.util
import json
import marshal
import sys
import types
from collections.abc import Iterator
from importlib.machinery import SourcelessFileLoader
from pathlib import Path

_UNCHECKED = (1).to_bytes(4, "little")
_HEAD_BYTES = 16
_SAMPLE = '''
def total(*numbers: int, start=(1, 2.5, "text", frozenset({"a", "b"}))) -> int:
    """Add up."""
    try:
        found = sum(n for n in numbers if n not in {3, 4}) + len(start)
    except* ValueError as group:
        found = -len(group.exceptions)
    return found
RESULT = (total(1, 2, 3), total.__doc__, [type(x).__name__ for x in total.__kwdefaults__["start"]])
'''


def code_file(source: bytes, path: str) -> bytes:
    """Return the content of the byte code file of a source.

    Args:
        source: content of the file.
        path: of the file on the target; tracebacks name it.

    Raises:
        SyntaxError: it is no Python of this version.
        ValueError: it holds a null byte, or what was written reads back as something else.
    """
    code = compile(source, path, "exec", dont_inherit=True)
    # Whether marshal marks an object as shared depends on who else holds it at this moment.
    # What was just loaded is held by nobody, so the second dump is always the same.
    dumped = marshal.dumps(marshal.loads(marshal.dumps(code)))  # noqa: S302
    if marshal.loads(dumped) != code:  # noqa: S302
        raise ValueError(f"the byte code of {path} reads back as something else")
    digest = importlib.util.source_hash(source)
    return importlib.util.MAGIC_NUMBER + _UNCHECKED + digest + dumped


def try_sample(folder: Path) -> None:
    """Import a sample from its byte code and compare it with the sample executed at once.

    Raises:
        ValueError: they differ.
    """
    executed = types.ModuleType("executed")
    exec(compile(_SAMPLE, "sample.py", "exec"), executed.__dict__)  # noqa: S102
    path = folder / "presage_sample.pyc"
    path.write_bytes(code_file(_SAMPLE.encode(), "sample.py"))
    try:
        spec = importlib.util.spec_from_file_location(
            "presage_sample", path, loader=SourcelessFileLoader("presage_sample", str(path))
        )
        if spec is None or spec.loader is None:
            raise ValueError("byte code cannot be imported here")
        imported = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(imported)
    finally:
        path.unlink()
    if imported.RESULT != executed.RESULT:
        raise ValueError(f"byte code gives {imported.RESULT}, the source {executed.RESULT}")


def compile_tree(folder: Path, root: str) -> Iterator[str]:
    """Write the byte code of every Python file below a folder.

    Args:
        folder: is searched; the files go into `__pycache__` beside the sources.
        root: where the folder lies on the target.

    Yields:
        The paths of files that are no Python of this version, below the folder.
    """
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        try:
            content = code_file(path.read_bytes(), f"{root}/{name}")
        except SyntaxError:
            yield name
            continue
        target = Path(importlib.util.cache_from_source(str(path), optimization=""))
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)


def main(folder: Path, root: str) -> None:
    """Compile a folder and say what came of it."""
    try_sample(folder)
    refused = list(compile_tree(folder, root))
    said = {
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "platform": sys.platform,
        "magic": importlib.util.MAGIC_NUMBER.hex(),
        "refused": refused,
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

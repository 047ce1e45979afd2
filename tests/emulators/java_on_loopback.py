"""Replaces the `java` that LocalStack starts: DynamoDB Local, but on 127.0.0.1 alone.

Started by path from a script that tests/emulators/dynamodb.py writes; it must not import the
project. What it starts is killed when LocalStack ends, however that ends.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

_STARTER = "org.eclipse.jetty.xml.XmlConfiguration"
_KEPT = ("-Xmx", "-Djava.library.path=")
_PR_SET_PDEATHSIG = 1


def command(java: str, xml: str, arguments: Sequence[str]) -> list[str]:
    """Return the command that serves DynamoDB on the loopback address.

    Args:
        java: the real program.
        xml: path of loopback.xml.
        arguments: LocalStack's, for a main class that listens on every address. Memory, library
            path, jar and port are kept; everything else is in the XML file or is not wanted.

    Raises:
        ValueError: the jar or the port is missing from them.
    """
    following = dict(itertools.pairwise(arguments))
    missing = [name for name in ("-jar", "-port") if name not in following]
    if missing:
        raise ValueError(f"LocalStack gives no {' and no '.join(missing)}: {list(arguments)}")
    kept = [argument for argument in arguments if argument.startswith(_KEPT)]
    jar = Path(following["-jar"])
    path = os.pathsep.join([str(jar), str(jar.parent / "DynamoDBLocal_lib" / "*")])
    return [java, *kept, f"-Dddb.port={following['-port']}", "-cp", path, _STARTER, xml]


def main(java: str, xml: str, arguments: Sequence[str]) -> None:
    """Become DynamoDB Local."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)
    made = command(java, xml, arguments)
    os.execvp(made[0], made)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])

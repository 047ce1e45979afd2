"""Labels and file names as steps of a path in an archive, so that an upload takes them.

Labels that were given by a call may hold what no folder can be called, or what an upload leaves
out as junk of some system. Such a name is exported with characters that look alike.
"""

from __future__ import annotations

import re

from chalicelib.formats.archives.zip_directory import find_path_problem, is_junk

_LOOK_ALIKES = str.maketrans(
    {"/": "\N{DIVISION SLASH}", "\\": "\N{SET MINUS}"}
    | dict.fromkeys(map(chr, (*range(0x20), *range(0x7F, 0xA0))), "\N{REPLACEMENT CHARACTER}")
)
_DRIVE = re.compile(r"(?<=\A[A-Za-z]):")


def as_step(name: str) -> str:
    """Return a name that a folder or file of an archive may have; the name itself when it may.

    Args:
        name: label or file name as it is stored, not empty.
    """
    step = _DRIVE.sub("\N{MODIFIER LETTER COLON}", name.translate(_LOOK_ALIKES))
    if step.startswith("."):
        step = "\N{ONE DOT LEADER}" + step[1:]
    if is_junk(step) or find_path_problem(step):
        step = f"_{step}_"
    return step

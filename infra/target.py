"""Finds the stack that an administrator's command works on.

That is the local stack that runs, AWS_ENDPOINT_URL when it is set, or the account of the AWS
credentials when asked for. Used by infra/accounts.py and infra/backup.py.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path

from chalicelib.config import Settings
from infra.local.state import State

DEFAULT_URL = "http://127.0.0.1:8000"
"""Where the local stack listens unless told otherwise."""
DUMMY_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "presage", "AWS_SECRET_ACCESS_KEY": "presage"}
"""What an emulated AWS is content with."""


class CommandError(Exception):
    """The command cannot go on; the text is one line that names the remedy."""


@dataclass(frozen=True)
class Target:
    """What a command works on."""

    settings: Settings
    """Where the tables are."""
    url: str
    """Where the service listens."""


def find_target(
    environment: MutableMapping[str, str], is_aws: bool, *, needs_data: bool = True
) -> Target:
    """Find what a command is to work on.

    Args:
        environment: of the command; how to reach a local stack is added to it.
        is_aws: whether the account of the AWS credentials was asked for.
        needs_data: whether the command reads or writes tables, not only calls the service.

    Raises:
        CommandError: nothing was named and no local stack runs.
        SettingsError: a variable cannot be read.
    """
    folder = Path(environment.get("PRESAGE_STATE_DIR") or ".presage")
    state = State(folder)
    stack = state.read_stack() or {}
    is_named = is_aws or bool(environment.get("AWS_ENDPOINT_URL"))
    if not is_named and needs_data:
        found = state.stack_environment()
        if found is None:
            raise CommandError(
                f"no local stack is described in {folder}: start it with `make run`, set "
                "AWS_ENDPOINT_URL, or pass --aws to work with your AWS credentials"
            )
        # The clients read their credentials from the environment, as everywhere on AWS.
        environment.update({**DUMMY_CREDENTIALS, **found})
    url = environment.get("PRESAGE_URL") or str(stack.get("url") or DEFAULT_URL)
    return Target(Settings.from_environment(environment), url)

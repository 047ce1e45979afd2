"""Finds the stack that an administrator's command uses.

By default, this is the running local stack, or the endpoint AWS_ENDPOINT_URL if it is set. With
--stage, it is a deployed stage; with --aws, the AWS account of the user.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.commands import run_command
from chalicelib.config import Settings
from chalicelib.errors import StorageUnavailable
from infra.local.state import State

# Default address of the local stack.
DEFAULT_URL = "http://127.0.0.1:8000"
# Credentials for an emulated AWS, which accepts any.
DUMMY_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "presage", "AWS_SECRET_ACCESS_KEY": "presage"}


class CommandError(Exception):
    """The command cannot continue; the message is one line with the remedy."""


@dataclass(frozen=True)
class CommandTarget:
    """The stack that a command uses."""

    settings: Settings
    """Settings with which the tables are reached."""
    url: str
    logs: Path = Path(".presage/logs")
    """Folder of the local stack's log lines."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that select the stack of a command."""
    parser.add_argument("--aws", action="store_true", help="work on AWS, not on the local stack")
    parser.add_argument("--stage", default="", help="work on a stage deployed by `make deploy`")
    parser.add_argument("--region", default="", help="AWS region of that stage")


def chosen_target(
    environment: MutableMapping[str, str], options: argparse.Namespace, *, needs_data: bool = True
) -> CommandTarget:
    """Find the stack that the options select; see `add_options`.

    Raises:
        CommandError: the selected stack does not exist, or none is selected and no local stack
            runs.
        SettingsError: a variable of the environment has no valid value.
    """
    if options.region and not options.stage:
        raise CommandError("--region goes with --stage; set AWS_REGION for --aws")
    if not options.stage:
        return find_target(environment, options.aws, needs_data=needs_data)
    options.aws = True
    from infra.deploying.account import DeployError
    from infra.deploying.account import Target as Stage
    from infra.deploying.stack import find_stage

    stage = Stage(options.stage, options.region or None, environment.get("AWS_ENDPOINT_URL"))
    try:
        settings, url = find_stage(stage, environment)
    except DeployError as error:
        raise CommandError(str(error)) from error
    return CommandTarget(settings, environment.get("PRESAGE_URL") or url)


@contextmanager
def explained_causes(target: CommandTarget) -> Iterator[None]:
    """Convert errors of AWS calls to a CommandError of one line, with a remedy."""
    try:
        yield
    except (StorageUnavailable, BotoCoreError, ClientError) as error:
        from infra.deploying.account import explain

        raise CommandError(explain(error, target.settings.region)) from error


def find_target(
    environment: MutableMapping[str, str], is_aws: bool, *, needs_data: bool = True
) -> CommandTarget:
    """Find the stack that a command uses.

    Args:
        environment: environment of the command; the variables of a local stack are added.
        is_aws: whether the account of the AWS credentials is selected.
        needs_data: whether the command reads or writes tables, not only calls the service.

    Raises:
        CommandError: no stack is selected and no local stack runs.
        SettingsError: a variable of the environment has no valid value.
    """
    folder = Path(environment.get("PRESAGE_STATE_DIR") or ".presage")
    state = State(folder)
    stack = state.read_stack() or {}
    is_named = is_aws or bool(environment.get("AWS_ENDPOINT_URL"))
    if not is_named and needs_data:
        found = state.stack_environment()
        if found is None:
            raise CommandError(
                f"no local stack is described in {folder}: start it with `{run_command()}`, "
                "set AWS_ENDPOINT_URL, or pass --aws to work with your AWS credentials"
            )
        # The clients read their credentials from the environment, as everywhere on AWS.
        environment.update({**DUMMY_CREDENTIALS, **found})
    url = environment.get("PRESAGE_URL") or str(stack.get("url") or DEFAULT_URL)
    return CommandTarget(Settings.from_environment(environment), url, state.logs)

"""The environment of the stack's processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from chalicelib.config import Settings, SettingsError
from infra.local.http.public import STORAGE_PATH
from infra.local.options import AWS, MOTO, Options
from infra.local.state import AWS_KEY_NAMES, State

# Folder of the project; a relative model folder is below it.
ROOT = Path(__file__).parents[2]
# Access key and secret of other emulators, which accept any.
DUMMY_KEY = "test"
STORAGE_URL = "PRESAGE_PUBLIC_STORAGE_URL"
# Variables that other commands need to reach the running stack.
SHARED = (
    "AWS_ENDPOINT_URL",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_EC2_METADATA_DISABLED",
    "PRESAGE_NAME",
    "PRESAGE_BUCKET",
    "PRESAGE_MODEL_DIR",
)
_DEFAULTS = {
    "PRESAGE_LEASE_SECONDS": "10",
    "PRESAGE_SYNC_SECONDS": "0",
    # One thread answers all batches, so a second waiting part would only delay other accounts.
    "PRESAGE_BATCH_CHAINS": "1",
    # Workers embed many texts at once. The front, which has priority, predicts one text at a time.
    "PRESAGE_THREADS": str(min(4, os.cpu_count() or 1)),
    # With one thread in each arithmetic library, the slowest answers take less time.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def process_environment(
    caller: Mapping[str, str], options: Options, state: State, endpoint_url: str | None
) -> dict[str, str]:
    """Return the environment of the processes; the caller's variables override the defaults.

    Args:
        caller: the environment of the command.
        options: the stack's options.
        state: state folder with the keys.
        endpoint_url: URL of the emulated AWS; None for real AWS.
    """
    environment = {**_DEFAULTS, **caller}
    region = caller.get("AWS_REGION") or caller.get("AWS_DEFAULT_REGION") or "us-east-1"
    environment |= {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    environment["PRESAGE_MODEL_DIR"] = str(
        ROOT / (caller.get("PRESAGE_MODEL_DIR") or Settings.model_dir)
    )
    if not caller.get("PRESAGE_TOKEN_SECRET") and not caller.get("PRESAGE_TOKEN_SECRET_NAME"):
        environment["PRESAGE_TOKEN_SECRET"] = state.token_secret()
    if options.public:
        hosts = (environment.get("PRESAGE_AUDIENCE_HOSTS", ""), options.public.host_name)
        environment["PRESAGE_AUDIENCE_HOSTS"] = ",".join(hosts)
    if options.backend == AWS:
        environment.pop("AWS_ENDPOINT_URL", None)
        return environment
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        environment.pop(name, None)
    keys = _aws_keys(caller, options, state)
    if options.public and not environment.get(STORAGE_URL):
        if keys["AWS_SECRET_ACCESS_KEY"] == DUMMY_KEY:
            raise SettingsError(
                "PRESAGE_PUBLIC_URL needs secret keys, because everyone could sign URLs with "
                f"{DUMMY_KEY!r}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        environment[STORAGE_URL] = f"{options.public.url}{STORAGE_PATH}"
    return {
        **environment,
        **keys,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": str(endpoint_url),
    }


def _aws_keys(caller: Mapping[str, str], options: Options, state: State) -> dict[str, str]:
    """Return the variables with the key pair of the emulated AWS."""
    if options.backend == MOTO:
        return state.aws_keys()
    # Another endpoint may check keys, for example that of another local stack.
    given = {name: caller.get(name, "") for name in AWS_KEY_NAMES}
    return given if all(given.values()) else dict.fromkeys(AWS_KEY_NAMES, DUMMY_KEY)

"""The environment of the stack's processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from chalicelib.config import Settings
from infra.local.options import AWS, Options
from infra.local.state import State

# Folder of the project; a relative model folder is below it.
ROOT = Path(__file__).parents[2]
# Access key and secret of emulators, which only listen on the loopback address.
DUMMY_KEY = "test"
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
_EMULATED = {
    "AWS_ACCESS_KEY_ID": DUMMY_KEY,
    "AWS_SECRET_ACCESS_KEY": DUMMY_KEY,
    "AWS_EC2_METADATA_DISABLED": "true",
}
_DEFAULTS = {
    "PRESAGE_LEASE_SECONDS": "10",
    "PRESAGE_SYNC_SECONDS": "0",
    # One thread answers all batches, so a second waiting part would only delay other accounts.
    "PRESAGE_BATCH_CHAINS": "1",
    # Workers embed many texts at once; the front answers one at a time and has priority.
    "PRESAGE_THREADS": str(min(4, os.cpu_count() or 1)),
    # With one thread for each arithmetic library, the slowest answers are faster.
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
        state: holds the signing key.
        endpoint_url: of the emulated AWS; None for real AWS.
    """
    environment = {**_DEFAULTS, **caller}
    region = caller.get("AWS_REGION") or caller.get("AWS_DEFAULT_REGION") or "us-east-1"
    environment |= {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    environment["PRESAGE_MODEL_DIR"] = str(
        ROOT / (caller.get("PRESAGE_MODEL_DIR") or Settings.model_dir)
    )
    if not caller.get("PRESAGE_TOKEN_SECRET") and not caller.get("PRESAGE_TOKEN_SECRET_NAME"):
        environment["PRESAGE_TOKEN_SECRET"] = state.token_secret()
    if options.backend == AWS:
        environment.pop("AWS_ENDPOINT_URL", None)
        return environment
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        environment.pop(name, None)
    return {**environment, **_EMULATED, "AWS_ENDPOINT_URL": str(endpoint_url)}

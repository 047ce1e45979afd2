"""Finds a deployed stage by what its stack gives out. See infra/target.py."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.config import Settings
from infra.deploying.account import DeployError, Target, explained
from infra.deploying.stack import Stack


def find_stage(target: Target, environment: Mapping[str, str]) -> tuple[Settings, str]:
    """Return the settings by which a stage's data is reached, and where it listens.

    Args:
        target: the stage.
        environment: what the stack does not say.

    Raises:
        DeployError: there is no such stack, or it is half-deployed.
        SettingsError: a variable cannot be read.
    """
    with explained(target):
        stack = Stack(target, lambda _: None)
        status, outputs = stack.status(), stack.outputs()
        where = f"the stack {target.stack} in {target.region_name}"
        if not status:
            raise DeployError(
                f"{where} does not exist: pass the stage and --region that "
                f"`make deploy STAGE={target.stage}` was given"
            )
        if not {"BucketName", "EndpointURL"} <= set(outputs):
            raise DeployError(
                f"{where} is half-deployed ({status}): deploy it by "
                f"`make deploy STAGE={target.stage}` first"
            )
        url = outputs.get("DomainUrl") or target.reachable(outputs["EndpointURL"])
    given = {
        "PRESAGE_NAME": target.stack,
        "PRESAGE_BUCKET": outputs["BucketName"],
        "PRESAGE_TOKEN_SECRET_NAME": outputs.get("SigningKeyArn", ""),
        "AWS_REGION": target.region_name,
    }
    return Settings.from_environment({**environment, **given}), url.rstrip("/")

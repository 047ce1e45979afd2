"""Describes the AWS account, the region, the names and the errors of a deployment."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
)

from chalicelib.config import Settings

_BAD_KEYS = (
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidClientTokenId",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
)
_MISSING = ("ResourceNotFoundException", "NoSuchBucket")
_ABSENT = ("404", "NoSuchEntity", "NoSuchKey", *_MISSING)
_REFUSED = ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation")


class DeployError(Exception):
    """The deployment cannot continue; the message is one line with the remedy."""


@dataclass(frozen=True)
class Target:
    """One stage in an account."""

    stage: str
    """Name of the stage, such as `prod`."""
    region: str | None
    """AWS region; None for the region of the AWS configuration."""
    endpoint_url: str | None = None
    """Endpoint of an emulated AWS."""

    @property
    def stack(self) -> str:
        """Name of the service's stack, and prefix of all names of the stage."""
        return f"presage-{self.stage}"

    @property
    def data_stack(self) -> str:
        """Name of the data's stack."""
        return f"{self.stack}-data"

    @cached_property
    def session(self) -> Any:
        """The session that all clients share.

        Raises:
            DeployError: no region is given, or the region does not exist.
        """
        session = boto3.session.Session(region_name=self.region)
        found = session.region_name
        if not found:
            raise DeployError("no AWS region is named: pass REGION=… or set AWS_DEFAULT_REGION")
        known = session.get_available_regions("cloudformation")
        if found not in known and self.endpoint_url is None:
            near = difflib.get_close_matches(found, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise DeployError(f"unknown AWS region {found!r}{hint} Pass REGION=…")
        return session

    @property
    def region_name(self) -> str:
        """Name of the region."""
        return str(self.session.region_name)

    def client(self, service: str) -> Any:
        """Return a client that retries temporary failures."""
        style = {"s3": {"addressing_style": "path"}} if service == "s3" else {}
        config = Config(retries={"mode": "standard", "total_max_attempts": 6}, **style)
        return self.session.client(service, endpoint_url=self.endpoint_url, config=config)

    @cached_property
    def account_id(self) -> str:
        """Id of the AWS account that the credentials belong to."""
        return str(self.client("sts").get_caller_identity()["Account"])

    @property
    def data_bucket(self) -> str:
        """Name of the bucket that the data's stack creates. See infra/template/names.py."""
        return f"{self.stack}-data-{self.account_id}-{self.region_name}"

    @property
    def artifact_bucket(self) -> str:
        """Name of the bucket for packages and templates of all stages in the account and region."""
        return f"presage-artifacts-{self.account_id}-{self.region_name}"

    def reachable(self, url: str) -> str:
        """Return the address at which this machine can reach a REST API.

        An emulated AWS serves all APIs at its own address, not under the host names of AWS.

        Args:
            url: URL in the stack's outputs, such as
                `https://a1b2.execute-api.REGION.amazonaws.com/api/`.
        """
        host, _, stage = url.rstrip("/").removeprefix("https://").partition("/")
        api, sign, _ = host.partition(".execute-api.")
        if self.endpoint_url is None or not sign:
            return url.rstrip("/")
        return f"{self.endpoint_url.rstrip('/')}/restapis/{api}/{stage}/_user_request_"

    @property
    def settings(self) -> Settings:
        """Settings with which the administrator's commands reach the stack's tables."""
        return Settings(
            name=self.stack,
            region=self.region_name,
            endpoint_url=self.endpoint_url,
            bucket=self.data_bucket,
        )


@contextmanager
def explained(target: Target) -> Iterator[None]:
    """Convert errors of AWS clients to a DeployError of one line, with a remedy.

    Raises:
        DeployError: an AWS call in the block failed.
    """
    where = target.region or "the configured region"
    try:
        yield
    except (NoCredentialsError, PartialCredentialsError, ProfileNotFound) as error:
        raise DeployError(
            "no AWS credentials were found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or run `aws configure`"
        ) from error
    except NoRegionError as error:
        raise DeployError("no AWS region is named: pass REGION=…") from error
    except EndpointConnectionError as error:
        raise DeployError(f"AWS cannot be reached in {where}: {error}") from error
    except ClientError as error:
        raise DeployError(_reason(error)) from error
    except BotoCoreError as error:
        raise DeployError(f"a call of AWS failed: {error}") from error


def _reason(refusal: ClientError) -> str:
    details = refusal.response.get("Error", {})
    code, text = str(details.get("Code", "")), str(details.get("Message", ""))
    if code in _BAD_KEYS:
        return f"AWS refuses the credentials ({code}): renew them, for example by `aws sso login`"
    if code in _REFUSED:
        return (
            f"the credentials may not call {refusal.operation_name}: use an administrator's, "
            f"or add that right ({text})"
        )
    return f"{refusal.operation_name} failed: {code}: {text}"


def is_there(call: Callable[[], object]) -> bool:
    """Make an AWS call; return whether the resource that the call names exists.

    Raises:
        ClientError: the call failed for another reason than a missing resource.
    """
    try:
        call()
    except ClientError as error:
        if error.response["Error"]["Code"] in _ABSENT:
            return False
        raise
    return True


def explain(error: BaseException, region: str) -> str:
    """Describe the cause of an error in one line.

    Args:
        error: the error; if an AWS client's error caused it, this cause is described.
        region: region of the command.
    """
    cause = next((c for c in _chain(error) if isinstance(c, BotoCoreError | ClientError)), None)
    if cause is None:
        return str(error)
    if isinstance(cause, ClientError) and cause.response["Error"]["Code"] in _MISSING:
        return (
            f"the table or bucket does not exist in {region}: name the stage by --stage and "
            "--region, or set PRESAGE_NAME, PRESAGE_BUCKET and AWS_REGION"
        )
    try:
        with explained(Target("", region)):
            raise cause
    except DeployError as explained_error:
        return str(explained_error)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and all its causes."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

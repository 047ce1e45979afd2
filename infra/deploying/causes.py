"""Says what a failed call of AWS means to who runs an administrator's command."""

from __future__ import annotations

from collections.abc import Iterator

from botocore.exceptions import BotoCoreError, ClientError

from infra.deploying.account import DeployError, Target, explained

_MISSING = ("ResourceNotFoundException", "NoSuchBucket")


def told(trouble: BaseException, region: str) -> str:
    """Return one line: the cause that lies behind an error, or the error itself.

    Args:
        trouble: what a command met; the service's own errors hide their cause from callers.
        region: where the command works.
    """
    cause = next((c for c in _chain(trouble) if isinstance(c, BotoCoreError | ClientError)), None)
    if cause is None:
        return str(trouble)
    if isinstance(cause, ClientError) and cause.response["Error"]["Code"] in _MISSING:
        return (
            f"there is no such table or bucket in {region}: name the stage by --stage and "
            "--region, or set PRESAGE_NAME, PRESAGE_BUCKET and AWS_REGION"
        )
    try:
        with explained(Target("", region)):
            raise cause
    except DeployError as said:
        return str(said)


def _chain(trouble: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and everything that led to it."""
    while trouble is not None:
        yield trouble
        trouble = trouble.__cause__ or trouble.__context__

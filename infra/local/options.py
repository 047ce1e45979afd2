"""Reads the options of the local stack from the command line and the environment."""

from __future__ import annotations

import argparse
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chalicelib.commands import run_command
from infra.local.http.listening import LOOPBACK, is_loopback
from infra.local.http.public import PublicAddress, WrongAddress, read_public_address

MOTO, LOCALSTACK, AWS = "moto", "localstack", "aws"
# Default address of LocalStack; AWS_ENDPOINT_URL overrides it.
LOCALSTACK_URL = "http://127.0.0.1:4566"


def _port(text: str) -> int:
    return int(_at_most(int(text), 65_535))


def _seconds(text: str) -> float:
    return _at_most(float(text), 604_800)  # a week


def _at_most(value: float, limit: int) -> float:
    """Return a number; refuse it if it is negative, larger than `limit`, or NaN."""
    if not 0 <= value <= limit:
        raise argparse.ArgumentTypeError(f"{value} is not a number from 0 to {limit:,}")
    return value


_NUMBERS = (
    ("--port", _port, "PRESAGE_PORT", "8000", "port of the service"),
    ("--aws-port", _port, "PRESAGE_AWS_PORT", "4566", "port of the emulated AWS"),
    ("--sweep-seconds", _seconds, "PRESAGE_SWEEP_SECONDS", "5", "seconds between two sweeps"),
    ("--save-seconds", _seconds, "PRESAGE_SAVE_SECONDS", "60", "seconds until a change is saved"),
    (
        "--visibility-seconds",
        int,
        "PRESAGE_VISIBILITY_SECONDS",
        "15",
        "seconds until a lost job is delivered again",
    ),
    (
        "--metrics-port",
        _port,
        "PRESAGE_METRICS_PORT",
        "0",
        "port of /metrics for Prometheus; 0: none",
    ),
    (
        "--drain-seconds",
        _seconds,
        "PRESAGE_DRAIN_SECONDS",
        "2.5",
        "seconds that calls have to end when the service stops",
    ),
    ("--niceness", int, "PRESAGE_NICENESS", "10", "niceness of the workers"),
)


@dataclass(frozen=True)
class Options:
    """The options of a stack."""

    backend: str
    """MOTO, LOCALSTACK or AWS."""
    host: str
    """Address of the HTTP front; everything else listens on 127.0.0.1."""
    public: PublicAddress | None
    """Address by which callers reach the front; None if they use the front's own address."""
    port: int
    """Port of the HTTP front; 0 for any free one."""
    aws_port: int
    """Port of the emulated AWS; 0 for any free one."""
    state_dir: Path
    """Folder of keys, saved data and the description of the running stack."""
    has_demo: bool
    """Whether the start uploads the samples, trains models on them, and makes predictions."""
    is_bare: bool
    """Whether the start installs no model files and creates no demo account."""
    keeps_data: bool
    """Whether data is restored at the start and saved while the stack runs."""
    repairs_data: bool
    """Whether damaged saved data is repaired before it is restored."""
    is_offline: bool
    """Whether connections to other machines are refused."""
    has_gateway_limits: bool
    """Whether API Gateway's limits are enforced."""
    endpoint_url: str | None
    """Address of an AWS endpoint that runs already, or None."""
    app: str
    """Application as `module:attribute`."""
    sweep_seconds: float
    """Time between two ticks of the schedules, in seconds."""
    save_seconds: float
    """Time until a change is saved, in seconds."""
    visibility_seconds: int
    """How long a message stays hidden after a receive or a heartbeat, in seconds."""
    metrics_port: int
    """Port of the metrics; 0 for none."""
    metrics_host: str
    """Address on which the metrics' port listens."""
    drain_seconds: float
    """How long a stop waits for running calls, in seconds."""
    niceness: int
    """Niceness of the workers, which gives the HTTP front priority."""


def parse(arguments: Sequence[str], environment: Mapping[str, str]) -> Options:
    """Read the command line; the environment gives the defaults."""
    parser = _parser(environment)
    arguments_given = parser.parse_args(arguments)
    try:
        public = read_public_address(environment, arguments_given.host)
    except WrongAddress as error:
        parser.error(str(error))
    if public is None and not is_loopback(arguments_given.host):
        parser.error(
            f"--host {arguments_given.host} needs PRESAGE_PUBLIC_URL, the address by which callers "
            "reach the service, such as https://presage.example.org."
        )
    backend, endpoint_url = _backend(arguments_given.backend, environment.get("AWS_ENDPOINT_URL"))
    return Options(
        backend=backend,
        host=arguments_given.host,
        public=public,
        port=arguments_given.port,
        aws_port=arguments_given.aws_port,
        state_dir=arguments_given.state_dir.absolute(),
        has_demo=not (arguments_given.no_demo or arguments_given.bare),
        is_bare=arguments_given.bare,
        keeps_data=backend == MOTO and not arguments_given.forget,
        repairs_data=arguments_given.repair,
        is_offline=arguments_given.offline,
        has_gateway_limits=arguments_given.gateway_limits,
        endpoint_url=endpoint_url,
        app=environment.get("PRESAGE_APP") or "app:app",
        sweep_seconds=arguments_given.sweep_seconds,
        save_seconds=arguments_given.save_seconds,
        visibility_seconds=arguments_given.visibility_seconds,
        metrics_port=arguments_given.metrics_port,
        metrics_host=arguments_given.metrics_host,
        drain_seconds=arguments_given.drain_seconds,
        niceness=arguments_given.niceness,
    )


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(run_command(), description="Run Presage locally.")
    parser.add_argument("--backend", choices=(MOTO, LOCALSTACK, AWS), help="where data is stored")
    parser.add_argument(
        "--no-demo", action="store_true", help="skip the demo's uploads and trainings"
    )
    parser.add_argument(
        "--bare", action="store_true", help="skip model files and the demo account too"
    )
    data = parser.add_mutually_exclusive_group()
    data.add_argument("--forget", action="store_true", help="start empty and save no data")
    data.add_argument("--repair", action="store_true", help="repair damaged data at the start")
    parser.add_argument(
        "--gateway-limits",
        action="store_true",
        help="enforce the limits of API Gateway: 10 MB, 6 MB and 29 seconds",
    )
    parser.add_argument(
        "--offline", action="store_true", help="download nothing and connect to no other machine"
    )
    parser.add_argument(
        "--host",
        type=_host,
        default=environment.get("PRESAGE_HOST") or LOOPBACK,
        help="address of the service; others than 127.0.0.1 need PRESAGE_PUBLIC_URL (PRESAGE_HOST)",
    )
    # Defaults are texts, so that a wrong variable is refused like a wrong argument.
    for name, kind, variable, default, text in _NUMBERS:
        value = environment.get(variable) or default
        parser.add_argument(name, type=kind, default=value, help=f"{text} ({variable})")
    parser.add_argument(
        "--metrics-host",
        default=environment.get("PRESAGE_METRICS_HOST") or "127.0.0.1",
        help="address on which the metrics' port listens (PRESAGE_METRICS_HOST)",
    )
    parser.add_argument(
        "--state-dir",
        "--state",
        type=Path,
        default=Path(environment.get("PRESAGE_STATE_DIR") or ".presage"),
        help="folder for keys, data and logs",
    )
    return parser


def _host(text: str) -> str:
    try:
        return LOOPBACK if text == "localhost" else str(ipaddress.ip_address(text.strip("[]")))
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an IP address such as 0.0.0.0"
        ) from error


def _backend(wanted_backend: str | None, given_url: str | None) -> tuple[str, str | None]:
    if wanted_backend == AWS:
        return AWS, None
    # If the environment has an address, that endpoint already runs.
    if wanted_backend == LOCALSTACK or (given_url and wanted_backend is None):
        return LOCALSTACK, given_url or LOCALSTACK_URL
    return MOTO, None

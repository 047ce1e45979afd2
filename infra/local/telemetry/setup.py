"""Reads from options and environment what to measure, and starts measuring in each process."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chalicelib.config import Settings
from infra.local.http.listening import CannotStart
from infra.local.options import MOTO, Options
from infra.local.saving import SavingState
from infra.local.state import State

if TYPE_CHECKING:
    from infra.local.http.front import Page

PUBLIC_VARIABLE = "PRESAGE_METRICS_TOKEN"
ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"
# Variable with the folder in which prometheus_client stores the values of each process. The file of
# an ended process stays, so no counter falls when a worker is restarted.
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
METRICS_FOLDER = "metrics"
# Packages that each extra of the server distribution installs, by their import names.
_PACKAGES = {"metrics": "prometheus_client", "traces": "opentelemetry.exporter.otlp.proto.http"}


@dataclass(frozen=True)
class Telemetry:
    """The telemetry settings that all processes of a stack share."""

    has_metrics: bool
    """Whether metrics are recorded."""
    has_traces: bool
    """Whether spans are sent to a collector."""
    folder: Path
    """Folder for the values of metrics; emptied at the start of the stack."""

    @classmethod
    def read(cls, options: Options, environment: Mapping[str, str]) -> Telemetry:
        """Read the telemetry options of the command line and the environment."""
        has_metrics = options.metrics_port > 0 or bool(environment.get(PUBLIC_VARIABLE))
        has_traces = bool(environment.get(ENDPOINT_VARIABLE))
        return cls(has_metrics, has_traces, options.state_dir / METRICS_FOLDER)

    def prepare(self) -> None:
        """Check that the needed packages are installed, and empty the folder of metrics.

        Raises:
            CannotStart: a package of an extra is missing.
        """
        for extra, is_wanted in (("metrics", self.has_metrics), ("traces", self.has_traces)):
            if is_wanted and not _is_installed(_PACKAGES[extra]):
                raise CannotStart(
                    f"{extra} need packages that are not installed; install them with: "
                    f"pip install 'presage-server[{extra}]'"
                )
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.has_metrics:
            self.folder.mkdir(mode=0o700)

    def start(self, process: str) -> Callable[[], None]:
        """Measure this process; call before its work begins.

        Returns:
            A function that sends the data that has not been sent yet.
        """
        if self.has_metrics:
            os.environ[FOLDER_VARIABLE] = str(self.folder)
            from infra.local.telemetry.recording import record_metrics

            record_metrics()
        if not self.has_traces:
            return lambda: None
        from infra.local.telemetry.spans import record_spans

        return record_spans(process)


def metrics_pages(
    app: Any, settings: Settings, options: Options, saving: SavingState
) -> Mapping[str, Page]:
    """Return the page of metrics for the public port, if PRESAGE_METRICS_TOKEN is set."""
    token = os.environ.get(PUBLIC_VARIABLE)
    if not token:
        return {}
    from infra.local.telemetry import exposition

    return {exposition.PATH: exposition.guarded(_registry(app, settings, options, saving), token)}


def serve_metrics(
    app: Any, listener: socket.socket, settings: Settings, options: Options, saving: SavingState
) -> None:
    """Serve the metrics on a separate port until the process ends."""
    from infra.local.telemetry import exposition

    os.environ[FOLDER_VARIABLE] = str(options.state_dir / METRICS_FOLDER)
    exposition.serve(listener, _registry(app, settings, options, saving))


def _registry(app: Any, settings: Settings, options: Options, saving: SavingState) -> Any:
    from infra.local.telemetry.exposition import make_registry

    has_own_queues = options.backend == MOTO
    state = State(options.state_dir)
    return make_registry(app, settings, state, saving, has_own_queues=has_own_queues)


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False

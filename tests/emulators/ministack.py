"""ministack on the loopback address: the emulated AWS that runs the packaged functions.

Example: `with Ministack() as server: print(server.url)`. Its end closes the pipes by which its
functions live.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from infra.packaging.target import PackageError, Runtime, own_runtime
from tests.emulators.environment import prepare, say
from tests.emulators.errors import EmulatorError
from tests.emulators.server import EmulatorServer

_LOCKS = Path(__file__).with_name("ministack-locks")
REGION = "us-east-1"
ACCOUNT_ID = "000000000000"
"""Account that everything is in."""


class Ministack(EmulatorServer):
    """One running ministack."""

    name = "ministack"
    health = "/_ministack/health"

    def install(self) -> list[str]:
        """Install ministack and return the command that starts it.

        Raises:
            EmulatorError: packages are not built for this Python, or it cannot be installed.
        """
        python = install(self._progress)
        return [str(python), "-m", "ministack"]

    def process_environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Compose ministack's environment.

        Args:
            given: the environment of the command.
        """
        return environment(given, self.folder, self.port)


def install(progress: Callable[[str], None] = say) -> Path:
    """Return the Python of ministack's environment, which is installed where it is missing.

    ministack runs functions in its own Python, so that is the one which builds the package.

    Raises:
        EmulatorError: packages are not built for this Python, or it cannot be installed.
    """
    try:
        runtime = own_runtime()
    except PackageError as error:
        raise EmulatorError(str(error)) from error
    return prepare("ministack", Path(sys.executable), lock(runtime), progress=progress)


def lock(runtime: Runtime) -> Path:
    """Return where the packages stand that ministack needs on a Python."""
    return _LOCKS / f"py{runtime.tag}.txt"


def environment(given: Mapping[str, str], folder: Path, port: int) -> dict[str, str]:
    """Compose ministack's environment, which its functions inherit.

    None of the caller's settings for Python, AWS or the service remain.

    Args:
        given: the environment of the command.
        folder: takes everything that is written.
        port: on 127.0.0.1.
    """
    scratch = folder / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    return {
        **{name: given[name] for name in ("PATH", "LANG") if name in given},
        "HOME": str(folder),
        "TMPDIR": str(scratch),
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "MINISTACK_HOST": "127.0.0.1",
        "MINISTACK_ACCOUNT_ID": ACCOUNT_ID,
        "MINISTACK_REGION": REGION,
        "STATE_DIR": str(folder / "state"),
        "S3_DATA_DIR": str(folder / "s3"),
        # Listeners of services that no test here uses.
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
        # What a function may not do is refused, by its role.
        "AUTH": "true",
        "PYTHONUNBUFFERED": "1",
    }


def main() -> int:
    """Install ministack, and say in one line why that is not possible."""
    try:
        install()
    except EmulatorError as error:
        say(f"tests.emulators.ministack: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

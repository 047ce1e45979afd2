"""LocalStack without Docker: DynamoDB, S3, SQS, IAM and CloudFormation on the loopback address.

Example: `with LocalStackServer() as server: print(server.url)`. Its end ends the Java of DynamoDB
Local.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.emulators import dynamodb
from tests.emulators.environment import prepare
from tests.emulators.java import find_java
from tests.emulators.pythons import find_python
from tests.emulators.server import EmulatorServer

LOCK = Path(__file__).with_name("localstack-lock.txt")
PYTHON = "3.11"
"""The Python that the lock was made for."""
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR")
_LIST_TABLES = {
    "X-Amz-Target": "DynamoDB_20120810.ListTables",
    "Content-Type": "application/x-amz-json-1.0",
    "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host, Signature=0",
}
"""LocalStack reads the service from the signature's scope and checks nothing else of it here."""


class LocalStackServer(EmulatorServer):
    """One running LocalStack."""

    name = "localstack"
    health = "/_localstack/health"
    stop_seconds = 2.0
    """It has nothing to save, and takes long to wind its services up."""

    def install(self) -> list[str]:
        """Install LocalStack, DynamoDB Local, and a Java when there is none.

        Raises:
            EmulatorError: something cannot be installed; the text names the remedy.
        """
        self._java = find_java()
        python = prepare("localstack", find_python(PYTHON), LOCK, progress=self._progress)
        self._database = dynamodb.install(self._progress)
        return [str(python), "-m", "localstack.runtime.main"]

    def process_environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Compose LocalStack's environment, and lay out what it would else download.

        Args:
            given: the environment of the command.
        """
        root = self.folder / "root"
        dynamodb.arrange(root, self._database, self._java)
        address = f"127.0.0.1:{self.port}"
        return {
            **{name: given[name] for name in _KEPT if name in given},
            "FILESYSTEM_ROOT": str(root),
            "OVERRIDE_IN_DOCKER": "0",
            "GATEWAY_LISTEN": address,
            # The default server ignores the host and listens on every address.
            "GATEWAY_SERVER": "hypercorn",
            "LOCALSTACK_HOST": address,
            "SQS_ENDPOINT_STRATEGY": "path",
            "DISABLE_EVENTS": "1",
            "SKIP_SSL_CERT_DOWNLOAD": "1",
            "DNS_ADDRESS": "0",
            "DYNAMODB_IN_MEMORY": "1",
            "S3_SKIP_SIGNATURE_VALIDATION": given.get("S3_SKIP_SIGNATURE_VALIDATION", "0"),
            "PYTHONUNBUFFERED": "1",
        }

    def _wait_until_ready(self) -> None:
        """Wait until LocalStack answers, then until its DynamoDB does, which starts at a call."""
        super()._wait_until_ready()
        self.wait_for("start its DynamoDB", "POST", "/", b"{}", _LIST_TABLES)

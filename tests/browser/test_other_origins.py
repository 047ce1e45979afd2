"""Attacks of web pages on the emulated AWS in a real browser: none reads or changes anything."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from botocore.config import Config
from playwright.sync_api import BrowserType, Page

from tests.browser.conftest import CHROMIUM, FLAGS
from tests.local_stack import LocalStack

REBOUND = "rebound.example"
ROW = '{"TableName":"presage-accounts","Item":{"account_id":{"S":"666"}}}'
# Each gets the address of the emulated AWS, a presigned URL, and headers with a forged signature.
PROBES = {
    "list objects": "fetch(aws + '/presage-data?list-type=2')",
    "list objects with a known key": (
        "fetch(aws + '/presage-data?list-type=2', {headers: forged('s3')})"
    ),
    "read an object": "fetch(aws + '/presage-data/secret.bin')",
    "read a presigned object": "fetch(presigned)",
    "write an object": "fetch(aws + '/presage-data/evil', {method: 'PUT', body: 'x'})",
    "write an object unseen": (
        "fetch(aws + '/presage-data/evil', {method: 'POST', mode: 'no-cors', body: 'x'})"
    ),
    "post a form unseen": (
        "fetch(aws + '/presage-data', {method: 'POST', mode: 'no-cors', body: evilForm()})"
    ),
    "read rows": (
        "fetch(aws, {method: 'POST', body: '{\"TableName\": \"presage-accounts\"}',"
        " headers: {...forged('dynamodb'), 'X-Amz-Target': 'DynamoDB_20120810.Scan'}})"
    ),
    "write a row": (
        f"fetch(aws, {{method: 'POST', body: '{ROW}',"
        " headers: {...forged('dynamodb'), 'X-Amz-Target': 'DynamoDB_20120810.PutItem'}})"
    ),
    "pause writes unseen": (
        "fetch(aws + '/_presage/still', {method: 'POST', mode: 'no-cors', body: 'x'})"
    ),
    "pause writes": (
        "fetch(aws + '/_presage/still', {method: 'POST', headers: {'X-Presage-Control': 'x'}})"
    ),
    "reset the emulator unseen": (
        "fetch(aws + '/moto-api/reset', {method: 'POST', mode: 'no-cors'})"
    ),
}
SCRIPT = """async ([aws, presigned]) => {
  const forged = service => ({
    Authorization: `AWS4-HMAC-SHA256 Credential=test/20261128/us-east-1/${service}/aws4_request, `
      + 'SignedHeaders=host, Signature=' + '0'.repeat(64),
    'X-Amz-Date': new Date().toISOString().replace(/[-:]|\\.\\d+/g, ''),
  });
  const evilForm = () => {
    const made = new FormData();
    made.append('key', 'evil');
    made.append('file', new Blob(['x']), 'evil');
    return made;
  };
  try {
    const answer = await PROBE;
    return [answer.type, answer.status, await answer.text()];
  } catch (error) {
    return ['blocked', 0, ''];
  }
}"""


class _Attacker(BaseHTTPRequestHandler):
    """Serves an empty page."""

    def do_GET(self) -> None:
        """Send the page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def attacker() -> Iterator[str]:
    """Address of a site of another origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Attacker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def attacked(closed_network: None) -> Iterator[LocalStack]:
    """A stack with an object that is no one else's."""
    with LocalStack() as stack:
        client = stack.client("s3")
        client.put_object(Bucket="presage-data", Key="secret.bin", Body=b"secret")
        yield stack


def sign_url(stack: LocalStack) -> str:
    """Return a presigned URL of the object."""
    s3 = stack.client("s3", config=Config(signature_version="s3v4"))
    target = {"Bucket": "presage-data", "Key": "secret.bin"}
    return str(s3.generate_presigned_url("get_object", target))


def assert_unchanged(stack: LocalStack) -> None:
    """Check that data is as before, and that writes are not paused."""
    s3 = stack.client("s3")
    listed = s3.list_objects_v2(Bucket="presage-data")["Contents"]
    assert [one["Key"] for one in listed] == ["secret.bin"]
    rows = stack.client("dynamodb").scan(TableName="presage-accounts")["Items"]
    assert rows == []
    s3.put_object(Bucket="presage-data", Key="secret.bin", Body=b"secret")


@pytest.mark.parametrize("name", PROBES)
def test_page_of_another_origin_succeeds_with_nothing(
    page: Page, attacked: LocalStack, attacker: str, name: str
) -> None:
    """A page cannot list, read, write or control, whether it may see the answer or not."""
    presigned = sign_url(attacked)
    page.goto(attacker)

    kind, status, text = page.evaluate(
        SCRIPT.replace("PROBE", PROBES[name]), [attacked.environment["AWS_ENDPOINT_URL"], presigned]
    )

    assert (status, text) == (0, ""), (kind, status, text)
    assert kind in ("blocked", "opaque")
    assert_unchanged(attacked)


def test_rebound_name_does_not_work(browser_type: BrowserType, attacked: LocalStack) -> None:
    """A page whose host name its owner has pointed at this machine is refused."""
    port = attacked.environment["AWS_ENDPOINT_URL"].rpartition(":")[2]
    flags = [*FLAGS, f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"]
    browser = browser_type.launch(executable_path=CHROMIUM, args=flags)
    try:
        page = browser.new_page()
        answer = page.goto(f"http://{REBOUND}:{port}/presage-data?list-type=2")
        assert answer is not None
        assert answer.status == 403
        paused = page.evaluate(
            "async () => (await fetch('/_presage/still', {method: 'POST'})).status"
        )
        assert paused == 403
        answer = page.goto(attacked.url.replace("127.0.0.1", REBOUND) + "/v2/health")
        assert answer is not None
        assert answer.status == 421
    finally:
        browser.close()
    assert_unchanged(attacked)


def test_page_of_the_service_reads_presigned_objects(page: Page, attacked: LocalStack) -> None:
    """The attacks do not fail because nothing works: the service's page reads the same URL."""
    page.goto(f"{attacked.url}/v2/health")

    read = page.evaluate("async url => (await fetch(url)).text()", sign_url(attacked))

    assert read == "secret"

"""`python -m infra.accounts audit` compares counters with logged predictions."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from botocore.stub import Stubber

from chalicelib.domain.accounts.usage import PREDICTIONS, month_key, new_token
from chalicelib.stores.accounts.quotas import QuotaStore
from chalicelib.stores.jobs.queues import Queues
from infra.accounts import main
from infra.auditing import log_lines
from infra.auditing.log_lines import LogGroup
from infra.target import CommandError
from tests.administration import account_service, public_half

ANN, BEN = "ann@example.com", "ben@example.com"
GROUP = "/presage/presage/api"
NOW = datetime.now(UTC)
MONTH = month_key(NOW)


@pytest.fixture
def audit(clients, tmp_path, capsys, monkeypatch):
    """Run the command on the emulated AWS; returns exit code, rows by address, and all lines."""
    # A month that ends while the tests run would be another than that of the lines.
    monkeypatch.setattr("infra.accounts.system_clock", lambda: NOW)

    def call(*arguments):
        """Run it once."""
        code = main(["audit", "--aws", *map(str, arguments)], {"PRESAGE_STATE_DIR": str(tmp_path)})
        out, err = capsys.readouterr()
        rows = {}
        for line in out.splitlines():
            cells = line.split()
            if len(cells) == 8 and cells[2].isdigit():
                rows[cells[1]] = [int(cell) for cell in cells[2:]]
        return code, rows, out + err

    return call


@pytest.fixture
def accounts(clients, settings, private_pem):
    """Two accounts with 3 and 1 counted predictions; their ids by address."""
    quotas, found = QuotaStore(clients, Queues(settings, clients)), {}
    service = account_service(clients, lambda: NOW)
    for email, used in ((ANN, 3), (BEN, 1)):
        account = service.create(email, public_pem=public_half(private_pem)).account
        for _ in range(used):
            until = NOW + timedelta(days=400)
            quotas.reserve(account.account_id, PREDICTIONS, MONTH, 100, until, new_token())
        found[email] = account.account_id
    return found


def line(account_id, outcome="counted", month=MONTH, **more):
    """Write a line as the service does."""
    facts = {"account": account_id, "model": "M", "month": month, "outcome": outcome}
    known = {"time": NOW.isoformat(), "level": "INFO", "event": "prediction", **facts}
    return json.dumps({**known, **more})


def write(path, *lines):
    """Write a log file."""
    path.write_text("".join(f"{text}\n" for text in lines))
    return path


def test_agreement(audit, accounts, tmp_path):
    """Only lines that the counter counts are added up; other events and months are ignored."""
    ann, ben = accounts[ANN], accounts[BEN]
    log = write(
        tmp_path / "x.jsonl",
        *[line(ann)] * 3,
        line(ann, "given_back"),
        *[line(ann, "refused")] * 2,
        line(ann, month="2020-01"),
        line(ben),
        json.dumps({"event": "request", "account": ben, "outcome": "counted", "month": MONTH}),
        "START RequestId: 1",
        "",
    )

    code, rows, text = audit("--log", log)

    assert code == 0
    assert rows == {ANN: [3, 3, 0, 2, 1, 0], BEN: [1, 1, 0, 0, 0, 0]}
    assert "all 2 agree" in text


def test_batches_count_all_their_lines_once(audit, accounts, tmp_path):
    """What a batch reserved is counted once and what it released is not, even when logged twice."""
    ben = accounts[BEN]
    settled = {"event": "settlement", "kind": "predictions", "outcome": "given_back"}
    log = write(
        tmp_path / "x.jsonl",
        *[line(ben, count=25, token="B1")] * 2,
        *[line(ben, count=24, token="B1", **settled)] * 2,
        *[line(accounts[ANN])] * 3,
    )

    code, rows, _ = audit("--log", log)

    assert (code, rows[BEN]) == (0, [1, 1, 0, 0, 24, 0])


@pytest.mark.parametrize(
    ("lines", "unknown", "arguments", "code"),
    [
        (0, 0, (), 0),
        (0, 0, ("--tolerance", "2"), 1),
        (0, 1, ("--tolerance", "2"), 0),
        (2, 0, ("--tolerance", "0"), 1),
        (3, 0, ("--tolerance", "0"), 0),
        (4, 0, ("--tolerance", "9"), 1),
        (4, 9, (), 1),
    ],
)
def test_tolerance(audit, accounts, tmp_path, lines, unknown, arguments, code):
    """A counter may be slightly above its log lines, but never below."""
    ann = accounts[ANN]
    found = [line(ann)] * lines + [line(ann, "unknown")] * unknown
    log = write(tmp_path / "x.jsonl", *found)

    assert audit(ANN, "--log", log, *arguments)[0] == code


def test_lines_of_unknown_accounts_are_shown(audit, accounts, tmp_path):
    """An account that is only in the log is a difference, unless one account was requested."""
    log = write(tmp_path / "x.jsonl", line("99"), line("99", "given_back"))

    code, _, text = audit("--log", log)

    assert code == 1
    assert "(no such account)" in text
    assert "1 of 3 accounts differ" in text
    assert audit(BEN, "--log", log)[0] == 0


def test_damaged_lines_are_counted(audit, accounts, tmp_path):
    """Torn and foreign lines are left out, and their number is reported."""
    damaged = (line(accounts[ANN])[:-9], line("1", "stolen"), '{"event": "prediction"}', "[]")
    log = write(tmp_path / "x.jsonl", *damaged, '["event": "prediction"]')
    log.write_bytes(log.read_bytes() + b'\xff\xfe "event": "prediction"')

    code, rows, text = audit("--log", log)

    assert (code, rows[ANN][:2]) == (0, [3, 0])
    assert "5 prediction lines are damaged" in text


def test_folder_of_rotated_files(audit, accounts, tmp_path):
    """All files of a folder are read, and the limits of the log are stated."""
    folder = tmp_path / "logs"
    folder.mkdir()
    write(folder / "front.jsonl", line(accounts[ANN]))
    write(folder / "front.jsonl.1", line(accounts[ANN]))
    write(folder / "front.jsonl.2", line(accounts[ANN]))
    write(folder / "notes.txt", line(accounts[ANN]))

    _, rows, text = audit(ANN, "--log", folder)

    assert rows[ANN][:3] == [3, 3, 0]
    assert f"{MONTH} is not over" in text


def test_log_that_begins_late(audit, accounts, tmp_path):
    """If the log begins after the accounts, the output says from when it is complete."""
    later = json.dumps({"time": "2099-01-01T00:00:00.000Z", "event": "x"})
    silent = write(tmp_path / "silent.jsonl", "no line of ours")

    assert "the log begins on 2099-01-01" in audit("--log", write(tmp_path / "x.jsonl", later))[2]
    assert "no line with a time" in audit("--log", silent)[2]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--month", "2026-13"), "takes a month such as"),
        (("--month", "november"), "takes a month such as"),
        (("--month", "0000-01"), "takes a month such as"),
        (("--month", "9999-01"), "has not begun"),
        (("--month", "2001-01"), "are kept 400 days"),
        (("unknown@example.com",), "does not exist"),
        (("--log", "missing.jsonl"), "cannot be read"),
        ((), "no log group"),
    ],
)
def test_refusals_are_one_line(audit, accounts, arguments, text):
    """Input that cannot be compared is reported in one line with exit status 1."""
    code, rows, error = audit(*arguments)

    assert (code, rows) == (1, {})
    assert text in error
    assert error.count("\n") == 1


def test_empty_folder_is_refused(audit, accounts, tmp_path):
    """A folder without lines does not count as agreement."""
    code, _, text = audit("--log", tmp_path)

    assert code == 1
    assert "has no log lines" in text


def test_log_group(audit, accounts):
    """On AWS the lines of all functions that count or settle predictions are read."""
    logs = boto3.client("logs")
    others = GROUP.replace("/api", "/delete-object")
    logs.create_log_group(logGroupName=others)
    logs.create_log_stream(logGroupName=others, logStreamName="s")
    for name in ("texts", "pictures", "embed-texts"):
        logs.create_log_group(logGroupName=GROUP.replace("/api", f"/{name}"))
    logs.create_log_group(logGroupName=f"{GROUP}-of-another")
    logs.create_log_group(logGroupName=GROUP)
    logs.put_retention_policy(logGroupName=GROUP, retentionInDays=30)
    stamp = int(NOW.timestamp() * 1000)
    texts = (
        [line(accounts[ANN])] * 3 + [line(accounts[BEN])] + ["START", line("2", month="2020-01")]
    )
    texts.append(line(accounts[BEN], outcome="unknown"))
    # A job that is delivered twice writes its line twice.
    settled = line(accounts[BEN], event="settlement", kind="predictions", outcome="given_back")
    twice = json.dumps({**json.loads(settled), "token": "1-a"})
    logs.put_log_events(
        logGroupName=others,
        logStreamName="s",
        logEvents=[{"timestamp": stamp, "message": twice}] * 2,
    )
    for name, part in ((GROUP, texts[:2]), (GROUP.replace("/api", "/texts"), texts[2:])):
        logs.create_log_stream(logGroupName=name, logStreamName="s")
        events = [{"timestamp": stamp, "message": text} for text in part]
        logs.put_log_events(logGroupName=name, logStreamName="s", logEvents=events)

    code, rows, _ = audit()

    assert (code, rows[ANN][:3], rows[BEN]) == (0, [3, 3, 0], [1, 1, 0, 0, 1, 0])


@pytest.fixture
def stubbed(settings):
    """A log group whose answers a test writes."""
    group = LogGroup(settings)
    with Stubber(group._client) as stub:
        yield group, stub


def pages(stub, number):
    """Answer that many pages, each of which names a next one."""
    for page in range(number):
        answer = {"events": [{"message": f"line {page}"}], "nextToken": f"t{page}"}
        stub.add_response("filter_log_events", answer)


def test_pages_are_followed_to_the_end(stubbed):
    """Empty pages in between do not end the list; the filter leaves other events on AWS's side."""
    group, stub = stubbed
    pages(stub, 2)
    stub.add_response("filter_log_events", {"events": [], "nextToken": "t2"})
    wanted = {
        "logGroupName": GROUP,
        "startTime": 0,
        "endTime": 1000,
        "filterPattern": '{ ($.event = "prediction" || $.event = "settlement") '
        '&& $.month = "2026-11" }',
        "nextToken": "t2",
    }
    stub.add_response("filter_log_events", {"events": [{"message": "last"}]}, wanted)
    for other in ("texts", "pictures", "who settles", "who counts batches"):
        stub.add_response("filter_log_events", {"events": [{"message": other}]})

    start, end = datetime.fromtimestamp(0, UTC), datetime.fromtimestamp(1, UTC)

    assert list(group.lines(start, end, "2026-11")) == [
        *("line 0", "line 1", "last"),
        *("texts", "pictures", "who settles", "who counts batches"),
    ]


def test_pages_have_a_limit(stubbed, monkeypatch):
    """A log too long for paging is refused with an alternative."""
    group, stub = stubbed
    monkeypatch.setattr(log_lines, "MAX_PAGES", 3)
    pages(stub, 3)

    with pytest.raises(CommandError, match=r"docs/runbook\.md"):
        list(group.lines(NOW, NOW, MONTH))


def test_missing_rights_are_named(stubbed):
    """An answer of AWS that is not a success becomes one line that names the rights."""
    group, stub = stubbed
    stub.add_client_error("describe_log_groups", "AccessDeniedException")
    stub.add_client_error("filter_log_events", "AccessDeniedException")

    with pytest.raises(CommandError, match="logs:FilterLogEvents"):
        group.first_time(NOW)
    with pytest.raises(CommandError, match="logs:FilterLogEvents"):
        list(group.lines(NOW, NOW, MONTH))


def test_retention_bounds_what_is_known(stubbed):
    """The log is complete from the group's creation, or for its retention period."""
    group, stub = stubbed
    old = int((NOW - timedelta(days=90)).timestamp() * 1000)
    facts = {"logGroupName": GROUP, "creationTime": old}
    stub.add_response("describe_log_groups", {"logGroups": [facts]})
    stub.add_response("describe_log_groups", {"logGroups": [{**facts, "retentionInDays": 30}]})

    assert (NOW - group.first_time(NOW)).days == 90
    assert (NOW - group.first_time(NOW)).days == 30

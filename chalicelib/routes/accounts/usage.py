"""Plan and predictions of the month. Spec: Limits; contract section 4, Usage."""

from __future__ import annotations

from chalicelib.domain.accounts.api_key import PREDICT
from chalicelib.domain.common.paging import ListPage
from chalicelib.web.http.paging import ListAnswer, Window, list_answer
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, service_records


def list_usage(call: Call) -> ListAnswer:
    """Return plan and predictions of the current month. Spec: GET /v2/apiusage."""
    # A list of one record, as in the old API.
    facts = call.container.usage.facts(call.account)
    return list_answer(ListPage((facts,), 0, has_more=False), describe.usage, Window(0, 1))


def whoami(call: Call) -> service_records.AccountRecord:
    """Return the account that the token or API key belongs to. beyond.md, section 11."""
    return describe.account(call.account, call.scope)


OPERATIONS = (
    Operation(
        name="whoami",
        method="GET",
        path="/v2/whoami",
        view=whoami,
        summary="Return the account that the token or API key belongs to.",
        answer=service_records.AccountRecord,
        key_scope=PREDICT,
    ),
    Operation(
        name="list_usage",
        method="GET",
        path="/v2/apiusage",
        view=list_usage,
        summary="Return the plan and the predictions of the current month.",
        answer=service_records.UsageRecord,
        key_scope=PREDICT,
        is_list=True,
    ),
)

"""Returns an account, its plan and usage. See spec (Limits) and contract (section 4, Usage)."""

from __future__ import annotations

from functools import partial

from chalicelib.domain.accounts.api_key import PREDICT
from chalicelib.domain.common.paging import ListPage
from chalicelib.web.http.paging import ListAnswer, Window, list_answer
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, service_records


@Operation("GET", "/v2/whoami", key_scope=PREDICT)
def whoami(call: Call) -> service_records.AccountRecord:
    """Return the account that the token or API key belongs to."""
    return describe.account(call.account, call.scope)


@Operation("GET", "/v2/apiusage", key_scope=PREDICT)
def list_usage(call: Call) -> ListAnswer[service_records.UsageRecord]:
    """Return the plan and the predictions of the current month."""
    # A list of one record, as in the old API.
    page = ListPage((call.current_usage(),), 0, has_more=False)
    return list_answer(page, partial(describe.usage, call.account), Window(0, 1))

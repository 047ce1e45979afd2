"""Conditions on stored times that stay correct after the machine's clock was set back.

While a clock is wrong, rows can get times that are hours ahead. Each condition has an upper limit,
so that such a time does not block a job for hours. Times are in milliseconds since 1970.
"""

from __future__ import annotations

from pynamodb.attributes import NumberAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.jobs.lease import LONGEST_LEASE_MILLISECONDS


def lease_is_over(
    until: NumberAttribute, now: int, longest: int = LONGEST_LEASE_MILLISECONDS
) -> Condition:
    """Return the condition that a lease has ended. An end too far in the future counts as ended."""
    over: Condition = (until < now) | (until > now + longest)
    return over


def is_announced_before(nudged_at: NumberAttribute, moment: int, now: int) -> Condition:
    """Return the condition that the last message of a job was sent before `moment`.

    The condition is also met if the stored time is so far ahead that the clock must have been set
    back since.
    """
    before: Condition = (nudged_at < moment) | (nudged_at > now + LONGEST_LEASE_MILLISECONDS)
    return before

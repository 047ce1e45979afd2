"""Builds conditions on stored times, such as the end of a lease, in milliseconds since 1970.

A machine whose clock is wrong may store times that are hours ahead. The conditions treat times too
far in the future as past, so that they do not block a job for hours.
"""

from __future__ import annotations

from pynamodb.attributes import NumberAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.jobs.lease import LONGEST_LEASE_MILLISECONDS


def lease_is_over(
    until: NumberAttribute, now: int, longest: int = LONGEST_LEASE_MILLISECONDS
) -> Condition:
    """Return the condition that a lease has ended, or that its end is too far in the future."""
    over: Condition = (until < now) | (until > now + longest)
    return over


def is_announced_before(nudged_at: NumberAttribute, moment: int, now: int) -> Condition:
    """Return the condition that the last message of a job was sent before `moment`.

    A stored time too far in the future counts as earlier than `moment`, because only a wrong clock
    can have written it.
    """
    before: Condition = (nudged_at < moment) | (nudged_at > now + LONGEST_LEASE_MILLISECONDS)
    return before

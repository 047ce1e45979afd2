"""Conditions on stored times that also hold after the machine's clock was set back.

While the clock was wrong, rows may have got times that are hours ahead. The conditions have an
upper limit, so that such a time does not block a job for hours.
"""

from __future__ import annotations

from pynamodb.attributes import NumberAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.jobs.lease import LONGEST_LEASE_MILLISECONDS


def lease_is_over(
    until: NumberAttribute, now: int, longest: int = LONGEST_LEASE_MILLISECONDS
) -> Condition:
    """Require that a lease has ended; an end later than any valid lease counts as ended.

    Args:
        until: end of the lease, in milliseconds since 1970.
        now: milliseconds since 1970.
        longest: longest possible lease, in milliseconds.
    """
    over: Condition = (until < now) | (until > now + longest)
    return over


def is_announced_before(nudged_at: NumberAttribute, moment: int, now: int) -> Condition:
    """Require that a job was announced before a time, or by a machine with a fast clock.

    Args:
        nudged_at: when the job was announced, in milliseconds since 1970.
        moment: milliseconds since 1970.
        now: milliseconds since 1970.
    """
    before: Condition = (nudged_at < moment) | (nudged_at > now + LONGEST_LEASE_MILLISECONDS)
    return before

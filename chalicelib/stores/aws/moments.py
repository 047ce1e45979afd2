"""Conditions on stored moments that hold after the machine's clock has been set back, too.

Before a wrong clock is corrected, rows may get moments that are hours ahead. The conditions have an
upper limit, so that such a moment does not block a job for hours.
"""

from __future__ import annotations

from pynamodb.attributes import NumberAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.jobs.lease import LONGEST_LEASE_MILLISECONDS


def lease_is_over(
    until: NumberAttribute, now: int, longest: int = LONGEST_LEASE_MILLISECONDS
) -> Condition:
    """Require that a lease has ended, or ends later than any lease that is taken now.

    Args:
        until: end of the lease, in milliseconds since 1970.
        now: milliseconds since 1970.
        longest: longest possible lease, in milliseconds.
    """
    over: Condition = (until < now) | (until > now + longest)
    return over


def is_announced_before(nudged_at: NumberAttribute, moment: int, now: int) -> Condition:
    """Require that a job was announced before a moment, or by a clock that was ahead.

    Args:
        nudged_at: when the job was announced, in milliseconds since 1970.
        moment: milliseconds since 1970.
        now: milliseconds since 1970.
    """
    before: Condition = (nudged_at < moment) | (nudged_at > now + LONGEST_LEASE_MILLISECONDS)
    return before

"""Webhook deliveries have their own queue, where a slow receiver delays only its own account."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.common.ids import new_string_id
from chalicelib.domain.jobs.webhook import DELIVERED, PENDING, TEST, Webhook
from chalicelib.errors import RateExceeded
from chalicelib.stores.jobs.queues import DELIVER
from tests.builders import Message, World


class Receivers:
    """Replaces all receivers: each answers 200 after a callback."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.running = self.most = 0
        self.meanwhile: Callable[[], object] = lambda: None

    def post(self, url: str, content: Any, seconds: float) -> int:
        """Answer a delivery."""
        del content, seconds
        self.called.append(url)
        self.running += 1
        self.most = max(self.most, self.running)
        self.meanwhile()
        self.running -= 1
        return 200


@pytest.fixture
def receivers(world: World) -> Receivers:
    """Receivers that replace the network."""
    made = Receivers()
    world.container.deliveries._downloads = made
    return made


def _hook(world: World, account: Account, **fields: Any) -> Webhook:
    """Make a webhook whose URL names its account."""
    now = world.clock()
    hook = Webhook(
        account_id=account.account_id,
        hook_id=new_string_id(),
        url=f"https://{account.account_id}.example/",
        events=("dataset.ready",),
        created_at=now,
        updated_at=now,
        **fields,
    )
    return world.stores.webhooks.add(hook)[0]


def _deliveries(world: World, account: Account, count: int) -> list[Message]:
    """Emit events of an account; return the delivery messages."""
    for number in range(count):
        world.stores.events.emit(account.account_id, "dataset.ready", id=number)
    return world.messages()


def test_deliveries_wait_in_their_own_queue(world: World, receivers: Receivers) -> None:
    """The deliveries queue has no deletion, settlement or other job in it."""
    _hook(world, world.account)

    assert [queue for queue, _ in _deliveries(world, world.account, 3)] == [DELIVER] * 3
    assert receivers.called == []


def test_an_account_has_two_deliveries_at_once(world: World, receivers: Receivers) -> None:
    """An account has at most two deliveries at a time; those of other accounts continue."""
    other = world.new_account("other@example.com")
    for account in (world.account, other):
        _hook(world, account)
    waiting = _deliveries(world, world.account, 5) + _deliveries(world, other, 1)

    def work() -> None:
        """Deliver waiting messages, also while another delivery runs."""
        while waiting:
            world.deliver(waiting.pop(0))

    receivers.meanwhile = work
    work()

    own, foreign = (f"https://{a.account_id}.example/" for a in (world.account, other))
    # The third to fifth found both places taken; the other account's one ran with them.
    assert (receivers.called, receivers.most) == ([own, own, foreign], 3)
    receivers.meanwhile = lambda: None
    for message in world.messages(delayed=True):
        world.deliver(message)
    assert receivers.called == [own, own, foreign, own, own, own]


def test_a_slow_success_counts_against_its_turn(world: World, receivers: Receivers) -> None:
    """A delivery that took nine seconds occupies its slot for nine more."""
    other = world.new_account("other@example.com")
    for account in (world.account, other):
        _hook(world, account)
    first, second, third = _deliveries(world, world.account, 3)
    [quick] = _deliveries(world, other, 1)
    steps = [lambda: world.deliver(second), lambda: world.clock.advance(seconds=9)]
    receivers.meanwhile = lambda: steps.pop(0)() if steps else None
    world.deliver(first)
    world.deliver(third)
    world.deliver(quick)

    own, foreign = (f"https://{a.account_id}.example/" for a in (world.account, other))
    assert receivers.called == [own, own, foreign]
    world.clock.advance(seconds=9.1)
    world.deliver(*world.messages(delayed=True))
    assert receivers.called == [own, own, foreign, own]


def test_tests_of_webhooks_have_a_separate_rate(world: World) -> None:
    """Ten webhook tests a minute are accepted per account; the next one after six seconds."""
    hooks = [_hook(world, world.account) for _ in range(2)]
    for number in range(10):
        world.container.webhooks.test(hooks[number % 2])

    with pytest.raises(RateExceeded, match="10 tests of webhooks") as refused:
        world.container.webhooks.test(hooks[0])
    assert refused.value.retry_after_seconds == 6
    world.clock.advance(seconds=6.1)
    world.container.webhooks.test(hooks[1])
    with pytest.raises(RateExceeded):
        world.container.webhooks.test(hooks[1])


def test_a_test_heeds_the_pause_of_a_failing_receiver(world: World, receivers: Receivers) -> None:
    """A test of a failing webhook is sent when its backoff ends."""
    until = world.clock() + timedelta(minutes=5)
    hook = _hook(world, world.account, failures=3, failing_since=world.clock(), resting_until=until)

    delivery = world.container.webhooks.test(hook)
    assert (delivery.event, delivery.status, delivery.due_at) == (TEST, PENDING, until)
    assert world.messages() == []
    world.clock.advance(seconds=301)
    assert world.container.deliveries.announce_due() == 1
    world.work()
    [shown] = world.container.webhooks.deliveries(hook)
    assert (shown.status, receivers.called) == (DELIVERED, [hook.url])

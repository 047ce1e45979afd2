"""What a view receives: who calls, what was asked, and the services that answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from msgspec import structs

from chalicelib import log, metrics
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Usage
from chalicelib.errors import ExampleQuotaExceeded, ServiceError
from chalicelib.web.event import Incoming
from chalicelib.web.metering import Metering
from chalicelib.web.operation import Operation
from chalicelib.web.paging import Window
from chalicelib.web.request import Fields, read_fields

if TYPE_CHECKING:
    from chalicelib.container import Container


@dataclass
class Call:
    """One call of one operation; lives as long as the request."""

    operation: Operation
    """What is called."""
    family: str
    """`language`, `vision`, or empty where the path has none."""
    incoming: Incoming
    """The request."""
    get_container: Callable[[], Container]
    """Gives the services; built when first needed."""
    catalogue: tuple[Operation, ...] = ()
    """Every operation there is, for the one that describes them."""
    account: Account = field(init=False)
    """Who calls; not set on public operations."""
    located: Any = None
    """What the operation's `locate` loaded."""
    form: Any = None
    """The body's fields, an instance of the operation's form."""
    query: Any = None
    """The query parameters, an instance of the operation's query struct."""
    window: Window = field(init=False)
    """The part of a paged list that is asked for."""
    usage: Usage | None = None
    """State of the predictions after this call reserved one."""
    started: float = field(default_factory=time.monotonic)
    """When the call began, in seconds of the monotonic clock."""
    metering: Metering | None = None
    """The prediction that this call asked for, if it did."""
    _undo: list[Callable[[], None]] = field(default_factory=list)

    @property
    def container(self) -> Container:
        """The services."""
        return self.get_container()

    @cached_property
    def fields(self) -> Fields:
        """The body, read at the first use.

        Raises:
            BadRequest, TooLarge, UnsupportedType: it cannot be read.
        """
        form, known = self.operation.form, [*self.operation.files]
        if form is not None:
            known += [item.encode_name for item in structs.fields(form)]
        return read_fields(self.incoming, known, takes_urlencoded=self.operation.takes_urlencoded)

    @property
    def seconds_left(self) -> float:
        """Time a synchronous call may still take, in seconds."""
        limit = self.container.settings.sync_seconds
        return float("inf") if limit == 0 else max(0.0, limit - (time.monotonic() - self.started))

    def reserve_prediction(self) -> None:
        """Count one prediction; it is given back when the call does not succeed.

        Raises:
            PredictionQuotaExceeded: none is left this month.
        """
        usages, now = self.container.usage, self.container.clock()
        self.metering = Metering(self.located, now)
        usage = self.metering.reserve(lambda: usages.reserve_prediction(self.account))
        self.usage = usage
        give_back = partial(usages.give_back_prediction, self.account, usage)
        self._undo.append(partial(self.metering.give_back, give_back))

    def reserve_example_call(self) -> None:
        """Count one call that returns examples; given back when the call does not succeed.

        Raises:
            ExampleQuotaExceeded: none is left this month.
        """
        try:
            usage = self.container.usage.reserve_example_call(self.account)
        except ExampleQuotaExceeded:
            metrics.put({metrics.QUOTA_REFUSALS: 1}, Kind="examples")
            raise
        self._undo.append(lambda: self.container.usage.give_back_example_call(self.account, usage))

    def give_back(self) -> None:
        """Undo every reservation, because the call did not succeed."""
        while self._undo:
            try:
                self._undo.pop()()
            except ServiceError as trouble:
                log.error("reservation_not_given_back", trouble, operation=self.operation.name)
        self.usage = None

    def close(self) -> None:
        """Write down what became of the prediction; the last thing of a call."""
        if self.metering is not None:
            self.metering.write(self.family)

    def current_usage(self) -> Usage:
        """State of the predictions, as the rate-limit headers show it."""
        return self.usage or self.container.usage.predictions(self.account)

"""What Lambda calls of the functions that answer routes.

Lambda imports this file while it initialises a function, and whatever it imports then no call waits
for: so what the function serves is loaded here. app.py itself loads nothing, for whoever imports it
for another reason. With SnapStart Lambda keeps an image of the process as it is after that, and
starts functions from it.
"""

from __future__ import annotations

import random

from app import app

__all__ = ["app"]


def leave() -> None:
    """Keep no connection and no credentials: an image of this process may start much later."""
    app.container.stores.clients.forget()


def come_back() -> None:
    """Be no twin of the other processes that started from the same image."""
    random.seed()
    app.container.stores.clients.bind_tables()


try:
    from snapshot_restore_py import register_after_restore, register_before_snapshot
except ImportError:  # Lambda alone has it, from Python 3.12 on.
    pass
else:
    register_before_snapshot(leave)
    register_after_restore(come_back)
app.container.start()

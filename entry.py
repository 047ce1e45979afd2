"""Entry point of the Lambda functions that answer routes.

Lambda imports this file while it initialises a function. Models are loaded here, so that no call
waits for them; app.py loads nothing, because other programs import it too. With SnapStart, Lambda
takes a snapshot of the process after loading, and starts further processes from the snapshot.
"""

from __future__ import annotations

import random

from app import app

__all__ = ["app"]


def close_connections() -> None:
    """Drop connections and credentials before a snapshot of the process is taken."""
    # The snapshot may be restored much later, when both have expired.
    app.container.stores.clients.reset()


def reseed() -> None:
    """Reseed the random generator and reconnect after a snapshot was restored."""
    # Processes that are restored from one snapshot would share their random numbers.
    random.seed()
    app.container.stores.clients.bind_tables()


try:
    from snapshot_restore_py import register_after_restore, register_before_snapshot
except ImportError:  # Only Lambda has this package, from Python 3.12 on.
    pass
else:
    register_before_snapshot(close_connections)
    register_after_restore(reseed)
app.container.start()

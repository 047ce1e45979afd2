"""How a client waits."""

from anyio import sleep as sleep

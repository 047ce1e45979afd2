"""How a client waits, and lets its callers take turns."""

from anyio import Lock as Lock
from anyio import sleep as sleep

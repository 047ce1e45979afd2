# Written by client/tools/write_sync.py from presage._async: do not edit.
"""How a client waits."""

from time import sleep as sleep

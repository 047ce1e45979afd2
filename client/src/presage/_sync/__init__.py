# Written by client/tools/write_sync.py from presage._async: do not edit.
"""The client for asyncio and trio. client/tools/write_sync.py generates `presage._sync` from it."""

"""The client for asyncio and trio. client/tools/write_sync.py generates `presage._sync` from it."""

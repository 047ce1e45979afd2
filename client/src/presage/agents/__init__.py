"""A server of the Model Context Protocol (MCP), by which agents use the service.

It needs the extra `mcp`, which installs the official SDK.
"""

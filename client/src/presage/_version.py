"""The version of this distribution."""

__version__ = "0.4.0"

"""Tests of the maintainer's command that fine-tunes layers."""

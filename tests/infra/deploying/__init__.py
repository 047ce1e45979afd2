"""Tests of the deployment's steps."""

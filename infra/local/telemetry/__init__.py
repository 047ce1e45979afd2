"""Metrics for Prometheus and traces for OpenTelemetry of the local stack; both are off by default.

Nothing here is imported, and no package of the extras `metrics` and `traces` is loaded, until an
option asks for it. On AWS, metrics are in CloudWatch (chalicelib/metrics.py).
"""

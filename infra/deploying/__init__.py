"""The steps of a deployment: package and models into buckets, a change set, a test, a removal.

Everything goes through boto3, so any endpoint will do. The command is infra/deploy.py.
"""

"""The steps of a deployment: upload package and models, execute change sets, test, remove.

All calls use boto3, so any endpoint can be used. The command is infra/deploy.py.
"""

"""The template of the deployed stack: what is merged into the one that Chalice writes.

Resources come from infra/resources.py, rights from infra/template/rights.py, and a test compares
both with what the application uses. See: infra/template/merging.py
"""

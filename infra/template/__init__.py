"""The templates of a deployed stage: the data's stack, and the service's.

That of the service is merged into the one that Chalice writes (infra/template/merging.py), that of
the data is separate (infra/template/storage.py). Resources come from infra/resources.py,
rights from infra/template/rights.py, and tests compare both with what the application uses.
"""

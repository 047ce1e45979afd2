"""The templates of a deployed stage: of the data's stack and of the service's stack.

The service's template is merged into Chalice's template (infra/template/merging.py); the data's
template is separate (infra/template/storage.py). Resources come from infra/resources.py, and rights
from infra/template/rights.py. Tests compare resources and rights with what the application uses.
"""

"""Prints the template of the service's stack, or with the argument `data` that of the data's.

The service's template is printed as it is merged into Chalice's.
"""

from __future__ import annotations

import json
import sys

from infra.template.merging import merge_template
from infra.template.storage import data_template

if __name__ == "__main__":
    made = data_template() if sys.argv[1:] == ["data"] else merge_template()
    json.dump(made, sys.stdout, indent=2)
    sys.stdout.write("\n")

"""What an export of one data set could not write as it is, for people to read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

NOTES = "notes.json"


@dataclass
class Notes:
    """Gaps and changes."""

    missing: list[dict[str, object]] = field(default_factory=list)
    """Examples whose picture is not in the storage."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Labels and file names that no archive can hold, as they are exported."""

    def name(self, stored: str, exported: str) -> str:
        """Note a changed name, and return the exported one."""
        if stored != exported:
            self.renamed[stored] = exported
        return exported

    def write(self, place: Path) -> str:
        """Write a file beside the data unless there is nothing to say; return a line on it."""
        if not self.missing and not self.renamed:
            return ""
        content = {"missing": self.missing, "renamed": self.renamed}
        text = json.dumps(content, ensure_ascii=False, indent=1)
        (place / NOTES).write_text(text + "\n", encoding="utf-8")
        return (
            f"{len(self.missing)} examples have no picture in the storage and are left out, "
            f"{len(self.renamed)} names are written otherwise: see {place / NOTES}"
        )

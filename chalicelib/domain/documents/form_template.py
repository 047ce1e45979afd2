"""A form template: which keys to look for, and which header cells to name. Spec: Form template."""

from __future__ import annotations

from dataclasses import dataclass

# Variations that name a kind of text instead of a key that stands on the page.
VIRTUAL_KEYS = ("person", "phone", "email", "address", "website", "org", "datetime")
# Types that steer what is taken as a value; any other counts as TEXT. Contract section 6.
ENTITY_TYPES = ("TEXT", "NUMBER", "DATE", "PHONE", "EMAIL", "ADDRESS", "NAME", "CURRENCY")
# Versions of the format.
VERSIONS = ("1.0", "2.0", "3.0")
# Standard forms whose templates ship.
FORM_TYPES = ("1040", "dl", "passport", "paystub", "permanentResident", "w2")


@dataclass(frozen=True, slots=True)
class TemplateKey:
    """One entity to extract."""

    entity: str
    """Name of the entity, unique in the template."""
    variations: tuple[str, ...]
    """Texts that the key may have on the page; or one of VIRTUAL_KEYS."""
    types: tuple[str, ...] = ()
    """Entity types in upper case; none means TEXT."""

    @property
    def virtual(self) -> str | None:
        """The kind of text that a virtual key stands for; None for a key that is on the page."""
        name = self.variations[0].lower()
        return name if len(self.variations) == 1 and name in VIRTUAL_KEYS else None


@dataclass(frozen=True, slots=True)
class HeaderCell:
    """A header of a table that gets a name."""

    entity: str
    """The name."""
    variations: tuple[str, ...]
    """Texts that the header may have."""
    table_name: str | None = None
    """Name of the table that has this header."""


@dataclass(frozen=True, slots=True)
class FormTemplate:
    """Everything that a form template says."""

    keys: tuple[TemplateKey, ...]
    """At least one key, unless tables are asked for."""
    header_cells: tuple[HeaderCell, ...] = ()
    """Headers that get names."""
    finds_tables: bool = False
    """Whether tables are returned too."""
    version: str = "1.0"
    """One of VERSIONS."""

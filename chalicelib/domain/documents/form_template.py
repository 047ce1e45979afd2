"""Form templates: the keys and table headers to look for on a form.

A caller sends a template, or Presage learns it from examples. Spec: Form template; beyond.md,
section 16.
"""

from __future__ import annotations

from dataclasses import dataclass

# Variations that name a kind of text instead of a key printed on the page.
VIRTUAL_KEYS = ("person", "phone", "email", "address", "website", "org", "datetime")
# Types that restrict which texts are accepted as a value; others count as TEXT. Contract section 6.
ENTITY_TYPES = ("TEXT", "NUMBER", "DATE", "PHONE", "EMAIL", "ADDRESS", "NAME", "CURRENCY")
# Versions of the template format.
VERSIONS = ("1.0", "2.0", "3.0")
# Hints on the layout of a form: line numbers before captions, columns of a pay statement, captions
# in two languages. beyond.md, section 16.
LAYOUTS = ("numberedLines", "payColumns", "twoLanguages")
# Standard forms that ship with a template.
FORM_TYPES = (
    "1040", "dl", "passport", "paystub", "permanentResident", "w2",
    "1099int", "1099div", "1099nec", "1099misc", "1099g", "invoice", "receipt", "bankStatement",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TemplateKey:
    """An entity to extract, and the texts that label it on the page."""

    entity: str
    variations: tuple[str, ...]
    """Texts that the key can have on the page, or one name from VIRTUAL_KEYS."""
    types: tuple[str, ...] = ()
    """Entity types that the value may have, in upper case; empty for TEXT."""
    format: str = ""
    """Regular expression of usual values, in any case; only keys of shipped templates have one."""

    @property
    def virtual(self) -> str | None:
        """Return the kind of text to find, such as `email`; None if the page shows the key."""
        name = self.variations[0].lower()
        return name if len(self.variations) == 1 and name in VIRTUAL_KEYS else None


@dataclass(frozen=True, slots=True)
class HeaderCell:
    """A table header to look for, and the entity that names its row or column."""

    entity: str
    variations: tuple[str, ...]
    table_name: str | None = None


@dataclass(frozen=True, slots=True)
class FormTemplate:
    """The contents of a form template."""

    keys: tuple[TemplateKey, ...]
    """Keys whose values are read; at least one, unless tables are requested."""
    header_cells: tuple[HeaderCell, ...] = ()
    finds_tables: bool = False
    version: str = "1.0"
    """One of VERSIONS."""
    layout: tuple[str, ...] = ()
    """Hints about the layout of the form, each from LAYOUTS."""


@dataclass(frozen=True, slots=True)
class FieldScore:
    """Accuracy of one entity, measured on documents that were not used to learn the template."""

    entity: str
    right: int
    of: int
    """Number of documents that have a value of this entity."""


@dataclass(frozen=True, slots=True)
class LearnedTemplate:
    """A template learned from examples, with its accuracy on held-out documents."""

    template: FormTemplate
    scores: tuple[FieldScore, ...]
    """One score per entity; empty if there was only one document, so that none was held out."""
    not_found: tuple[str, ...]
    """Entities that the template lacks, because no key was found for them."""

    @property
    def accuracy(self) -> float | None:
        """Return the fraction of values that were read correctly; None without scores."""
        of = sum(each.of for each in self.scores)
        return sum(each.right for each in self.scores) / of if of else None


def as_sent(template: FormTemplate) -> dict[str, object]:
    """Return a template as the JSON object that a caller would send."""
    keys = [
        {
            "key": {
                "entity": key.entity,
                "keyVariations": list(key.variations),
                "entityTypes": list(key.types),
            }
        }
        for key in template.keys
    ]
    whole = {"version": template.version, "keys": keys, "headerCells": []}
    hints = {"layout": list(template.layout)} if template.layout else {}
    return {**whole, "tableRecognition": template.finds_tables, **hints}

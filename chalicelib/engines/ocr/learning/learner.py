"""Fits a form template to examples, and measures its accuracy by leave-one-out validation.

A first template consists of the captions near the values. The service's form reader then reads the
examples with this template. For entities whose values are read wrongly, other captions and types
are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from chalicelib.domain.documents.findings import FormField
from chalicelib.domain.documents.form_template import (
    FieldScore,
    FormTemplate,
    LearnedTemplate,
    TemplateKey,
)
from chalicelib.domain.documents.ocr import Finding, best_fields
from chalicelib.engines.ocr.forms.finder import find_fields
from chalicelib.engines.ocr.learning.choice import (
    MOST_RANKED,
    RankedCaption,
    choose_captions,
    rank_captions,
)
from chalicelib.engines.ocr.learning.examples import LearningExample
from chalicelib.engines.ocr.learning.given_values import is_same_value
from chalicelib.engines.ocr.learning.types import guess_types, layout_hints

# Maximum number of examples that are read to compare captions; more hardly change the result.
_MOST_COMPARED = 8
# Maximum number of other keys of an entity to try.
_MOST_TRIED = 4
# Fields of one page with one template; stored, because most leave-one-out templates are equal.
_Fields = dict[str, str]


class TemplateLearner:
    """Fits one template."""

    def __init__(self, examples: Sequence[LearningExample], check: Callable[[], None]) -> None:
        """Store the examples.

        Args:
            examples: documents with their values, at least one.
            check: raises when the work must stop; called for each reading of an example.
        """
        self._examples = examples
        self._check = check
        self._entities = tuple(dict.fromkeys(name for each in examples for name in each.values))
        self._readings: dict[tuple[int, tuple[TemplateKey, ...]], _Fields] = {}

    def learn(self) -> LearnedTemplate | None:
        """Fit a template to all examples; None if no key was found for any entity.

        Returns:
            The template, its scores by entity, and the entities for which no key was found. For the
            scores, each document is read with a template that was fitted to the other documents; a
            single document has no scores.
        """
        every = range(len(self._examples))
        template = self._template(every)
        if template is None:
            return None
        known = {key.entity for key in template.keys}
        missing = tuple(name for name in self._entities if name not in known)
        scores = self._leave_one_out() if len(every) > 1 else ()
        return LearnedTemplate(template, scores, missing)

    def _leave_one_out(self) -> tuple[FieldScore, ...]:
        """Read each example with a template fitted to the others; return scores by entity."""
        right, of = dict.fromkeys(self._entities, 0), dict.fromkeys(self._entities, 0)
        for left_out, example in enumerate(self._examples):
            template = self._template(at for at in range(len(self._examples)) if at != left_out)
            read = self._read(left_out, template.keys) if template is not None else {}
            for entity, value in example.values.items():
                of[entity] += 1
                right[entity] += _is_right(read.get(entity, ""), value)
        return tuple(FieldScore(name, right[name], of[name]) for name in self._entities)

    def _template(self, numbers: Sequence[int] | Iterator[int] | range) -> FormTemplate | None:
        """Fit a template to the examples with these indexes; None if no key was found."""
        chosen = list(numbers)
        examples = [self._examples[number] for number in chosen]
        ranked = {name: rank_captions(examples, name)[:MOST_RANKED] for name in self._entities}
        captions = choose_captions(ranked)
        if not captions:
            return None
        keys = {name: _key(name, captions[name], self._types(examples, name)) for name in captions}
        keys = self._improved(keys, ranked, chosen[:_MOST_COMPARED])
        spellings = [text for key in keys.values() for text in key.variations]
        return FormTemplate(tuple(keys.values()), layout=layout_hints(examples, spellings))

    def _types(self, examples: Sequence[LearningExample], entity: str) -> tuple[str, ...]:
        return guess_types([each.matches[entity] for each in examples if entity in each.matches])

    def _improved(
        self,
        keys: dict[str, TemplateKey],
        ranked: Mapping[str, Sequence[RankedCaption]],
        numbers: Sequence[int],
    ) -> dict[str, TemplateKey]:
        """Try other keys for entities whose values are read wrongly; return the better keys.

        Each reading of the examples tries one new key for every entity at the same time, because
        readings are slow.
        """
        counts = self._counts(keys, numbers)
        others = {
            name: _other_keys(keys[name], ranked[name])
            for name, right in counts.items()
            if right < self._given(name, numbers)
        }
        for turn in range(_MOST_TRIED):
            tried = {name: some[turn] for name, some in others.items() if turn < len(some)}
            if not tried:
                break
            found = self._counts(keys | tried, numbers)
            # Only if the total increases: a new key may take a text that is the correct value of
            # another entity.
            if sum(found.values()) <= sum(counts.values()):
                continue
            kept = {name: key for name, key in tried.items() if found[name] > counts[name]}
            keys = keys | kept
            counts = self._counts(keys, numbers)
        return keys

    def _given(self, entity: str, numbers: Sequence[int]) -> int:
        return sum(entity in self._examples[number].values for number in numbers)

    def _counts(self, keys: Mapping[str, TemplateKey], numbers: Sequence[int]) -> dict[str, int]:
        """Return, for each entity, in how many of the examples its value is read correctly."""
        counts = dict.fromkeys(keys, 0)
        for number in numbers:
            read, values = self._read(number, tuple(keys.values())), self._examples[number].values
            for entity in keys.keys() & values.keys():
                counts[entity] += _is_right(read.get(entity, ""), values[entity])
        return counts

    def _read(self, number: int, keys: tuple[TemplateKey, ...]) -> _Fields:
        """Read an example as the service reads a form; return the text of each field."""
        if (number, keys) not in self._readings:
            self._check()
            template, findings = FormTemplate(keys), []
            for packed in self._examples[number].pages:
                page = packed.unpacked()
                view = replace(page, pixels=None)
                fields = find_fields(page, template, self._check)
                findings += [Finding(view, at, field) for at, field in enumerate(fields)]
            items = [each.item for each in best_fields(findings)]
            self._readings[number, keys] = {
                item.entity: item.value_text for item in items if isinstance(item, FormField)
            }
        return self._readings[number, keys]


def _is_right(read: str, value: str) -> bool:
    return is_same_value(read, value) if read or value else True


def _key(entity: str, captions: Sequence[RankedCaption], types: tuple[str, ...]) -> TemplateKey:
    return TemplateKey(entity, tuple(each.text for each in captions), types)


def _other_keys(key: TemplateKey, ranked: Sequence[RankedCaption]) -> list[TemplateKey]:
    """Return variants of a template key: without types, and with each other possible caption."""
    others = [replace(key, types=())] if key.types else []
    further = (each.text for each in ranked if each.text not in key.variations)
    return [*others, *(replace(key, variations=(text,)) for text in further)]

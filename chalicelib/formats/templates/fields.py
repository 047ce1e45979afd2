"""Typed access to the members of one object of a form template, whatever they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chalicelib.formats.templates.document import refuse, show

MAX_TEXT_CHARACTERS = 500
"""Longest entity name, variation, header text or table name."""

_FLAGS = {"true": True, "false": False}


def _plain(name: object) -> str:
    """Return a member's name without what camelCase, snake_case and kebab-case differ in."""
    return str(name).replace("_", "").replace("-", "").replace(" ", "").lower()


class Fields:
    """The members of an object that the format knows, under their proper names."""

    def __init__(
        self, place: str, members: Mapping[str, object], names: Mapping[str, Sequence[str]]
    ) -> None:
        """Find the members.

        Args:
            place: where the object is, `keys[3].key`; empty for the template itself.
            members: its members as they were sent.
            names: for each proper name, what it may be called once _plain was applied.

        Raises:
            InvalidParameter: a member is given under two names.
        """
        self.place = place
        self._values: dict[str, object] = {}
        known = {alias: name for name, aliases in names.items() for alias in aliases}
        spelled: dict[str, str] = {}
        for member, value in members.items():
            name = known.get(_plain(member))
            if name is None or value is None:
                continue
            if name in spelled:
                refuse(
                    f"{self._at(member)} and {self._at(spelled[name])} are the same member. "
                    f"Keep {name}."
                )
            spelled[name] = member
            self._values[name] = value

    @classmethod
    def unwrap(
        cls,
        place: str,
        item: object,
        wrappers: Sequence[str],
        names: Mapping[str, Sequence[str]],
    ) -> Fields:
        """Return the members of an element, which may be an object within an object.

        Args:
            place: where the element is, `keys[3]`.
            item: the element.
            wrappers: plain names of the one member that holds the object.
            names: as for the class.

        Raises:
            InvalidParameter: it is no object.
        """
        members = _read_object(place, item)
        for member, value in members.items():
            if _plain(member) in wrappers:
                inner = f"{place}.{member}"
                return cls(inner, _read_object(inner, value), names)
        return cls(place, members, names)

    def has(self, name: str) -> bool:
        """Return whether the member is there and not null."""
        return name in self._values

    def get(self, name: str) -> object:
        """Return the member's value, None when it is not there."""
        return self._values.get(name)

    def flag(self, name: str) -> bool:
        """Return a member that is true or false, false when it is not there.

        Raises:
            InvalidParameter: it is something else.
        """
        value = self._values.get(name, False)
        if isinstance(value, str):
            value = _FLAGS.get(value.strip().lower(), value)
        if not isinstance(value, bool):
            refuse(f"{self._at(name)} is {show(value)}. Write true or false.")
        return value

    def items(self, name: str, limit: int, remedy: str) -> list[tuple[str, object]]:
        """Return the elements of an array with the place of each.

        Raises:
            InvalidParameter: it is no array, or has more elements than the limit.
        """
        value = self._values.get(name, ())
        place = self._at(name)
        if not isinstance(value, list | tuple):
            refuse(f"{place} is {show(value)}. Write an array.")
        if len(value) > limit:
            refuse(f"{place} has {len(value):,} elements, the limit is {limit:,}. {remedy}")
        return [(f"{place}[{number}]", item) for number, item in enumerate(value)]

    def texts(self, name: str, limit: int) -> tuple[str, ...]:
        """Return the texts of an array, each once; a text alone counts as an array of one.

        Raises:
            InvalidParameter: an element is no text, is empty or too long, or there are too many.
        """
        value = self._values.get(name)
        if isinstance(value, str):
            return (_read_text(self._at(name), value),)
        items = self.items(name, limit, "Keep the most frequent ones.")
        return tuple(dict.fromkeys(_read_text(place, item) for place, item in items))

    def name(self, name: str) -> str:
        """Return a text that must be there, exactly as it was sent.

        Raises:
            InvalidParameter: it is missing, no text, empty or too long.
        """
        if name not in self._values:
            refuse(f"{self._at(name)} is missing. Write a text that is unique in the template.")
        value = self._values[name]
        _read_text(self._at(name), value)
        return str(value)

    def optional_text(self, name: str) -> str | None:
        """Return a text, or None when it is not there.

        Raises:
            InvalidParameter: it is no text, empty or too long.
        """
        if name not in self._values:
            return None
        return _read_text(self._at(name), self._values[name])

    def _at(self, name: str) -> str:
        """Return the place of a member."""
        return f"{self.place}.{name}" if self.place else name


def _read_object(place: str, value: object) -> Mapping[str, object]:
    """Return the members of an object, and refuse what is none."""
    if not isinstance(value, Mapping):
        refuse(f'{place} is {show(value)}. Write an object: {{"entity": "…", …}}.')
    return value


def _read_text(place: str, value: object) -> str:
    """Return a text with single spaces, and refuse what cannot stand on a page."""
    if not isinstance(value, str):
        refuse(f"{place} is {show(value)}. Write a text in quotes.")
    if len(value) > MAX_TEXT_CHARACTERS:
        refuse(
            f"{place} has {len(value):,} characters, the limit is {MAX_TEXT_CHARACTERS}. "
            f"Shorten {show(value)}."
        )
    if any("\ud800" <= character <= "\udfff" for character in value):
        refuse(f"{place} is {show(value)}, which holds half a character. Write the whole one.")
    text = " ".join(value.split())
    if not text:
        refuse(f"{place} is empty. Write a text, or take the element out.")
    return text

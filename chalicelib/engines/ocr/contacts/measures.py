"""Every length, share and certainty by which contacts are told, in the units of print.

`_HEIGHTS` are heights of the text at hand, `_TIMES` multiples of the usual height of the page's
lines, `_RATIO` of 100; certainties are 0 to 1, counts are whole numbers. `make bench-ocr
ARGS="--only contact"` tells what a change does.
"""

from __future__ import annotations

import math

# Pieces of lines, and how they lie to one another.

COLUMN_GAP_HEIGHTS = 2.2
"""Blank that is no gap between words but one between columns."""
STEEPEST_RADIANS = math.radians(45)
"""Lines that are steeper do not tell how the page is turned."""
SAME_ROW_SHARE = 0.5
"""Share of the smaller height that two pieces of one row have in common, at the least."""
BESIDE_HEIGHTS, LABEL_BESIDE_HEIGHTS = 3.0, 8.0
"""Blank between two pieces of one text in a row at the most, and between a label and its number."""
BELOW_HEIGHTS = 1.3
"""Blank between two lines of one text at the most, in heights of the smaller."""
LOWER_HEIGHTS = 0.4
"""By how much the middle of the next line is lower at the least."""
ALIGNED_HEIGHTS = 1.4
"""By how much left or right edges, or the middles, of lines of one column differ."""
AROUND_HEIGHTS = 8.0
"""How far a neighbour is above, below or beside a piece."""
MOST_NEAR_ROWS, MOST_NEIGHBOURS = 1_500, 24
"""Pieces above and below that are looked at, and neighbours of one piece, the nearest: pages that
are no pile of texts have fewer."""

SAME_SIZE_TIMES = 1.35
"""Lines of one name or address differ in height by no more, with and without letters that reach
down."""

# What a text is by its words.

SURE_KIND = 0.75
"""What is as sure to be of a kind, an address, a person with a known given name, a title or an
organisation, is of that kind and of no other."""

# Labels and keys before a value.

LABEL_WINDOW, LABEL_WORDS = 48, 3
"""Characters beside a number in which its label stands, and words of a label at the most, or of
what introduces a number."""
KEY_WORDS = 5
"""Words of a key before its colon at the most."""
LONGEST_ENTRY = 120
"""Characters of a line that are looked at for dates and amounts, or for two things in one line."""
ENTRY_CERTAINTY = 0.9
"""A line with a date or an amount as sure is an entry of a bill or a form."""

# Numbers, mail and web addresses.

WEAK_PHONE = 0.75
"""A number that is less sure to be one needs a label."""
FEWEST_DIGITS = 5
"""Digits of a misread number behind its label at the least."""
LABELLED_NUMBER, REGISTRATION_NUMBER, UNLABELLED_MOBILE = 0.97, 0.8, 0.7
"""How sure the tag of a number is behind its label, of one whose label is that of something else,
and the factor of a mobile number that only its first digits tell."""
MISREAD_ENTITY = 0.6
"""How sure is what only a label gives away, as a mail address whose at sign was not read."""

# Postal addresses.

FAIR_ADDRESS, WEAK_ADDRESS = 0.5, 0.3
"""A line as sure is an address with another line; may be part of one."""
ADDRESS_LINE_GAP_HEIGHTS = 1.6
"""Blank between two lines of an address at the most."""
ADDRESS_LINES = 12
"""Lines of an address at the most."""
TOWN_WORDS = 6
"""Words of a town or a quarter at the most."""
SUREST = 0.98
"""Nothing that words tell is surer."""

# What mail and web addresses say of names.

ALIKE_RATIO = 86.0
"""A text that is as like an owner or a part of a mail address is that, misread."""
SHORTEST_OWNER, SHORT_OWNER = 3, 5
"""Letters of an owner, or of a word of a name, at the least; shorter owners begin other words."""
NEARLY_FITS, ONE_WORD_FITS = 0.9, 0.5
"""How well a text fits the owner of a domain that is not its whole name: misread, longer or its
first words; and one of its words."""
PART_OF_NAME_FITS = 0.7
"""How well a name fits the first part of a mail address: one of its words, a short form, or
misread."""

# Persons, organisations and titles.

KIND_CERTAINTY = 0.5
"""What is less sure is no person, organisation, title."""
FURTHER_CERTAINTY = 0.9
"""The same for further persons and organisations."""
PAGE_CERTAINTY = 0.65
"""The same on a page of many lines: its largest line is no name, and it may name nobody."""
CARD_LINES = 30
"""Lines that a card has at the most."""
PAIRED_LINES = 80
"""Lines of a page that are tried in pairs."""
LARGE_TIMES = 1.2
"""Letters of a headline or a logo are so many times as high as those of most lines."""
TALLEST_SHARE, TALLEST_TIMES = 0.95, 1.1
"""Letters are the page's largest when they are this share of the tallest, and larger than most."""
LOGO_TALL_SHARE = 0.8
"""A logo that nothing else tells is this share of the tallest."""
LOGO_SAME_SIZE = 1.12
"""Lines of one logo differ in height by no more, in capitals or with the same reach."""
NAME_WORDS, NAME_PART_WORDS, LOGO_WORDS = 4, 2, 4
"""Words of a person's name; of a name in one of several lines, `Anna Maria` above `Eriksson`; and
of a logo."""
LONGEST_ORGANISATION = 60
"""Characters of an organisation's name in several lines."""
JOINING_GAIN = 0.15
"""How much surer several lines together have to be than the best of them."""
OWNER_FIT = 0.8
"""A text that fits a domain so well names its owner, by its initials at least."""
NAME_OF_MAIL = 0.3
"""How sure a name is that only the mail address tells."""
MAIL_BONUS, TITLE_BELOW_BONUS = 0.4, 0.2
"""What speaks for a person: the mail address, and a title in the next line."""
LARGEST_BONUS, LARGE_BONUS, LOGO_BONUS, LINE_BONUS = 0.15, 0.1, 0.25, 0.02
"""What the largest letters, large ones, a lone logo, and each line of a joined name add."""
AGAINST_LEGAL_FORM, AGAINST_TRADE, AGAINST_OWNER = 0.7, 0.45, 0.3
"""What speaks against a person: a legal form, each word of a trade or job, and that the text is the
domain's owner."""
HALF_AGAINST = 0.5
"""Factor of the last two for a known name: Baker, Banks and Church are surnames too."""
OWNER_FACTOR = 0.95
"""How sure the whole name of a domain's owner is to be the organisation."""
TITLE_FACTOR = 0.3
"""Factor of an organisation whose words are those of a title."""
MOST_DOUBT = 0.6
"""By how much what a text might be lowers that it is none of the tags, at the most."""

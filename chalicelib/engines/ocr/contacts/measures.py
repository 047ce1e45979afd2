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
SAME_EDGE_HEIGHTS, SAME_CENTRE_HEIGHTS = 1.2, 1.6
"""By how much left or right edges, or the middles, of lines of one column differ."""
AROUND_ABOVE_HEIGHTS, AROUND_BELOW_HEIGHTS = 4.0, 3.0
"""By how much the top of a neighbour is above a piece's top, or below its bottom."""
AROUND_ASIDE_HEIGHTS = 8.0
"""Heights of the taller one between a piece and its neighbour on the same line."""
MOST_NEAR_ROWS, MOST_NEIGHBOURS = 1_500, 24
"""Pieces above and below that are looked at, and neighbours of one piece, the nearest: pages that
are no pile of texts have fewer."""

# Labels and keys before a value.

LABEL_WINDOW, LABEL_WORDS = 48, 3
"""Characters beside a number in which its label stands, and words of a label at the most."""
KEY_WORDS, VIRTUAL_KEY_WORDS = 5, 4
"""Words of a key before its colon at the most, and of one that names what a template asks for."""
LONGEST_ENTRY = 120
"""Characters of a line that are looked at for dates and amounts, or for two things in one line."""
DATE_CERTAINTY, MONEY_CERTAINTY = 0.9, 0.9
"""A line with a date or an amount as sure is an entry of a bill or a form."""

# Numbers, mail and web addresses.

WEAK_PHONE = 0.75
"""A number that is less sure to be one needs a label."""
INTRODUCING_WORDS = 3
"""Words that only say what follows them, at the most."""
TELLING_CERTAINTY = 0.7
"""A text as sure to be a person, a title or an address is an entity of its own."""
FEWEST_DIGITS = 5
"""Digits of a misread number behind its label at the least."""
LABELLED_NUMBER, REGISTRATION_NUMBER, UNLABELLED_MOBILE = 0.97, 0.8, 0.7
"""How sure the tag of a number is behind its label, of one whose label is that of something else,
and the factor of a mobile number that only its first digits tell."""
MAIL_WITHOUT_AT, MISREAD_ENTITY = 0.7, 0.6
"""How sure a mail address is whose at sign was not read, and what only a label gives away."""
LABEL_ABOVE_OR_BESIDE = 0.95
"""How sure the tag of a number is that a label of its own stands beside or above."""

# Postal addresses.

STRONG_ADDRESS, FAIR_ADDRESS, WEAK_ADDRESS = 0.75, 0.5, 0.3
"""A line as sure is an address; is one with another line; may be part of one."""
CONTRARY_CERTAINTY, CONTRARY_PERSON = 0.7, 0.8
"""A line as sure to be a title or an organisation, or a person, is no line of an address."""
ADDRESS_LINE_GAP_HEIGHTS = 1.6
"""Blank between two lines of an address at the most."""
ADDRESS_SAME_SIZE = 1.4
"""Lines of an address differ in height by no more."""
ADDRESS_LINES = 12
"""Lines of an address at the most."""
TOWN_WORDS = 6
"""Words of a town or a quarter at the most."""
WHOLE_ADDRESS_BONUS = 0.01
"""By how much a block is surer than its surest line."""
SUREST = 0.98
"""Nothing that words tell is surer."""

# What mail and web addresses say of names.

ALIKE_RATIO = 86.0
"""A text that is as like an owner or a part of a mail address is that, misread."""
SHORTEST_OWNER, SHORT_OWNER = 3, 5
"""Letters of an owner, or of a word of a name, at the least; shorter owners begin other words."""
FITS_MISREAD, BEGINS_WITH_OWNER, FIRST_WORDS_FIT = 0.95, 0.9, 0.85
INITIALS_FIT, BEGINS_OWNER, ONE_WORD_FITS = 0.8, 0.8, 0.5
"""How well a text fits the owner of a domain that is not its whole name: misread, longer, its first
words, its initials, shorter, or one of its words."""
ONE_NAME_FITS, SHORT_FORM_FITS, NAME_ALIKE = 0.8, 0.7, 0.6
"""How well a name fits the first part of a mail address: one of its words, a short form, or
misread."""

# Persons, organisations and titles.

PERSON_CERTAINTY, ORG_CERTAINTY, TITLE_CERTAINTY = 0.45, 0.45, 0.5
"""What is less sure is no person, organisation, title."""
FURTHER_PERSON, FURTHER_ORG = 0.85, 0.9
"""The same for further persons and organisations."""
PERSON_OF_PAGE, ORG_OF_PAGE = 0.6, 0.65
"""The same on a page of many lines: its largest line is no name, and it may name nobody."""
CARD_LINES = 30
"""Lines that a card has at the most."""
PAIRED_LINES = 80
"""Lines of a page that are tried in pairs."""
HEADLINE_TIMES, LOGO_TIMES = 1.25, 1.15
"""Letters of a headline, and of a logo, are so many times as high as those of most lines."""
TALLEST_SHARE, TALLEST_TIMES = 0.95, 1.1
"""Letters are the page's largest when they are this share of the tallest, and larger than most."""
LOGO_TALL_SHARE = 0.8
"""A logo that nothing else tells is this share of the tallest."""
NAME_SAME_SIZE, LOGO_SAME_SIZE = 1.35, 1.12
"""Lines of one name differ in height by no more, with and without letters that reach down; lines
of one logo do, in capitals or with the same reach."""
NAME_WORDS, NAME_PART_WORDS, LOGO_WORDS = 4, 2, 4
"""Words of a person's name; of a name in one of several lines, `Anna Maria` above `Eriksson`; and
of a logo."""
LONGEST_ORGANISATION = 60
"""Characters of an organisation's name in several lines."""
JOINING_GAIN = 0.15
"""How much surer several lines together have to be than the best of them."""
OWNER_FIT = 0.8
"""A text that fits a domain so well names its owner, by its initials at least."""
KNOWN_NAME = 0.75
"""A text with a known given name is so sure to be a person."""
SURE_PART = 0.6
"""What is as sure is the kind of one side of a line that holds two things."""
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
NEAR_PERSON = 0.1
"""A line that is a name itself, or less sure by no more, is no part of one in several lines."""
MOST_DOUBT = 0.6
"""By how much what a text might be lowers that it is none of the tags, at the most."""

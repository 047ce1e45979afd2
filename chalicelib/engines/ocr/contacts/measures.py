"""Thresholds of the contact search: lengths, fractions and certainties.

Units: `_HEIGHTS` are multiples of the height of the compared text, `_TIMES` multiples of the usual
line height of the page, `_RATIO` percent. Certainties are 0 to 1, counts are whole numbers. `make
bench-ocr ARGS="--only contact"` measures the effect of a change.
"""

from __future__ import annotations

import math

# Pieces of lines, and how they lie to one another.

# Width of a gap that separates columns, not words.
COLUMN_GAP_HEIGHTS = 2.2
# Steeper lines do not show the rotation of the page.
STEEPEST_RADIANS = math.radians(45)
# Least fraction of the smaller height that two pieces of one row have in common.
SAME_ROW_SHARE = 0.5
# Greatest gap between two pieces of one text in a row, and between a label and its number.
ADJACENT_HEIGHTS, LABEL_GAP_HEIGHTS = 3.0, 8.0
# Greatest gap between two lines of one text, in heights of the smaller.
BELOW_HEIGHTS = 1.3
# Least distance by which the centre of the next line is lower.
LOWER_HEIGHTS = 0.4
# By how much left or right edges, or the middles, of lines of one column differ.
ALIGNED_HEIGHTS = 1.4
# Greatest distance of a neighbour above, below, left or right of a piece.
AROUND_HEIGHTS = 8.0
# Limits of pieces above and below that are examined, and of neighbours of one piece; normal pages
# have fewer.
MOST_NEAR_ROWS, MOST_NEIGHBOURS = 1_500, 24

# Lines of one name or address differ in height by no more, with and without letters that reach
# down.
SAME_SIZE_TIMES = 1.35

# What a text is by its words.

# What is as sure to be of a kind, an address, a person with a known given name, a title or an
# organisation, is of that kind and of no other.
SURE_KIND = 0.75

# Labels and keys before a value.

# Characters next to a number that can contain its label, and most words of a label or of what
# introduces a number.
LABEL_WINDOW, LABEL_WORDS = 48, 3
# Most words of a key before its colon.
KEY_WORDS = 5
# Characters of a line that are looked at for dates and amounts, or for two things in one line.
LONGEST_ENTRY = 120
# A line with a date or an amount as sure is an entry of a bill or a form.
ENTRY_CERTAINTY = 0.9

# Numbers, mail and web addresses.

# A number that is less sure to be one needs a label.
WEAK_PHONE = 0.75
# Least digits of a misread number after its label.
FEWEST_DIGITS = 5
# Certainty of a number's tag after its label, and after the label of something else, and the factor
# for a mobile number that only its first digits identify.
LABELLED_NUMBER, REGISTRATION_NUMBER, UNLABELLED_MOBILE = 0.97, 0.8, 0.7
# How sure is what only a label gives away, as a mail address whose at sign was not read.
MISREAD_ENTITY = 0.6

# Postal addresses.

# A line as sure is an address with another line; may be part of one.
FAIR_ADDRESS, WEAK_ADDRESS = 0.5, 0.3
# Greatest gap between two lines of an address.
ADDRESS_LINE_GAP_HEIGHTS = 1.6
# Most lines of an address.
ADDRESS_LINES = 12
# Most words of a town or a quarter.
TOWN_WORDS = 6
# Upper limit of a certainty that words give.
SUREST = 0.98

# What mail and web addresses say of names.

# A text that is as like an owner or a part of a mail address is that, misread.
ALIKE_RATIO = 86.0
# Least letters of an owner, or of a word of a name; shorter owners begin other words.
SHORTEST_OWNER, SHORT_OWNER = 3, 5
# How well a text fits the owner of a domain that is not its whole name: misread, longer or its
# first words; and one of its words.
NEARLY_FITS, ONE_WORD_FITS = 0.9, 0.5
# How well a name fits the first part of a mail address: one of its words, a short form, or misread.
PART_OF_NAME_FITS = 0.7

# Persons, organisations and titles.

# Least certainty of a person, organisation or title.
KIND_CERTAINTY = 0.5
# The same for further persons and organisations.
FURTHER_CERTAINTY = 0.9
# The same on a page of many lines: its largest line is not a name, and there may be no person.
PAGE_CERTAINTY = 0.65
# Most lines of a card.
CARD_LINES = 30
# Lines of a page that are tried in pairs.
PAIRED_LINES = 80
# Letters of a headline or a logo are this many times as high as those of most lines.
LARGE_TIMES = 1.2
# Letters are the page's largest when they are this share of the tallest, and larger than most.
TALLEST_SHARE, TALLEST_TIMES = 0.95, 1.1
# Least height of a logo without other clues, as a fraction of the tallest.
LOGO_TALL_SHARE = 0.8
# Lines of one logo differ in height by no more, in capitals or with the same reach.
LOGO_SAME_SIZE = 1.12
# Words of a person's name; of a name in one of several lines, `Anna Maria` above `Eriksson`; and of
# a logo.
NAME_WORDS, NAME_PART_WORDS, LOGO_WORDS = 4, 2, 4
# Characters of an organisation's name in several lines.
LONGEST_ORGANISATION = 60
# How much surer several lines together have to be than the best of them.
JOINING_GAIN = 0.15
# A text that fits a domain so well names its owner, by its initials at least.
OWNER_FIT = 0.8
# Certainty of a name that is only known from the mail address.
NAME_OF_MAIL = 0.3
# What speaks for a person: the mail address, and a title in the next line.
MAIL_BONUS, TITLE_BELOW_BONUS = 0.4, 0.2
# What the largest letters, large ones, a lone logo, and each line of a joined name add.
LARGEST_BONUS, LARGE_BONUS, LOGO_BONUS, LINE_BONUS = 0.15, 0.1, 0.25, 0.02
# What speaks against a person: a legal form, each word of a trade or job, and that the text is the
# domain's owner.
AGAINST_LEGAL_FORM, AGAINST_TRADE, AGAINST_OWNER = 0.7, 0.45, 0.3
# Factor of the last two for a known name: Baker, Banks and Church are surnames too.
HALF_AGAINST = 0.5
# How sure the whole name of a domain's owner is to be the organisation.
OWNER_FACTOR = 0.95
# Factor of an organisation whose words are those of a title.
TITLE_FACTOR = 0.3
# Greatest reduction of the certainty that a text has no tag, by what it could be.
MOST_UNCERTAINTY = 0.6

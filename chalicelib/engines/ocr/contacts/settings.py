"""Thresholds of the contact search: lengths, fractions and certainties.

The last word of a name shows its unit. `_HEIGHTS` are multiples of the height of the compared
text. `_TIMES` are ratios of two text heights. `_RATIO` are percentages. Certainties are 0 to 1,
counts are whole numbers. `make bench-ocr ARGS="--only contact"` measures the effect of a change.
"""

from __future__ import annotations

# Positions of text pieces.

# Minimum gap between columns; gaps between words are smaller.
COLUMN_GAP_HEIGHTS = 2.2
# Maximum gap between two pieces of one text in a row.
ADJACENT_HEIGHTS = 3.0
# Maximum gap between two lines of one text, in heights of the smaller one; and maximum difference
# of left edges, right edges or middles of lines in one column.
BELOW_HEIGHTS = 1.4
# Minimum vertical distance between the middles of a line and the next one.
LOWER_HEIGHTS = 0.4
# Maximum distance of a neighbour above, below, left or right of a piece, and of a label from its
# number.
AROUND_HEIGHTS = 8.0
# Maximum number of pieces above and below that are examined, and of neighbours of one piece.
# Normal pages have fewer.
MOST_NEAR_ROWS, MOST_NEIGHBOURS = 1_500, 24

# Maximum ratio of the heights of lines of one name or address; letters with descenders are higher.
SAME_SIZE_TIMES = 1.35

# Kinds of text, by their words.

# Confidence from which a text is certainly of a kind: address, person with a known given name,
# title, or organisation. Also the minimum confidence of a phone number without a label, and of a
# name on a page that has too many lines for a card.
SURE_KIND = 0.75

# Labels and keys before a value.

# Number of characters next to a number that can contain its label, and maximum number of words of
# a label.
LABEL_WINDOW, LABEL_WORDS = 48, 3
# Number of characters of a line that are searched for dates, amounts and separators.
LONGEST_ENTRY = 120

# Numbers, mail and web addresses.

# Minimum number of digits of a misread number after its label.
FEWEST_DIGITS = 5
# Confidence of a number's tag after a label of another kind; factor for a mobile number without a
# label.
UNLABELLED_MOBILE = 0.7
# Confidence of a contact that only its label shows, such as a mail address without an at sign.
MISREAD_ENTITY = 0.6

# Postal addresses.

# Minimum confidence of a line that may be part of an address.
WEAK_ADDRESS = 0.3
# Maximum gap between two lines of an address.
ADDRESS_LINE_GAP_HEIGHTS = 1.6
# Maximum number of lines of an address.
ADDRESS_LINES = 12
# Maximum number of words of a town or quarter, and of a key before its colon.
TOWN_WORDS = 6
# Maximum confidence that words or labels can give.
SUREST = 0.98

# Names in mail and web addresses.

# Minimum similarity, 0 to 100, of a text and a domain owner, or a name and part of a mail address,
# one of which may be misread.
ALIKE_RATIO = 86.0
# SHORTEST_OWNER is the minimum number of letters of a domain owner, or of a word of a name. An
# owner of up to SHORT_OWNER letters may be the beginning of an unrelated word.
SHORTEST_OWNER, SHORT_OWNER = 3, 5
# Fit of a text to a domain owner, or of a name to the local part of a mail address: if one of them
# is misread, or is a part or a short form of the other; and if the owner's name contains only one
# word of the text. A job title with a smaller fit is probably not the owner's name.
PART_FITS, ONE_WORD_FITS = 0.8, 0.5

# Persons, organisations and titles.

# Minimum confidence of a person, organisation or title, and of each of two lines of an address.
KIND_CERTAINTY = 0.5
# Minimum confidence of further persons and organisations, and of a date or an amount in an entry of
# a bill or a form.
FURTHER_CERTAINTY = 0.9
# Maximum number of lines of a card.
CARD_LINES = 30
# Maximum number of lines of a page that are tried in pairs.
PAIRED_LINES = 80
# Letters of a headline or a logo are at least this many times as high as those of most lines.
LARGE_TIMES = 1.2
# The largest letters are at least TALLEST_SHARE as high as the tallest line, and TALLEST_TIMES as
# high as most lines.
TALLEST_SHARE, TALLEST_TIMES = 0.95, 1.1
# Minimum height of a logo without other signs, as a fraction of the tallest letters.
LOGO_TALL_SHARE = 0.8
# Maximum number of words of a person's name or a logo, and of a name in one of several lines.
NAME_WORDS, NAME_PART_WORDS = 4, 2
# Maximum number of characters of an organisation's name over several lines.
LONGEST_ORGANISATION = 60
# Confidence of a name that is only known from the mail address.
NAME_OF_MAIL = 0.3
# Bonus of a person with a matching mail address, and of a person with a title in the next line.
MAIL_BONUS, TITLE_BELOW_BONUS = 0.4, 0.2
# Bonuses for the largest letters, for large letters, for a separate logo, and for each line of a
# joined name. LARGEST_BONUS is also the minimum gain in confidence of several lines together over
# the best single line.
LARGEST_BONUS, LARGE_BONUS, LOGO_BONUS, LINE_BONUS = 0.15, 0.1, 0.25, 0.02
# Penalty of a person for a legal form, for each word of a trade or job, and for being the domain's
# owner.
AGAINST_LEGAL_FORM, AGAINST_TRADE, AGAINST_OWNER = 0.7, 0.45, 0.3
# Factor of the last two penalties for a known name: Baker, Banks and Church are surnames, too.
HALF_AGAINST = 0.5
# Maximum by which other possible kinds lower the confidence that a text has no tag.
MOST_UNCERTAINTY = 0.6

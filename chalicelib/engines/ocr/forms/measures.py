"""Thresholds and weights for finding keys and values of forms, relative to the text height.

Units: `_HEIGHTS` are multiples of the height of the compared text, `_PIXELS` pixels of the raster
as read; fractions and weights are 0 to 1, counts are whole numbers. Weights by the direction from
key to value are in values/candidates.py. `make bench-ocr ARGS="--only form"` and `--only documents`
measure the effect of a change.
"""

from __future__ import annotations

# Lines and columns: what the whole page has in common.

# Share of the smaller height that two texts of one line have in common.
SAME_LINE_SHARE = 0.5
# Least ratio of the heights of two texts that belong together: lines of one key or of one value,
# keys of one row.
SAME_SIZE = 0.65
# By how much the middles of centred lines, of one column's numbers or of one row's keys differ.
SAME_MIDDLE_HEIGHTS = 0.6
# Largest gap between the captions of columns and the line below them.
ABOVE_COLUMNS_HEIGHTS = 1.0
# Most words of a column's caption.
COLUMN_CAPTION_WORDS = 2
# A page that is turned by less counts as level.
LEAST_TILT_RADIANS = 0.002
# By how much boxes of a line and the next one of the same text may overlap.
OVERLAP_HEIGHTS = 0.6
# By how much a text may begin before the end of what it follows.
BEFORE_END_HEIGHTS = 0.6

# Rules.

# By how much a rule may reach into the rectangle of a text.
IN_RULE_HEIGHTS = 0.3
# Smallest fraction of a text's width that a rule below it covers.
UNDERLINE_SHARE = 0.85
# By how much a rule is longer than two texts that it separates; an underline is not.
RULE_BEYOND_HEIGHTS = 1.5
# By how much an upright rule reaches over a text that it divides, both ways.
RULE_OVER_TEXT_HEIGHTS = 0.5
# Largest gap between two parts of one drawn line.
RULE_JOINT_PIXELS = 3.0

# Spelling: how a key may be misread.

# Characters up to which a key must be read without any error, as whole words.
EXACT_KEY_CHARACTERS = 3
# Smallest similarity of a reading, of 100; by how much, divided by the letters, one error lowers
# it; and what is enough for a long text, however long: in forty letters two may be misread.
LEAST_RATIO, ONE_ERROR_RATIO, LONG_RATIO = 82.0, 110.0, 95.0

# Keys: printed texts of the template.

# Most lines of one key.
KEY_LINES = 3
# By how much left edges, middles or right edges of its lines differ.
KEY_SAME_START_HEIGHTS, KEY_SAME_MIDDLE_HEIGHTS, KEY_SAME_END_HEIGHTS = 2.0, 1.5, 1.0
# Following segments that are looked at for a neighbour.
KEY_REACH = 40
# Share above which one segment has the whole key.
WHOLE_KEY_SHARE = 0.97
# Smallest fraction of a key's letter pairs in its reading: two errors in ten letters touch four of
# nine pairs.
LETTER_PAIRS_SHARE = 0.45
# How much worse than its best fit to whole words an alignment may be, of 100.
ALIGNMENT_SLACK = 10.0
# Keys times units above which keys over several lines are not looked for.
MOST_KEYS_TIMES_UNITS = 50_000_000
# Pairs of key and line that are looked at closely, the likeliest first, and letters of key times
# line of them all, which bounds the time for very long ones.
MOST_LOOKS, MOST_LETTERS_LOOKED_AT = 20_000, 30_000_000
# Times that one key is looked for in one line.
KEY_REPEATS = 6
# Places of one text, the best first, and places of all keys together.
MOST_KEY_PLACES, MOST_READINGS = 400, 20_000
# Score below which a reading is a chance likeness in running text.
KEY_SCORE = 0.4
# Words after a key plus twice those before it, above which it is part of a sentence.
FEW_WORDS_AROUND_KEY = 6
# Weight of a key behind the end of a sentence, or of one with a colon behind any text; and of one
# of few letters behind any text.
KEY_BEHIND_SENTENCE, KEY_BEHIND_OTHER_TEXT = 0.85, 0.3
# Weight of a longer key behind few words, and behind many.
KEY_BEHIND_FEW_WORDS, KEY_BEHIND_MANY_WORDS = 0.6, 0.45
# Weight of a key before few words, and before many, or a label.
KEY_BEFORE_FEW_WORDS, KEY_BEFORE_MANY_WORDS = 0.93, 0.75
# Weight of each further line of a key: texts that only stand below one another may be two.
KEY_LINE_FACTOR = 0.98
# Weight of a key before a verb, which a sentence mentions, and of one in the middle of a name.
KEY_IN_PROSE = 0.6
# Weight of a reading in small letters where the template has a capital, as in running text.
KEY_IN_SMALL_LETTERS = 0.8
# Weight of a short key that is read in other letters than the template's.
SHORT_KEY_IN_OTHER_CASE = 0.92
# Of two equally similar keys the longer one is likelier, up to this many letters.
LONG_KEY_CHARACTERS, LONG_KEY_BONUS = 20, 0.1
# Rounds after which the found keys no longer help to identify others.
KEY_ROUNDS = 4
# Further places of a key, of which its value can show which one is right, and their least
# similarity to the key, as a fraction of the others' similarity.
SPARE_KEY_PLACES, SPARE_KEY_SHARE = 8, 0.85

# Print that is neither key nor value: labels, captions, sentences.

# Most words of a label, and of a text that caption words turn into a label.
LABEL_WORDS = 5
# Most lines of a printed sentence.
SENTENCE_LINES = 4
# Largest gap between its lines.
SENTENCE_GAP_HEIGHTS = 0.5
# Number of sentences above which a page is not a form; further lines are not searched.
MOST_INSTRUCTIONS = 200
# Captions with the same peculiarity that make a rule of it: a number, a second language.
FEWEST_CAPTIONS = 4
# Share of the keys that have a caption in a second language, if any has.
SECOND_CAPTION_SHARE = 0.8
# Certainty that a street, or a continued address, is one: behind the number of a caption, in a
# value, and above a town.
STREET_CERTAINTY = 0.8
# Most characters of a word with its date.
DATED_WORD_CHARACTERS = 40
# Share of the smaller place that two places have in common when they are the same text.
PRINTED_PLACE_SHARE = 0.5
# First rows of a table that may hold column headers which only the template reveals.
HEADER_ROWS = 3

# Types of values.

# Characters of a text that are looked at for its type.
LONGEST_TYPED_CHARACTERS = 400
# Factors of a text that is not of the type, holds some of it, or may be a name.
MISFIT, FIT, NAME_FIT = 0.25, 1.15, 1.05
# Factor of an address without any number.
ADDRESS_WITHOUT_NUMBER = 0.3
# Most words of a name.
NAME_WORDS = 8
# Words before a date, an amount … beyond which a text is a sentence that mentions one.
WORDS_BEFORE_TYPE = 2
# Fewest digits of a number in single boxes.
COMB_DIGITS = 4

# Places of values around their keys.

# Largest gap between a key or a header and the text below or above it.
BELOW_HEIGHTS, ABOVE_HEIGHTS = 3.0, 1.5
# Higher text next to a key is not in its line: it may run up the page, for example.
TALL_HEIGHTS = 3.5
# Largest distance behind the key's end at which a value below it begins.
INDENT_HEIGHTS = 3.0
# By how much texts of one row below a key differ in their distance.
SAME_ROW_HEIGHTS = 0.8
# A text that is so far out of line with its key is as near as one that is a line lower.
ASIDE_HEIGHTS = 4.0
# Distances over which nearness falls to a third.
DECAY_RIGHT_HEIGHTS, DECAY_BELOW_HEIGHTS, DECAY_ABOVE_HEIGHTS = 60.0, 2.5, 1.2
# Blank below or above a key that does not count.
LINE_SPACE_HEIGHTS = 0.4
# Factors of a value below or above that is not in line with its key, and begins behind its end.
OUT_OF_LINE, BEHIND_KEY = 0.8, 0.65
# Blank up to which a text behind a colon is its value whatever the rest of the form does.
ADJOINING_HEIGHTS = 2.5
# Factor of a text next to a key when both have a number below them.
CAPTION_FACTOR = 0.4
# Largest gap between a caption and the text directly below it.
RIGHT_BELOW_HEIGHTS = 0.8
# Weight of a place, and factor of a text of words that forms print, in any direction that
# values/candidates.py does not name.
PLACE_WEIGHT, LABEL_LIKE_FACTOR = 0.95, 0.4

# Boxes that hold a value.

# Least space that a box has below its key for a value, and the greatest height of such a box.
BOX_ROOM_HEIGHTS, TALLEST_BOX_HEIGHTS = 0.7, 12.0
# Captions of one row, each alone in its box over a box with one text, that are headers.
FEWEST_HEADERS = 3
# Values in boxes of their own that make a form of boxes, and its factor for one in another box.
FEWEST_BOXED, OTHER_BOX_FACTOR = 4, 0.5
# A text this many times further right is as near as one that is a line higher.
WIDE_BOX_TIMES = 4.0

# Digits in single boxes.

# Smallest width per digit when digits are in boxes: twice that of print.
BOX_PITCH_HEIGHTS = 0.9
# Smallest and largest distance from one box to the next.
BOX_PITCHES_HEIGHTS = (0.9, 2.4)
# Blank between two digits of a row that were read, and by how much they stand off their boxes, as a
# fraction of the distance from one to the next.
BOX_ROW_GAP_HEIGHTS, BOX_OFF_SHARE = 12.0, 0.25
# Largest gap between two rows of boxes, in distances from box to box.
BOX_ROWS_APART = 2.0
# Least digits that show the positions of the others, and most boxes of a row.
FEWEST_BOXED_DIGITS, MOST_BOXES = 2, 24
# Lines of digits that stand apart, above which a page is a table, and rows that are read again.
MOST_BOXED_LINES, MOST_BOX_ROWS = 400, 20
# Part of a box between the ticks at its sides; smallest ink of a digit, as a fraction of what the
# others have; by how much paper is darker in places.
BOX_CORE_SHARE, LEAST_BOX_INK_SHARE, BOX_PAPER_NOISE = 0.66, 0.3, 48
# Most digits that are read differently next to the others.
MOST_BOX_DIFFERENCES = 1

# Choice of a value.

# Votes for right, below and above before anything is seen.
DIRECTION_PRIOR = (1.0, 0.8, 0.1)
# Weight of a vote among keys that are printed otherwise, with or without colon, and of a key in the
# same row.
STRANGER_VOTE, NEIGHBOUR_VOTE = 0.3, 4.0
# What is left of a candidate in a direction that no other key has.
DIRECTION_FLOOR = 0.25
# Score below which a key counts as empty.
VALUE_SCORE = 0.26
# Steps from one single box to the next that leave one out, and factor of such a number.
COMB_GAP_STEPS, COMB_GAP_FACTOR = 1.5, 0.4
# How sure a number is that a row and a column name together.
CROSSED_CERTAINTY = 0.9
# How sure a name or an address is that no caption names.
UNCAPTIONED_CERTAINTY = 0.85
# Most characters behind a key's text, without a gap, that are its value; digits may be more.
GLUED_CHARACTERS = 2
# Below it, what a block says is likelier than a caption's value.
WEAK_FIT = 0.4

# Probability of a value.

# Below it a line's probability counts as this.
LEAST_LINE_PROBABILITY = 0.01
# Share of characters that is misread on a page as clear as drawn ones are.
CLEAR_PAGE_BLUR = 0.002
# Amounts with cents, or without, that show how a page writes them, and how many times as many they
# are as the others.
FEWEST_AMOUNTS, USUAL_AMOUNT_TIMES = 3, 4
# Highest certainty of an amount that is not written so: of 20 on worn forms 3 were right.
ODD_AMOUNT_CERTAINTY = 0.2
# Other values, the nearest ones, of which the directions are compared.
CONSENSUS_KEYS = 4
# Characters misread, above which a value gets no worse.
MOST_MISREAD = 2.0

# Values of several words and lines.

# Most lines of a value, and most pieces of one line that are joined.
VALUE_LINES, VALUE_PIECES = 20, 50
# Characters of a line that are looked at for an address.
ADDRESS_CHARACTERS = 120
# By how much a text of the same line may begin higher up.
HIGHER_UP_HEIGHTS = 4.0
# Largest gap between two parts of a key or value in one line: a word space is a third of it,
# typewriters have one of two thirds.
WORD_GAP_HEIGHTS = 1.25
# Smallest gap to a caption word: closer ones continue a value.
CAPTION_GAP_HEIGHTS = 0.4
# The same between characters in single boxes, also from one digit to the next.
COMB_GAP_HEIGHTS = 3.0
# Distance of larger print from the line of a text when it is a separate text.
OFF_LEVEL_HEIGHTS = 0.3
# Values of one key in several columns stand closer together than key and value: this far, and at at
# most this fraction of that gap.
FAR_GAP_HEIGHTS, FAR_GAP_SHARE = 8.0, 0.5
# Largest gap between two lines of a value, and of a key or of a name and an address.
LINE_GAP_HEIGHTS, PRINTED_LINE_GAP_HEIGHTS = 0.75, 1.0
# Probability of a single character that is surely one.
CLEAR_CHARACTER = 0.85
# Where a line that continues below its key ends at least: as a fraction of the page's text, and
# from the beginning of the key.
FULL_LINE_SHARE, FULL_LINE_HEIGHTS = 0.85, 15.0

# Distance from the end of a value to unassigned text that may be the rest of it.
UNUSED_BEHIND_HEIGHTS, UNUSED_BELOW_HEIGHTS = 8.0, 0.5

# Lines that are numbered, and statements.

# Largest gap between the letter of a line and its caption.
LINE_LETTER_GAP_HEIGHTS = 1.5
# Share of a column's numbers that are larger than those above them.
GROWING_SHARE = 0.8
# Numbers above and below that make a column, where the first printing was not read.
FEWEST_LINE_NUMBERS = 2
# Number of texts that begin with a number above which lines are not numbered.
MOST_LINE_NUMBERS = 1_000
# Largest horizontal offset of a number from its column's header.
HEADER_OFFSET_HEIGHTS = 1.0
# Headers of a page, and labels of one text, above which a page is not a statement.
MOST_STATEMENT_HEADERS, MOST_STATEMENT_LABELS = 60, 20

# Blocks of a name and an address without a caption.

# Lines that end with a postcode, above which a page is a list of addresses.
MOST_TOWNS = 40
# Most lines of the name in a block.
HOLDER_NAME_LINES = 2
# Largest difference between the left ends of a block's lines.
HOLDER_ASIDE_HEIGHTS = 1.0
# How sure a line is to be a firm's name.
FIRM_CERTAINTY = 0.5
